"""Pages: a request's body with its limits, a turn in the fair threads, and Django, which makes the response there.

One client gets at most an eighth of everything: of the requests in hand, of the bytes of their bodies, and of the
threads (`service/context/executor.py`).
"""

import asyncio
import io
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from functools import partial
from typing import Final, NamedTuple, cast

from django.core.handlers.asgi import ASGIRequest, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.core.signals import request_started
from django.http import HttpResponseBase, StreamingHttpResponse
from django.urls import set_script_prefix

from intents_ui import app
from intents_ui.http import marks, request_limits
from intents_ui.http.failures import Failure, of_dashboard
from intents_ui.http.messages import Message, Receive, Send
from intents_ui.service.context import request_context
from intents_ui.service.errors import Overloaded

REQUESTS: Final = 512  # in hand: being received, waiting for a thread, running or being sent
BODY_BYTES: Final = 32 * 1024 * 1024
BODY_SECONDS: Final = 10.0
# Bytes of a body to read beyond its limit, because a browser that is still sending doesn't show a response.
OVERFLOW: Final = 8 * 1024 * 1024
LENGTHS: Final = (b"content-length", b"transfer-encoding")
QUEUE_SECONDS: Final = 8.0  # after which a request that waited for a thread is too old to be worth it


class Refused(Exception):
    """The request was rejected before it reached a view."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.title)
        self.failure = failure


@contextmanager
def in_hand() -> Iterator[None]:
    """Count a request. Raises Refused if there are too many, of its client or in all."""
    client = request_context.client()
    if lack := app.current().requests_in_hand.take(client):
        raise Refused(request_limits.LACKS[lack])
    try:
        yield
    finally:
        app.current().requests_in_hand.give_back(client)


class Body:
    """Body of a request, whose bytes count while the request is in hand."""

    def __init__(self) -> None:
        self._content = bytearray()
        self._client = request_context.client()
        self._taken = 0

    def __enter__(self) -> "Body":
        return self

    def __exit__(self, *_: object) -> None:
        self._drop()

    async def read(self, scope: Message, receive: Receive, *, most: int = marks.LARGEST_BODY) -> bytes:
        """Read the body whole. Raises Refused.

        A rejected body is read and dropped, because a browser that is still sending doesn't show a response.
        """
        # gunicorn has validated the header.
        declared = max((int(value) for name, value in scope["headers"] if name == b"content-length"), default=0)
        if declared > max(most, OVERFLOW):
            raise Refused(request_limits.too_large(most))
        received, refused = 0, None
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refused(of_dashboard("incomplete"))
                    piece = message.get("body", b"")
                    received += len(piece)
                    refused = refused or self._add(piece, most)
                    if received > max(most, OVERFLOW) or not message.get("more_body", False):
                        break
        except TimeoutError:
            raise Refused(of_dashboard("too slow")) from None
        if refused:
            raise Refused(refused)
        content = bytes(self._content)
        self._content.clear()
        return content

    def _add(self, piece: bytes, most: int) -> Failure | None:
        if self._taken + len(piece) > most:
            refused = request_limits.too_large(most)
        elif lack := app.current().body_bytes.take(self._client, len(piece)):
            refused = request_limits.LACKS[lack]
        else:
            self._content += piece
            self._taken += len(piece)
            return None
        self._drop()
        return refused

    def _drop(self) -> None:
        self._content.clear()
        app.current().body_bytes.give_back(self._client, self._taken)
        self._taken = 0


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
        with Body() as body:
            content = await body.read(scope, receive)
            if content:  # of a length that may not have been declared
                others = [each for each in scope["headers"] if each[0] not in LENGTHS]
                scope = {**scope, "headers": [*others, (b"content-length", str(len(content)).encode())]}
            try:
                answer = await app.current().executor.run(partial(self._in_time, scope, content, time.monotonic()))
            except Overloaded:
                raise Refused(request_limits.BUSY) from None
            await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
            if answer.rest:
                await stream(answer.rest, receive, send)
            else:
                await send({"type": "http.response.body", "body": answer.body})

    def _in_time(self, scope: Message, body: bytes, came_at: float) -> BufferedResponse:
        if time.monotonic() - came_at > QUEUE_SECONDS:
            raise Refused(request_limits.BUSY)
        return self.page(scope, body)

    def page(self, scope: Message, body: bytes = b"") -> BufferedResponse:
        with request_context.page_deadline():
            set_script_prefix(get_script_prefix(scope))
            request_started.send(sender=self.__class__, scope=scope)
            response = self.get_response(ASGIRequest(scope, io.BytesIO(body)))
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
