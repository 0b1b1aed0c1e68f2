"""What answers a request: Django's views in a thread or as async views, and rejections without Django.

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
from typing import Any, Final, NamedTuple

from asgiref.sync import AsyncToSync
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler, ASGIRequest, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.core.signals import request_started
from django.urls import set_script_prefix

from intents_ui import wiring
from intents_ui.live.stream import Limits, Streams
from intents_ui.middleware import access_log, failures, marks, request_limits, security_headers
from intents_ui.middleware.failures import Failure, Format
from intents_ui.middleware.request_limits import ConcurrencyLimiter
from intents_ui.ops import metrics
from intents_ui.pages import intent as intent_page
from intents_ui.server.messages import App, Message, Receive, Send, answer_with, query_of, replay, with_headers
from intents_ui.server.requests import Refused, read_body
from intents_ui.service.context import request_context, shares
from intents_ui.web import client_ip, rate_limiter

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
        body = (await receive())["body"]  # whole, as `requests.read_body` has read it
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


async def reject(scope: Message, send: Send, failure: Failure) -> None:
    """Reject a request before Django sees it, in the format that it asks for."""
    metrics.rejected_at_ingress.inc()
    sent = {name: str(value, "latin-1") for name, value in scope["headers"]}
    found = failures.format_of(scope["path"], part=sent.get(b"hx-request-type", ""), target=sent.get(b"hx-target", ""))
    content_type = failures.CONTENT_TYPES.get(found, "text/html; charset=utf-8")
    extra = failures.headers(failure, found) | readable_by(sent.get(b"origin", ""), found)
    headers = [(name.lower().encode(), value.encode()) for name, value in extra.items()]
    with request_context.asking(scope[access_log.VISIT].origin):
        body = failures.content(failure, found).encode()
    await answer_with(send, failure.status, content_type.encode(), body, *headers)


def readable_by(origin: str, found: Format) -> dict[str, str]:
    """Let pages of the origins in INTENTS_API_ORIGINS read why the API rejected their request."""
    allowed = settings.ENV.intents_api_origins
    if found is not Format.PROBLEM or not {"*", origin} & set(allowed):
        return {}
    return {"Access-Control-Allow-Origin": "*" if "*" in allowed else origin, "Vary": "origin"}


async def call_embedded(embedded: App, scope: Message, receive: Receive, send: Send) -> None:
    """Answer `/rpc/…` with the embedded service. Clients on other machines share the limits of pages."""
    visitor: str | None = scope[access_log.VISIT].origin.visitor
    if visitor is None:
        return await embedded(scope, receive, with_headers(send))
    if wait := rate_limiter.consume_here(visitor):
        return await reject(scope, send, request_limits.too_many(visitor, wait))
    place = long_limiter().enter(visitor)
    if isinstance(place, Failure):
        return await reject(scope, send, place)
    try:
        await embedded(scope, replay(await read_body(scope, receive), receive), with_headers(send))
    except Refused as refused:
        await reject(scope, send, refused.failure)
    finally:
        place.leave()


STREAMS_PER_CLIENT = 20  # Beyond that, pages poll.


@wiring.once
def streams() -> Streams:
    """Return the live streams (`/live/…`) of this process, which need no thread."""
    return Streams(
        wiring.hub(),
        intent_page.receipt_fragment,
        instead=intent_page.polling_fragment,
        address_of=lambda scope: client_ip.client_of(scope, settings.ENV.trusted_proxies) or client_ip.THIS_MACHINE,
        share_of=lambda scope: client_ip.client_of(scope, settings.ENV.trusted_proxies),
        wait=lambda client: rate_limiter.consume_here(None if client == client_ip.THIS_MACHINE else client),
        headers=security_headers.at_the_door(),
        stopping=wiring.lifecycle().is_stopping,
        limits=Limits(an_address=STREAMS_PER_CLIENT),
    )
