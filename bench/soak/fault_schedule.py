"""Fault injection on a real socket: the emulator behind a schedule of faults."""

import asyncio
import contextlib
import gzip
import json
import random
import socket
import struct
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from intents_ui.emulator import Emulator

PHASE_SECONDS: Final = 10.0
SILENCE_SECONDS: Final = 60.0
HUGE_BYTES: Final = 100 * 2**20
HTML: Final = b"<!DOCTYPE html><html><title>502 Bad Gateway</title><h1>502</h1><p>cloudflare</p></html>"
ENVELOPE: Final = json.dumps({"error": "QueryFailed", "code": 2001, "msg": "?", "status": 500}).encode()
BUSY: Final = json.dumps({"error": "TooManyRequests", "code": 1201, "msg": "?", "status": 429}).encode()


@dataclass
class Exchange:
    """One request and its connection. `good` returns the service's normal response."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    good: Callable[[], Awaitable[tuple[int, list[tuple[bytes, bytes]], bytes] | None]]

    async def answer(self, status: int, body: bytes, *headers: str, kind: str = "application/json") -> None:
        lines = [f"HTTP/1.1 {status} Word", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers]
        await self.send("\r\n".join([*lines, "", ""]).encode() + body)

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def disconnected(self, within: float) -> bool:
        """Return whether the client disconnected. Our clients don't pipeline requests, so readable means closed."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self.reader.read(1)
                return True
        return False

    async def normal(self) -> None:
        if found := await self.good():
            status, headers, body = found
            lines = [b"%s: %s" % each for each in headers]
            await self.send(b"\r\n".join([b"HTTP/1.1 %d Word" % status, *lines, b"", b""]) + body)


class Closed(Exception):
    """Closes the connection."""


async def hang(exchange: Exchange) -> None:
    await exchange.disconnected(SILENCE_SECONDS)
    raise Closed


async def reset(exchange: Exchange) -> None:
    found: socket.socket = exchange.writer.get_extra_info("socket")
    found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raise Closed


async def truncated(exchange: Exchange) -> None:
    await exchange.send(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{"intents":[')
    raise Closed


async def drip(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n")
    while not await exchange.disconnected(0.3):
        await exchange.send(b" ")
    raise Closed


async def huge(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(HUGE_BYTES // 2**16):
        await exchange.send(b"10000\r\n" + b" " * 2**16 + b"\r\n")
    raise Closed


async def gzip_bomb(exchange: Exchange) -> None:
    await exchange.answer(200, _packed(), "Content-Encoding: gzip")


@cache
def _packed() -> bytes:
    return gzip.compress(bytes(64 * 2**20), 9)


async def delayed(exchange: Exchange) -> None:
    if await exchange.disconnected(1.5):
        raise Closed
    await exchange.normal()


async def failing(exchange: Exchange) -> None:
    await exchange.answer(500, ENVELOPE)


async def gateway(exchange: Exchange) -> None:
    await exchange.answer(502, HTML, kind="text/html")


async def portal(exchange: Exchange) -> None:
    await exchange.answer(200, HTML, kind="text/html")


async def garbled(exchange: Exchange) -> None:
    await exchange.answer(200, b'{"intents": [{"intentId": "0x12", \xff\xfe NaN')


async def busy(exchange: Exchange) -> None:
    await exchange.answer(429, BUSY, "Retry-After: 2")


async def normal(exchange: Exchange) -> None:
    await exchange.normal()


# The faults that take most memory come first, so that they are part of the warm-up.
FAULTS: Final = (huge, gzip_bomb, hang, reset, truncated, drip, delayed, failing, gateway, portal, garbled)
# Share of failing calls in each phase. Overall, most calls succeed.
PHASES: Final = (0.05, 1.0, 0.0, 0.3, 0.02, 0.0)


@dataclass
class FaultSchedule:
    """Fault schedule: phases without faults, with few, with many, and sometimes with one fault only.

    `calm` ends all faults.
    """

    chance: random.Random
    calm: bool = False
    injected: Counter[str] = field(default_factory=Counter)
    _began: float = field(default_factory=time.monotonic)

    def fault(self) -> Callable[[Exchange], Awaitable[None]]:
        phase = int((time.monotonic() - self._began) / PHASE_SECONDS)
        share = PHASES[phase % len(PHASES)]
        if self.calm or self.chance.random() >= share:
            return normal
        if share == 1.0:
            return FAULTS[phase // len(PHASES) % len(FAULTS)]
        # Rate limiting silences the whole dashboard, so it must be rare to leave room for other faults.
        return busy if self.chance.random() < 0.01 else self.chance.choice(FAULTS)


class Service:
    """The emulator behind the fault schedule. `connections` are the open ones."""

    def __init__(self, emulator: Emulator, schedule: FaultSchedule) -> None:
        self.emulator = emulator
        self.schedule = schedule
        self.connections: set[asyncio.StreamWriter] = set()
        self.calls = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.add(writer)
        try:
            while True:
                exchange = await self._read(reader, writer)
                self.calls += 1
                fault = self.schedule.fault()
                self.schedule.injected[fault.__name__] += 1
                await fault(exchange)
        except (OSError, asyncio.IncompleteReadError, Closed):
            pass
        finally:
            self.connections.discard(writer)
            writer.transport.abort() if writer.transport.get_write_buffer_size() else writer.close()

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Exchange:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        pairs = [line.partition(":") for line in head[1:] if line]
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        scope = {"type": "http", "method": method, "path": path, "query_string": b"",
                 "headers": [(name.encode(), value.encode()) for name, value in headers.items()]}  # fmt: skip

        async def good() -> tuple[int, list[tuple[bytes, bytes]], bytes] | None:
            return await self._emulated_response(scope, body, reader)

        return Exchange(reader, writer, good)

    async def _emulated_response(
        self, scope: dict[str, Any], body: bytes, reader: asyncio.StreamReader
    ) -> tuple[int, list[tuple[bytes, bytes]], bytes] | None:
        received = iter([{"type": "http.request", "body": body, "more_body": False}])
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            if message := next(received, None):
                return message
            await reader.read(1)
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await self.emulator(scope, receive, send)
        for _ in range(2):
            await asyncio.sleep(0)  # lets the emulator's pending read of the connection end first
        return (sent[0]["status"], sent[0]["headers"], sent[1]["body"]) if sent else None


@contextlib.asynccontextmanager
async def served(service: Service) -> AsyncIterator[str]:
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for writer in list(service.connections):
            writer.transport.abort()
