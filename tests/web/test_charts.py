"""Charts show every transfer that ended, and what is incomplete."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from intents_ui.insight import charts
from intents_ui.insight.charts import HEIGHT, PITCH, SPARK_HEIGHT, SPARK_PITCH

HOUR = timedelta(hours=1)
COUNTS = st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**7)), max_size=40)


@dataclass
class Bar:
    delivered: int = 0
    is_complete: bool = True
    median: timedelta | None = None
    p95: timedelta | None = None
    since: datetime = datetime(2026, 11, 21, 10, 20, tzinfo=UTC)

    @property
    def ended(self) -> int:
        return self.delivered


@given(COUNTS)
def test_no_bar_is_missing_or_leaves_the_chart(counts: list[tuple[int, int]]) -> None:
    bars = [(good + bad, good) for good, bad in counts]
    for height, pitch in ((HEIGHT, PITCH), (SPARK_HEIGHT, SPARK_PITCH)):
        drawn = charts.columns(bars, height=height, pitch=pitch)
        for path, which in ((drawn.good, 0), (drawn.bad, 1)):
            found = [tuple(map(int, each)) for each in re.findall(r"M(\d+) (\d+)v-(\d+)", path)]
            assert [x // pitch for x, _, _ in found] == [place for place, each in enumerate(counts) if each[which]]
            assert all(0 < length <= bottom <= height for _, bottom, length in found)


def test_what_is_incomplete_is_a_gap_and_incidents_are_marks_within_the_chart() -> None:
    at = Bar.since.replace(minute=0)
    spans = [(-0.1, 0.5), (-0.2, -0.1), (1.9, 9)]
    marked = [(at + start * HOUR, at + end * HOUR) for start, end in spans]
    drawn = charts.chart([Bar(), Bar(is_complete=False), Bar()], length=HOUR, marked=marked)
    assert drawn
    assert (drawn.gaps.count("M"), drawn.gaps.startswith(f"M{PITCH} ")) == (1, True)
    assert drawn.marks == "M0 0h5v6H0zM19 0h11v6H19z"


def test_durations_are_on_a_logarithmic_axis() -> None:
    minute, two = timedelta(minutes=1), timedelta(minutes=2)
    drawn = charts.band([Bar(30, median=minute, p95=two), Bar(3, median=minute), Bar(is_complete=False)])
    assert (drawn.shortest, drawn.longest) == (minute / 2, two)
    assert drawn.median == f"M0 {HEIGHT // 2}h10M10 {HEIGHT // 2}h10"
    assert drawn.area == f"M0 {HEIGHT // 2}v-{HEIGHT // 2}h10V{HEIGHT // 2}z"


def test_without_durations_there_is_no_band() -> None:
    assert charts.band([Bar()]).longest is None
