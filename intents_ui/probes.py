"""`/healthz`, `/readyz` and `/metrics`, which respond at once, without a thread, under any host name.

A process is ready until it shuts down. An outage of the service doesn't count: all processes would leave the load
balancer at once, and users would lose cached pages and the explanation. Nor does an outage of Redis, without which each
process sends its own requests and counts by itself.
"""

import asyncio
import json
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST

from intents_ui import app
from intents_ui.http import client_ip
from intents_ui.http.headers import host_of, is_for_us, send_response, send_text, without_body
from intents_ui.installation import version
from intents_ui.live.stream import Message, Send
from intents_ui.ops import lifecycle, metrics
from intents_ui.service.redis import redis_client, redis_errors
from intents_ui.settings import ENV, is_address
from intents_ui.web.mirror import mirror_coverage, open_incidents

PATHS = frozenset({"/healthz", "/readyz", "/metrics"})


async def respond(scope: Message, send: Send) -> None:
    if scope["method"] == "HEAD":
        send = without_body(send)
    match scope["path"]:
        case _ if scope["method"] not in ("GET", "HEAD"):
            await send_text(send, 405, "Method not allowed.", Allow="GET, HEAD")
        case "/healthz":
            await send_text(send, 200, "ok")
        case "/readyz":
            ready, body = await asyncio.to_thread(readiness, in_detail=may_read_metrics(scope))
            await send_response(send, 200 if ready else 503, body, {"Content-Type": "application/json"})
        case "/metrics" if may_read_metrics(scope):
            await update_gauges()
            body = await asyncio.to_thread(metrics_text)
            await send_response(send, 200, body, {"Content-Type": CONTENT_TYPE_LATEST})
        case _:
            await send_text(send, 403, "Forbidden. Allowed networks: INTENTS_METRICS.")


def may_read_metrics(scope: Message) -> bool:
    """Return whether the client may read metrics.

    The host may also be an IP address, as scrapers use. A rebound DNS name may not.
    """
    return (is_for_us(scope) or is_address(host_of(scope).strip("[]"))) and client_ip.may_read_figures(scope)


async def keep_sampling() -> None:
    while True:
        await update_gauges()
        await asyncio.sleep(metrics.EVERY_SECONDS)


def metrics_text() -> bytes:
    """Return the metrics, with the mirror's if there is one whose database can be read."""
    known = mirror_coverage()
    incidents = open_incidents() if known else None
    return metrics.text(metrics.MirrorCollector(known, incidents) if known and incidents is not None else None)


async def update_gauges() -> None:
    metrics.exports.set(app.current().exports.held)
    metrics.in_progress.set(app.current().requests_in_hand.held)
    metrics.sample(app.current().service.health.status(), redis=await asyncio.to_thread(redis_answers))


def redis_answers() -> bool | None:
    """Return whether Redis responds, or None without Redis."""
    if not ENV.redis_url:
        return None
    try:
        with redis_client(str(ENV.redis_url)) as redis:
            return bool(redis.ping())
    except redis_errors():
        return False


def readiness(*, in_detail: bool) -> tuple[bool, bytes]:
    """Return whether this process is ready, and the report as JSON. `in_detail` adds the state of its dependencies."""
    stopping = lifecycle.is_stopping()
    report: dict[str, Any] = {"ready": not stopping, "stopping": stopping}
    if in_detail:
        service = app.current().service.health.status()  # as seen by users' requests
        seconds = {
            "last_response_seconds_ago": service.answered,
            "last_failure_seconds_ago": service.failed,
            "degraded_for_seconds": service.degraded_for,
            "median_ms": None if service.typical is None else service.typical * 1000,
        }
        rounded = {name: None if value is None else round(value, 1) for name, value in seconds.items()}
        report |= {
            "version": version(),
            "redis": redis_answers(),
            "service": {"state": service.state, **rounded},
        }
    return not stopping, json.dumps(report).encode() + b"\n"
