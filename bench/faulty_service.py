"""The emulator on a real socket, behind a schedule of faults."""

import asyncio
import contextlib
import gzip
import random
import socket
import struct
import time
from collections import Counter
from typing import Any, Final

from intents_ui.emulator import Emulator
from tests.live.tcp_service import TcpService
from tests.service.scripted_server import response

PHASE_SECONDS: Final = 10.0
# Share of failing calls in each phase. Overall, most calls succeed.
PHASES: Final = (0.05, 1.0, 0.0, 0.3, 0.02, 0.0)
SILENCE_SECONDS: Final = 60.0
HUGE_BYTES: Final = 100 * 2**20
HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
HTML: Final = "<!DOCTYPE html><html><title>502 Bad Gateway</title><h1>502</h1><p>cloudflare</p></html>"
KEEP: Final = {"Connection": "keep-alive"}
ERROR: Final = {"error": "QueryFailed", "code": 2001, "msg": "?", "status": 500}
LIMITED: Final = {"error": "TooManyRequests", "code": 1201, "msg": "?", "status": 429}
RESPONSES: Final = {
    "failing": response(ERROR, status=500, headers=KEEP),
    "gateway": response(HTML, status=502, kind="text/html", headers=KEEP),
    "portal": response(HTML, kind="text/html", headers=KEEP),
    "garbled": response(b'{"intents": [{"intentId": "0x12", \xff\xfe NaN', headers=KEEP),
    "gzip bomb": response(gzip.compress(bytes(64 * 2**20), 9), headers=KEEP | {"Content-Encoding": "gzip"}),
    "rate limit": response(LIMITED, status=429, headers=KEEP | {"Retry-After": "2"}),
}
# The faults that take most memory come first, so that they are part of the warm-up.
FAULTS: Final = (
    "huge", "gzip bomb", "hang", "reset", "truncated", "drip", "delayed", "failing", "gateway", "portal", "garbled",
)  # fmt: skip


class FaultyService(TcpService):
    """Has phases without faults, with few, with many, and sometimes with one fault only. `calm` ends all faults."""

    def __init__(self, emulator: Emulator, chance: random.Random) -> None:
        super().__init__(emulator)
        self.chance = chance
        self.calm = False
        self.injected: Counter[str] = Counter()
        self.began = time.monotonic()

    def fault(self) -> str:
        phase = int((time.monotonic() - self.began) / PHASE_SECONDS)
        share = PHASES[phase % len(PHASES)]
        if self.calm or self.chance.random() >= share:
            return "normal"
        if share == 1.0:
            return FAULTS[phase // len(PHASES) % len(FAULTS)]
        # Rate limiting silences the whole dashboard, so it must be rare to leave room for other faults.
        return "rate limit" if self.chance.random() < 0.01 else self.chance.choice(FAULTS)

    async def respond(
        self, scope: dict[str, Any], body: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        fault = self.fault()
        self.injected[fault] += 1
        if fault in RESPONSES:
            await send(writer, RESPONSES[fault])
            return
        match fault:
            case "hang":
                await disconnected(reader, within=SILENCE_SECONDS)
            case "reset":
                connection: socket.socket = writer.get_extra_info("socket")
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            case "truncated":
                await send(writer, HEAD + b'Content-Length: 999\r\n\r\n{"intents":[')
            case "drip":
                await send(writer, HEAD + b"Content-Length: 999\r\n\r\n")
                while not await disconnected(reader, within=0.3):
                    await send(writer, b" ")
            case "huge":
                await send(writer, HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
                for _ in range(HUGE_BYTES // 2**16):
                    await send(writer, b"10000\r\n" + b" " * 2**16 + b"\r\n")
            case "normal":
                await super().respond(scope, body, reader, writer)
                return
            case "delayed" if not await disconnected(reader, within=1.5):
                await super().respond(scope, body, reader, writer)
                return
        raise ConnectionAbortedError


async def send(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()


async def disconnected(reader: asyncio.StreamReader, *, within: float) -> bool:
    """Return whether the client disconnected. Our clients don't pipeline requests, so readable means closed."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within):
            await reader.read(1)
            return True
    return False
