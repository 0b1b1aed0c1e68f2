"""Token bucket of each client, in units of calls to the service.

A bucket is stored as one number, the time at which it is full. Processes share the buckets in Redis. Without Redis, or
while it is down, each process counts by itself, so that a limit neither fails a page nor is lifted.
"""

import threading
import time
from dataclasses import dataclass
from math import ceil
from typing import Final

from cachetools import LRUCache
from django.conf import settings
from django.http import HttpRequest

from intents_ui.http import client_ip
from intents_ui.service.redis import RedisGuard, redis_client
from intents_ui.settings import ENV

PAGE: Final = 1
SEARCH: Final = 6  # also for an identifier in a ticket, an export, a raw call: usually several calls to the service
TOKEN: Final = 20  # for comparing an operator token
SECONDS: Final = 120  # in which an empty bucket fills
BUCKETS_HELD: Final = 20_000  # in memory. One that is evicted is full again
MICROSECONDS: Final = 1_000_000

# Times are in microseconds: integers that Lua's floats represent exactly. Passed in, so that tests can control the
# clock.
CONSUME: Final = """
local full_at = math.max(tonumber(redis.call('GET', KEYS[1])) or 0, tonumber(ARGV[1])) + tonumber(ARGV[2])
local left = tonumber(ARGV[1]) + tonumber(ARGV[3]) - full_at
if left >= 0 then redis.call('SET', KEYS[1], string.format('%.0f', full_at), 'PX', tonumber(ARGV[3]) / 1000) end
return left
"""


@dataclass(frozen=True)
class Quota:
    """A client's units: the `capacity` of its bucket and what is `left` in it.

    `wait`: seconds until the requested units are available, 0 if they were taken.
    """

    capacity: int
    left: int
    wait: int

    @property
    def reset(self) -> int:
        """Seconds until the request is allowed or, if it was, until the bucket is full."""
        return self.wait or ceil((self.capacity - self.left) * SECONDS / self.capacity)


def units(client: str) -> int:
    """Return how many units a client's full bucket has."""
    token = next((each for each in ENV.api_tokens if client == client_ip.name_of(each)), None)
    return (token.limit if token else ENV.intents_rate_pages * 60) * SECONDS // 60


class RateLimiter:
    """The buckets of all clients. Thread-safe."""

    def __init__(self, redis_url: str | None, guard: RedisGuard) -> None:
        self._script = redis_client(redis_url).register_script(CONSUME) if redis_url else None
        self._guard = guard
        self._full_at: LRUCache[str, int] = LRUCache(BUCKETS_HELD)  # in memory
        self._lock = threading.Lock()

    def charge(self, request: HttpRequest, cost: int, *, exempts_this_machine: bool = True) -> int:
        """Charge a request this many units in total, less what it has paid.

        Return the seconds to wait, 0 if it may go on. A full bucket is always enough, so that no request is impossible.
        """
        client = client_ip.of(request)
        if client is None and exempts_this_machine:
            return 0
        client = client or client_ip.THIS_MACHINE
        paid: int = vars(request).get("units_paid", 0)
        extra = min(cost, units(client)) - paid
        if extra <= 0:
            return 0
        quota = self.consume(client, extra)
        vars(request)["quota"] = quota  # as Django's middleware adds `user`
        if not quota.wait:
            vars(request)["units_paid"] = paid + extra
        return quota.wait

    def consume(self, client: str, cost: int) -> Quota:
        """Take units of a client's bucket, all of these or none."""
        capacity = units(client)
        unit = SECONDS * MICROSECONDS // capacity
        left = self._left(client, cost * unit)
        if left < 0:
            return Quota(capacity, left // unit + cost, ceil(-left / MICROSECONDS))
        return Quota(capacity, left // unit, 0)

    def consume_here(self, client: str | None, cost: int = PAGE) -> int:
        """Take units in this process's memory, where waiting for Redis isn't an option. Returns the seconds to wait."""
        if client is None:
            return 0
        left = self._left_here(client, _now(), cost * SECONDS * MICROSECONDS // units(client))
        return max(0, ceil(-left / MICROSECONDS))

    def _left(self, client: str, cost: int) -> int:
        """Return the microseconds in which as many units refill as are left, below 0 those to wait for."""
        script, now = self._script, _now()
        if script:
            keys, arguments = [f"intents-ui:{settings.OWNER}:spent:{client}"], [now, cost, SECONDS * MICROSECONDS]
            left = self._guard.call(lambda: int(script(keys=keys, args=arguments)))
            if left is not None:
                return left
        return self._left_here(client, now, cost)

    def _left_here(self, client: str, now: int, cost: int) -> int:
        """The same as `CONSUME`."""
        with self._lock:
            full_at = max(self._full_at.get(client, 0), now) + cost
            left = now + SECONDS * MICROSECONDS - full_at
            if left >= 0:
                self._full_at[client] = full_at
        return left


def _now() -> int:
    return int(time.time() * MICROSECONDS)
