"""Percentages never say all or none when it isn't."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.formatting import amounts


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [
        (1204, 1228, "98.0%"),
        (0, 20, "0%"),
        (20, 20, "100%"),
        (99_999, 100_000, "99.9%"),
        (1, 100_000, "0.1%"),
        (1, 3, "33.3%"),
        (2, 3, "66.7%"),
        (1, 2, "50.0%"),
    ],
)
def test_a_share_has_one_decimal(part: int, whole: int, shown: str) -> None:
    assert amounts.share(part, whole) == shown


@given(st.integers(1, 10**9).flatmap(lambda whole: st.tuples(st.integers(0, whole), st.just(whole))))
def test_only_all_is_all_and_only_nothing_is_nothing(found: tuple[int, int]) -> None:
    part, whole = found
    shown = amounts.share(part, whole)
    assert (shown == "100%") is (part == whole)
    assert (shown == "0%") is (part == 0)
    assert abs(float(shown[:-1]) - 100 * part / whole) <= 0.1


def test_an_interval_is_rounded_outward() -> None:
    assert amounts.shares_between(0.97119, 0.98691) == "97.1\u201398.7%"
    assert amounts.shares_between(0.0, 1.0) == "0\u2013100%"


@pytest.mark.parametrize(
    ("share", "shown"), [(0.02, "2 of 100"), (0.5, "50 of 100"), (0.002, "1 of 500"), (0.0, "almost none")]
)
def test_what_is_usual_is_a_count(share: float, shown: str) -> None:
    assert amounts.of_hundred(share) == shown
