"""Routes requests to probes, live streams, the embedded service and Django."""

import asyncio
import io
import math
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Final, NamedTuple, cast

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.core.signals import request_started
from django.http import HttpResponseBase, StreamingHttpResponse
from django.urls import set_script_prefix
from django.utils.datastructures import CaseInsensitiveMapping

from intents_ui import app
from intents_ui.http import access_log, failures, limits, marks, probes
from intents_ui.http.failures import Failure, Rejected, of_dashboard
from intents_ui.http.headers import default_headers
from intents_ui.http.messages import (
    AsgiApplication,
    Message,
    Receive,
    Send,
    in_pieces,
    is_for_us,
    normalize_scope,
    send_response,
    send_text,
    without_body,
)
from intents_ui.http.startup import lifespan
from intents_ui.service.context import request_context
from intents_ui.service.errors import Overloaded
from intents_ui.service.metrics import rejected

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
                else:
                    failure = failure or limits.LACKS.get(shares.take(client, len(piece)))
                if failure is None:
                    content += piece
                else:
                    shares.give_back(client, len(content))
                    content.clear()
    except BaseException as error:
        shares.give_back(client, len(content))
        if not isinstance(error, TimeoutError):
            raise
        failure = of_dashboard("too slow")
    if failure:
        raise Rejected(failure)
    return bytes(content)


class BufferedResponse(NamedTuple):
    """A response, as ASGI sends it. `rest`: what is made while it is sent."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    rest: StreamingHttpResponse | None = None


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
                answer = await app.current().executor.run(partial(self.page, scope, content, came_at=time.monotonic()))
            except Overloaded:
                raise Rejected(limits.BUSY) from None
            await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
            if answer.rest:
                await stream(answer.rest, receive, send)
            else:
                await send({"type": "http.response.body", "body": answer.body})
        finally:
            app.current().body_bytes.give_back(request_context.client(), len(content))

    def page(self, scope: Message, body: bytes = b"", *, came_at: float = math.inf) -> BufferedResponse:
        if time.monotonic() - came_at > QUEUE_SECONDS:
            raise Rejected(limits.BUSY)
        with request_context.page_deadline():
            set_script_prefix(get_script_prefix(scope))
            request_started.send(sender=self.__class__, scope=scope)
            request = ASGIRequest(scope, io.BytesIO(body))
            response = self.get_response(request)
            if request.resolver_match and access_log.REQUEST_LOG in scope:
                scope[access_log.REQUEST_LOG].view = request.resolver_match.view_name
            if isinstance(response, StreamingHttpResponse) and response.is_async:
                return BufferedResponse(response.status_code, headers_of(response), b"", response)
            try:
                return BufferedResponse(response.status_code, headers_of(response), b"".join(response))
            finally:
                response.close()


def headers_of(response: HttpResponseBase) -> list[tuple[bytes, bytes]]:
    fields = [*response.items(), *(("Set-Cookie", each.OutputString()) for each in response.cookies.values())]
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in fields]


async def stream(response: StreamingHttpResponse, receive: Receive, send: Send) -> None:
    """Send the pieces of a response as they are made, until its end or until the client disconnects."""

    async def pieces() -> None:
        async with aclosing(cast(AsyncGenerator[bytes], aiter(response))) as found:
            async for piece in found:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def disconnect() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    sending, leaving = asyncio.create_task(pieces()), asyncio.create_task(disconnect())
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
            with access_log.RequestLog(scope) as request_log:
                scope = {**scope, access_log.REQUEST_LOG: request_log}
                await http(scope, receive, request_log.wrap_send(in_pieces(send)))
        case "websocket":
            await send({"type": "websocket.close", "code": 1000})


async def http(scope: Message, receive: Receive, send: Send) -> None:
    outside, objects = marks.outside(scope["path"]), app.current()
    if scope["method"] == "HEAD":
        send = without_body(send)
    if not is_for_us(scope):
        return await send_text(send, 400, "Unknown host. Add it to ALLOWED_HOSTS.")
    if outside == "live":
        return await objects.streams(scope, receive, send)
    with request_context.asking(scope[access_log.REQUEST_LOG].origin):
        client = request_context.client()
        if lack := objects.requests_in_hand.take(client):
            return await reject(scope, send, limits.LACKS[lack])
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
    found = failures.format_of(scope["path"], sent)
    headers = found.headers_of(failure)
    allowed, origin = settings.ENV.intents_api_origins, sent.get("Origin", "")
    if found is failures.PROBLEM and {"*", origin} & set(allowed):
        headers |= {"Access-Control-Allow-Origin": "*" if "*" in allowed else origin, "Vary": "origin"}
    await send_response(send, failure.status, found.reject(failure).encode(), headers)


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
