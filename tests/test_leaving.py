"""Clients that disconnect during a long response."""

import asyncio
from typing import Any

from asgiref.current_thread_executor import CurrentThreadExecutor
from asgiref.sync import AsyncToSync
from django.core.handlers.asgi import ASGIHandler

from intents_ui.server import handlers


def test_a_dead_thread_is_not_asked_to_end_the_request(monkeypatch) -> None:
    """asgiref sometimes leaves such a thread behind after a cancellation."""
    began = asyncio.Event()

    async def made_elsewhere(*_: Any) -> None:
        left = CurrentThreadExecutor(None)
        left._broken = True
        AsyncToSync.executors.current = left
        began.set()
        await asyncio.Event().wait()

    messages = iter([{"type": "http.request", "body": b""}])

    async def receive() -> dict[str, Any]:
        if message := next(messages, None):
            return message
        await began.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        raise AssertionError("there is nobody")

    monkeypatch.setattr(ASGIHandler, "run_get_response", made_elsewhere)
    scope = {"type": "http", "method": "GET", "path": "/export/history.csv", "query_string": b"", "headers": []}
    asyncio.run(handlers.LONG_ANSWERS(scope, receive, send))
