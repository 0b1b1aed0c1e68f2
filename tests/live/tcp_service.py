"""An ASGI application on its own loopback port, with enough HTTP for our clients. It can go down."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any


class TcpService:
    """A server. While it is down, new connections are refused and open ones are reset."""

    def __init__(self, application: Any) -> None:
        self.application = application
        self.port = 0
        self._server: asyncio.Server | None = None
        self._visits: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def up(self) -> None:
        self._server = await asyncio.start_server(self._visit, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def down(self) -> None:
        if self._server:
            self._server.close()
        for visit in self._visits:
            visit.cancel()
        await asyncio.gather(*self._visits, return_exceptions=True)

    @property
    def connections(self) -> int:
        return len(self._visits)

    async def _visit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visit = asyncio.current_task()
        assert visit is not None
        self._visits.add(visit)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._visits.discard(visit)
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = [
            (name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in head[1:] if line)
        ]
        body = await reader.readexactly(int(dict(headers)["content-length"]))
        scope = {"type": "http", "method": method, "path": path, "query_string": b"",
                 "headers": [(name.encode(), value.encode()) for name, value in headers]}  # fmt: skip
        received = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive() -> Any:
            if message := next(received, None):
                return message
            await reader.read(1)  # our clients don't pipeline requests, so this is the end of the connection
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                lines = [b"%s: %s\r\n" % header for header in message["headers"]]
                writer.write(b"HTTP/1.1 %d Word\r\n%s\r\n" % (message["status"], b"".join(lines)))
            else:
                writer.write(message["body"])
                await writer.drain()

        await self.application(scope, receive, send)
        for _ in range(2):
            await asyncio.sleep(0)  # lets the application's pending read of the connection end first
        return True


@contextlib.asynccontextmanager
async def served(application: Any) -> AsyncIterator[TcpService]:
    service = TcpService(application)
    await service.up()
    try:
        yield service
    finally:
        await service.down()
