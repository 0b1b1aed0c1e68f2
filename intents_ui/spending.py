"""What one visitor's address may spend: so many of a thing in each window of time, counted for all processes together.

While the shared cache is away each process counts for itself: a limit must neither break a page nor be lifted.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from django.core.cache import caches
from redis import RedisError

log = logging.getLogger(__name__)

# Whoever comes by no address (a socket on the disk, without a proxy's word) shares one count.
NOBODY_KNOWN = "unknown"


@dataclass(frozen=True)
class Limit:
    """`most` in each window of `seconds`. The windows follow the clock, so that all processes share them."""

    name: str
    most: int
    seconds: int


def spend(limit: Limit, visitor: str | None) -> int:
    """Takes one: 0 when the visitor may go on, else the seconds to wait. The count ends with its window."""
    now = time.time()
    window = int(now // limit.seconds)
    spent = _counts(_key(limit, visitor, window), 1, keep=2 * limit.seconds)
    return 0 if spent <= limit.most else max(1, ceil((window + 1) * limit.seconds - now))


def give_back(limit: Limit, visitor: str | None) -> None:
    """What was taken only in case."""
    window = int(time.time() // limit.seconds)
    _counts(_key(limit, visitor, window), -1, keep=2 * limit.seconds)


def _key(limit: Limit, visitor: str | None, window: int) -> str:
    return f"spent:{limit.name}:{visitor or NOBODY_KNOWN}:{window}"


class _Counts:
    """Counts in the shared cache, and in our own while that is away: asking it again each time would take time."""

    PAUSE_SECONDS = 10.0

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until = float("-inf")

    def __call__(self, key: str, delta: int, *, keep: int) -> int:
        """The count after `delta` was added to it."""
        if self._clock() >= self._until:
            try:
                return _count("default", key, delta, keep)
            except RedisError as error:
                self._until = self._clock() + self.PAUSE_SECONDS
                log.warning("The shared cache does not answer, so each process counts: %s", type(error).__name__)
        return _count("own", key, delta, keep)

    def resume(self) -> None:
        self._until = float("-inf")


def _count(cache: str, key: str, delta: int, keep: int) -> int:
    counts = caches[cache]
    counts.add(key, 0, keep)
    try:
        return counts.incr(key, delta)
    except ValueError:  # driven out of the cache between the two
        return delta


_counts = _Counts()
