"""Waiting for what another thread or process does: as long as it takes, and no test passes or fails for being slow."""

import time
from collections.abc import Callable
from typing import Final

PATIENCE: Final = 120.0  # seconds; only something that never happens takes so long
PAUSE: Final = 0.005


def until(condition: Callable[[], object]) -> None:
    """Return when `condition` is true; raise AssertionError when it never is."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"not so after {PATIENCE:g} s"
        time.sleep(PAUSE)
