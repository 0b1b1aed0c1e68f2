"""Histograms of durations that can be merged, with quantiles that are at most 5.2% off.

A histogram has the number of durations in each bucket. Bucket b is from e^(b/10) milliseconds to before e^((b+1)/10).
"""

import math
from collections.abc import Iterable, Iterator, Mapping

BUCKETS = 256  # the last one begins after three years

type Histogram = dict[int, int]


def bucket(milliseconds: int) -> int:
    """Return the bucket of a duration."""
    return min(int(10 * math.log(milliseconds)), BUCKETS - 1) if milliseconds > 0 else 0


def middle(place: int) -> int:
    """Return the duration in milliseconds in the middle of a bucket."""
    return round(math.exp((place + 0.5) / 10))


def add(histogram: Histogram, counts: Iterable[tuple[int, int]]) -> None:
    """Add pairs of buckets and counts."""
    for place, count in counts:
        histogram[place] = histogram.get(place, 0) + count


def encode(histogram: Mapping[int, int]) -> bytes:
    """Return the pairs as bytes: the bucket, then the count in groups of seven bits, the lowest first."""
    found = bytearray()
    for place, count in sorted(histogram.items()):
        found.append(place)
        while count > 127:
            found.append(count & 127 | 128)
            count >>= 7
        found.append(count)
    return bytes(found)


def decode(stored: bytes) -> Iterator[tuple[int, int]]:
    """Yield the pairs of buckets and counts, in order."""
    place = count = shift = -1
    for byte in stored:
        if place < 0:
            place, count, shift = byte, 0, 0
            continue
        count |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield place, count
            place = -1


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
