"""Stub service with prepared responses: bytes recorded from the emulator, sent after an adjustable delay.

    .venv/bin/python -m bench.stub_service --port 8801

A repeated request gets the same bytes, so only its first time costs the emulator's work. `SearchIntents` by an owner
returns as many hits as the address encodes (`owner`), and none for any other criterion. `GET /delay/<seconds>` sets the
delay. `GET /counters` returns the number of requests, the distinct requests, and when the last response was written, by
the clock that all processes of a machine share (`time.perf_counter`).
"""

import argparse
import asyncio
import contextlib
import json
import re
import time
from typing import Any

from bench.load import length_of
from intents_ui.emulator import Emulator
from tests.emulator.driving import send_request

OWNER = re.compile(rb'\{"byOwnerAddress": ?"0x([0-9a-fA-F]{6})([01])')
# Fields to omit from a hit, so that ten thousand hits stay below the limit on a response's size.
HEAVY = ("quoteRequest", "quote", "fees", "serviceContracts")
HEAVY += tuple(f"{end}{part}" for end in ("origin", "destination") for part in ("Calls", "Precondition", "MetaTxn"))


def owner(hits: int, number: int, *, is_lean: bool = False) -> str:
    """Return the address of an owner with this many intents. Each number gives a different address."""
    return f"0x{hits:06x}{is_lean:d}{number:033x}"


class StubService:
    def __init__(self) -> None:
        self.emulator = Emulator()
        self.delay = 0.0
        self.requests = 0
        self.written_at = 0.0
        self.responses: dict[tuple[bytes, bytes], bytes] = {}
        self.hits: dict[tuple[int, bool], bytes] = {}

    def reply(self, path: bytes, body: bytes) -> bytes | None:
        """Return the prepared response, or None for a new request."""
        if path.startswith(b"/rpc/"):
            self.requests += 1
            return self.responses.get((path, body))
        if path.startswith(b"/delay/"):
            self.delay = float(path.removeprefix(b"/delay/"))
        distinct = [(name.decode().rpartition("/")[2], text.decode()) for name, text in self.responses]
        counters = {"requests": self.requests, "written_at": self.written_at, "distinct": distinct}
        return response(200, json.dumps(counters).encode())

    async def prepare(self, path: bytes, body: bytes) -> bytes:
        operation = path.rpartition(b"/")[2].decode()
        if operation == "SearchIntents":
            return await self.search(body)
        emulated = await send_request(self.emulator, operation, raw=body)
        self.responses[path, body] = response(emulated.status, emulated.body)
        return self.responses[path, body]

    async def search(self, body: bytes) -> bytes:
        found = OWNER.match(body)
        count, is_lean = (int(found[1], 16), found[2] == b"1") if found else (0, False)
        if (count, is_lean) not in self.hits:
            document = {"intents": [hit async for hit in self.finished_intents(count, is_lean=is_lean)]}
            self.hits[count, is_lean] = response(200, json.dumps(document, separators=(",", ":")).encode())
        return self.hits[count, is_lean]

    async def finished_intents(self, count: int, *, is_lean: bool) -> Any:
        """Yield finished intents, repeated with different IDs."""
        query = json.dumps({"page": {"pageSize": 30}, "byStatuses": ["SUCCEEDED"]}).encode()
        history = await send_request(self.emulator, "GetIntentHistory", raw=query)
        known = []
        for entry in history.document["intents"][: max(count, 1)]:
            about = json.dumps({"intentId": entry["intentId"]}).encode()
            known.append((await send_request(self.emulator, "GetIntent", raw=about)).document["intent"])
        for number in range(count):
            intent = known[number % len(known)]
            omitted = HEAVY if is_lean else ()
            yield {key: value for key, value in intent.items() if key not in omitted} | {"intentId": f"0x{number:064x}"}


class Connection(asyncio.Protocol):
    def __init__(self, stub: StubService) -> None:
        self.stub = stub
        self.received = b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        end = self.received.find(b"\r\n\r\n")
        if end < 0:
            return
        head, rest = self.received[:end], self.received[end + 4 :]
        if len(rest) < length_of(head):
            return
        self.received = b""  # clients don't pipeline requests
        path = head.split(b" ", 2)[1]
        reply = self.stub.reply(path, rest)
        if reply is None:
            self.preparing = asyncio.ensure_future(self.prepare(path, rest))
        elif self.stub.delay and path.startswith(b"/rpc/"):
            asyncio.get_running_loop().call_later(self.stub.delay, self.write, reply)
        else:
            self.write(reply, is_rpc=path.startswith(b"/rpc/"))

    async def prepare(self, path: bytes, body: bytes) -> None:
        reply = await self.stub.prepare(path, body)
        if self.stub.delay:
            await asyncio.sleep(self.stub.delay)
        self.write(reply)

    def write(self, reply: bytes, *, is_rpc: bool = True) -> None:
        if not self.transport.is_closing():
            self.transport.write(reply)
        if is_rpc:
            self.stub.written_at = time.perf_counter()


def response(status: int, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status} Word\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def serve(port: int) -> None:
    stub = StubService()
    await asyncio.get_running_loop().create_server(lambda: Connection(stub), "127.0.0.1", port)
    await asyncio.Event().wait()


if __name__ == "__main__":
    about = "Stub service with prepared responses."
    parser = argparse.ArgumentParser(prog="python -m bench.stub_service", description=about)
    parser.add_argument("--port", type=int, required=True)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(parser.parse_args().port))
