"""Charts show every transfer that ended, and what is incomplete."""

import re
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from intents_ui.display.insight import charts
from intents_ui.display.insight.charts import HEIGHT, PITCH, Bucket

COUNTS = st.integers(0, 10**7)
BUCKETS = st.lists(st.builds(Bucket, good=COUNTS, bad=COUNTS, is_complete=st.booleans()), max_size=40)


@given(BUCKETS)
def test_no_bar_is_missing_or_leaves_the_chart(buckets: list[Bucket]) -> None:
    drawn = charts.columns(buckets)
    for path, has in ((drawn.good, "good"), (drawn.bad, "bad")):
        bars = [tuple(map(int, each)) for each in re.findall(r"M(\d+) (\d+)v-(\d+)h\d+V\d+z", path)]
        assert [x // PITCH for x, _, _ in bars] == [place for place, each in enumerate(buckets) if getattr(each, has)]
        assert all(0 < height <= bottom <= HEIGHT for _, bottom, height in bars)
    assert drawn.gaps.count("M") == sum(not each.is_complete for each in buckets)


@given(st.lists(st.tuples(COUNTS, COUNTS), max_size=40))
def test_no_line_of_a_small_chart_leaves_it(counts: list[tuple[int, int]]) -> None:
    drawn = charts.spark([(good + bad, good) for good, bad in counts])
    for path in (drawn.good, drawn.bad):
        assert all(int(length) <= int(bottom) for bottom, length in re.findall(r" (\d+)v-(\d+)", path))


def test_durations_are_on_a_logarithmic_axis() -> None:
    minute, two = timedelta(minutes=1), timedelta(minutes=2)
    drawn = charts.band([Bucket(30, 0, True, minute, two), Bucket(3, 0, True, minute), Bucket(0, 0, False)])
    assert (drawn.shortest, drawn.longest) == (minute / 2, two)
    assert drawn.median == f"M0 {HEIGHT // 2}h10M10 {HEIGHT // 2}h10"
    assert drawn.area == f"M0 {HEIGHT // 2}v-{HEIGHT // 2}h10V{HEIGHT // 2}z"
    assert drawn.gaps.startswith("M20 ")


def test_marks_are_within_the_chart() -> None:
    assert charts.marks([(0, 50), (90, 150), (290, 900)], since=100, bar=100, width=30) == "M0 0h5v6H0zM19 0h11v6H19z"


def test_without_durations_there_is_no_band() -> None:
    assert charts.band([Bucket(0, 0, True)]).longest is None
