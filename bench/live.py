"""Benchmark of the live pages: cost and latency. One command, a table, about two minutes:

    .venv/bin/python -m bench.live                   5,000 viewers of one intent on one worker
    .venv/bin/python -m bench.live --viewers 1000

The worker is the dashboard, gunicorn as in gunicorn.conf.py. The viewers and a service that changes on command run in
this process, so both ends of a measurement share a clock. On two cores the viewers' own work is part of the
measurement. Everything is on loopback.

Measured are KB of worker memory per viewer, CPU time per connection until its first event is written, milliseconds from
the service's response until a viewer has the event, and concurrent long polls at the service.
"""

import argparse
import asyncio
import contextlib
import json
import re
import resource
import time
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any

import httpx

from bench.processes import Server, dashboard, quantile
from bench.report import HEAD, Target, machine
from intents_ui.emulator import Emulator
from tests.emulator.driving import call
from tests.gunicorn_constants import constants
from tests.live.following import until
from tests.live.tcp_service import served
from tests.serving import ROOT

CONNECTING_AT_ONCE = 100
CHANGES = 20
CHANGES_FOR_ONE = 50
# Faster changes in a row would make the poller slow down, because it assumes a service that doesn't block.
BETWEEN = 1.1  # seconds


class ChangingService:
    """Service with an intent whose receipt changes on command.

    `written_at` is when the last long poll's response was written.
    """

    def __init__(self) -> None:
        emulator = Emulator()
        self.intent_id = emulator.play("cctp-slow", age=100)["intentId"]
        query = {"intentId": self.intent_id}
        self.intent = call(emulator, "GetIntent", query)["intent"]
        self.receipt = call(emulator, "GetIntentReceipt", query)["intentReceipt"]
        self.number = 0
        self.written_at = 0.0
        self.waits = self.most_waits = 0
        self._changed = asyncio.Event()

    def change(self) -> None:
        self.number += 1
        self.receipt["destinationTransaction"]["status"] = "PENDING" if self.number % 2 else "ON_HOLD"
        self.receipt["updatedAt"] = datetime.now(UTC).isoformat()  # a receipt with an earlier time would be ignored
        self._changed.set()
        self._changed = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        query = json.loads((await receive())["body"])
        answer: dict[str, Any] = {"intentReceipt": self.receipt, "intent": self.intent}
        is_wait = scope["path"].endswith("WaitIntentReceipt")
        if is_wait:
            if query.get("lastReceiptStates") == self._states:
                await self._hold(receive)
            answer |= {"receiptStates": self._states, "done": False}
        body = json.dumps(answer).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if is_wait:
            self.written_at = time.perf_counter()
        await send({"type": "http.response.body", "body": body})

    @property
    def _states(self) -> list[str]:
        return ["SUCCEEDED", "SUCCEEDED", self.receipt["destinationTransaction"]["status"]]

    async def _hold(self, receive: Any) -> None:
        self.waits += 1
        self.most_waits = max(self.most_waits, self.waits)
        ends = [asyncio.ensure_future(each) for each in (receive(), self._changed.wait())]
        await asyncio.wait(ends, timeout=28, return_when=asyncio.FIRST_COMPLETED)
        self.waits -= 1
        for each in ends:
            each.cancel()


class Viewer(asyncio.Protocol):
    """Minimal viewer that records when an event is complete."""

    def __init__(self, request: bytes) -> None:
        self.request = request
        self.arrived_at = 0.0
        self.events = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        # The end of an event is also the end of its chunk.
        if data.endswith(b"\n\n\r\n"):
            self.arrived_at = time.perf_counter()
            self.events += 1


@contextlib.asynccontextmanager
async def viewers(port: int, intent_id: str, count: int) -> AsyncIterator[list[Viewer]]:
    request = f"GET /live/{intent_id} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    loop, places = asyncio.get_running_loop(), asyncio.Semaphore(CONNECTING_AT_ONCE)
    watching = [Viewer(request) for _ in range(count)]

    async def connect(viewer: Viewer) -> None:
        async with places:
            await loop.create_connection(lambda: viewer, "127.0.0.1", port)
            await until(lambda: viewer.events, within=30)

    try:
        await asyncio.gather(*(connect(viewer) for viewer in watching))
        yield watching
    finally:
        for viewer in watching:
            viewer.transport.abort()


def open_streams(server: Server) -> int:
    metrics = httpx.get(f"{server.url}/metrics", trust_env=False).text
    return int(float(re.findall(r"^intents_ui_streams\S* (\S+)$", metrics, re.MULTILINE)[0]))


async def changes(service: ChangingService, watching: Sequence[Viewer], count: int) -> list[float]:
    """Return the milliseconds from the service's write to each viewer's event."""
    latencies = []
    for _ in range(count):
        seen = watching[0].events + 1
        await until(lambda: service.waits == 1)
        service.change()
        await until(lambda seen=seen: all(viewer.events >= seen for viewer in watching), within=30)
        latencies += [(viewer.arrived_at - service.written_at) * 1000 for viewer in watching]
        await asyncio.sleep(BETWEEN)
    return latencies


async def measure(service: ChangingService, count: int) -> None:
    many = {"intents_ui.startup:STREAMS": count + 60, "intents_ui.startup:STREAMS_PER_CLIENT": count + 60}
    async with served(service) as front:
        with dashboard(ROOT, front.url, constants(**many)) as server:
            async with viewers(server.port, service.intent_id, 50):
                pass  # warms up, so that imports don't count as a viewer's memory
            await until(lambda: not open_streams(server))
            memory, processor = server.megabytes, server.processor
            async with viewers(server.port, service.intent_id, count) as watching:
                connect_ms = (server.processor - processor) * 1000 / count
                kilobytes = (server.megabytes - memory) * 1024 / count
                took_all = await changes(service, watching, CHANGES)
                kilobytes_then = (server.megabytes - memory) * 1024 / count
            await until(lambda: not open_streams(server), within=30)
            async with viewers(server.port, service.intent_id, 1) as alone:
                took_one = await changes(service, alone, CHANGES_FOR_ONE)
    print(*machine(), "", HEAD, sep="\n")
    for target in (
        Target("memory per viewer, connected", kilobytes, 20, "KB", f"{count:,} viewers of one intent, one worker"),
        Target(f"memory per viewer, after {CHANGES} changes", kilobytes_then, 20, "KB"),
        Target("CPU time per connection", connect_ms, 0.6, "ms"),
        Target("change to all viewers, p99", quantile(took_all, 99), 500, "ms", f"median {quantile(took_all, 50):.0f}"),
        Target("change to one viewer, p99", quantile(took_one, 99), 50, "ms", f"median {quantile(took_one, 50):.1f}"),
        Target("concurrent waits at the service", service.most_waits, 1, ""),
    ):
        print(target.line())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.live", description="What the live pages cost.")
    parser.add_argument("--viewers", type=int, default=5000)
    options = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # of open files, here and in the worker
    asyncio.run(measure(ChangingService(), options.viewers))


if __name__ == "__main__":
    main()
