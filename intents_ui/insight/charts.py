"""Geometry of charts: SVG paths with one unit per pixel of height. Templates draw them, style sheets color them.

A chart stretches to the width of its place, so it has no text. Its table has the same facts.
"""

import math
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from intents_ui.mirror.figures.queries import BarFigures

HEIGHT, PITCH = 120, 10  # of a chart, and from one bar to the next
SPARK_HEIGHT, SPARK_PITCH = 20, 4
BELOW = 2  # the shortest median is so many times the duration at the bottom
MARK_HEIGHT = 6
LEAST = 1  # unit of height, so that one of thousands can be seen


class Columns(NamedTuple):
    """Stacked columns: lines of the delivered and of the other transfers. `most`: the number at the top."""

    good: str
    bad: str
    width: int
    most: int


class Band(NamedTuple):
    """Medians as a line of steps, and the area between them and p95, by the logarithm of the duration.

    `shortest` is at the bottom, `longest` at the top.
    """

    median: str = ""
    area: str = ""
    shortest: timedelta | None = None
    longest: timedelta | None = None


class Chart(NamedTuple):
    """The hours or days of a time, oldest first. `gaps` are areas of incomplete ones, `marks` those of incidents."""

    series: Sequence[BarFigures]
    has_days: bool
    columns: Columns
    band: Band
    gaps: str
    marks: str


def chart(
    series: Sequence[BarFigures], *, length: timedelta, marked: Iterable[tuple[datetime, datetime]] = ()
) -> Chart | None:
    """Return the chart of hours or days, by their `length`, with marks at these times. None without any."""
    if not series:
        return None
    drawn = columns([(each.ended, each.delivered) for each in series])
    gaps = "".join(f"M{x} {HEIGHT}V0h{PITCH}V{HEIGHT}z" for x, each in _placed(series) if not each.is_complete)
    marks = ""
    since = series[0].since.replace(minute=0, second=0)
    if has_days := length == timedelta(days=1):
        since = since.replace(hour=0)
    for start, end in marked:
        left, right = (min(max((at - since) * PITCH // length, 0), drawn.width) for at in (start, end))
        if end > since:
            marks += f"M{left} 0h{max(right - left, 2)}v{MARK_HEIGHT}H{left}z"
    return Chart(series, has_days, drawn, band(series), gaps, marks)


def columns(counts: Sequence[tuple[int, int]], *, height: int = HEIGHT, pitch: int = PITCH) -> Columns:
    """Return the columns of all and of the delivered transfers of each hour or day."""
    most = max((ended for ended, _ in counts), default=0)
    good, bad = [], []
    for place, (ended, delivered) in enumerate(counts):
        x = place * pitch + pitch // 2
        above = max((ended - delivered) * height // most, LEAST) if ended > delivered else 0
        below = min(max(delivered * height // most, LEAST), height - above) if delivered else 0
        if below:
            good.append(f"M{x} {height}v-{below}")
        if above:
            bad.append(f"M{x} {height - below}v-{above}")
    return Columns("".join(good), "".join(bad), len(counts) * pitch, most)


def band(series: Sequence[BarFigures]) -> Band:
    medians = [each.median for each in series if each.median]
    if not medians:
        return Band()
    shortest = min(medians) / BELOW
    longest = max(each.p95 or each.median or shortest for each in series)
    scale = HEIGHT / math.log(longest / shortest)
    median, area = [], []
    for x, each in _placed(series):
        if not each.median:
            continue
        y = HEIGHT - round(math.log(each.median / shortest) * scale)
        median.append(f"M{x} {y}h{PITCH}")
        if each.p95:
            height = y - HEIGHT + round(math.log(each.p95 / shortest) * scale)
            area.append(f"M{x} {y}v-{min(max(height, LEAST), y)}h{PITCH}V{y}z")
    return Band("".join(median), "".join(area), shortest, longest)


def _placed(series: Sequence[BarFigures]) -> Iterable[tuple[int, BarFigures]]:
    return ((place * PITCH, each) for place, each in enumerate(series))
