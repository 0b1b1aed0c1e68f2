"""Exports over real sockets: 10,000 rows in constant memory, clients that disconnect, a service that fails."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
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
from tests.serving import ROOT, brief_pause, dashboard, free_port, wait_for
from tests.waiting import PATIENCE, until

ROWS = 10_000
GROWTH = 40 * 2**20
SIDES = ("origin", "destination")
SECRET = {"SECRET_KEY": "a key of the test"}


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


@contextmanager
def program(*command: str, url: str, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, *command], cwd=ROOT, env=os.environ | env)
    try:
        wait_for(url, process)
        yield process
    finally:
        process.kill()
        process.wait(PATIENCE)


@contextmanager
def worker_of_a_dashboard(**env: str) -> Iterator[tuple[str, int]]:
    """Yield a dashboard and its worker process."""
    port = free_port()
    root = f"http://127.0.0.1:{port}"
    with program(
        "-m", "gunicorn", "--config", "gunicorn.conf.py", url=f"{root}/healthz", PORT=str(port), **env
    ) as main:
        try:
            yield root, worker_of(main)
        finally:
            main.terminate()
            main.wait(PATIENCE)


def worker_of(main: subprocess.Popen[bytes]) -> int:
    """Return the worker process below the started one."""
    (worker,) = Path(f"/proc/{main.pid}/task/{main.pid}/children").read_text().split()
    return int(worker)


def memory(pid: int) -> int:
    """Return a process's resident memory in bytes."""
    (line,) = (line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


def exported_sums(rows: list[dict[str, Any]]) -> Counter[tuple[str, int, str]]:
    """Return base units by side, chain and token."""
    sums: Counter[tuple[str, int, str]] = Counter()
    for row in rows:
        for side in SIDES:
            if units := row[f"{side}_base_units"]:
                sums[side, int(row[f"{side}_chain_id"]), row[f"{side}_token"]] += int(units)
    return sums


def own_sums(entries: list[dict[str, Any]]) -> Counter[tuple[str, int, str]]:
    sums: Counter[tuple[str, int, str]] = Counter()
    for entry in entries:
        result = entry["receipt"]["summary"]
        for side in SIDES:
            if units := result[f"{side}TokenAmount"]:
                sums[side, result[f"{side}ChainId"], result[f"{side}TokenAddress"]] += int(units)
    return sums


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_an_export_of_10000_rows_matches_the_service_in_constant_memory() -> None:
    emulator = Emulator(now=Clock(), size=ROWS)
    with beside(emulator) as url, worker_of_a_dashboard(INTENTS_SERVICE_URL=url, **SECRET) as (root, worker):
        before, largest, content = memory(worker), 0, bytearray()
        with httpx.stream("GET", f"{root}/export/history.csv", trust_env=False, timeout=PATIENCE) as answer:
            for piece in answer.iter_bytes():
                content += piece
                largest = max(largest, memory(worker))
    exported, own = read("csv", bytes(content)), emulator_entries(emulator)
    assert (exported.state, exported.counted, len(exported.rows)) == ("complete", ROWS, ROWS)
    assert {row["intent_id"] for row in exported.rows} == {entry["intentId"] for entry in own}
    assert exported_sums(exported.rows) == own_sums(own)
    assert largest - before < GROWTH


@pytest.fixture(scope="module")
def counted() -> Counted:
    return Counted(Emulator(size=ROWS))


@pytest.fixture(scope="module")
def watched(counted: Counted) -> Iterator[str]:
    with beside(counted) as url, dashboard(INTENTS_SERVICE_URL=url, INTENTS_MAX_EXPORTS="1", **SECRET) as root:
        yield root


@pytest.mark.slow
def test_no_further_page_is_requested_when_the_reader_disconnects(watched: str, counted: Counted) -> None:
    counted.emulator.inject("GetIntentHistory", "slow-0.2")
    with httpx.stream("GET", f"{watched}/export/history.csv", trust_env=False, timeout=PATIENCE) as answer:
        pieces = answer.iter_bytes()
        until(lambda: bool(next(pieces)) and counted.pages >= 3)
    left_at = counted.pages
    # There is one slot, which the next export gets when this one ends.
    until(lambda: a_short_export(watched) == 200)
    until(lambda: is_still(lambda: counted.pages))
    assert counted.pages <= left_at + 2  # the one in progress, and that of the short export


def a_short_export(root: str) -> int:
    nobody = f"{root}/export/address/0x{'1' * 40}.csv"
    return httpx.get(nobody, trust_env=False, timeout=PATIENCE).status_code


@pytest.mark.slow
def test_a_stalled_reader_costs_no_more_service_calls_than_the_buffer_holds(watched: str, counted: Counted) -> None:
    counted.emulator.reset()
    before = counted.pages
    with httpx.stream("GET", f"{watched}/export/history.json", trust_env=False, timeout=PATIENCE) as answer:
        assert answer.status_code == 200
        until(lambda: is_still(lambda: counted.pages))
    assert counted.pages - before < 60  # of a hundred; some megabytes are in transit


def is_still(figure: Callable[[], int]) -> bool:
    before = figure()
    for _ in range(20):
        brief_pause()
        if figure() != before:
            return False
    return True


@pytest.mark.slow
def test_an_export_interrupted_by_an_outage_keeps_its_rows_and_ends_with_a_notice() -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = ("-m", "intents_ui.emulator", "--port", str(port), "--fault", "GetIntentHistory=slow-0.1")
    with program(*command, url=url) as service, dashboard(INTENTS_SERVICE_URL=url, **SECRET) as root:
        worker = worker_of(service)
        content = bytearray()
        with httpx.stream("GET", f"{root}/export/history.csv", trust_env=False, timeout=PATIENCE) as answer:
            for piece in answer.iter_bytes():
                content += piece
                if len(content) > 300_000 and service.poll() is None:
                    service.kill()
                    service.wait(PATIENCE)  # otherwise it would start another worker
                    os.kill(worker, signal.SIGKILL)
    exported = read("csv", bytes(content))
    assert exported.state == "truncated"
    assert exported.why
    assert exported.why.startswith("service unreachable, request ID ")
    assert exported.counted == len(exported.rows) == len(set(exported.ids))
    assert 200 <= exported.counted < 3000
