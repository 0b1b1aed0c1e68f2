"""The dashboard with an extra `/figures` endpoint for what can't be counted from outside of the process."""

import asyncio
import json
import threading
from collections import Counter
from typing import Any

from intents_ui import app, asgi


def tasks() -> int:
    """Return the number of tasks, without gunicorn's, of which there is one for each open connection."""
    return sum("ASGIProtocol" not in repr(task) for task in asyncio.all_tasks())


def threads() -> dict[str, int]:
    """Return the number of threads by name."""
    return dict(Counter(thread.name.rstrip("0123456789_-") for thread in threading.enumerate()))


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "http" and scope["path"] == "/figures":
        await send_figures(send)
    else:
        await asgi.application(scope, receive, send)


async def send_figures(send: Any) -> None:
    figures = {
        "tasks": tasks(),
        "threads": threads(),
        "streams": len(app.current().streams.open),
        "watched": len(app.current().hub.watched),
    }
    body = json.dumps(figures).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
