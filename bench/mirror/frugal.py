"""Response time of pages with the mirror beside the dashboard, compared with that without it, by turns."""

import os
import signal
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.live import quantile
from bench.mirror.backfill import HOUR, Backfill, Database, mirror, watch
from bench.processes import CACHED, Clients, clients, dashboard, history_stub, installed, stub_service
from tests.waiting import until

ENTRIES, DAYS, RATE = 20_000, 30, 4
CALLS = 5  # INTENTS_MIRROR_CALLS, its default
CONNECTIONS, PAUSE = 4, 0.1  # mean seconds between a client's requests
PATHS = [f"/history?from={number}" for number in range(1, 13)]


@dataclass(frozen=True)
class Pages:
    """Milliseconds of pages, one list for each turn."""

    without: Sequence[Sequence[float]]
    beside: Sequence[Sequence[float]]

    @property
    def worse(self) -> float:
        """How much worse p99 is with the mirror, in percent."""
        return 100 * (_p99(self.beside) / _p99(self.without) - 1)

    @property
    def noise(self) -> float:
        """Difference in p99 between the odd and the even turns without the mirror, in percent."""
        return 100 * abs(_p99(self.without[::2]) / _p99(self.without[1::2]) - 1)

    @property
    def told(self) -> str:
        counted = f"{sum(map(len, self.without)):,} and {sum(map(len, self.beside)):,} pages"
        milliseconds = f"p99 {_p99(self.without):.1f} and {_p99(self.beside):.1f} ms"
        medians = f"median {_p50(self.without):.1f} and {_p50(self.beside):.1f} ms"
        return f"{milliseconds}, {medians}, {counted}, noise {self.noise:.0f}%"


def _p99(turns: Sequence[Sequence[float]]) -> float:
    return quantile([each for turn in turns for each in turn], 99)


def _p50(turns: Sequence[Sequence[float]]) -> float:
    return statistics.median([each for turn in turns for each in turn])


def pages(turns: int, seconds: float) -> Pages:
    """Measure pages while the mirror is stopped and while it runs, in an even number of turns each."""
    without, beside = list[list[float]](), list[list[float]]()
    with (
        installed() as place,
        stub_service() as service,
        clients() as readers,
        dashboard(place, service.url, CACHED) as site,
        history_stub(entries=ENTRIES, days=DAYS, rate=RATE) as url,
        tempfile.TemporaryDirectory(prefix="intents-mirror-") as folder,
    ):
        database = Database(Path(folder, "mirror.sqlite3"))
        watch(url, database, Backfill())  # faster than within the budget
        with mirror(url, database.path, "run", calls=CALLS) as process:
            _settle(database)
            _turn(readers, site.port, seconds)  # until the pages are warm
            for turn in range(turns):
                # In the order of ABBA, so that a machine that gets slower or faster makes no difference.
                for is_beside in (turn % 2 == 1, turn % 2 == 0):
                    os.kill(process.pid, signal.SIGCONT if is_beside else signal.SIGSTOP)
                    measured = _turn(readers, site.port, seconds)
                    (beside if is_beside else without).append(measured)
            os.kill(process.pid, signal.SIGCONT)
    return Pages(without, beside)


def _settle(database: Database) -> None:
    """Wait until the mirror has read the past."""
    until(lambda: database.is_sealed(0, int(time.time()) - 2 * HOUR))


def _turn(readers: Clients, port: int, seconds: float) -> list[float]:
    result = readers.run(port, PATHS, connections=CONNECTIONS, seconds=seconds, pause=PAUSE)
    found: list[float] = result["milliseconds"]
    return found
