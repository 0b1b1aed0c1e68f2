"""The dashboard with an extra `/figures` endpoint for what can't be counted from outside of the process."""

import asyncio
import json
import threading
from collections import Counter
from typing import Any

from intents_ui import asgi


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] != "http" or scope["path"] != "/figures":
        await asgi.application(scope, receive, send)
        return
    # Without gunicorn's tasks, of which there is one for each open connection.
    tasks = sum("ASGIProtocol" not in repr(task) for task in asyncio.all_tasks())
    threads = Counter(thread.name.rstrip("0123456789_-") for thread in threading.enumerate())
    body = json.dumps({"tasks": tasks, "threads": threads}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
