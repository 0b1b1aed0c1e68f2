"""Token-bucket rate limiting per client address.

A bucket is stored as one number: the time at which it is full. Processes share buckets in Redis, otherwise each has its
own. While Redis is down, read limits are counted per process, so that a limit neither fails a page nor is lifted.
Strict limits (writes, guesses of the operator's token) reject requests instead, because each process would allow its
own quota.
"""

import threading
import time
from dataclasses import dataclass
from math import ceil
from typing import Any

from django.core.cache import caches
from django.core.cache.backends.redis import RedisCache

from intents_ui import wiring

# The shared bucket of clients without an address (a Unix socket without a proxy header).
NOBODY_KNOWN = "unknown"
MICROSECONDS = 1_000_000

# Times are in microseconds: integers that Lua's floats represent exactly. Passed in, so that tests can control the
# clock.
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
    """Rate limit: a burst of `most`, refilled within `seconds`.

    If `is_strict`, nothing is allowed while Redis is down.
    """

    name: str
    most: int
    seconds: int
    is_strict: bool = False

    @property
    def each(self) -> int:
        """Microseconds to refill one token."""
        return self.seconds * MICROSECONDS // self.most


@dataclass(frozen=True)
class Quota:
    """What is left of a limit. `wait`: seconds until a token is free, 0 if the request got one.

    `reset`: the same, or else seconds until all tokens are free.
    """

    limit: Limit
    left: int
    wait: int
    reset: int


class CannotCount(Exception):
    """A strict limit can't be counted while Redis is down. Retry after `wait` seconds."""

    def __init__(self, wait: int) -> None:
        super().__init__("what is spent cannot be counted")
        self.wait = wait


def spend(limit: Limit, visitor: str | None, count: int = 1) -> int:
    """Take tokens. Returns 0 if they were taken, or the seconds to wait. Raises CannotCount."""
    return _seconds(_take(limit, visitor, count * limit.each))


def take(limit: Limit, visitor: str | None) -> Quota:
    """Take a token if there is one, and return what is left. Raises CannotCount."""
    wait = _take(limit, visitor, limit.each)
    if wait > 0:
        return Quota(limit, left=0, wait=_seconds(wait), reset=_seconds(wait))
    return Quota(limit, left=-wait // limit.each, wait=0, reset=_seconds(wait + limit.seconds * MICROSECONDS))


def give_back(limit: Limit, visitor: str | None) -> None:
    """Return a token that wasn't needed."""
    _take(limit, visitor, -limit.each)


def settle(limit: Limit, visitor: str | None, *, spent: int, cost: int) -> None:
    """Adjust the tokens `spent` to the actual `cost`, which may leave the bucket negative."""
    if cost != spent:
        _take(limit, visitor, (cost - spent) * limit.each, is_forced=True)


def spend_here(limit: Limit, visitor: str | None) -> int:
    """Take a token from this process's own bucket, without Redis, where blocking isn't an option."""
    return _seconds(_take_here(limit, _key(limit, visitor), limit.each))


def _take(limit: Limit, visitor: str | None, cost: int, *, is_forced: bool = False) -> int:
    """Return the microseconds to wait. Below 0: the time in which as many tokens refill as are left."""
    key, shared = _key(limit, visitor), caches["default"]
    if isinstance(shared, RedisCache):
        guard = wiring.redis_guard()
        wait = guard.call(lambda: _take_shared(shared, limit, key, cost, is_forced=is_forced))
        if wait is not None:
            return wait
        if limit.is_strict:
            raise CannotCount(max(1, ceil(guard.seconds_paused)))
    return _take_here(limit, key, cost, is_forced=is_forced)


def _key(limit: Limit, visitor: str | None) -> str:
    return f"spent:{limit.name}:{visitor or NOBODY_KNOWN}"


def _seconds(microseconds: int) -> int:
    return max(0, ceil(microseconds / MICROSECONDS))


def _now() -> int:
    return int(time.time() * MICROSECONDS)


def _take_shared(shared: RedisCache, limit: Limit, key: str, cost: int, *, is_forced: bool) -> int:
    client: Any = shared._cache.get_client(write=True)  # Django's cache API has no scripts
    script = client.register_script(TAKE)
    arguments = [_now(), cost, limit.seconds * MICROSECONDS, int(is_forced)]
    return int(script(keys=[shared.make_key(key)], args=arguments))


@wiring.once
def _lock() -> threading.Lock:
    return threading.Lock()


def _take_here(limit: Limit, key: str, cost: int, *, is_forced: bool = False) -> int:
    """The same as `TAKE`, in memory.

    The cache is bounded, so a flood of addresses evicts buckets, which are full again then.
    """
    counts, now = caches["own"], _now()
    with _lock():
        full_at = max(counts.get(key, 0), now) + cost
        wait: int = full_at - now - limit.seconds * MICROSECONDS
        if wait <= 0 or is_forced:
            counts.set(key, full_at, max(limit.seconds, _seconds(full_at - now)) + 1)
    return wait
