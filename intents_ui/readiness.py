"""`/readyz`: whether this process should receive traffic, and the state of its dependencies.

It is ready if it can render pages and isn't shutting down. An outage of the service doesn't count: all processes would
leave the load balancer at once, and users would lose cached pages and the explanation. Nor does an outage of Redis,
without which each process sends its own requests and counts by itself.
"""

import asyncio
import json
import logging
import time
from functools import cache
from typing import Any

from django.template import TemplateDoesNotExist, TemplateSyntaxError
from django.template.loader import get_template

from intents_ui import wiring
from intents_ui.service.redis import redis_errors
from intents_ui.service.results import ServiceStatus
from intents_ui.settings import ENV

log = logging.getLogger(__name__)

# With their imports these cover most of what users see.
TEMPLATES = ("home.html", "transfers/intent.html", "lists/history.html", "failure.html")
REDIS_SECONDS = 2.0  # TTL of the last check, so that requests to `/readyz` don't each cause one
PATIENCE = 1.0


class RedisWatch:
    """Health check for Redis, for one event loop."""

    def __init__(self, url: str) -> None:
        from redis.asyncio import Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        self._redis: Redis = Redis.from_url(
            url, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE, retry=Retry(NoBackoff(), 0)
        )
        self._lock = asyncio.Lock()
        self._checked_at = float("-inf")
        self._answers = False

    async def answers(self) -> bool:
        async with self._lock:
            if time.monotonic() - self._checked_at > REDIS_SECONDS:
                try:
                    self._answers = bool(await self._redis.ping())
                except redis_errors():
                    self._answers = False
                self._checked_at = time.monotonic()
            return self._answers

    async def aclose(self) -> None:
        await self._redis.aclose()


@wiring.once
def redis_watch() -> RedisWatch | None:
    return RedisWatch(str(ENV.redis_url)) if ENV.redis_url else None


async def redis_answers() -> bool | None:
    """Return whether Redis responds, or None without Redis."""
    watch = redis_watch()
    return await watch.answers() if watch else None


async def aclose() -> None:
    watch = redis_watch()
    if watch:
        await watch.aclose()


async def report(*, in_detail: bool) -> tuple[bool, bytes]:
    """Return whether this process is ready, and the report as JSON. `in_detail` adds the state of its dependencies."""
    loaded, stopping = await templates_load(), wiring.lifecycle().is_stopping()
    ready = loaded and not stopping
    status: dict[str, Any] = {"ready": ready, "stopping": stopping}
    if in_detail:
        service = of_service(wiring.service().health.status())
        status |= {"templates": loaded, "redis": await redis_answers(), "service": service}
    return ready, json.dumps(status).encode() + b"\n"


def of_service(standing: ServiceStatus) -> dict[str, Any]:
    """Return the service's health as seen by users' requests. Sends none."""
    return {
        "state": standing.state,
        "last_response_seconds_ago": _rounded(standing.answered),
        "last_failure_seconds_ago": _rounded(standing.failed),
        "degraded_for_seconds": _rounded(standing.in_trouble),
        "median_ms": None if standing.typical is None else round(standing.typical * 1000, 1),
    }


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)


async def templates_load() -> bool:
    try:
        await asyncio.to_thread(load_templates)
    except (TemplateDoesNotExist, TemplateSyntaxError):
        log.exception("The templates cannot be loaded")
        return False
    return True


@cache
def load_templates() -> None:
    """Load the templates. A success is cached, a failure is retried at the next check."""
    for name in TEMPLATES:
        get_template(name)
