"""A raw TCP server on loopback that does to each connection what a test tells it, right or wrong."""

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

TLS_HELLO = b"\x16"

type Script = Callable[["Visit"], None]


class Visit:
    """One connection with its request read: what the script answers on."""

    def __init__(self, connection: socket.socket, closing: threading.Event) -> None:
        self.connection = connection
        self.closing = closing
        self.head, self.body = _read_request(connection)

    @property
    def operation(self) -> str:
        return self.head.split(" ")[1].rpartition("/")[2]

    @property
    def headers(self) -> dict[str, str]:
        pairs = (line.partition(":") for line in self.head.splitlines()[1:])
        return {name.lower(): value.strip() for name, _, value in pairs}

    def send(self, data: bytes | str) -> None:
        self.connection.sendall(data.encode() if isinstance(data, str) else data)

    def drip(self, data: bytes, *, every: float) -> None:
        """A byte at a time, until the other side has had enough."""
        for byte in data:
            if self.closing.wait(every):
                return
            self.send(bytes([byte]))

    def stay_silent(self) -> None:
        """Until the client goes away, or the test is over."""
        self.connection.settimeout(0.05)
        while not self.closing.is_set():
            with contextlib.suppress(TimeoutError):
                if not self.connection.recv(1):
                    return

    def reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class ScriptedServer:
    """Serves until closed. `visits` has every request that arrived."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.visits: list[Visit] = []
        self._closing = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self._closing.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(60)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, EOFError):
            visit = Visit(connection, self._closing)
            self.visits.append(visit)
            self.script(visit)


@contextlib.contextmanager
def serving(script: Script) -> Iterator[ScriptedServer]:
    server = ScriptedServer(script)
    try:
        yield server
    finally:
        server.close()


def response(
    body: bytes | str | dict[str, Any],
    *,
    status: int = 200,
    headers: dict[str, str] | None = None,
    kind: str = "application/json",
) -> bytes:
    """A whole answer with an honest length; the connection closes after it."""
    content = json.dumps(body) if isinstance(body, dict) else body
    content = content.encode() if isinstance(content, str) else content
    lines = {"Content-Type": kind, "Content-Length": str(len(content)), "Connection": "close"} | (headers or {})
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} Word\r\n{head}\r\n".encode() + content


def answering(body: bytes | str | dict[str, Any], **how: Any) -> Script:
    return lambda visit: visit.send(response(body, **how))


def _read_request(connection: socket.socket) -> tuple[str, bytes]:
    connection.settimeout(10)
    received = b""
    while b"\r\n\r\n" not in received:
        received += _some(connection)
        if received.startswith(TLS_HELLO):
            return "POST /a/secure/greeting", b""
    head, _, body = received.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.lower().splitlines() if line.startswith(b"content-length:")), 0)
    while len(body) < length:
        body += _some(connection)
    return head.decode(), body


def _some(connection: socket.socket) -> bytes:
    data = connection.recv(65_536)
    if not data:
        raise EOFError
    return data
