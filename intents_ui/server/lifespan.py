"""Start and shutdown of the process, as ASGI's lifespan."""

import asyncio

from django.urls import resolve

from intents_ui import wiring
from intents_ui.ops import sentry
from intents_ui.server import probes
from intents_ui.server.handlers import streams
from intents_ui.server.messages import Receive, Send


async def run(receive: Receive, send: Send) -> None:
    """Create long-lived objects before the first request, and close them after the last."""
    await receive()
    try:
        sentry.begin()
        wiring.open_all()
        resolve("/")  # loads the URLs and their pages, which would delay the first request
        sampling = probes.start_sampling()
    except Exception as error:
        await send({"type": "lifespan.startup.failed", "message": str(error)})
        raise
    await send({"type": "lifespan.startup.complete"})
    await receive()
    if sampling:
        sampling.cancel()
    await streams().aclose()
    await wiring.close_live()
    await asyncio.to_thread(wiring.current().close)
    await send({"type": "lifespan.shutdown.complete"})
