"""Exports over real sockets: 10,000 rows in constant memory, and a client that stalls."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from intents_ui.emulator import Emulator
from tests.emulator.driving import Clock
from tests.exported import emulator_entries, read
from tests.live.tcp_service import TcpService
from tests.production import SECRET, started, workers_of
from tests.serving import brief_pause, dashboard
from tests.waiting import PATIENCE, until

ROWS = 10_000
GROWTH = 40 * 2**20


class Counted:
    """Counts the history pages requested from the service."""

    def __init__(self, emulator: Emulator) -> None:
        self.emulator = emulator
        self.pages = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.pages += scope["path"].endswith("/GetIntentHistory")
        await self.emulator(scope, receive, send)


@contextmanager
def beside(application: Any) -> Iterator[str]:
    """Run the service on its own event loop, so that a test can read as slowly as it wants."""
    service, loop = TcpService(application), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(service.up(), loop).result(PATIENCE)
        yield service.url
    finally:
        asyncio.run_coroutine_threadsafe(service.down(), loop).result(PATIENCE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
        loop.close()


def memory(pid: int) -> int:
    """Return a process's resident memory in bytes."""
    (line,) = (line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


@pytest.mark.programs
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_an_export_of_10000_rows_matches_the_service_in_constant_memory(tmp_path: Path) -> None:
    emulator = Emulator(now=Clock(), size=ROWS)
    log = tmp_path / "log"
    with beside(emulator) as url, started(log, INTENTS_SERVICE_URL=url, **SECRET) as (root, process):
        [worker] = workers_of(process.pid)
        before, largest, content = memory(worker), 0, bytearray()
        with httpx.stream("GET", f"{root}/export/history.csv", trust_env=False, timeout=PATIENCE) as answer:
            for piece in answer.iter_bytes():
                content += piece
                largest = max(largest, memory(worker))
    exported, own = read("csv", bytes(content)), emulator_entries(emulator)
    assert (exported.state, exported.counted, len(exported.rows)) == ("complete", ROWS, ROWS)
    assert {row["intent_id"] for row in exported.rows} == {entry["intentId"] for entry in own}
    assert largest - before < GROWTH


@pytest.mark.programs
def test_a_stalled_reader_costs_no_more_service_calls_than_the_buffer_holds() -> None:
    counted = Counted(Emulator(size=ROWS))
    with (
        beside(counted) as url,
        dashboard(INTENTS_SERVICE_URL=url, **SECRET) as root,
        httpx.stream("GET", f"{root}/export/history.json", trust_env=False, timeout=PATIENCE) as answer,
    ):
        assert answer.status_code == 200
        until(lambda: is_still(lambda: counted.pages))
        assert counted.pages < 60  # of a hundred; some megabytes are in transit


def is_still(figure: Callable[[], int]) -> bool:
    before = figure()
    for _ in range(20):
        brief_pause()
        if figure() != before:
            return False
    return True
