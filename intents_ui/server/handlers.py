"""What answers a request: Django's views in a thread or as async views, and the prerendered rejections.

- Long responses (`marks.streams`) are async views, because they have to end when the client disconnects, which a
  thread doesn't notice. Raw calls are async too, in a thread of their own, because the service may hold them for
  longer than a page may take.
- All other views are synchronous and run in a thread.

Each kind has its own concurrency limit, of which a client address gets a quarter.
"""

import asyncio
import contextlib
import contextvars
import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Final, Literal, NamedTuple

from asgiref.sync import AsyncToSync
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler, ASGIRequest, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.core.signals import request_started
from django.urls import set_script_prefix

from intents_ui import api, mcp, wiring
from intents_ui.live.stream import Limits, Streams
from intents_ui.middleware import access_log, marks, request_limits, security_headers
from intents_ui.middleware.failures import Failure
from intents_ui.middleware.request_limits import ConcurrencyLimiter
from intents_ui.ops import metrics
from intents_ui.pages import intent as intent_page
from intents_ui.server.messages import App, Message, Receive, Send, query_of, replay
from intents_ui.server.requests import Refused, read_body
from intents_ui.service.context import request_context, shares
from intents_ui.web import client_ip

PAGE_THREADS = 64  # most wait for the service, up to `wiring.WAITING_PAGES` of them
REQUESTS = 64  # of each kind at a time


class Answer(NamedTuple):
    """A whole response, as ASGI sends it."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes

    async def send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body})


class Pages(BaseHandler):
    """Django handler for synchronous views.

    A thread makes the whole response, and hands it over to the event loop at once. Each more hand-over would wake up
    both of them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.load_middleware()
        self._threads = ThreadPoolExecutor(PAGE_THREADS, thread_name_prefix="page")

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        # `requests.read_body` has read it whole, unless the request was refused.
        body = b"" if request_limits.REFUSED in scope else (await receive())["body"]
        within = contextvars.copy_context()
        answer = await asyncio.get_running_loop().run_in_executor(self._threads, within.run, self.page, scope, body)
        await answer.send(send)

    def page(self, scope: Message, body: bytes = b"") -> Answer:
        with shares.computing(request_context.visitor()), wiring.page():
            return self.answer(scope, body)

    def answer(self, scope: Message, body: bytes = b"") -> Answer:
        set_script_prefix(get_script_prefix(scope))
        request_started.send(sender=self.__class__, scope=scope)
        response = self.get_response(ASGIRequest(scope, io.BytesIO(body)))
        response._handler_class = self.__class__  # type: ignore[attr-defined]  # sender of `request_finished`
        try:
            fields = [*response.items(), *(("Set-Cookie", each.OutputString()) for each in response.cookies.values())]
            headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in fields]
            return Answer(response.status_code, headers, b"".join(response))
        finally:
            response.close()


PAGES: Final = Pages()


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
    return ConcurrencyLimiter(REQUESTS)


@wiring.once
def file_limiter() -> ConcurrencyLimiter:
    """Return the limiter of static files, which are fast, and of which a browser requests many at once."""
    return ConcurrencyLimiter(2 * REQUESTS)


@wiring.once
def long_limiter() -> ConcurrencyLimiter:
    """Return the limiter of long responses, so that slow downloads don't block pages."""
    return ConcurrencyLimiter(REQUESTS)


def in_progress() -> int:
    """Return the number of requests in progress, without streams."""
    return sum(limiter().inside for limiter in (page_limiter, file_limiter, long_limiter))


def handled_by(scope: Message) -> tuple[App, ConcurrencyLimiter]:
    if is_long(scope):
        return LONG_ANSWERS, long_limiter()
    return PAGES, file_limiter() if marks.outside(scope["path"]) == "static" else page_limiter()


def is_long(scope: Message) -> bool:
    return marks.of_path(scope["path"]).streams(scope["method"], query_of(scope))


def leaving(place: request_limits.RequestSlot, send: Send) -> Send:
    """Free the slot once the response is complete, however slowly the client reads it."""

    async def send_and_leave(message: Message) -> None:
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            place.leave()
        await send(message)

    return send_and_leave


async def turn_away(scope: Message, send: Send, failure: Failure) -> None:
    """Reject the request at once, without a thread, with a prerendered page."""
    metrics.rejected_at_ingress.inc()
    path: str = scope["path"]
    if path.startswith(api.PATHS):
        answer = refusal("problem", failure, origin=allowed_origin(scope))
    elif path == mcp.PATH:
        answer = refusal("rpc", failure)
    elif path.endswith((".json", ".ndjson")):
        answer = refusal("json", failure)
    else:
        is_partial = (b"hx-request-type", b"partial") in scope["headers"]
        answer = refusal("partial" if is_partial else "page", failure)
    await answer.send(send)


def allowed_origin(scope: Message) -> str:
    """Return the origin whose page sent the request, if it may read the answer. Else nothing."""
    allowed = settings.ENV.intents_api_origins
    sent = [str(value, "latin-1") for name, value in scope["headers"] if name == b"origin"]
    return next((origin for origin in ("*", *sent) if origin in allowed), "")


PATHS: Final = {
    "page": "/",
    "partial": "/",
    "json": "/busy.json",
    "problem": f"{api.PATHS}busy",
    "rpc": mcp.PATH,
}


@cache
def refusal(
    kind: Literal["page", "partial", "json", "problem", "rpc"], failure: Failure, *, origin: str = ""
) -> Answer:
    """Render the rejection with Django, so that it is a complete page."""
    headers = [(b"hx-request-type", b"partial")] if kind == "partial" else []
    scope = {
        "method": "GET",
        "scheme": "https",
        "path": PATHS[kind],
        "query_string": b"",
        "headers": [*headers, *([(b"origin", origin.encode())] if origin else [])],
        "server": ("localhost", 443),
        request_limits.REFUSED: failure,
    }
    return PAGES.answer(scope)


async def call_embedded(embedded: App, scope: Message, receive: Receive, send: Send) -> None:
    """Answer `/rpc/…` with the embedded service. Clients on other machines share the limits of pages."""
    visitor: str | None = scope[access_log.VISIT].origin.visitor
    if visitor is None:
        return await embedded(scope, receive, send)
    if wait := request_limits.wait_to_stream(visitor):
        return await refuse_call(send, request_limits.too_many_pages(wait))
    place = long_limiter().enter(visitor)
    if isinstance(place, Failure):
        return await refuse_call(send, place)
    try:
        await embedded(scope, replay(await read_body(scope, receive), receive), send)
    except Refused as refused:
        await refuse_call(send, refused.failure)
    finally:
        place.leave()


async def refuse_call(send: Send, failure: Failure) -> None:
    later = [(b"retry-after", str(failure.retry_after).encode())] if failure.retry_after is not None else []
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *later]
    await Answer(failure.status, headers, f"{failure.title}\n".encode()).send(send)


THIS_MACHINE = "this machine"  # which has no other limits
STREAMS_PER_CLIENT = 20  # Beyond that, pages poll.


@wiring.once
def streams() -> Streams:
    """Return the live streams (`/live/…`) of this process, which need no thread."""
    return Streams(
        wiring.hub(),
        intent_page.receipt_fragment,
        instead=intent_page.polling_fragment,
        address_of=lambda scope: client_ip.client_of(scope, settings.ENV.trusted_proxies) or THIS_MACHINE,
        share_of=lambda scope: client_ip.client_of(scope, settings.ENV.trusted_proxies),
        wait=lambda client: request_limits.wait_to_stream(None if client == THIS_MACHINE else client),
        headers=security_headers.at_the_door(),
        stopping=wiring.lifecycle().is_stopping,
        limits=Limits(an_address=STREAMS_PER_CLIENT),
    )
