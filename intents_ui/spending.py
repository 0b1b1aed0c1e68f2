"""What one visitor's address may spend: so many of a thing at once, which come back evenly over a span of time.

A token bucket, kept as one number: the moment at which it is full again. All processes share it in Redis; without Redis
each has its own. While Redis is away each counts by itself what only reads: a limit must neither break a page nor be
lifted. What writes, and guesses at the operator's token, have to wait for it: they would be allowed in each process.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any

from django.core.cache import caches
from django.core.cache.backends.redis import RedisCache

from intents_ui.service.redis_errors import redis_error

log = logging.getLogger(__name__)

# Whoever comes by no address (a socket on the disk, without a proxy's word) shares one bucket.
NOBODY_KNOWN = "unknown"
MICROSECONDS = 1_000_000

# Moments are microseconds: whole numbers that Lua's floats hold exactly. The clock is ours, so that tests can move it.
TAKE = """
local full_at = math.max(tonumber(redis.call('GET', KEYS[1])) or 0, tonumber(ARGV[1])) + tonumber(ARGV[2])
local wait = full_at - tonumber(ARGV[1]) - tonumber(ARGV[3])
if wait <= 0 or ARGV[4] == '1' then
  local longest = math.max(full_at - tonumber(ARGV[1]), tonumber(ARGV[3]))
  redis.call('SET', KEYS[1], string.format('%.0f', full_at), 'PX', math.floor(longest / 1000) + 1000)
end
return wait
"""


@dataclass(frozen=True)
class Limit:
    """`most` at once, and as many again in each `seconds`. `is_strict`: nothing is spent that cannot be counted."""

    name: str
    most: int
    seconds: int
    is_strict: bool = False

    @property
    def each(self) -> int:
        """Microseconds in which one comes back."""
        return self.seconds * MICROSECONDS // self.most


class CannotCount(Exception):
    """Of a strict limit, while Redis is away. `wait`: seconds after which it is worth trying again."""

    def __init__(self, wait: int) -> None:
        super().__init__("what is spent cannot be counted")
        self.wait = wait


def spend(limit: Limit, visitor: str | None, count: int = 1) -> int:
    """Takes one, or so many: 0 when the visitor may go on, else the seconds after which he may. Raises CannotCount."""
    return _buckets.take(limit, visitor, count * limit.each)


def give_back(limit: Limit, visitor: str | None) -> None:
    """What was taken only in case."""
    _buckets.take(limit, visitor, -limit.each)


def settle(limit: Limit, visitor: str | None, *, spent: int, cost: int) -> None:
    """Correct what was spent to what it cost, which may leave the visitor in debt."""
    if cost != spent:
        _buckets.take(limit, visitor, (cost - spent) * limit.each, is_forced=True)


def spend_here(limit: Limit, visitor: str | None) -> int:
    """In this process alone, without a question to Redis: for where nothing may wait."""
    return _seconds(_take_here(limit, _key(limit, visitor), limit.each))


class _Buckets:
    """In Redis, and in this process while that is away: asking it again each time would take time."""

    PAUSE_SECONDS = 10.0

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until = float("-inf")

    def take(self, limit: Limit, visitor: str | None, cost: int, *, is_forced: bool = False) -> int:
        key, shared = _key(limit, visitor), caches["default"]
        if isinstance(shared, RedisCache):
            if self._clock() >= self._until:
                try:
                    return _seconds(_take_shared(shared, limit, key, cost, is_forced=is_forced))
                except redis_error() as error:
                    self._until = self._clock() + self.PAUSE_SECONDS
                    log.warning("The shared cache does not answer, so each process counts: %s", type(error).__name__)
            if limit.is_strict:
                raise CannotCount(max(1, ceil(self._until - self._clock())))
        return _seconds(_take_here(limit, key, cost, is_forced=is_forced))

    def resume(self) -> None:
        self._until = float("-inf")


def _key(limit: Limit, visitor: str | None) -> str:
    return f"spent:{limit.name}:{visitor or NOBODY_KNOWN}"


def _seconds(microseconds: int) -> int:
    return max(0, ceil(microseconds / MICROSECONDS))


def _now() -> int:
    return int(time.time() * MICROSECONDS)


def _take_shared(shared: RedisCache, limit: Limit, key: str, cost: int, *, is_forced: bool) -> int:
    client: Any = shared._cache.get_client(write=True)  # Django has no word for scripts
    script = client.register_script(TAKE)
    arguments = [_now(), cost, limit.seconds * MICROSECONDS, int(is_forced)]
    return int(script(keys=[shared.make_key(key)], args=arguments))


def _take_here(limit: Limit, key: str, cost: int, *, is_forced: bool = False) -> int:
    """As `TAKE`. The cache is bounded: a flood of addresses drives buckets out, which are full again then."""
    counts, now = caches["own"], _now()
    with _lock:
        full_at = max(counts.get(key, 0), now) + cost
        wait: int = full_at - now - limit.seconds * MICROSECONDS
        if wait <= 0 or is_forced:
            counts.set(key, full_at, max(limit.seconds, _seconds(full_at - now)) + 1)
    return wait


_lock = threading.Lock()
_buckets = _Buckets()
