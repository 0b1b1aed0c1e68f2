"""Histograms of durations that can be merged, with quantiles that are at most 5.2% off.

A histogram has the number of durations in each bucket. Bucket b is from e^(b/10) milliseconds to before e^((b+1)/10).
"""

import math
from collections.abc import Mapping

BUCKETS = 256  # the last one begins after three years

type Histogram = dict[int, int]


def bucket(milliseconds: int) -> int:
    """Return the bucket of a duration."""
    return min(int(10 * math.log(milliseconds)), BUCKETS - 1) if milliseconds > 0 else 0


def middle(place: int) -> int:
    """Return the duration in milliseconds in the middle of a bucket."""
    return round(math.exp((place + 0.5) / 10))


def quantile(histogram: Mapping[int, int], percent: int) -> int | None:
    """Return the nearest-rank percentile in milliseconds, or None without durations."""
    rank = -(-sum(histogram.values()) * percent // 100)
    for place, count in sorted(histogram.items()):
        rank -= count
        if rank <= 0:
            return middle(place)
    return None


def shorter(histogram: Mapping[int, int], milliseconds: int) -> int:
    """Return how many durations were surely shorter than this one: those in the buckets before its own."""
    own = bucket(milliseconds)
    return sum(count for place, count in histogram.items() if place < own)
