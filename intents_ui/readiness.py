"""`/readyz`: whether this process should be sent readers, and what it knows of what stands behind it.

It should while it can make pages and is not about to end. A service that is away is no reason against it: every process
would leave the balancer at once, and nobody would see the last known pages and the words about what is wrong. Nor is
Redis: without it each process asks and counts for itself.
"""

import asyncio
import json
import logging
import time
from functools import cache
from typing import Any

from django.template import TemplateDoesNotExist, TemplateSyntaxError
from django.template.loader import get_template

from intents_ui import lifecycle, wiring
from intents_ui.service import long_tasks
from intents_ui.service.health import Standing
from intents_ui.service.redis_errors import trouble
from intents_ui.settings import ENV

log = logging.getLogger(__name__)

# With what they import they are most of what a reader sees; the others are no different.
TEMPLATES = ("home.html", "intent.html", "history.html", "failure.html")
REDIS_SECONDS = 2.0  # for which its last answer counts: whoever asks us does not make us ask
PATIENCE = 1.0


class RedisWatch:
    """Whether Redis answers. For one event loop."""

    def __init__(self, url: str) -> None:
        from redis.asyncio import Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        self._redis: Redis = Redis.from_url(
            url, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE, retry=Retry(NoBackoff(), 0)
        )
        self._lock = asyncio.Lock()
        self._looked_at = float("-inf")
        self._answers = False

    async def answers(self) -> bool:
        async with self._lock:
            if time.monotonic() - self._looked_at > REDIS_SECONDS:
                try:
                    self._answers = bool(await self._redis.ping())
                except trouble():
                    self._answers = False
                self._looked_at = time.monotonic()
            return self._answers

    async def aclose(self) -> None:
        await self._redis.aclose()


@cache
def redis_watch() -> RedisWatch | None:
    return RedisWatch(str(ENV.redis_url)) if ENV.redis_url else None


async def redis_answers() -> bool | None:
    """None: there is none to answer."""
    watch = redis_watch()
    return await watch.answers() if watch else None


async def aclose() -> None:
    watch = redis_watch()
    if watch:
        await watch.aclose()


async def report(*, in_detail: bool) -> tuple[bool, bytes]:
    """Whether this process is ready, as JSON; `in_detail`: with what is known, for those who run it."""
    loaded, stopping = await templates_load(), lifecycle.is_stopping()
    ready = loaded and not stopping
    told: dict[str, Any] = {"ready": ready, "stopping": stopping}
    if in_detail:
        told |= await detail(templates=loaded)
    return ready, json.dumps(told).encode() + b"\n"


async def detail(*, templates: bool) -> dict[str, Any]:
    return {
        "templates": templates,
        "redis": await redis_answers(),
        "tasks": of_tasks(),
        "service": of_service(wiring.health().standing()),
    }


def of_service(standing: Standing) -> dict[str, Any]:
    """What questions of readers have shown. None is asked for this."""
    return {
        "state": standing.state,
        "answered_seconds_ago": _rounded(standing.answered),
        "failed_seconds_ago": _rounded(standing.failed),
        "in_trouble_for_seconds": _rounded(standing.in_trouble),
        "typical_ms": None if standing.typical is None else round(standing.typical * 1000, 1),
    }


def of_tasks() -> dict[str, Any]:
    """The long-lived tasks that there are now, and those that broke off since the start."""
    ages = long_tasks.ages()
    return {
        name: {"beat_seconds_ago": _rounded(ages.get(name)), "restarts": long_tasks.restarts[name]}
        for name in sorted(ages.keys() | long_tasks.restarts.keys())
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
    """Once they are there they stay; until then each look tries."""
    for name in TEMPLATES:
        get_template(name)
