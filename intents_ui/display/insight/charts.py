"""Geometry of charts: SVG paths with one unit per pixel of height. Templates draw them, style sheets color them.

A chart stretches to the width of its place, so it has no text. Its table has the same facts.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

HEIGHT = 120
PITCH, WIDTH = 10, 8  # from one bucket to the next, and of a bar
SPARK_HEIGHT, SPARK_PITCH = 20, 4
BELOW = 2  # the shortest median is so many times the duration at the bottom
MARK_HEIGHT = 6
LEAST = 1  # unit of height, so that one of thousands can be seen


@dataclass(frozen=True)
class Bucket:
    """What happened in an hour or a day. Its rates and durations are known only if it `is_complete`."""

    good: int
    bad: int
    is_complete: bool
    median: timedelta | None = None
    p95: timedelta | None = None


@dataclass(frozen=True)
class Columns:
    """Stacked columns: paths of the delivered and of the other transfers, and of incomplete buckets.

    `most`: the number of transfers at the top.
    """

    good: str
    bad: str
    gaps: str
    width: int
    most: int


@dataclass(frozen=True)
class Band:
    """Medians as a line of steps, and the area between them and p95, by the logarithm of the duration.

    `shortest` is at the bottom, `longest` at the top.
    """

    median: str
    area: str
    gaps: str
    width: int
    shortest: timedelta | None = None
    longest: timedelta | None = None


@dataclass(frozen=True)
class Spark:
    """A small chart of lines, in a row of a table: the delivered transfers, and the others on top of them."""

    good: str
    bad: str
    width: int


def columns(buckets: Sequence[Bucket]) -> Columns:
    most = max((each.good + each.bad for each in buckets), default=0)
    good, bad = [], []
    for x, each in _placed(buckets):
        below, above = _heights(each.good, each.bad, most, HEIGHT)
        if below:
            good.append(_bar(x, HEIGHT, below))
        if above:
            bad.append(_bar(x, HEIGHT - below, above))
    return Columns("".join(good), "".join(bad), _gaps(buckets), len(buckets) * PITCH, most)


def band(buckets: Sequence[Bucket]) -> Band:
    gaps, width = _gaps(buckets), len(buckets) * PITCH
    known = [each for each in buckets if each.median]
    if not known:
        return Band("", "", gaps, width)
    shortest = min(each.median for each in known if each.median) / BELOW
    longest = max(each.p95 or each.median or shortest for each in known)
    scale = HEIGHT / math.log(longest / shortest)
    median, area = [], []
    for x, each in _placed(buckets):
        if not each.median:
            continue
        y = HEIGHT - round(math.log(each.median / shortest) * scale)
        median.append(f"M{x} {y}h{PITCH}")
        if each.p95:
            height = y - HEIGHT + round(math.log(each.p95 / shortest) * scale)
            area.append(f"M{x} {y}v-{min(max(height, LEAST), y)}h{PITCH}V{y}z")
    return Band("".join(median), "".join(area), gaps, width, shortest, longest)


def marks(spans: Iterable[tuple[int, int]], *, since: int, bar: int, width: int) -> str:
    """Return the path of marks at the top of a chart, at these times. `since`: the start of its first bar.

    Times and the length of a bar are in seconds.
    """
    found = []
    for start, end in spans:
        left, right = (min(max((each - since) * PITCH // bar, 0), width) for each in (start, end))
        if end > since:
            found.append(f"M{left} 0h{max(right - left, 2)}v{MARK_HEIGHT}H{left}z")
    return "".join(found)


def spark(bars: Sequence[tuple[int, int]]) -> Spark:
    """Return the chart of all and of the delivered transfers of each bucket."""
    most = max((ended for ended, _ in bars), default=0)
    good, bad = [], []
    for place, (ended, delivered) in enumerate(bars):
        x = place * SPARK_PITCH + SPARK_PITCH // 2
        below, above = _heights(delivered, ended - delivered, most, SPARK_HEIGHT)
        if below:
            good.append(f"M{x} {SPARK_HEIGHT}v-{below}")
        if above:
            bad.append(f"M{x} {SPARK_HEIGHT - below}v-{above}")
    return Spark("".join(good), "".join(bad), len(bars) * SPARK_PITCH)


def _placed(buckets: Sequence[Bucket]) -> Iterable[tuple[int, Bucket]]:
    return ((place * PITCH, each) for place, each in enumerate(buckets))


def _heights(good: int, bad: int, most: int, height: int) -> tuple[int, int]:
    """Return the heights of both parts of a bar. What isn't zero can be seen, and their sum fits."""
    if not good + bad:
        return 0, 0
    above = max(bad * height // most, LEAST) if bad else 0
    below = max(good * height // most, LEAST) if good else 0
    return min(below, height - above), above


def _bar(x: int, bottom: int, height: int) -> str:
    return f"M{x + (PITCH - WIDTH) // 2} {bottom}v-{height}h{WIDTH}V{bottom}z"


def _gaps(buckets: Sequence[Bucket]) -> str:
    return "".join(f"M{x} {HEIGHT}V0h{PITCH}V{HEIGHT}z" for x, each in _placed(buckets) if not each.is_complete)
