"""What answers a request: Django's views in a thread or as async views, and the prerendered rejections.

- Long responses (`marks.streams`) are async views, because they have to end when the client disconnects, which WSGI
  doesn't notice. Raw calls are async too, in a thread of their own, because the service may hold them for longer than a
  page may take.
- All other views are synchronous and run in a thread.

Each kind has its own concurrency limit, of which a client address gets a quarter.
"""

import asyncio
import contextlib
import io
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final, Literal

from a2wsgi import WSGIMiddleware
from asgiref.sync import AsyncToSync
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.wsgi import WSGIHandler

from intents_ui import wiring
from intents_ui.middleware import marks, request_limits
from intents_ui.middleware.failures import Failure
from intents_ui.middleware.request_limits import ConcurrencyLimiter
from intents_ui.ops import metrics
from intents_ui.server.messages import App, Message, Send, query_of
from intents_ui.service.context import processor, request_context

PAGE_THREADS = 64  # most wait for the service, up to INTENTS_MAX_WAITING_PAGES of them
DJANGO: Final = WSGIHandler()


def page(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    with processor.computing(request_context.visitor()), wiring.page():
        return DJANGO(environ, start_response)


PAGES: Final[App] = WSGIMiddleware(page, workers=PAGE_THREADS)  # type: ignore[arg-type, assignment]


class LongAnswers(ASGIHandler):
    """Django handler for async views, with a fix for disconnected clients.

    On cancellation, asgiref leaves a reference to the middleware's finished thread behind. Django would use it to
    signal the end of the request, which raises RuntimeError.
    """

    async def run_get_response(self, request: Any) -> Any:
        with without_thread_left():
            return await super().run_get_response(request)

    async def send_response(self, response: Any, send: Any) -> None:
        with without_thread_left():
            await super().send_response(response, send)


@contextlib.contextmanager
def without_thread_left() -> Iterator[None]:
    try:
        yield
    except asyncio.CancelledError:
        if hasattr(AsyncToSync.executors, "current"):
            del AsyncToSync.executors.current
        raise


LONG_ANSWERS: Final[App] = LongAnswers()  # type: ignore[assignment]


@wiring.once
def page_limiter() -> ConcurrencyLimiter:
    return ConcurrencyLimiter(settings.ENV.intents_max_requests)


@wiring.once
def file_limiter() -> ConcurrencyLimiter:
    """Return the limiter of static files, which are fast, and of which a browser requests many at once."""
    return ConcurrencyLimiter(2 * settings.ENV.intents_max_requests)


@wiring.once
def long_limiter() -> ConcurrencyLimiter:
    """Return the limiter of long responses, so that slow downloads don't block pages."""
    return ConcurrencyLimiter(settings.ENV.intents_max_requests)


def in_progress() -> int:
    """Return the number of requests in progress, without streams."""
    return sum(limiter().inside for limiter in (page_limiter, file_limiter, long_limiter))


def handled_by(scope: Message) -> tuple[App, ConcurrencyLimiter]:
    if is_long(scope):
        return LONG_ANSWERS, long_limiter()
    return PAGES, file_limiter() if is_file(scope) else page_limiter()


def is_file(scope: Message) -> bool:
    return marks.outside(scope["path"]) == "static"


def is_long(scope: Message) -> bool:
    return marks.of_path(scope["path"]).streams(scope["method"], query_of(scope))


def leaving(place: request_limits.RequestSlot, send: Send, *, with_first: bool) -> Send:
    """Free the slot once the response is complete, however slowly the client reads it.

    A page is complete with its first chunk.
    """

    async def send_and_leave(message: Message) -> None:
        if message["type"] == "http.response.body" and (with_first or not message.get("more_body", False)):
            place.leave()
        await send(message)

    return send_and_leave


async def turn_away(scope: Message, send: Send, failure: Failure) -> None:
    """Reject the request at once, without a thread, with a prerendered page."""
    metrics.rejected_at_ingress.inc()
    is_partial = (b"hx-request-type", b"partial") in scope["headers"]
    is_json = scope["path"].endswith((".json", ".ndjson"))
    status, response_headers, body = refusal("json" if is_json else "partial" if is_partial else "page", failure)
    await send({"type": "http.response.start", "status": status, "headers": response_headers})
    await send({"type": "http.response.body", "body": body})


@cache
def refusal(kind: Literal["page", "partial", "json"], failure: Failure) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
    """Render the rejection with Django, so that it is a complete page."""
    started: list[Any] = []
    environ = {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": "/busy.json" if kind == "json" else "/",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "443",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.url_scheme": "https",
        "wsgi.input": io.BytesIO(),
        "wsgi.errors": sys.stderr,
        "asgi.scope": {request_limits.REFUSED: failure},
    }
    if kind == "partial":
        environ["HTTP_HX_REQUEST_TYPE"] = "partial"

    def start(line: str, fields: list[tuple[str, str]], *_: Any) -> Any:
        started.extend([line, fields])

    body = b"".join(DJANGO(environ, start))
    line, fields = started
    return int(line.split()[0]), [(name.lower().encode(), value.encode()) for name, value in fields], body
