"""Pages run in threads, and close their responses there, whatever happens to the client or the response."""

import asyncio
import gc
import io
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.signals import request_finished
from django.http import FileResponse, HttpRequest, StreamingHttpResponse
from django.template import TemplateDoesNotExist

from intents_ui import app, startup
from intents_ui.application import Pages
from tests.waiting import until

SCOPE = {"type": "http", "method": "POST", "scheme": "http", "path": "/", "query_string": b"", "headers": []}


@pytest.fixture
def finished() -> Iterator[list[str]]:
    """Yield the names of the threads in which a request ended."""
    threads: list[str] = []

    def note(**_: Any) -> None:
        threads.append(threading.current_thread().name)

    request_finished.connect(note)
    yield threads
    request_finished.disconnect(note)


def pages(view: Callable[[HttpRequest], Any]) -> Pages:
    """Return a handler with one view and no middleware."""
    made = Pages()
    made._middleware_chain = view
    return made


async def ask(handler: Pages, body: bytes = b"") -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await handler(dict(SCOPE), receive, send)
    return sent


async def test_a_response_that_fails_is_closed_and_nothing_is_sent(finished: list[str]) -> None:
    def content() -> Iterator[bytes]:
        yield b"first"
        raise OSError("the disk")

    with pytest.raises(OSError, match="the disk"):
        await ask(pages(lambda request: StreamingHttpResponse(content())))
    assert len(finished) == 1


async def test_a_page_whose_client_disconnected_is_finished_and_closed(
    finished: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    began, may_end, file = threading.Event(), threading.Event(), io.BytesIO(b"content")

    def view(request: HttpRequest) -> FileResponse:
        began.set()
        may_end.wait()
        return FileResponse(file)

    handler = pages(view)
    asked = asyncio.ensure_future(ask(handler))
    await asyncio.to_thread(began.wait)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    may_end.set()
    await asyncio.to_thread(until, lambda: app.current().executor.running == 0)
    assert file.closed
    assert len(finished) == 1
    gc.collect()
    assert "never retrieved" not in caplog.text  # a client that disconnects is not an error


async def test_a_process_whose_templates_do_not_load_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup, "load_names", lambda: None)
    monkeypatch.setattr(startup, "TEMPLATES", ("nowhere.html",))
    sent: list[str] = []

    async def receive() -> dict[str, str]:
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        sent.append(message["type"])

    with pytest.raises(TemplateDoesNotExist):
        await startup.lifespan(receive, send)
    assert sent == ["lifespan.startup.failed"]
