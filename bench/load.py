"""Load generator in a separate process: clients that request pages as fast as they get them.

Controlled by lines of JSON:

    echo '{"port": 8000, "paths": ["/help"], "connections": 16, "seconds": 2}' | .venv/bin/python -m bench.load

Each input line is a run, and each output line its result: the number of responses by status, and the milliseconds and
bytes of the successful ones. Without `seconds`, each path is requested once. `{fresh}` in a path becomes 16 digits that
no run had before. Raw sockets, because a client library would cost more than the page being measured.
"""

import asyncio
import contextlib
import itertools
import json
import math
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
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
    """Return a request for a path. `encoding`: what the client accepts."""
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


class Reader(asyncio.Protocol):
    """Client with one connection. Sends no request after `until`, or after the last path."""

    def __init__(self, paths: Iterator[str], until: float, pause: float, encoding: str) -> None:
        self.paths = paths
        self.pause = pause
        self.until = until
        self.encoding = encoding
        self.milliseconds: list[float] = []
        self.statuses: Counter[str] = Counter()
        self.bytes = 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.go_on()

    def go_on(self) -> None:
        """Send the next request, after a random pause so that clients don't synchronize."""
        if self.pause:
            asyncio.get_running_loop().call_later(random.uniform(0, 2 * self.pause), self.ask)
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
            self.statuses[self.response.status] += 1
            if self.response.status == "200":
                self.milliseconds.append((time.perf_counter() - self.began) * 1000)
                self.bytes += self.response.bytes
            self.go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(None)


async def run(
    port: int, paths: list[str], connections: int, seconds: float | None = None, pause: float = 0, encoding: str = ""
) -> dict[str, Any]:
    """Run clients that take turns at the paths. `pause` is the mean time in seconds between a client's requests."""
    loop, began = asyncio.get_running_loop(), time.perf_counter()
    each = iter(paths) if seconds is None else itertools.cycle(paths)
    until = math.inf if seconds is None else began + seconds
    readers = []
    for _ in range(connections):
        _, reader = await loop.create_connection(lambda: Reader(each, until, pause, encoding), "127.0.0.1", port)
        readers.append(reader)
    await asyncio.gather(*(reader.done for reader in readers))
    return {
        "seconds": time.perf_counter() - began,
        "milliseconds": sorted(itertools.chain(*(reader.milliseconds for reader in readers))),
        "statuses": dict(sum((reader.statuses for reader in readers), Counter[str]())),
        "bytes": sum(reader.bytes for reader in readers),
    }


def main() -> None:
    with contextlib.suppress(KeyboardInterrupt):
        for line in sys.stdin:
            print(json.dumps(asyncio.run(run(**json.loads(line)))), flush=True)


if __name__ == "__main__":
    main()
