"""Which request goes to which handler.

`/healthz` answers at once. `/live/…` is a stream, which costs no thread. `/rpc/…` is the embedded service, when there
is no real one. What is long in coming (`/export/…`, and a ticket posted to `/triage`) is an asynchronous view, because
it has to end when its reader leaves, which WSGI does not notice. A call by hand (`/console/…`) goes the same way, into
a thread of its own, because the service may hold it for longer than a page may take. Everything else is an ordinary
synchronous view, run in a thread. Bodies are read here, whole and with a deadline, before a thread is taken: 64
half-sent bodies would otherwise hold every thread that serves pages.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from functools import cache
from typing import Any

from a2wsgi import WSGIMiddleware
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.core.wsgi import get_wsgi_application
from django.http.request import split_domain_port, validate_host

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "intents_ui.settings")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

PAGE_THREADS = 64  # most of them wait for the service, INTENTS_WAITING at the most
BODY_LIMIT = 256 * 1024
BODY_SECONDS = 10.0

django_pages = get_wsgi_application()

from intents_ui import headers, lifecycle, visitors, wiring  # noqa: E402 - Django has to be set up first
from intents_ui.live.stream import Limits, Streams  # noqa: E402
from intents_ui.pages import intent as intent_page  # noqa: E402


def page(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    with wiring.page():
        return django_pages(environ, start_response)


pages: App = WSGIMiddleware(page, workers=PAGE_THREADS)  # type: ignore[arg-type, assignment]
long_answers: App = ASGIHandler()  # type: ignore[assignment]


class BodyRefused(Exception):
    """The request's body did not come in time, is too long, or its reader has left."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


async def application(scope: Message, receive: Receive, send: Send) -> None:
    match scope["type"]:
        case "lifespan":
            await lifespan(receive, send)
        case "http":
            await http(scope, receive, send)
        case "websocket":
            await send({"type": "websocket.close", "code": 1000})


async def lifespan(receive: Receive, send: Send) -> None:
    """The process's long-lived objects are made before the first request and closed after the last."""
    await receive()
    try:
        wiring.open_all()
    except Exception as error:
        await send({"type": "lifespan.startup.failed", "message": str(error)})
        raise
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await streams().aclose()
    await wiring.close_live()
    await asyncio.to_thread(wiring.close_all)
    await send({"type": "lifespan.shutdown.complete"})


async def http(scope: Message, receive: Receive, send: Send) -> None:
    path: str = scope["path"]
    if scope["method"] == "HEAD":
        send = without_body(send)
    if path == "/healthz":
        return await answer(send, 200, "ok")
    if not is_for_us(scope):
        return await answer(send, 400, "This dashboard does not answer under that host name (ALLOWED_HOSTS).")
    if path.startswith("/live/"):
        return await streams()(scope, receive, send)
    embedded = wiring.emulator()
    if embedded is not None and path.startswith("/rpc/"):
        return await embedded(scope, receive, with_headers(send))
    try:
        body = await read_body(receive)
    except BodyRefused as refused:
        return await answer(send, refused.status, refused.sentence)
    handler = long_answers if is_long(scope) else pages
    return await handler(cleaned(scope), replay(body, receive), send)


def is_long(scope: Message) -> bool:
    path: str = scope["path"]
    is_posted = scope["method"] == "POST"
    by_hand = path.startswith("/console/") and (is_posted or b"ask=" in scope["query_string"])
    return path.startswith("/export/") or (path == "/triage" and is_posted) or by_hand


@cache
def streams() -> Streams:
    """The live pages of this process."""
    return Streams(
        wiring.hub(),
        intent_page.receipt_fragment,
        instead=intent_page.polling_fragment,
        address_of=lambda scope: visitors.address_of(scope, settings.ENV.trusted_proxies),
        headers=headers.at_the_door(),
        stopping=lifecycle.is_stopping,
        limits=Limits(streams=settings.ENV.intents_streams, an_address=settings.ENV.intents_streams_per_address),
    )


def is_for_us(scope: Message) -> bool:
    """Exactly one Host, and one of ours: a name that somebody points at us must reach nothing, not even `/rpc/`."""
    hosts = [bytes(value).decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    domain, _ = split_domain_port(hosts[0]) if len(hosts) == 1 else ("", "")
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def with_headers(send: Send) -> Send:
    """What browsers are told stands in the answers of the embedded service too: they come from our origin."""

    async def send_told(message: Message) -> None:
        is_head = message["type"] == "http.response.start"
        await send({**message, "headers": [*message["headers"], *headers.at_the_door()]} if is_head else message)

    return send_told


def without_body(send: Send) -> Send:
    """The answer to HEAD is that to GET without its body."""

    async def send_head(message: Message) -> None:
        await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

    return send_head


async def read_body(receive: Receive) -> bytes:
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise BodyRefused(400, "The request ended before it was complete.")
                body += message.get("body", b"")
                if len(body) > BODY_LIMIT:
                    raise BodyRefused(413, f"A request may carry at most {BODY_LIMIT // 1024} KB.")
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise BodyRefused(408, f"The request did not arrive within {BODY_SECONDS:g} seconds.") from None


def replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that hands out the body that was read, then whatever comes after it."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


def cleaned(scope: Message) -> Message:
    """The scope as Django can take it: an ASCII query, and no header whose name would pass for another's.

    `X_Forwarded_For` and `X-Forwarded-For` share one key in a request's environment.
    """
    query = bytes(scope["query_string"])
    return {
        **scope,
        "query_string": query if query.isascii() else b"".join(escaped(byte) for byte in query),
        "headers": [(name, value) for name, value in scope["headers"] if b"_" not in name],
    }


def escaped(byte: int) -> bytes:
    return bytes([byte]) if byte < 0x80 else b"%%%02X" % byte


async def answer(send: Send, status: int, sentence: str) -> None:
    body = sentence.encode() + b"\n"
    told = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        *headers.at_the_door(),
    ]
    await send({"type": "http.response.start", "status": status, "headers": told})
    await send({"type": "http.response.body", "body": body})
