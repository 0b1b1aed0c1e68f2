"""`/healthz`, `/readyz` and `/metrics`, which respond at once, without a thread, under any host name."""

import asyncio

from prometheus_client import CONTENT_TYPE_LATEST

from intents_ui import app, readiness
from intents_ui.live.tasks import restart_forever
from intents_ui.ops import metrics
from intents_ui.server.messages import Message, Send, send_response, send_text, without_body
from intents_ui.server.requests import host_of, is_for_us
from intents_ui.settings import is_address
from intents_ui.web import client_ip
from intents_ui.web.mirror import mirror_coverage, open_incidents

PATHS = frozenset({"/healthz", "/readyz", "/metrics"})


async def respond(scope: Message, send: Send) -> None:
    """Respond to health checks and scrapers."""
    if scope["method"] == "HEAD":
        send = without_body(send)
    match scope["path"]:
        case _ if scope["method"] not in ("GET", "HEAD"):
            await send_text(send, 405, "Method not allowed.", Allow="GET, HEAD")
        case "/healthz":
            await send_text(send, 200, "ok")
        case "/readyz":
            ready, body = await asyncio.to_thread(readiness.report, in_detail=may_read_metrics(scope))
            await send_response(send, 200 if ready else 503, body, {"Content-Type": "application/json"})
        case "/metrics" if may_read_metrics(scope):
            await update_gauges()
            body = await asyncio.to_thread(lambda: metrics.text(mirror_figures()))
            await send_response(send, 200, body, {"Content-Type": CONTENT_TYPE_LATEST})
        case _:
            await send_text(send, 403, "Forbidden. Allowed networks: INTENTS_METRICS.")


def may_read_metrics(scope: Message) -> bool:
    """Return whether the client may read metrics.

    The host may also be an IP address, as scrapers use. A rebound DNS name may not.
    """
    return (is_for_us(scope) or is_address(host_of(scope).strip("[]"))) and client_ip.may_read_figures(scope)


def start_sampling() -> asyncio.Task[None] | None:
    """Update the sampled metrics regularly, if another process may answer a scrape. Needs the event loop."""

    async def keep_sampling() -> None:
        while True:
            await update_gauges()
            await asyncio.sleep(metrics.EVERY_SECONDS)

    return asyncio.create_task(restart_forever(keep_sampling, name="metrics")) if metrics.IS_SHARED else None


def mirror_figures() -> metrics.MirrorCollector | None:
    """Return the mirror's figures. None without a mirror, or if its database can't be read."""
    known = mirror_coverage()
    incidents = open_incidents() if known else None
    return metrics.MirrorCollector(known, incidents) if known and incidents is not None else None


async def update_gauges() -> None:
    """Update the metrics that are sampled."""
    metrics.exports.set(app.current().exports.held)
    metrics.in_progress.set(app.current().requests_in_hand.held)
    metrics.sample(app.current().service.health.status(), redis=await asyncio.to_thread(readiness.redis_answers))
