"""Load generator in a separate process: clients that request pages as fast as they get them.

Controlled by lines of JSON:

    echo '{"port": 8000, "paths": ["/help"], "connections": 16, "seconds": 2}' | .venv/bin/python -m bench.load

Each input line is a run, and each output line its result. Raw sockets, because a client library would cost more than
the page being measured. The result includes the CPU time of the clients themselves.
"""

import asyncio
import contextlib
import itertools
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)


def length_of(head: bytes) -> int:
    """Return the body's length in bytes from the headers, 0 if they don't say."""
    found = LENGTH.search(head)
    return int(found[1]) if found else 0


class Reader(asyncio.Protocol):
    """Client with one connection. Sends no request after `until`."""

    def __init__(self, paths: Iterator[str], until: float, pause: float) -> None:
        self.paths = paths
        self.pause = pause
        self.until = until
        self.milliseconds: list[float] = []
        self.statuses: Counter[str] = Counter()
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.missing = 0  # bytes of the current response

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.go_on()

    def go_on(self) -> None:
        """Send the next request, after a random pause so that clients don't synchronize."""
        if self.pause:
            asyncio.get_running_loop().call_later(random.uniform(0, 2 * self.pause), self.ask)  # noqa: S311 - jitter, not security
        else:
            self.ask()

    def ask(self) -> None:
        self.head = b""
        self.began = time.perf_counter()
        if self.began >= self.until:
            self.transport.close()
            return
        self.transport.write(f"GET {next(self.paths)} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())

    def data_received(self, data: bytes) -> None:
        if self.missing:
            self.missing -= len(data)
        else:
            self.head += data
            head, end, body = self.head.partition(b"\r\n\r\n")
            if not end:
                return
            self.statuses[head[9:12].decode()] += 1
            self.missing = length_of(head) - len(body)
        if self.missing <= 0:
            self.missing = 0
            self.milliseconds.append((time.perf_counter() - self.began) * 1000)
            self.go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(None)


async def run(port: int, paths: list[str], connections: int, seconds: float, pause: float = 0) -> dict[str, Any]:
    """Run clients that take turns at the paths. `pause` is the mean time in seconds between a client's requests."""
    loop, began, processor = asyncio.get_running_loop(), time.perf_counter(), time.process_time()
    each = itertools.cycle(paths)
    readers = []
    for _ in range(connections):
        _, reader = await loop.create_connection(lambda: Reader(each, began + seconds, pause), "127.0.0.1", port)
        readers.append(reader)
    await asyncio.gather(*(reader.done for reader in readers))
    elapsed = time.perf_counter() - began
    return {
        "seconds": elapsed,
        "milliseconds": sorted(itertools.chain(*(reader.milliseconds for reader in readers))),
        "statuses": dict(sum((reader.statuses for reader in readers), Counter[str]())),
        "processor": time.process_time() - processor,
    }


def main() -> None:
    with contextlib.suppress(KeyboardInterrupt):
        for line in sys.stdin:
            print(json.dumps(asyncio.run(run(**json.loads(line)))), flush=True)


if __name__ == "__main__":
    main()
