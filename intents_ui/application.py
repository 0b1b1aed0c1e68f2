"""Every request: routed to probes, live streams, the embedded service or Django, and logged with its ID.

A page has a turn in the fair threads, and Django makes the response there. One client gets at most an eighth of
everything: of the requests in hand, of the bytes of their bodies, and of the threads (`service/executor.py`).

The log line has the page's name, and never its URL or query, which are the user's private data.
"""

import asyncio
import io
import logging
import math
import re
import secrets
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from functools import partial
from http import HTTPStatus
from typing import Any, Final, cast

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.core.signals import request_started
from django.http import HttpResponseBase, StreamingHttpResponse
from django.urls import set_script_prefix
from django.utils.datastructures import CaseInsensitiveMapping

from intents_ui import app, probes
from intents_ui.http import api_access, client_ip, failures, limits, marks
from intents_ui.http.failures import Failure, Rejected, of_dashboard
from intents_ui.http.headers import (
    AsgiApplication,
    default_headers,
    in_pieces,
    is_for_us,
    normalize_scope,
    send_response,
    send_text,
    without_body,
)
from intents_ui.live.stream import Message, Receive, Send
from intents_ui.ops import logs, metrics
from intents_ui.service import request_context
from intents_ui.service.errors import Overloaded
from intents_ui.service.health import rejected
from intents_ui.service.request_context import Origin
from intents_ui.startup import lifespan

log = logging.getLogger(logs.REQUESTS)

FIELDS: Final = "intents_ui.fields"  # of the log line of a request, in its scope
PROXYS_ID: Final = re.compile(rb"[A-Za-z0-9_-]{8,64}")
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"})
LEFT: Final = 499  # client closed the request, as nginx logs it
LINE: Final = "%(method)s %(view)s %(status)d, %(ms).0f ms, %(bytes)d bytes, calls %(calls)d, request %(request_id)s"
UNNAMED: Final = "none"  # an unknown path, or a request rejected before routing


async def logged(scope: Message, receive: Receive, send: Send) -> None:
    """Answer a request, which is logged at its end and counted at its first byte.

    `view` is the page's name in `urls.py`, or of what answers instead.
    """
    origin, began = Origin(request_id(scope), client=client_ip.client_of(scope)), time.perf_counter()
    fields: dict[str, Any] = {
        "method": scope["method"] if scope["method"] in METHODS else "other",
        "view": marks.outside(scope["path"]) or UNNAMED,
        "status": 0,
        "ms": None,  # to the first byte
        "bytes": 0,
        "calls": 0,
        "request_id": origin.id,
    }
    if user := client_ip.user_of(scope).name:
        fields["user"] = user

    def count() -> None:
        if fields["ms"] is None:
            seconds, view, status = time.perf_counter() - began, fields["view"], fields["status"]
            fields["ms"] = round(seconds * 1000, 1)
            metrics.requests.labels(view, str(status)).inc()
            metrics.request_seconds.labels(view, f"{status // 100}xx").observe(seconds)

    async def send_logged(message: Message) -> None:
        if message["type"] == "http.response.start":
            fields["status"] = message["status"]
            message = {**message, "headers": [*message["headers"], (b"x-request-id", origin.id.encode())]}
        else:
            fields["bytes"] += len(message.get("body", b""))
            count()
        await send(message)

    try:
        await http({**scope, FIELDS: fields}, receive, send_logged, origin)
    except Exception:
        fields["status"] = fields["status"] or HTTPStatus.INTERNAL_SERVER_ERROR.value
        raise
    finally:
        fields["status"] = fields["status"] or LEFT
        count()
        fields["calls"] = origin.calls
        if fields["view"] != "static":  # static files are too many to log and not informative
            log.info(LINE + (", user %(user)s" if user else ""), fields)


def request_id(scope: Mapping[str, Any]) -> str:
    """Return the request ID that a trusted proxy sent, or a new one. Other clients can't choose what is logged."""
    given = [value for name, value in scope["headers"] if name == b"x-request-id"]
    if len(given) == 1 and PROXYS_ID.fullmatch(given[0]) and client_ip.is_by_our_proxy(scope):
        return str(given[0], "ascii")
    return secrets.token_hex(6)


BODY_SECONDS: Final = 10.0
# Bytes of a body to read beyond its limit, because a browser that is still sending doesn't show a response.
OVERFLOW: Final = 8 * 1024 * 1024
LENGTHS: Final = (b"content-length", b"transfer-encoding")
QUEUE_SECONDS: Final = 8.0  # after which a request that waited for a thread is too old to be worth it


async def read_body(scope: Message, receive: Receive, *, most: int = marks.LARGEST_BODY) -> bytes:
    """Read the body whole. Its bytes count until the caller gives them back. Raises Rejected.

    A rejected body is read and dropped, because a browser that is still sending doesn't show a response.
    """
    # gunicorn has validated the header.
    declared = max((int(value) for name, value in scope["headers"] if name == b"content-length"), default=0)
    if declared > max(most, OVERFLOW):
        raise Rejected(limits.too_large(most))
    shares, client = app.current().body_bytes, request_context.client()
    content, received, failure, is_last = bytearray(), 0, None, False
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while not is_last and received <= max(most, OVERFLOW):
                message = await receive()
                piece, is_last = message.get("body", b""), not message.get("more_body", False)
                received += len(piece)
                if message["type"] == "http.disconnect":
                    failure = of_dashboard("incomplete")
                elif received > most:
                    failure = failure or limits.too_large(most)
                elif not (failure := failure or limits.LIMIT_ERRORS.get(shares.take(client, len(piece)))):
                    content += piece
        if failure:
            raise Rejected(failure)
    except BaseException as error:
        shares.give_back(client, len(content))
        if isinstance(error, TimeoutError):
            raise Rejected(of_dashboard("too slow")) from None
        raise
    return bytes(content)


class Pages(BaseHandler):
    """Django handler for synchronous views.

    A thread makes the whole response, and hands it over to the event loop at once. Each more hand-over would wake up
    both of them. The pieces of a streamed response are made by what it iterates over.
    """

    def __init__(self) -> None:
        super().__init__()
        self.load_middleware()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        content = await read_body(scope, receive)
        try:
            if content:  # of a length that may not have been declared
                others = [each for each in scope["headers"] if each[0] not in LENGTHS]
                scope = {**scope, "headers": [*others, (b"content-length", str(len(content)).encode())]}
            try:
                make = partial(self.page, scope, content, came_at=time.monotonic())
                response, body = await app.current().executor.run(make)
            except Overloaded:
                raise Rejected(limits.BUSY) from None
            fields = [*response.items(), *(("Set-Cookie", each.OutputString()) for each in response.cookies.values())]
            headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in fields]
            await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
            if isinstance(response, StreamingHttpResponse) and response.is_async:
                await stream(response, receive, send)
            else:
                await send({"type": "http.response.body", "body": body})
        finally:
            app.current().body_bytes.give_back(request_context.client(), len(content))

    def page(self, scope: Message, body: bytes = b"", *, came_at: float = math.inf) -> tuple[HttpResponseBase, bytes]:
        """Return the response and its body, unless that is streamed."""
        if time.monotonic() - came_at > QUEUE_SECONDS:
            raise Rejected(limits.BUSY)
        with request_context.page_deadline():
            set_script_prefix(get_script_prefix(scope))
            request_started.send(sender=self.__class__, scope=scope)
            request = ASGIRequest(scope, io.BytesIO(body))
            response = self.get_response(request)
            if request.resolver_match and FIELDS in scope:
                scope[FIELDS]["view"] = request.resolver_match.view_name
            if isinstance(response, StreamingHttpResponse) and response.is_async:
                return response, b""
            try:
                return response, b"".join(response)
            finally:
                response.close()


async def stream(response: StreamingHttpResponse, receive: Receive, send: Send) -> None:
    """Send the pieces of a response as they are made, until its end or until the client disconnects."""

    async def pieces() -> None:
        async with aclosing(cast(AsyncGenerator[bytes], aiter(response))) as found:
            async for piece in found:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def until_disconnect() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    sending, leaving = asyncio.create_task(pieces()), asyncio.create_task(until_disconnect())
    try:
        await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if sending.done():
            sending.result()
    finally:
        sending.cancel()
        leaving.cancel()
        await asyncio.gather(sending, leaving, return_exceptions=True)
        await asyncio.shield(asyncio.to_thread(response.close))


PAGES: Final = Pages()


async def application(scope: Message, receive: Receive, send: Send) -> None:
    match scope["type"]:
        case "lifespan":
            await lifespan(receive, send)
        case "http" if scope["path"] in probes.PATHS:
            await probes.respond(scope, send)
        case "http":
            await logged(scope, receive, in_pieces(send))
        case "websocket":
            await send({"type": "websocket.close", "code": 1000})


async def http(scope: Message, receive: Receive, send: Send, origin: Origin) -> None:
    outside, objects = marks.outside(scope["path"]), app.current()
    if scope["method"] == "HEAD":
        send = without_body(send)
    if not is_for_us(scope):
        return await send_text(send, 400, "Unknown host. Add it to ALLOWED_HOSTS.")
    if outside == "live":
        return await objects.streams(scope, receive, send)
    with request_context.request_scope(origin):
        client = request_context.client()
        if limit_reason := objects.requests_in_hand.take(client):
            return await reject(scope, send, limits.LIMIT_ERRORS[limit_reason])
        try:
            if outside == "rpc" and objects.emulator is not None:
                await call_embedded(objects.emulator, scope, receive, send)
            else:
                await PAGES(normalize_scope(scope), receive, send)
        except Rejected as error:
            await reject(scope, send, error.failure)
        finally:
            objects.requests_in_hand.give_back(client)


async def reject(scope: Message, send: Send, failure: Failure) -> None:
    """Reject a request before Django sees it, in the format that it asks for.

    Pages of the origins in INTENTS_API_ORIGINS can read why the API rejected their request.
    """
    rejected["ingress"].inc()
    sent = CaseInsensitiveMapping({str(name, "latin-1"): str(value, "latin-1") for name, value in scope["headers"]})
    response = failures.response_of(failure, scope["path"], sent)
    allowed, origin = settings.ENV.intents_api_origins, sent.get("Origin", "")
    if scope["path"].startswith(api_access.API) and {"*", origin} & set(allowed):
        response["Access-Control-Allow-Origin"] = "*" if "*" in allowed else origin
        response["Vary"] = "origin"
    await send_response(send, failure.status, response.content, response.headers)


async def call_embedded(embedded: AsgiApplication, scope: Message, receive: Receive, send: Send) -> None:
    """Answer `/rpc/…` with the embedded service, with our security headers, because it shares our origin.

    Clients on other machines have the limits of pages. Raises Rejected.
    """
    client = request_context.client()
    if wait := app.current().rate_limiter.consume_here(client):
        raise Rejected(limits.too_many(client, wait))
    body = await read_body(scope, receive, most=marks.BODY_SIZES["body"])
    unread = [body]

    async def receive_body() -> Message:
        return {"type": "http.request", "body": unread.pop(), "more_body": False} if unread else await receive()

    async def send_with_headers(message: Message) -> None:
        is_head = message["type"] == "http.response.start"
        headers = [*message["headers"], *default_headers()] if is_head else []
        await send({**message, "headers": headers} if is_head else message)

    try:
        await embedded(scope, receive_body, send_with_headers)
    finally:
        app.current().body_bytes.give_back(client, len(body))
