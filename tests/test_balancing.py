"""nginx in front of processes that restart: no request fails while one process responds."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import httpx
import pytest

from tests.nginx import balanced
from tests.serving import free_port
from tests.waiting import PATIENCE

RETRY_AFTER = 2  # seconds, more than `fail_timeout` in deploy/servers.conf


class Server:
    """A process that responds to each request once it is released."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.released = asyncio.Event()
        self.requests = 0

    async def respond(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            self.requests += 1
            if self.requests == 1:
                await self.released.wait()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nOK")
            await writer.drain()
        writer.close()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with await asyncio.start_server(self.respond, "127.0.0.1", self.port):
            yield


@pytest.mark.programs
async def test_a_request_is_answered_while_two_restarted_processes_answer_their_first_one(tmp_path):
    servers = [Server(free_port()) for _ in range(3)]
    first, second, third = servers
    with balanced([each.port for each in servers], tmp_path) as (url, trust):
        async with httpx.AsyncClient(base_url=url, verify=trust, trust_env=False, timeout=PATIENCE) as client:
            third.released.set()
            async with third.running():
                # nginx learns that the others are down.
                assert {(await client.get("/")).status_code for _ in range(10)} == {200}
            await asyncio.sleep(RETRY_AFTER)
            async with first.running(), second.running(), asyncio.TaskGroup() as group:
                for server in (first, second):
                    group.create_task(client.get("/"))
                    while not server.requests:
                        await asyncio.sleep(0.01)
                answer = await client.get("/")
                for server in (first, second):
                    server.released.set()
    assert answer.status_code == 200
