"""Clients that request pages as fast as they get them. A client library would cost more than a page."""

import asyncio
import itertools
import math
import random
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

MAX_BYTES = 2**26  # of a response
FRESH = itertools.count(time.time_ns())
LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)


@dataclass
class Load:
    """Statuses of responses, the milliseconds and bytes of the successful ones, and what they cost."""

    seconds: float = 0.0
    milliseconds: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    bytes: int = 0
    processor: float = 0.0  # CPU seconds of the server
    megabytes: float = 0.0  # of the server
    calls: int = 0  # to the service

    @property
    def each(self) -> float:
        """CPU milliseconds per page."""
        return self.processor * 1000 / len(self.milliseconds)

    @property
    def rate(self) -> float:
        """Pages per second."""
        return len(self.milliseconds) / self.seconds


def length_of(head: bytes) -> int | None:
    """Return the body's length in bytes from the headers, None if they don't say."""
    found = LENGTH.search(head)
    return int(found[1]) if found else None


def request(path: str, headers: str = "") -> bytes:
    """Return a request for a path, in which `{fresh}` becomes 16 digits that no request had before."""
    path = path.replace("{fresh}", f"{next(FRESH):016x}")
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode()


async def response(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """Return the head of a response, and its body with chunks as they came."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = length_of(head)
    body = await (reader.readuntil(b"\r\n0\r\n\r\n") if length is None else reader.readexactly(length))
    return head, body


def load(
    port: int,
    paths: Sequence[str],
    *,
    connections: int,
    seconds: float | None = None,
    pause: float = 0.0,
    headers: str = "",
) -> Load:
    """Run clients that take turns at the paths, each path once without `seconds`.

    `pause` is the mean time in seconds between a client's requests, which is random so that clients don't synchronize.
    """
    began, found = time.perf_counter(), Load()
    each = iter(paths) if seconds is None else itertools.cycle(paths)
    until = math.inf if seconds is None else began + seconds

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=MAX_BYTES)
        for path in each:
            if pause:
                await asyncio.sleep(random.uniform(0, 2 * pause))
            asked = time.perf_counter()
            if asked >= until:
                break
            writer.write(request(path, headers))
            head, body = await response(reader)
            status = head[9:12].decode()
            found.statuses[status] += 1
            if status == "200":
                found.milliseconds.append((time.perf_counter() - asked) * 1000)
                found.bytes += len(head) + len(body)
        writer.close()

    async def clients() -> None:
        await asyncio.gather(*(client() for _ in range(connections)))

    asyncio.run(clients())
    found.seconds = time.perf_counter() - began
    return found
