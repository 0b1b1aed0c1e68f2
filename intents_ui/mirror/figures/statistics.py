"""Shares with their uncertainty, and histograms of durations: merged, their quantiles are at most 5.2% off.

A histogram has the number of durations in each bucket. Bucket b is from e^(b/10) milliseconds to before e^((b+1)/10).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

LEAST = 20  # ended transfers for a percentage
Z = 1.959963984540054  # of a 95% interval
BUCKETS = 256  # the last one begins after three years


def bucket(milliseconds: int) -> int:
    return min(int(10 * math.log(milliseconds)), BUCKETS - 1) if milliseconds > 0 else 0


def middle(place: int) -> int:
    """Return the duration in milliseconds in the middle of a bucket."""
    return round(math.exp((place + 0.5) / 10))


def quantile(histogram: Mapping[int, int], percent: int, *, longer: int = 0) -> int | None:
    """Return the nearest-rank percentile in milliseconds. None without durations, or if it isn't reached.

    `longer`: how many more take longer than all of these.
    """
    rank = -(-(sum(histogram.values()) + longer) * percent // 100)
    for place, count in sorted(histogram.items()):
        rank -= count
        if rank <= 0:
            return middle(place)
    return None


def shorter(histogram: Mapping[int, int], milliseconds: int) -> int:
    """Return how many durations were surely shorter than this one: those in the buckets before its own."""
    own = bucket(milliseconds)
    return sum(count for place, count in histogram.items() if place < own)


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole, from 0 to 1, with its 95% Wilson interval."""

    part: int
    whole: int
    value: float
    low: float
    high: float


def share(part: int, whole: int) -> Share | None:
    """Return a part of a whole, or None if the whole is too small for a percentage."""
    if whole < LEAST:
        return None
    value = part / whole
    spread = Z * math.sqrt(value * (1 - value) / whole + Z * Z / (4 * whole * whole))
    middle, scale = value + Z * Z / (2 * whole), 1 + Z * Z / whole
    low = 0.0 if part == 0 else (middle - spread) / scale
    high = 1.0 if part == whole else (middle + spread) / scale
    return Share(part, whole, value, low, high)
