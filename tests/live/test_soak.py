"""After some seconds of readers coming and going everything is back where it was."""

import asyncio
import contextlib
import os
import random
import time
from pathlib import Path

import pytest

from intents_ui.emulator import Emulator
from tests.live.following import CountedService, until
from tests.live.tcp_service import served
from tests.live.test_processes import Process, Remote, process

SECONDS = 8.0
AT_ONCE = 40


def worker_of(process: Process) -> int:
    """gunicorn's one child."""
    (child,) = Path(f"/proc/{process.popen.pid}/task/{process.popen.pid}/children").read_text().split()
    return int(child)


def open_files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


@pytest.mark.slow
async def test_readers_coming_and_going_leak_nothing():
    service = CountedService(Emulator(hold=5.0))
    intents = [service.emulator.play("cctp-slow", age=60 + number)["intentId"] for number in range(8)]
    chance = random.Random(4711)
    async with served(service) as front, process(LIVE_SERVICE=front.url) as each:
        worker = worker_of(each)
        _, tasks = each.memory
        await crowd(each, intents, chance, until=time.monotonic() + SECONDS / 4)
        await clients_are_gone(each, service, tasks)
        files, (objects, _) = open_files(worker), each.memory
        visits = await crowd(each, intents, chance, until=time.monotonic() + SECONDS * 3 / 4)
        await clients_are_gone(each, service, tasks)
        assert visits > 150
        # Connections to the service that are kept for the next question come and go; a leak would be one a visit.
        assert open_files(worker) <= files + 2
        # Objects, because what the process has from the system grows for some minutes before it stays.
        await until(lambda: each.memory[0] <= objects + visits / 4, every=0.5)


async def clients_are_gone(each: Process, service: CountedService, tasks: int) -> None:
    await until(lambda: each.figures == (0, 0))
    await until(lambda: not service.waits)
    await until(lambda: each.memory[1] <= tasks)


async def crowd(each: Process, intents: list[str], chance: random.Random, *, until: float) -> int:
    """Readers who stay for a moment, some of them without reading; how many there were."""
    visits = 0

    async def come_and_go() -> None:
        nonlocal visits
        while time.monotonic() < until:
            reader = Remote(each, chance.choice(intents), reads=chance.random() < 0.9)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(chance.uniform(0.05, 1.5)):
                    await asyncio.shield(reader.task)
            await reader.leave()
            visits += 1

    await asyncio.gather(*(come_and_go() for _ in range(AT_ONCE)))
    return visits
