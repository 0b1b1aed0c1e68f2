"""Real processes under gunicorn: signals, sockets and handover between processes."""

import asyncio
import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from intents_ui.emulator import Emulator
from tests.gunicorn_constants import constants
from tests.live.browser import Event, event
from tests.live.following import CountedService, until
from tests.live.tcp_service import served
from tests.serving import GUNICORN, ROOT, free_port, wait_for
from tests.waiting import PATIENCE


@dataclass
class Process:
    """gunicorn with one worker, in a process group of its own so that both can be killed at once."""

    port: int
    popen: subprocess.Popen[bytes]

    @property
    def figures(self) -> tuple[int, int]:
        """How many intents it asks about, and how many streams are open."""
        with httpx.Client(trust_env=False, timeout=PATIENCE) as client:
            one, other = client.get(f"http://127.0.0.1:{self.port}/").text.split()
        return int(one), int(other)

    def kill(self) -> None:
        os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait(PATIENCE)

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        os.killpg(self.popen.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(self.popen.pid, signal.SIGCONT)


@contextlib.asynccontextmanager
async def process(*options: str, **env: str) -> AsyncIterator[Process]:
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "gunicorn",
        "--config",
        "gunicorn.conf.py",
        *options,
        "tests.live.process:application",
    ]
    env = os.environ | {"PORT": str(port)} | env
    started = Process(port, subprocess.Popen(command, cwd=ROOT, env=env, start_new_session=True))
    try:
        wait_for(f"http://127.0.0.1:{port}/", started.popen)
        yield started
    finally:
        if started.popen.poll() is None:
            started.kill()


class Remote:
    """A viewer over TCP. `reads` False: it asks, and then never takes what is sent."""

    def __init__(self, process: Process, intent_id: str, *, reads: bool = True, last_event_id: str = "") -> None:
        self.received = b""
        self.is_closed = False
        self.closed_at = 0.0
        self.task = asyncio.create_task(self._visit(process.port, intent_id, reads, last_event_id))

    @property
    def is_complete(self) -> bool:
        """The answer is; gunicorn may keep the connection for another question."""
        return self.received.endswith(b"\r\n0\r\n\r\n")

    @property
    def events(self) -> list[Event]:
        blocks = self.received.decode().replace("\r", "").split("\n\n")[1:]
        return [read for block in blocks if (read := event(block))]

    @property
    def statuses(self) -> list[str]:
        return [event.data.removeprefix("<p>").partition("<")[0] for event in self.events if not event.name]

    async def leave(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)

    async def _visit(self, port: int, intent_id: str, reads: bool, last_event_id: str) -> None:
        connection = socket.socket()
        if not reads:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # the kernel would take 32 MB for it
        connection.connect(("127.0.0.1", port))
        reader, writer = await asyncio.open_connection(sock=connection)
        try:
            again = f"Last-Event-ID: {last_event_id}\r\n" if last_event_id else ""
            writer.write(f"GET /live/{intent_id} HTTP/1.1\r\nHost: localhost\r\n{again}\r\n".encode())
            if not reads:
                writer.transport.pause_reading()
                await asyncio.Event().wait()
            while piece := await reader.read(65_536):
                self.received += piece
            self.is_closed = True
            self.closed_at = time.monotonic()
        finally:
            writer.transport.abort()


@contextlib.contextmanager
def real_time(hold: float = 20.0) -> Iterator[CountedService]:
    yield CountedService(Emulator(hold=hold))


@contextlib.asynccontextmanager
async def watched(redis, *, processes, age):
    """Serve an intent of this age in several processes, each of which has a viewer."""
    with real_time() as service:
        async with served(service) as front, contextlib.AsyncExitStack() as stack:
            env = {"LIVE_SERVICE": front.url, "LIVE_REDIS": redis.url}
            started = await asyncio.gather(*(stack.enter_async_context(process(**env)) for _ in range(processes)))
            intent = service.emulator.play("cross-chain-fast", age=age)["intentId"]
            viewers = [Remote(each, intent) for each in started]
            await until(lambda: all(viewer.statuses for viewer in viewers) and service.waits == 1)
            yield service, started, viewers


@pytest.mark.programs
async def test_three_processes_send_one_poll_and_a_killed_one_is_replaced(redis):
    async with watched(redis, processes=3, age=29.5) as (service, processes, viewers):  # 5.5 s to the next change
        asking = [each for each in processes if each.figures[0]]
        assert len(asking) == 1
        asking[0].kill()
        await until(lambda: service.waits == 0)
        await until(lambda: service.waits == 1)
        left = [viewer for viewer, each in zip(viewers, processes, strict=True) if each is not asking[0]]
        await until(lambda: all(viewer.is_complete for viewer in left))
        assert [viewer.statuses[-1] for viewer in left] == ["SUCCEEDED", "SUCCEEDED"]
        assert [viewer.events[-1].name for viewer in left] == ["done", "done"]
        assert service.most_under_way["WaitIntentReceipt"] == 1


@pytest.mark.programs
async def test_a_frozen_process_is_replaced_and_follows_when_it_continues(redis):
    async with watched(redis, processes=2, age=22) as (_, processes, viewers):  # 13 s to the end
        leader, follower = sorted(processes, key=lambda each: each.figures[0], reverse=True)
        assert (leader.figures[0], follower.figures[0]) == (1, 0)
        with leader.frozen():
            await until(lambda: follower.figures[0] == 1)
        await until(lambda: leader.figures[0] == 0)
        await until(lambda: all(viewer.is_complete for viewer in viewers))
        assert [viewer.statuses[-1] for viewer in viewers] == ["SUCCEEDED", "SUCCEEDED"]


async def test_sigterm_ends_streams_and_clients_resume_with_their_last_event():
    with real_time() as service:
        async with served(service) as front:
            intent = service.emulator.play("cctp-slow", age=200)["intentId"]
            async with process(LIVE_SERVICE=front.url) as first:
                viewers = [Remote(first, intent) for _ in range(20)]
                await until(lambda: all(viewer.statuses for viewer in viewers))
                first.popen.terminate()
                await until(lambda: all(viewer.is_closed for viewer in viewers))
                byes = [viewer.events[-1] for viewer in viewers]
                assert {bye.name for bye in byes} == {"bye"}
                assert len({bye.retry for bye in byes}) > 5
                assert all(viewer.is_complete for viewer in viewers)
                await until(lambda: first.popen.poll() is not None)
            await until(lambda: service.waits == 0)
            async with process(LIVE_SERVICE=front.url) as second:
                again = Remote(second, intent, last_event_id=viewers[0].events[0].id)
                await until(lambda: service.waits == 1 and again.received)
                assert again.events == []
                await again.leave()


async def test_a_stopping_process_answers_late_requests_and_ignores_idle_connections():
    with real_time() as service:
        async with (
            served(service) as front,
            process("--keep-alive", "300", LIVE_SERVICE=front.url) as each,
        ):
            probe, late, idle = (http.client.HTTPConnection("127.0.0.1", each.port, timeout=PATIENCE) for _ in range(3))
            for one in (probe, late, idle):
                assert await asyncio.to_thread(answered, one) == (200, None)
            each.popen.terminate()
            with contextlib.suppress(http.client.RemoteDisconnected):
                while await asyncio.to_thread(answered, probe) == (200, None):
                    pass  # the signal is on its way
            assert await asyncio.to_thread(answered, late) == (200, "close")
            # One is still open, and gunicorn would wait for it for 20 s.
            await until(lambda: each.popen.poll() == 0)
            for one in (probe, late, idle):
                one.close()


def answered(connection: http.client.HTTPConnection) -> tuple[int, str | None]:
    connection.request("GET", "/")
    answer = connection.getresponse()
    answer.read()
    return answer.status, answer.getheader("connection")


@pytest.mark.programs
async def test_a_stalled_reader_is_disconnected_without_affecting_others():
    with real_time(hold=20) as service:
        async with served(service) as front:
            env = {"LIVE_SERVICE": front.url, "LIVE_PADDING": str(8 * 2**20)}
            env |= constants(**{"intents_ui.worker:WRITE_TIMEOUT": 2.0})
            async with process("--config", GUNICORN, **env) as each:
                intent = service.emulator.play("cctp-slow", age=100)["intentId"]
                deaf = Remote(each, intent, reads=False)
                listening = Remote(each, intent)
                await until(lambda: each.figures[1] == 2 and listening.statuses)
                await until(lambda: each.figures[1] == 1)
                await until(lambda: not connections_with_unsent_bytes(each.port))
                assert not listening.is_closed
                await deaf.leave()
                await listening.leave()
                await until(lambda: each.figures == (0, 0))


def connections_with_unsent_bytes(port: int) -> int:
    """Of this server, as the kernel lists them."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    fields = [line.split() for line in lines]
    return sum(
        local.endswith(f":{port:04X}") and int(queues.partition(":")[0], 16) > 0
        for _, local, _, _, queues, *_ in fields
    )
