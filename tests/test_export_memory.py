"""Exports over real sockets: 10,000 rows in constant memory, and a client that stalls."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.emulator.driving import Clock
from tests.exported import emulator_entries, read
from tests.production import SECRET, Service, started, workers_of
from tests.service.scripted_server import Visit
from tests.serving import brief_pause, dashboard
from tests.waiting import PATIENCE, until

ROWS = 10_000
GROWTH = 40 * 2**20


@pytest.fixture
def service() -> Iterator[Service]:
    service = Service(now=Clock(), size=ROWS, access_key=None)
    yield service
    service.close()


def memory(pid: int) -> int:
    """Return a process's resident memory in bytes."""
    (line,) = (line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


@pytest.mark.programs
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_an_export_of_10000_rows_matches_the_service_in_constant_memory(service: Service, tmp_path: Path) -> None:
    with started(tmp_path / "log", INTENTS_SERVICE_URL=service.url, **SECRET) as (root, process):
        [worker] = workers_of(process.pid)
        before, largest, content = memory(worker), 0, bytearray()
        with httpx.stream("GET", f"{root}/export/history.csv", trust_env=False, timeout=PATIENCE) as answer:
            for piece in answer.iter_bytes():
                content += piece
                largest = max(largest, memory(worker))
    exported, own = read("csv", bytes(content)), emulator_entries(service.emulator)
    assert (exported.state, exported.counted, len(exported.rows)) == ("complete", ROWS, ROWS)
    assert {row["intent_id"] for row in exported.rows} == {entry["intentId"] for entry in own}
    assert largest - before < GROWTH


@pytest.mark.programs
def test_a_stalled_reader_costs_no_more_service_calls_than_the_buffer_holds(service: Service) -> None:
    with (
        dashboard(INTENTS_SERVICE_URL=service.url, **SECRET) as root,
        httpx.stream("GET", f"{root}/export/history.json", trust_env=False, timeout=PATIENCE) as answer,
    ):
        assert answer.status_code == 200
        until(lambda: is_still(service.visits))
        pages = [each for each in service.visits if each.operation == "GetIntentHistory"]
        assert len(pages) < 60  # of a hundred; some megabytes are in transit


def is_still(visits: list[Visit]) -> bool:
    before = len(visits)
    for _ in range(20):
        brief_pause()
        if len(visits) != before:
            return False
    return True
