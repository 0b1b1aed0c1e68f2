"""Clients that request pages as fast as they get them, over raw sockets.

A client library would cost more than a page.
"""

import asyncio
import itertools
import math
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
LAST_CHUNK = b"\r\n0\r\n\r\n"
FRESH = itertools.count(time.time_ns())
LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)


def length_of(head: bytes) -> int:
    """Return the body's length in bytes from the headers, 0 if they don't say."""
    found = LENGTH.search(head)
    return int(found[1]) if found else 0


def request(path: str, encoding: str = "") -> bytes:
    """Return a request for a path, in which `{fresh}` becomes 16 digits that no request had before."""
    path = path.replace("{fresh}", f"{next(FRESH):016x}")
    accepts = f"Accept-Encoding: {encoding}\r\n" if encoding else ""
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{accepts}\r\n".encode()


class Response:
    """A response as it arrives."""

    def __init__(self) -> None:
        self.bytes = 0
        self.status = ""
        self.is_complete = False
        self._head = self._tail = b""
        self._expected: int | None = None  # bytes in all, None for chunks

    def add(self, data: bytes) -> None:
        self.bytes += len(data)
        self._tail = (self._tail + data)[-len(LAST_CHUNK) :]
        if not self.status:
            self._head += data
            head, end, _ = self._head.partition(b"\r\n\r\n")
            if not end:
                return
            self.status = head[9:12].decode()
            self._expected = None if CHUNKED.search(head) else len(head) + len(end) + length_of(head)
        self.is_complete = self._tail == LAST_CHUNK if self._expected is None else self.bytes >= self._expected


@dataclass
class Load:
    """Statuses of responses, and the milliseconds and bytes of the successful ones."""

    seconds: float = 0.0
    milliseconds: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    bytes: int = 0


class Reader(asyncio.Protocol):
    """Client with one connection. Sends no request after `until`, or after the last path."""

    def __init__(self, load: Load, paths: Iterator[str], until: float, pause: float, encoding: str) -> None:
        self.load = load
        self.paths = paths
        self.until = until
        self.pause = pause
        self.encoding = encoding
        self.loop = asyncio.get_running_loop()
        self.done = self.loop.create_future()

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.go_on()

    def go_on(self) -> None:
        """Send the next request, after a random pause so that clients don't synchronize."""
        if self.pause:
            self.loop.call_later(random.uniform(0, 2 * self.pause), self.ask)
        else:
            self.ask()

    def ask(self) -> None:
        self.response, self.began = Response(), time.perf_counter()
        path = next(self.paths, None) if self.began < self.until else None
        if path is None:
            self.transport.close()
        else:
            self.transport.write(request(path, self.encoding))

    def data_received(self, data: bytes) -> None:
        self.response.add(data)
        if self.response.is_complete:
            self.load.statuses[self.response.status] += 1
            if self.response.status == "200":
                self.load.milliseconds.append((time.perf_counter() - self.began) * 1000)
                self.load.bytes += self.response.bytes
            self.go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(None)


def load(
    port: int,
    paths: Sequence[str],
    *,
    connections: int,
    seconds: float | None = None,
    pause: float = 0.0,
    encoding: str = "",
) -> Load:
    """Run clients that take turns at the paths, each path once without `seconds`.

    `pause` is the mean time in seconds between a client's requests.
    """
    began, found = time.perf_counter(), Load()
    each = iter(paths) if seconds is None else itertools.cycle(paths)
    until = math.inf if seconds is None else began + seconds

    async def run() -> None:
        loop, readers = asyncio.get_running_loop(), []
        for _ in range(connections):
            reader = Reader(found, each, until, pause, encoding)
            await loop.create_connection(lambda reader=reader: reader, "127.0.0.1", port)
            readers.append(reader)
        await asyncio.gather(*(reader.done for reader in readers))

    asyncio.run(run())
    found.seconds = time.perf_counter() - began
    found.milliseconds.sort()
    return found
