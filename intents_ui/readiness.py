"""`/readyz`: whether this process should receive traffic, and the state of its dependencies.

It is ready if it can render pages and isn't shutting down. An outage of the service doesn't count: all processes would
leave the load balancer at once, and users would lose cached pages and the explanation. Nor does an outage of Redis,
without which each process sends its own requests and counts by itself.
"""

import json
import logging
from functools import cache
from typing import Any

from django.template import TemplateDoesNotExist, TemplateSyntaxError
from django.template.loader import get_template

from intents_ui import app
from intents_ui.service.redis import redis_errors
from intents_ui.service.results import ServiceStatus
from intents_ui.settings import ENV

log = logging.getLogger(__name__)

# With their imports these cover most of what users see.
TEMPLATES = ("home.html", "transfers/intent.html", "lists/history.html", "failure.html")
PATIENCE = 1.0  # seconds for Redis


def redis_answers() -> bool | None:
    """Return whether Redis responds, or None without Redis."""
    if not ENV.redis_url:
        return None
    from redis import Redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    timeouts = {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE}
    try:
        with Redis.from_url(str(ENV.redis_url), **timeouts, retry=Retry(NoBackoff(), 0)) as redis:
            return bool(redis.ping())
    except redis_errors():
        return False


def report(*, in_detail: bool) -> tuple[bool, bytes]:
    """Return whether this process is ready, and the report as JSON. `in_detail` adds the state of its dependencies."""
    loaded, stopping = templates_load(), app.current().lifecycle.is_stopping()
    ready = loaded and not stopping
    status: dict[str, Any] = {"ready": ready, "stopping": stopping}
    if in_detail:
        service = of_service(app.current().service.health.status())
        status |= {"templates": loaded, "redis": redis_answers(), "service": service}
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


def templates_load() -> bool:
    try:
        load_templates()
    except (TemplateDoesNotExist, TemplateSyntaxError):
        log.exception("The templates cannot be loaded")
        return False
    return True


@cache
def load_templates() -> None:
    """Load the templates. A success is cached, a failure is retried at the next check."""
    for name in TEMPLATES:
        get_template(name)
