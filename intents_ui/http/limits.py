"""Limits on requests: size, rate and concurrency. Nothing here sends a request to the service.

Rates are counted per client in units of calls to the service, in a token bucket: not for static files, `/healthz` or
this machine. A bucket is stored as one number, the time at which it is full. Processes share the buckets in Redis.
Without Redis, or while it is down, each process counts by itself, so that a limit neither fails a page nor is lifted.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

from cachetools import LRUCache
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse

from intents_ui import app
from intents_ui.formatting import text
from intents_ui.http import api_access, client_ip, failures, marks
from intents_ui.http.failures import Failure, of_dashboard
from intents_ui.service.executor import LimitReason
from intents_ui.service.redis import RedisGuard, redis_client
from intents_ui.settings import ENV

log = logging.getLogger(__name__)

REQUESTS: Final = 512  # in hand: being received, waiting for a thread, running or being sent
BODY_BYTES: Final = 32 * 1024 * 1024  # of all requests in hand
BUSY_SECONDS: Final = 2
UNTRUSTED_PROXY: Final = "%s sends X-Forwarded-For but is not in TRUSTED_PROXIES; its clients share one rate limit"
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

    def consume(self, client: str, cost: int, *, is_shared: bool = True) -> Quota:
        """Take units of a client's bucket, all of these or none: of that in Redis if it `is_shared` and Redis is up."""
        capacity, now = units(client), int(time.time() * MICROSECONDS)
        unit = SECONDS * MICROSECONDS // capacity
        script, left = self._script, None
        if script and is_shared:
            keys = [f"intents-ui:{settings.OWNER}:spent:{client}"]
            arguments = [now, cost * unit, SECONDS * MICROSECONDS]
            left = self._guard.call(lambda: int(script(keys=keys, args=arguments)))
        if left is None:  # the same in memory
            with self._lock:
                full_at = max(self._full_at.get(client, 0), now) + cost * unit
                left = now + SECONDS * MICROSECONDS - full_at
                if left >= 0:
                    self._full_at[client] = full_at
        return Quota(capacity, left // unit + (cost if left < 0 else 0), ceil(max(0, -left) / MICROSECONDS))

    def consume_here(self, client: str | None, cost: int = PAGE) -> int:
        """Take units in memory, where waiting for Redis isn't an option. Returns the seconds to wait."""
        return 0 if client is None else self.consume(client, cost, is_shared=False).wait


class RateLimits:
    """Middleware that charges each request to its client, first as a page, then as what its view is.

    It says in the API's answers what is left, in the fields of draft-ietf-httpapi-ratelimit-headers-11.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if client_ip.is_behind_unnamed_proxy(request):
            log.warning(UNTRUSTED_PROXY, request.META.get("REMOTE_ADDR"), extra={"once": True})
        kilobytes = int(request.META.get("CONTENT_LENGTH") or 0) // 1024
        response = charged(request, max(PAGE, kilobytes)) or self.get_response(request)
        quota: Quota | None = vars(request).get("quota")
        if quota and request.path.startswith(api_access.API):
            response["RateLimit-Policy"] = f'"calls";q={quota.capacity};w={SECONDS}'
            response["RateLimit"] = f'"calls";r={quota.left};t={quota.reset}'
        return response

    def process_view(self, request: HttpRequest, view: Callable[..., Any], *_: object) -> HttpResponse | None:
        is_for_programs = request.path == api_access.MCP or request.path.startswith(api_access.API)
        if ENV.intents_api == "off" and is_for_programs:
            raise Http404("This URL doesn't exist.")
        found = marks.of_view(view)
        most = marks.BODY_SIZES[found.body]
        if int(request.META.get("CONTENT_LENGTH") or 0) > most:
            return rejection(request, too_large(most))
        return charged(request, SEARCH) if found.is_costly(request) else None


def charged(request: HttpRequest, cost: int) -> HttpResponse | None:
    """Charge a request. Returns its rejection if its client has too little left."""
    wait = app.current().rate_limiter.charge(request, cost)
    return rejection(request, too_many(client_ip.of(request), wait)) if wait else None


def rejection(request: HttpRequest, failure: Failure) -> HttpResponse:
    return failures.response_of(failure, request.path, request.headers)


def too_many(client: str | None, wait: int) -> Failure:
    is_token = client is not None and client.startswith(client_ip.API_CLIENT)
    pages = units(client) // 2 if client and is_token else ENV.intents_rate_pages
    words = {"units": text.counted(pages, "page"), "search": SEARCH, "wait": text.counted(wait, "second")}
    return of_dashboard("rate limit of a token" if is_token else "rate limit", words, retry_after=wait)


def too_large(most: int) -> Failure:
    return of_dashboard("too large", {"size": f"{most // 1024:,}"})


BUSY = of_dashboard("busy", retry_after=BUSY_SECONDS)
BEYOND_SHARE = of_dashboard("too many in progress", retry_after=BUSY_SECONDS)
LIMIT_ERRORS: Mapping[LimitReason | None, Failure] = {LimitReason.FULL: BUSY, LimitReason.SHARE: BEYOND_SHARE}
