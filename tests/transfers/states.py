"""The combinations of states that tests of every combination run: a fixed part, or all of them in `make every`."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, product
from typing import Any

import pytest


def pairs(*axes: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield combinations of a value of each axis, so that any two values of two axes are in at least one."""
    return _covering(axes, 2)


def steps_in_order(deposits: Sequence[Any], *axes: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield transfers of the states of three steps and other axes.

    Either their steps follow one another, with any two values of the other axes. Or any two values are together.
    """
    origins, destinations, *others = axes
    paths = [
        *((deposit, None, None) for deposit in deposits),
        *(("SUCCEEDED", origin, None) for origin in origins if origin),
        *(("SUCCEEDED", "SUCCEEDED", destination) for destination in destinations if destination),
    ]
    yield from ((*path, *rest) for path, *rest in _covering((paths, *others), 3))
    yield from pairs(deposits, *axes)


def _covering(axes: Sequence[Sequence[Any]], size: int) -> Iterator[tuple[Any, ...]]:
    for places in _places(tuple(map(len, axes)), size):
        yield tuple(axis[place] for axis, place in zip(axes, places, strict=True))


@cache
def _places(lengths: tuple[int, ...], size: int) -> list[tuple[int, ...]]:
    seen: set[tuple[Any, ...]] = set()
    found = []
    for places in product(*map(range, lengths)):
        new = set(combinations(enumerate(places), size)) - seen
        if new:
            seen |= new
            found.append(places)
    return found


def combined(part: Any) -> pytest.MarkDecorator:
    """Run a test with a function that combines the values of axes: in part, or all of them in `make every`."""
    return pytest.mark.parametrize(
        "combine", [pytest.param(part, id="part"), pytest.param(product, id="all", marks=pytest.mark.slow)]
    )
