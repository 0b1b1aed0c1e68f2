"""Transports between the httpx clients and httpcore's connection pools, which reject surplus bytes after a response.

Surplus bytes would be parsed as the response to the connection's next request, possibly another user's. httpcore checks
only the socket for them, so `refuse_more` checks the buffers, too.
"""

import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from typing import Any, cast

import httpcore
import httpx

from intents_ui.service.context import processor
from intents_ui.service.context.request_context import time_left
from intents_ui.service.errors import Flaw, Unreadable
from intents_ui.service.http.deadline import DeadlineBackend

KEEP_ALIVE_SECONDS = 15.0


class DeadlineTransport(httpx.BaseTransport):
    """Transport for a blocking client, with deadlines (`deadline`). httpx's own transport takes no network backend.

    Waits for a connection here and not in the pool, because the pool can't release the thread's CPU lock (`processor`)
    while it waits. Raises httpcore's exceptions.
    """

    def __init__(self, *, connections: int) -> None:
        self._free = threading.BoundedSemaphore(connections)
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(trust_env=False),
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=KEEP_ALIVE_SECONDS,
            network_backend=DeadlineBackend(),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        allowed = time_left(request.extensions["timeout"]["pool"], expired=httpcore.ReadTimeout)
        with processor.waiting():
            is_free = self._free.acquire(timeout=-1 if allowed is None else allowed)
        if not is_free:
            raise httpcore.PoolTimeout
        try:
            response = self._pool.handle_request(_lowered(request))
        except BaseException:
            self._free.release()
            raise
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response, done=self._free.release),
            extensions=response.extensions,
        )

    def close(self) -> None:
        self._pool.close()


class AsyncTransport(httpx.AsyncBaseTransport):
    """Transport for an async client. Limits idle connections, not open ones. Raises httpcore's exceptions."""

    def __init__(self, *, idle_connections: int) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=httpx.create_ssl_context(trust_env=False),
            max_connections=None,
            max_keepalive_connections=idle_connections,
            keepalive_expiry=KEEP_ALIVE_SECONDS,
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._pool.handle_async_request(_lowered(request))
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_AsyncBody(response),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Body(httpx.SyncByteStream):
    """Response body that calls `done` once, when it is closed."""

    def __init__(self, response: httpcore.Response, *, done: Callable[[], None]) -> None:
        self._response = response
        self._done = ExitStack()
        self._done.callback(done)

    def __iter__(self) -> Iterator[bytes]:
        yield from self._response.iter_stream()
        refuse_more(self._response)

    def close(self) -> None:
        with self._done:
            self._response.close()


class _AsyncBody(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._response.aiter_stream():
            yield piece
        refuse_more(self._response)

    async def aclose(self) -> None:
        await self._response.aclose()


def refuse_more(response: httpcore.Response) -> None:
    """Raise Unreadable if bytes follow a complete response. Its connection is then closed."""
    connection = cast(Any, response.stream)._stream._connection
    stream = response.extensions["network_stream"]
    buffered, _ = connection._h11_state.trailing_data
    if buffered or _is_followed(stream):
        # In h11's error state httpcore closes the connection after a complete response, and only then.
        connection._h11_state.send_failed()
        raise Unreadable.because(Flaw.MORE_BYTES, status=response.status)


def _is_followed(stream: Any) -> bool:
    """Return whether more bytes arrived than h11 got. httpcore itself closes idle connections that become readable."""
    secure = stream.get_extra_info("ssl_object")
    if secure is not None:
        return bool(secure.pending() or _queued(stream))
    return bool(_queued(stream)) or _is_readable(stream.get_extra_info("socket"))


def _queued(stream: Any) -> int:
    """Return the number of pieces in anyio's queue, which the socket doesn't show. Blocking streams have none."""
    inner = getattr(stream, "_stream", None)
    inner = getattr(inner, "transport_stream", inner)
    return len(getattr(getattr(inner, "_protocol", None), "read_queue", ()))


def _is_readable(raw: socket.socket) -> bool:
    """Return whether there are bytes to read.

    End of stream and errors don't count. asyncio's socket objects can't be read directly.
    """
    with contextlib.suppress(OSError):
        peeking = socket.socket(raw.family, raw.type, raw.proto, fileno=raw.fileno())
        try:
            return bool(peeking.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        finally:
            peeking.detach()
    return False


def _lowered(request: httpx.Request) -> httpcore.Request:
    url = request.url
    return httpcore.Request(
        request.method,
        httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        headers=request.headers.raw,
        content=cast(Any, request.stream),
        extensions=request.extensions,
    )
