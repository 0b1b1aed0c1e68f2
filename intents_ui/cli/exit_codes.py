"""Exit codes, for scripts (docs/cli.md)."""

from collections.abc import Iterable
from enum import IntEnum
from typing import Final


class Exit(IntEnum):
    FINE = 0
    ERROR = 1
    USAGE = 2
    NEEDS_ACTION = 3
    NOT_FOUND = 4
    UNAVAILABLE = 5
    NOT_DELIVERED = 6
    INTERRUPTED = 130


WORST_FIRST: Final = (Exit.NEEDS_ACTION, Exit.UNAVAILABLE, Exit.NOT_FOUND, Exit.NOT_DELIVERED)


def worst(codes: Iterable[Exit]) -> Exit:
    """Return the code for several results."""
    found = set(codes)
    return next((each for each in WORST_FIRST if each in found), Exit.FINE)
