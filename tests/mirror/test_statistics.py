"""Quantiles of merged histograms, and intervals of shares."""

import math
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from intents_ui.mirror.figures import statistics
from intents_ui.mirror.figures.statistics import BUCKETS, share

DURATIONS = st.lists(st.integers(1, 90 * 86_400_000), min_size=200, max_size=400)


def of(durations: list[int]) -> Counter[int]:
    return Counter(map(statistics.bucket, durations))


@given(DURATIONS, st.integers(1, 100))
@example([11] * 200, 100)
@example([*range(1000, 201_000, 1000)], 95)
def test_a_quantile_is_at_most_five_percent_off(durations: list[int], percent: int) -> None:
    exact = sorted(durations)[math.ceil(len(durations) * percent / 100) - 1]
    found = statistics.quantile(of(durations), percent)
    assert found is not None
    assert abs(found - exact) <= 0.052 * exact + 0.5  # in whole milliseconds


def test_without_durations_there_is_no_quantile() -> None:
    assert statistics.quantile({}, 50) is None


@pytest.mark.parametrize(("milliseconds", "bucket"), [(-5, 0), (0, 0), (1, 0), (1000, 69), (2**62, BUCKETS - 1)])
def test_each_duration_has_a_bucket(milliseconds: int, bucket: int) -> None:
    assert statistics.bucket(milliseconds) == bucket


@given(DURATIONS, st.integers(1, 90 * 86_400_000))
def test_those_that_were_shorter_are_never_overstated(durations: list[int], elapsed: int) -> None:
    found = statistics.shorter(of(durations), elapsed)
    assert sum(each * 1.11 < elapsed for each in durations) <= found <= sum(each < elapsed for each in durations)


def test_an_interval_agrees_with_a_published_one() -> None:
    """R: `prop.test(15, 148, correct = FALSE)`, the example of Newcombe (1998)."""
    found = share(15, 148)
    assert found is not None
    assert (round(found.low, 4), round(found.high, 4)) == (0.0624, 0.1605)


def test_few_transfers_have_no_percentage() -> None:
    assert share(19, 19) is None
    assert share(20, 20) is not None
