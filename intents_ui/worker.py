"""gunicorn's ASGI worker, whose connections end when nobody goes on with them, and tell browsers what all answers do.

Without a deadline of ours a connection on which half a request was sent stays open for ever, and so does one whose
reader takes nothing of a long answer. A process that stops would wait for a proxy's idle connections. gunicorn has no
setting for any of them, nor for what it says of itself in each answer and in those by which it refuses a request.
"""

import asyncio
import socket
import struct
import sys
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final

from gunicorn.asgi import protocol
from gunicorn.asgi.protocol import ASGIProtocol
from gunicorn.workers import gasgi

from intents_ui import headers
from intents_ui.settings import ENV

NOT_A_MOMENT: Final = struct.pack("ii", 1, 0)
# Bytes of a body that wait to be taken, and bytes that are read at once: by default 256 KB each, for each connection.
UNREAD: Final = 32 * 1024
# After which a thread that computes lets another have Python's lock. With the default of 5 ms a page that hands over
# between the event loop and threads waits that long at each step while another client's export computes.
SWITCH_SECONDS: Final = 0.0005
LAST_QUESTIONS: Final = 1.0  # seconds in which what a proxy was about to ask on an open connection still comes in


class Connection(ASGIProtocol):  # type: ignore[misc]  # it says nothing of its types
    """For the headers of every request but the first there is `keepalive`, which gunicorn keeps to by itself."""

    def __init__(self, worker: Any) -> None:
        super().__init__(worker)
        self._first_request: asyncio.TimerHandle | None = None
        self._next_piece: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._max_buffer_size = transport.max_size = UNREAD
        self.worker.connections.add(self)
        wait = ENV.intents_request_seconds["headers"]
        self._first_request = self.worker.loop.call_later(wait, self._end_without_request)

    def pause_writing(self) -> None:
        super().pause_writing()
        wait = ENV.intents_request_seconds["answer"]
        self._next_piece = self.worker.loop.call_later(wait, self._drop)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._forget(self._next_piece)

    def connection_lost(self, exc: Exception | None) -> None:
        self.worker.connections.discard(self)
        self._forget(self._first_request)
        self._forget(self._next_piece)
        super().connection_lost(exc)

    def _feed_callback_parser(self, data: bytes) -> bool:
        """A Content-Length of more digits than Python makes a number of is no fault of ours to be logged."""
        try:
            return bool(super()._feed_callback_parser(data))
        except ValueError:
            self._send_error_response(HTTPStatus.BAD_REQUEST, "Invalid Content-Length value")
            self._close_transport()
            return False

    def _send_body(self, *args: Any, **how: Any) -> None:
        """Python before 3.13.6 cannot `writelines` to a reader who has left, and gunicorn would log it as an error."""
        if not self.transport.is_closing():
            super()._send_body(*args, **how)

    def _send_error_response(self, status: int, message: str, extra_headers: Sequence[tuple[str, str]] = ()) -> None:
        told = [(name.decode(), value.decode()) for name, value in headers.at_the_door()]
        super()._send_error_response(status, message, [*extra_headers, *told])

    def end_if_idle(self) -> None:
        if self._awaiting_request:
            self._keepalive_timeout()

    def _end_without_request(self) -> None:
        """Unless the first request is being answered, or was."""
        if self.req_count < 2 and self._current_request is None:
            self.transport.abort()

    def _drop(self) -> None:
        """With what is unsent, which the kernel would otherwise keep for its reader."""
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
        """What is answered from now on closes its connection. Those on which nothing is asked would be waited for."""
        self.loop.call_later(LAST_QUESTIONS, self._end_idle)
        await super()._shutdown()

    def _end_idle(self) -> None:
        for connection in list(self.connections):
            connection.end_if_idle()


gasgi.ASGIProtocol = Connection
protocol._CACHED_SERVER_HEADER = b""
