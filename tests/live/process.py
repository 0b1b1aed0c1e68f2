"""Live updates in their own process, for tests that need several: `gunicorn tests.live.process:application`.

LIVE_SERVICE and LIVE_REDIS are the URLs of the service and Redis. The fragment is the receipt's status. Any other path
returns the numbers of polled intents and open streams.
"""

import os
from typing import Any

from intents_ui.live.bus import RedisBus
from intents_ui.live.hub import Hub
from intents_ui.live.snapshot import Snapshot
from intents_ui.live.stream import Limits, Streams
from intents_ui.ops import lifecycle
from intents_ui.service.client import ServiceClient
from intents_ui.service.operations import ServiceConfig
from intents_ui.web.shared_responses import SignedValues

service = ServiceClient(ServiceConfig(os.environ["LIVE_SERVICE"]))
redis_url = os.environ.get("LIVE_REDIS")
bus = RedisBus(redis_url, names=service.config.names, signed=SignedValues("test", key="test")) if redis_url else None
hub = Hub(service, bus)
padding = "x" * int(os.environ.get("LIVE_PADDING", "0"))


def render(snapshot: Snapshot) -> str:
    return f"<p>{snapshot.receipt.status if snapshot.receipt else ''}</p>{padding}"


streams = Streams(
    hub,
    render,
    fallback=lambda intent_id: f'<p hx-get="/intent/{intent_id}/receipt">',
    client_of=lambda scope: None,
    stopping=lifecycle.is_stopping,
    limits=Limits(streams=int(os.environ.get("LIVE_STREAMS", "2500"))),
)


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await streams.aclose()
        await hub.aclose()
        await service.aclose()
        await send({"type": "lifespan.shutdown.complete"})
    elif scope["path"].startswith("/live/"):
        await streams(scope, receive, send)
    else:
        polled = sum(watch.is_leading for watch in hub.watched.values())
        body = f"{polled} {len(streams.open)}".encode()
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})
