"""The cases of a corpus that `make test` runs, chosen by hand. `make every` runs all of them."""

from collections.abc import Mapping
from typing import Any

import pytest


def picked(cases: Mapping[str, Any], *chosen: str) -> list[Any]:
    """Return the cases for `pytest.mark.parametrize`, by ID. Those that aren't chosen are marked `slow`.

    A case that is a tuple has a value for each of several parameters. Raises KeyError if a chosen ID doesn't exist, so
    that a subset can't become empty without notice.
    """
    if unknown := set(chosen) - cases.keys():
        raise KeyError(*sorted(unknown))
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)), id=name, marks=() if name in chosen else pytest.mark.slow
        )
        for name, case in cases.items()
    ]
