"""Start and shutdown of the process, as ASGI's lifespan."""

import logging
import threading

from django.urls import resolve

from intents_ui import app
from intents_ui.http import probes
from intents_ui.http.messages import Receive, Send
from intents_ui.ops import sentry

log = logging.getLogger(__name__)


async def run(receive: Receive, send: Send) -> None:
    """Load what the first request needs, and close the process's objects after the last."""
    await receive()
    try:
        sentry.begin()
        threading.Thread(target=load_names, name="names", daemon=True).start()  # the start doesn't wait for the service
        resolve("/")  # loads the URLs and their pages, which would delay the first request
        sampling = probes.start_sampling()
    except Exception as error:
        await send({"type": "lifespan.startup.failed", "message": str(error)})
        raise
    await send({"type": "lifespan.startup.complete"})
    await receive()
    if sampling:
        sampling.cancel()
    await app.current().aclose()
    await send({"type": "lifespan.shutdown.complete"})


def load_names() -> None:
    try:
        app.current().catalog.warm()
    except Exception:
        log.warning("Chain and token names were not loaded at startup", exc_info=True)
