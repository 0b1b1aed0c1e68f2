"""ASGI entry point: routes requests to Django, live streams, health checks and the embedded service.

- `/healthz`, `/readyz` and `/metrics` respond at once, without a thread.
- `/live/…` are streams, which need no thread.
- `/rpc/…` is the embedded service, if there is no real one.
- Long responses (`/export/…`, POST `/triage`) are async views, because they have to end when the client disconnects,
  which WSGI doesn't notice. Raw calls (`/console/…`) are async too, in a thread of their own, because the service may
  hold them for longer than a page may take.
- All other views are synchronous and run in a thread.

Bodies are read here completely, with a limit and a deadline, before a thread is taken. Otherwise 64 half-sent bodies
would occupy every page thread. Requests beyond the concurrency limits, overall or per client address, are rejected
here.
"""

import asyncio
import contextlib
import io
import os
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping
from functools import cache
from typing import Any, Literal
from urllib.parse import urlsplit

from a2wsgi import WSGIMiddleware
from asgiref.sync import AsyncToSync
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.core.wsgi import get_wsgi_application
from django.http.request import split_domain_port, validate_host
from django.utils.http import parse_header_parameters

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "intents_ui.settings")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

PAGE_THREADS = 64  # most wait for the service, up to INTENTS_MAX_WAITING_PAGES of them
# Bytes of a body to read beyond its limit, because a browser that is still sending doesn't show a response.
OVERFLOW = 8 * 1024 * 1024
AT_THE_DOOR = frozenset({"/healthz", "/readyz", "/metrics"})
CHARSETS = ("utf-8", "utf8", "us-ascii", "ascii")

django_pages = get_wsgi_application()

from intents_ui import readiness, wiring  # noqa: E402 - Django must be set up first, as for all below
from intents_ui.live.stream import Limits, Streams  # noqa: E402 - as above
from intents_ui.middleware import (  # noqa: E402 - as above
    access_log,
    marks,
    request_limits,
    security_headers,
)
from intents_ui.middleware.failures import Failure  # noqa: E402 - as above
from intents_ui.ops import lifecycle, metrics, telemetry  # noqa: E402 - as above
from intents_ui.pages import intent as intent_page  # noqa: E402 - as above
from intents_ui.service.context import processor, request_context  # noqa: E402 - as above
from intents_ui.service.long_tasks import LongTask  # noqa: E402 - as above
from intents_ui.settings import is_address  # noqa: E402 - as above
from intents_ui.web import client_ip  # noqa: E402 - as above


def page(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    with processor.computing(request_context.visitor()), wiring.page():
        return django_pages(environ, start_response)


pages: App = WSGIMiddleware(page, workers=PAGE_THREADS)  # type: ignore[arg-type, assignment]


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


long_answers: App = LongAnswers()  # type: ignore[assignment]


gate_of_pages = request_limits.ConcurrencyLimiter(settings.ENV.intents_max_requests)
# Static files are fast, and a browser requests many at once.
gate_of_files = request_limits.ConcurrencyLimiter(2 * settings.ENV.intents_max_requests)
# A separate limit, so that slow downloads don't block pages.
gate_of_long_answers = request_limits.ConcurrencyLimiter(settings.ENV.intents_max_requests)


class Refused(Exception):
    """The request was rejected before it reached a view: too large, too slow, or the client disconnected."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.title)
        self.failure = failure


async def application(scope: Message, receive: Receive, send: Send) -> None:
    match scope["type"]:
        case "lifespan":
            await lifespan(receive, send)
        case "http" if scope["path"] in AT_THE_DOOR:
            await at_the_door(scope, send)
        case "http":
            await seen(scope, receive, send)
        case "websocket":
            await send({"type": "websocket.close", "code": 1000})


looking: LongTask | None = None


async def lifespan(receive: Receive, send: Send) -> None:
    """Create long-lived objects before the first request, and close them after the last."""
    global looking
    await receive()
    asyncio.get_running_loop().set_exception_handler(report_unless_cancelled)
    try:
        telemetry.begin()
        wiring.open_all()
        marks.of_path("/")  # loads the URLs and their pages, which would delay the first request
        looking = wiring.tasks().start("metrics", keep_looking) if metrics.IS_SHARED else None
    except Exception as error:
        await send({"type": "lifespan.startup.failed", "message": str(error)})
        raise
    await send({"type": "lifespan.startup.complete"})
    await receive()
    if looking:
        looking.cancel()
    await streams().aclose()
    await wiring.close_live()
    await readiness.aclose()
    await asyncio.to_thread(wiring.close_all)
    await asyncio.to_thread(telemetry.end)
    await send({"type": "lifespan.shutdown.complete"})


def report_unless_cancelled(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an unretrieved exception, unless it is the cancellation of a request whose client disconnected.

    If a canceled request's thread ends first, asgiref never retrieves its future.
    """
    if not isinstance(context.get("exception"), asyncio.CancelledError):
        loop.default_exception_handler(context)


async def at_the_door(scope: Message, send: Send) -> None:
    """Respond to health checks and scrapers, under any host name."""
    if scope["method"] == "HEAD":
        send = without_body(send)
    match scope["path"]:
        case _ if scope["method"] not in ("GET", "HEAD"):
            await answer(send, 405, "Method not allowed.", (b"allow", b"GET, HEAD"))
        case "/healthz":
            await answer(send, 200, "ok")
        case "/readyz":
            ready, body = await readiness.report(in_detail=may_read_metrics(scope))
            await answer_with(send, 200 if ready else 503, b"application/json", body)
        case "/metrics" if may_read_metrics(scope):
            await look()
            body = await asyncio.to_thread(metrics.text)
            await answer_with(send, 200, metrics.CONTENT_TYPE, body)
        case _:
            await answer(send, 403, "Forbidden. Allowed networks: INTENTS_METRICS.")


def may_read_metrics(scope: Message) -> bool:
    """Return whether the client may read metrics.

    The host may also be an IP address, as scrapers use. A rebound DNS name may not.
    """
    return (is_for_us(scope) or is_address(host_of(scope).strip("[]"))) and client_ip.may_read_figures(scope)


@cache
def observer() -> metrics.Observer:
    return metrics.Observer(wiring.health().tally, wiring.tasks())


async def keep_looking() -> None:
    """Update the metrics regularly, for scrapes that another process answers."""
    while True:
        if looking:
            looking.beat()
        await look()
        await asyncio.sleep(metrics.EVERY_SECONDS)


async def look() -> None:
    """Update the metrics that are sampled."""
    observer().look(
        standing=wiring.health().standing(),
        intents=len(wiring.hub().watched),
        open_streams=len(streams().open),
        running_exports=wiring.exports().running,
        requests=gate_of_pages.inside + gate_of_files.inside + gate_of_long_answers.inside,
        redis=await readiness.redis_answers(),
    )


async def seen(scope: Message, receive: Receive, send: Send) -> None:
    visit = access_log.RequestLog(scope)
    error: BaseException | None = None
    try:
        await http({**scope, access_log.VISIT: visit}, receive, visit.seeing(send))
    except BaseException as raised:
        error = raised
        raise
    finally:
        visit.end(error)


async def http(scope: Message, receive: Receive, send: Send) -> None:
    path: str = scope["path"]
    if scope["method"] == "HEAD":
        send = without_body(send)
    if not is_for_us(scope):
        return await answer(send, 400, "Unknown host. Add it to ALLOWED_HOSTS.")
    if marks.outside(path) == "live":
        return await streams()(scope, receive, send)
    embedded = wiring.emulator()
    if embedded is not None and marks.outside(path) == "rpc":
        return await call(embedded, scope, receive, with_headers(send))
    scope = cleaned(scope)
    request_origin: request_context.Origin = scope[access_log.VISIT].origin
    if not is_file(scope) and not is_of_list(scope):
        is_costly = marks.of_path(path).is_costly(scope["method"], query_of(scope))
        if rejection := request_limits.current_rejection(request_origin.visitor, is_costly=is_costly):
            return await turn_away(scope, send, rejection)
    try:
        check_headers(scope)
        receive = replay(await read_body(scope, receive), receive)
    except Refused as refused:
        if refused.failure in request_limits.LACKS.values():
            return await turn_away(scope, send, refused.failure)
        scope = {**scope, "method": "GET", "headers": without_body_headers(scope)}
        scope[request_limits.REFUSED] = refused.failure
    handler, gate = handled_by(scope)
    place = gate.enter(request_origin.visitor)
    if isinstance(place, Failure):
        return await turn_away(scope, send, place)
    try:
        with request_context.asking(request_origin):
            await handler(scope, receive, leaving(place, send, with_first=handler is pages))
    finally:
        place.leave()


async def call(embedded: App, scope: Message, receive: Receive, send: Send) -> None:
    """Call the embedded service. Clients on other machines share the limits of pages."""
    visitor: str | None = scope[access_log.VISIT].origin.visitor
    if visitor is None:
        return await embedded(scope, receive, send)
    if wait := request_limits.wait_to_stream(visitor):
        return await refuse_call(send, request_limits.too_many_pages(wait))
    place = gate_of_long_answers.enter(visitor)
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
    start = {"type": "http.response.start", "status": int(failure.status)}
    await send({**start, "headers": [(b"content-type", b"text/plain; charset=utf-8"), *later]})
    await send({"type": "http.response.body", "body": f"{failure.title}\n".encode()})


def handled_by(scope: Message) -> tuple[App, request_limits.ConcurrencyLimiter]:
    if is_long(scope):
        return long_answers, gate_of_long_answers
    return pages, gate_of_files if is_file(scope) else gate_of_pages


def is_file(scope: Message) -> bool:
    return marks.outside(scope["path"]) == "static"


def is_of_list(scope: Message) -> bool:
    """Return whether a list requests its next part. Its error must leave the rows in place (`failures.is_of_list`)."""
    return (b"hx-target", b"div#list") in scope["headers"]


def is_long(scope: Message) -> bool:
    return marks.of_path(scope["path"]).streams(scope["method"], query_of(scope))


def query_of(scope: Message) -> str:
    return bytes(scope["query_string"]).decode("latin-1")


@cache
def streams() -> Streams:
    """Return this process's live streams."""
    return Streams(
        wiring.hub(),
        intent_page.receipt_fragment,
        instead=intent_page.polling_fragment,
        address_of=lambda scope: client_ip.address_of(scope, settings.ENV.trusted_proxies),
        share_of=lambda scope: client_ip.counted(scope, settings.ENV.trusted_proxies),
        wait=request_limits.wait_to_stream,
        headers=security_headers.at_the_door(),
        stopping=lifecycle.is_stopping,
        limits=Limits(streams=settings.ENV.intents_max_streams, an_address=settings.ENV.intents_max_streams_per_client),
    )


def is_for_us(scope: Message) -> bool:
    """Return whether the request has exactly one Host and it is allowed.

    DNS rebinding must not reach `/rpc/` either.
    """
    domain = host_of(scope)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def host_of(scope: Message) -> str:
    hosts = [bytes(value).decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    domain, _ = split_domain_port(hosts[0]) if len(hosts) == 1 else ("", "")
    return domain


def with_headers(send: Send) -> Send:
    """Add the security headers to responses of the embedded service, because they share our origin."""

    async def send_with_headers(message: Message) -> None:
        is_head = message["type"] == "http.response.start"
        ours = security_headers.at_the_door()
        await send({**message, "headers": [*message["headers"], *ours]} if is_head else message)

    return send_with_headers


def leaving(place: request_limits.RequestSlot, send: Send, *, with_first: bool) -> Send:
    """Free the slot once the response is complete, however slowly the client reads it.

    A page is complete with its first chunk.
    """

    async def send_and_leave(message: Message) -> None:
        if message["type"] == "http.response.body" and (with_first or not message.get("more_body", False)):
            place.leave()
        await send(message)

    return send_and_leave


def without_body(send: Send) -> Send:
    """Drop the body, for HEAD requests."""

    async def send_head(message: Message) -> None:
        await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

    return send_head


def check_headers(scope: Message) -> None:
    if sum(len(name) + len(value) + 4 for name, value in scope["headers"]) > sizes()["headers"]:
        raise Refused(request_limits.HEADERS_TOO_LARGE)
    for name, value in scope["headers"]:
        # Django would decode the URL with it, too, and fails to create a request at all for `zlib`.
        if name == b"content-type" and charset_of(value).lower() not in CHARSETS:
            raise Refused(request_limits.OTHER_CHARSET)


def charset_of(content_type: bytes) -> str:
    try:
        return parse_header_parameters(content_type.decode("latin-1"))[1].get("charset", "utf-8")
    except ValueError:
        return "unreadable"


def without_body_headers(scope: Message) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in scope["headers"] if name not in (b"content-type", b"content-length")]


async def read_body(scope: Message, receive: Receive) -> bytes:
    """Read the body. Rate limits are checked first, and the bytes count against a budget that all bodies share."""
    visitor = scope[access_log.VISIT].origin.visitor
    if has_body(scope) and request_limits.wait_to_send(visitor):
        raise Refused(request_limits.BEYOND_SHARE)
    room = request_limits.Room(visitor)
    try:
        return await read_into(room, scope, receive)
    finally:
        room.leave()


def has_body(scope: Message) -> bool:
    return any(name in (b"content-length", b"transfer-encoding") and value != b"0" for name, value in scope["headers"])


async def read_into(room: request_limits.Room, scope: Message, receive: Receive) -> bytes:
    """Read the body into the budget.

    A rejected body is read and dropped, because a browser that is still sending doesn't show a response.
    """
    most = sizes()[marks.of_path(scope["path"]).body]
    body, received = bytearray(), 0
    refused: Failure | None = None
    if declared_length(scope) > max(most, OVERFLOW):
        raise Refused(request_limits.too_large(most))
    try:
        async with asyncio.timeout(settings.ENV.intents_request_timeouts["body"]):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refused(request_limits.CUT_OFF)
                piece = message.get("body", b"")
                received += len(piece)
                refused = refused or (room.take(len(piece)) if received <= most else request_limits.too_large(most))
                if refused:
                    body.clear()
                    room.leave()
                else:
                    body.extend(piece)
                if received > max(most, OVERFLOW) or not message.get("more_body", False):
                    break
    except TimeoutError:
        raise Refused(request_limits.TOO_SLOW) from None
    if refused:
        raise Refused(refused)
    return bytes(body)


def sizes() -> Mapping[Any, int]:
    return settings.ENV.intents_request_max_bytes


def declared_length(scope: Message) -> int:
    """Return Content-Length, which gunicorn has validated."""
    return max((int(value) for name, value in scope["headers"] if name == b"content-length"), default=0)


def replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that yields the body already read, then whatever follows."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


def cleaned(scope: Message) -> Message:
    """Return the scope with an ASCII query, without headers that could be mistaken for others, and with a known port.

    `X_Forwarded_For` and `X-Forwarded-For` share one key in WSGI. An unknown port in Host is removed from GET and HEAD
    requests, because it would appear in shared links.
    """
    is_read = scope["method"] in ("GET", "HEAD")
    query = bytes(scope["query_string"])
    return {
        **scope,
        "query_string": query if query.isascii() else b"".join(escaped(byte) for byte in query),
        "headers": [
            (name, with_known_port(value) if is_read and name == b"host" else value)
            for name, value in scope["headers"]
            if b"_" not in name
        ],
    }


def with_known_port(host: bytes) -> bytes:
    """Return the host without a port that isn't configured. Loopback hosts keep theirs, which may be forwarded."""
    domain, port = split_domain_port(host.decode("latin-1"))
    known = not port or domain in settings.LOOPBACK_HOSTS or port in known_ports()
    return host if known else domain.encode("latin-1")


@cache
def known_ports() -> frozenset[str]:
    origins = (urlsplit(origin).port for origin in settings.CSRF_TRUSTED_ORIGINS)
    return frozenset(str(port) for port in (80, 443, settings.ENV.port, *origins) if port)


def escaped(byte: int) -> bytes:
    return bytes([byte]) if byte < 0x80 else b"%%%02X" % byte


async def answer(send: Send, status: int, sentence: str, *more: tuple[bytes, bytes]) -> None:
    await answer_with(send, status, b"text/plain; charset=utf-8", sentence.encode() + b"\n", *more)


async def answer_with(send: Send, status: int, kind: bytes, body: bytes, *more: tuple[bytes, bytes]) -> None:
    response_headers = [
        (b"content-type", kind),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        *more,
        *security_headers.at_the_door(),
    ]
    await send({"type": "http.response.start", "status": status, "headers": response_headers})
    await send({"type": "http.response.body", "body": body})


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

    body = b"".join(django_pages(environ, start))
    line, fields = started
    return int(line.split()[0]), [(name.lower().encode(), value.encode()) for name, value in fields], body
