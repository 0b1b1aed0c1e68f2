"""gunicorn's ASGI worker with deadlines for connections, and its logger.

gunicorn has no settings for these. Without them, a connection with half a request stays open forever, and so does one
whose client doesn't read a long response.
"""

import asyncio
import socket
import struct
import sys
from typing import Any, Final

from gunicorn import glogging
from gunicorn.asgi.protocol import ASGIProtocol
from gunicorn.workers import gasgi

HEADERS_TIMEOUT = 10.0  # seconds from the connection to the end of its first request's headers
WRITE_TIMEOUT = 60.0  # seconds that a response waits for a client that doesn't read
RESET: Final = struct.pack("ii", 1, 0)
# Bytes of a body to buffer, and bytes to read at once. The default is 256 KB each, per connection.
BUFFER_SIZE: Final = 32 * 1024
# Interval after which a computing thread releases the GIL. Shorter than CPython's 5 ms, so that exports don't starve
# pages.
SWITCH_SECONDS: Final = 0.002


class Connection(ASGIProtocol):  # type: ignore[misc]  # untyped base class
    """Connection with deadlines. For the headers of later requests gunicorn itself enforces `keepalive`."""

    def __init__(self, worker: Any) -> None:
        super().__init__(worker)
        deadline = worker.loop.call_later(HEADERS_TIMEOUT, self.drop)

        async def app(*request: Any) -> None:
            """Run the application, which gunicorn does when it has the headers."""
            deadline.cancel()
            await worker.asgi(*request)

        self.app = app
        self.headers_deadline = deadline
        self.write_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        # The first name is private, because gunicorn has no setting for it.
        self._max_buffer_size = transport.max_size = BUFFER_SIZE

    def data_received(self, data: bytes) -> None:
        try:
            super().data_received(data)
        except ValueError:  # a Content-Length of more digits than `int` accepts
            self.transport.abort()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.write_deadline = self.worker.loop.call_later(WRITE_TIMEOUT, self.drop)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self.write_deadline:
            self.write_deadline.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for deadline in (self.headers_deadline, self.write_deadline):
            if deadline:
                deadline.cancel()

    def drop(self) -> None:
        """Abort the connection and discard unsent data, which the kernel would otherwise keep for the client."""
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.transport.abort()


class Worker(gasgi.ASGIWorker):  # type: ignore[misc]
    def init_process(self) -> None:
        sys.setswitchinterval(SWITCH_SECONDS)
        super().init_process()


class Log(glogging.Logger):  # type: ignore[misc]
    """gunicorn's logger without an access log. It would compute one for each request, because we configure logging."""

    access_log_enabled = False


gasgi.ASGIProtocol = Connection
