"""Transports of the blocking client: to the service with a deadline for every wait, and to one in the same process.

A read timeout doesn't end a call whose headers or body trickle in, or whose name resolution hangs. So every wait (DNS,
connect, TLS, read, write) is cut to the time left of the call's context (`request_context.within`).
"""

import asyncio
import logging
import ssl
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from functools import cache
from typing import Any, Final, cast

import httpcore
import httpx

from intents_ui.service.context.request_context import time_left

KEEP_ALIVE_SECONDS: Final = 15.0
READ_BYTES: Final = 2**17  # per read, so that one is enough for most responses. httpcore's own limit is half as much

log = logging.getLogger(__name__)


@cache
def tls() -> ssl.SSLContext:
    """Return the TLS context of all clients. Building one parses the trusted certificates, which takes 20 ms."""
    return httpx.create_ssl_context(trust_env=False)


class DeadlineTransport(httpx.BaseTransport):
    """Connection pool with deadlines. httpx's own transport takes no network backend. Raises httpcore's exceptions."""

    def __init__(self, *, connections: int) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=tls(),
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=KEEP_ALIVE_SECONDS,
            network_backend=DeadlineBackend(connections=connections),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        response = self._pool.handle_request(
            httpcore.Request(
                request.method,
                httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=cast(Any, request.stream),
                extensions=request.extensions,
            )
        )
        return httpx.Response(
            response.status, headers=response.headers, stream=_Body(response), extensions=response.extensions
        )

    def close(self) -> None:
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


class DeadlineBackend(httpcore.NetworkBackend):
    """Network backend that connects within the deadline, in a thread of its own because a name lookup can hang."""

    def __init__(self, *, connections: int) -> None:
        self._sockets = httpcore.SyncBackend()
        self._pending = threading.BoundedSemaphore(connections)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        allowed = time_left(timeout, expired=httpcore.ConnectTimeout)
        connected: Future[httpcore.NetworkStream] = Future()

        def connect() -> None:
            try:
                connected.set_result(self._sockets.connect_tcp(host, port, allowed, local_address, socket_options))
            except Exception as error:
                connected.set_exception(error)
            finally:
                self._pending.release()

        if not self._pending.acquire(timeout=-1 if allowed is None else allowed):
            raise httpcore.ConnectTimeout("too many connections are being opened")
        # A daemon, so that a lookup that hangs doesn't block the process's exit.
        threading.Thread(target=connect, name="connect", daemon=True).start()
        try:
            return DeadlineStream(connected.result(allowed))
        except TimeoutError:
            connected.add_done_callback(_close_unused)
            raise httpcore.ConnectTimeout("not connected in time") from None
        except UnicodeError as error:
            raise httpcore.ConnectError("not a host name") from error


def _close_unused(connected: "Future[httpcore.NetworkStream]") -> None:
    if not connected.exception():
        connected.result().close()


class DeadlineStream(httpcore.NetworkStream):
    """Connection whose waits are cut to the deadline of the call that currently uses it."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max(max_bytes, READ_BYTES), time_left(timeout, expired=httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, time_left(timeout, expired=httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        allowed = time_left(timeout, expired=httpcore.ConnectTimeout)
        return DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, allowed))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class InProcessTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Transport to an ASGI application, which runs on the caller's event loop, in threads on one for each call."""

    def __init__(self, application: object) -> None:
        self._asgi = httpx.ASGITransport(application)  # type: ignore[arg-type]

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        allowed = time_left(request.extensions["timeout"]["read"], expired=httpcore.ReadTimeout)
        return asyncio.run(asyncio.wait_for(self.handle_async_request(request), allowed))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        try:
            response = await self._asgi.handle_async_request(request)
            content = b"".join([piece async for piece in response.aiter_raw()])
        except Exception:
            log.exception("The service in this process failed")
            return httpx.Response(500, stream=httpx.ByteStream(b""))
        return httpx.Response(response.status_code, headers=response.headers, stream=httpx.ByteStream(content))
