"""A browser on a live stream, without a server. It can disconnect, stop reading, or reconnect."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from intents_ui.live.stream import Streams


@dataclass
class Event:
    """A server-sent event as parsed by a browser. An empty `name` is a message that is swapped in."""

    name: str = ""
    id: str = ""
    retry: int | None = None
    data: str = ""


@dataclass
class Browser:
    """A viewer of a live stream. If `reads` is False, it doesn't read what is sent."""

    streams: Streams
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    query: str = ""
    address: str = "192.0.2.1"
    method: str = "GET"
    status: int = 0
    answered: dict[str, str] = field(default_factory=dict)
    received: bytes = b""
    is_complete: bool = False

    def __post_init__(self) -> None:
        self.reads = asyncio.Event()
        self.reads.set()
        self._left = asyncio.Event()
        self.task = asyncio.create_task(self._visit())

    @property
    def events(self) -> list[Event]:
        read = map(event, self.received.decode().split("\n\n")[:-1])
        return [each for each in read if each and each.name != "beat"]

    @property
    def beats(self) -> int:
        return self.received.count(b"event: beat\n\n")

    async def leave(self) -> None:
        self._left.set()
        await asyncio.gather(self.task, return_exceptions=True)

    async def _visit(self) -> None:
        scope = {
            "type": "http",
            "method": self.method,
            "path": self.path,
            "query_string": self.query.encode(),
            "headers": [(name.lower().encode(), value.encode()) for name, value in self.headers.items()],
            "client": (self.address, 4711),
        }
        await self.streams(scope, self._receive, self._send)

    async def _receive(self) -> dict[str, Any]:
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        await self.reads.wait()
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.answered = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.received += message["body"]
            self.is_complete = not message.get("more_body", False)


def event(block: str) -> Event | None:
    found, data = Event(), []
    for line in block.split("\n"):
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "event":
                found.name = value
            case "id":
                found.id = value
            case "retry":
                found.retry = int(value)
            case "data":
                data.append(value)
    found.data = "\n".join(data)
    return found if data else None


@contextlib.asynccontextmanager
async def browsing(*browsers: Browser) -> AsyncIterator[None]:
    try:
        yield
    finally:
        for browser in browsers:
            await browser.leave()
