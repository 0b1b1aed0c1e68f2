"""gunicorn's ASGI worker with connection deadlines and security headers, and its logger.

Without our deadlines, a connection with half a request stays open forever, and so does one whose client doesn't read a
long response. A shutdown would wait for a proxy's idle connections. gunicorn has no settings for these, nor for its
Server header and the headers of its own error responses.
"""

import asyncio
import socket
import struct
import sys
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final

from gunicorn import glogging
from gunicorn.asgi import protocol
from gunicorn.asgi.protocol import ASGIProtocol
from gunicorn.workers import gasgi

from intents_ui.middleware import security_headers

HEADERS_TIMEOUT = 10.0  # seconds from the connection to the end of its first request's headers
WRITE_TIMEOUT = 60.0  # seconds that a response waits for a client that doesn't read
NOT_A_MOMENT: Final = struct.pack("ii", 1, 0)
# Bytes of a body to buffer, and bytes to read at once. The default is 256 KB each, per connection.
UNREAD: Final = 32 * 1024
# Interval after which a computing thread releases the GIL. A page waits that long at each handover between event loop
# and thread while another client's export computes. Shorter intervals cost more: with 16 connections, a page of unseen
# rows takes a quarter more CPU time at 0.5 ms, and no less at 5 ms.
SWITCH_SECONDS: Final = 0.002
LAST_QUESTIONS: Final = 1.0  # seconds for requests that a proxy is about to send on an open connection


class Connection(ASGIProtocol):  # type: ignore[misc]  # untyped base class
    """Connection with deadlines. For the headers of later requests gunicorn itself enforces `keepalive`."""

    def __init__(self, worker: Any) -> None:
        super().__init__(worker)
        self._first_request: asyncio.TimerHandle | None = None
        self._next_piece: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._max_buffer_size = transport.max_size = UNREAD
        self.worker.connections.add(self)
        self._first_request = self.worker.loop.call_later(HEADERS_TIMEOUT, self._end_without_request)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._next_piece = self.worker.loop.call_later(WRITE_TIMEOUT, self._drop)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._forget(self._next_piece)

    def connection_lost(self, exc: Exception | None) -> None:
        self.worker.connections.discard(self)
        self._forget(self._first_request)
        self._forget(self._next_piece)
        super().connection_lost(exc)

    def _feed_callback_parser(self, data: bytes) -> bool:
        """Respond with 400 to a Content-Length too long for Python's int. It would otherwise be logged as an error."""
        try:
            return bool(super()._feed_callback_parser(data))
        except ValueError:
            self._send_error_response(HTTPStatus.BAD_REQUEST, "Invalid Content-Length value")
            self._close_transport()
            return False

    def _send_body(self, *args: Any, **how: Any) -> None:
        """Skip the write to a disconnected client.

        Before Python 3.13.6 it raises in `writelines` and is logged as an error.
        """
        if not self.transport.is_closing():
            super()._send_body(*args, **how)

    def _send_error_response(self, status: int, message: str, extra_headers: Sequence[tuple[str, str]] = ()) -> None:
        headers = [(name.decode(), value.decode()) for name, value in security_headers.at_the_door()]
        super()._send_error_response(status, message, [*extra_headers, *headers])

    def end_if_idle(self) -> None:
        if self._awaiting_request:
            self._keepalive_timeout()

    def _end_without_request(self) -> None:
        """Abort the connection if its first request hasn't arrived."""
        if self.req_count < 2 and self._current_request is None:
            self.transport.abort()

    def _drop(self) -> None:
        """Abort the connection and discard unsent data, which the kernel would otherwise keep for the client."""
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NOT_A_MOMENT)
        self.transport.abort()

    def _forget(self, timer: asyncio.TimerHandle | None) -> None:
        if timer:
            timer.cancel()


class Worker(gasgi.ASGIWorker):  # type: ignore[misc]
    def __init__(self, *args: Any, **how: Any) -> None:
        super().__init__(*args, **how)
        self.connections: set[Connection] = set()

    def init_process(self) -> None:
        sys.setswitchinterval(SWITCH_SECONDS)
        super().init_process()

    async def _shutdown(self) -> None:
        """Shut down. Responses from now on close their connection, and idle connections are closed explicitly."""
        self.loop.call_later(LAST_QUESTIONS, self._end_idle)
        await super()._shutdown()

    def _end_idle(self) -> None:
        for connection in list(self.connections):
            connection.end_if_idle()


class Log(glogging.Logger):  # type: ignore[misc]
    """gunicorn's logger without an access log. It would compute one for each request, because we configure logging."""

    access_log_enabled = False


gasgi.ASGIProtocol = Connection
protocol._CACHED_SERVER_HEADER = b""
