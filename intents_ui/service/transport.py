"""The ways from the httpx clients to the network: httpcore pools on which each response stands alone on its connection.

What follows a complete response on a connection would be taken for the response to the next request on it, which may be
another user's. httpcore looks for it on the socket alone, so `refuse_more` looks where such bytes may wait beside it.
"""

import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from typing import Any, cast

import httpcore
import httpx

from intents_ui.service import processor
from intents_ui.service.deadline import DeadlineBackend, time_left
from intents_ui.service.errors import Flaw, Unreadable

KEEP_ALIVE_SECONDS = 15.0


class DeadlineTransport(httpx.BaseTransport):
    """For a blocking client; its waits end with the call (`deadline`). httpx's own transport takes no network backend.

    A connection is waited for here and not in the pool, which can't give up the thread's turn (`processor`) meanwhile.
    Raises httpcore's exceptions as they are."""

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
        allowed = time_left(request.extensions["timeout"]["pool"], expired=httpcore.PoolTimeout)
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
    """For an async client. The number of connections has no limit, that of idle ones has.

    Raises httpcore's exceptions as they are."""

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
    """`done` is called once, when the response is closed."""

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
    """Raise Unreadable if bytes follow a response that was read to its end. Its connection is not used again then."""
    connection = cast(Any, response.stream)._stream._connection
    stream = response.extensions["network_stream"]
    beside, _ = connection._h11_state.trailing_data
    if beside or _is_followed(stream):
        # In h11's error state, the only one in which httpcore closes the connection of a complete response.
        connection._h11_state.send_failed()
        raise Unreadable.because(Flaw.MORE_BYTES, status=response.status)


def _is_followed(stream: Any) -> bool:
    """Whether more was received than h11 was given. httpcore closes what becomes readable while idle."""
    secure = stream.get_extra_info("ssl_object")
    if secure is not None:
        return bool(secure.pending() or _queued(stream))
    return bool(_queued(stream)) or _is_readable(stream.get_extra_info("socket"))


def _queued(stream: Any) -> int:
    """How many pieces wait in anyio's queue, of which the socket knows nothing; blocking streams have none."""
    inner = getattr(stream, "_stream", None)
    inner = getattr(inner, "transport_stream", inner)
    return len(getattr(getattr(inner, "_protocol", None), "read_queue", ()))


def _is_readable(raw: socket.socket) -> bool:
    """Whether there are bytes to read. Neither an end nor an error is one; asyncio's sockets cannot be read from."""
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
