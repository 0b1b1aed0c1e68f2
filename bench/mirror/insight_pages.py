"""`/insight` of a dashboard with four workers, while the mirror beside it writes 500 transfers per second."""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.live import processor_seconds, quantile
from bench.mirror.backfill import CALLS, Database, mirror
from bench.processes import CACHED, Dashboard, clients, dashboard, history_stub, installed, output, stub_service
from tests.mirror.postgres import server

RATE, WORKERS = 250, 4  # each new transfer is written twice: when it is first read, and when it has ended
CONNECTIONS, PAUSE = 4, 0.1  # mean seconds between a client's requests
PATHS = ("/insight", "/insight?window=7d", "/insight?by=provider", "/insight?window=30d&by=chain&order=worst")
FEW = 1_000  # entries of the service's past, which the database has instead
SECONDS, WARM_SECONDS = 180.0, 5.0
DJANGO = {"DJANGO_SETTINGS_MODULE": "intents_ui.settings"}

type Engine = Callable[[], AbstractContextManager[Database]]


@dataclass(frozen=True)
class InsightPages:
    """Milliseconds of pages and of the processor for each, responses that failed, and rows written per second."""

    p50: float
    p99: float
    processor: float
    pages: int
    failed: int
    is_mirror_running: bool
    written: float

    @property
    def told(self) -> str:
        return f"{self.pages:,} pages, median {self.p50:.1f} ms, {self.written:,.0f} transfers written per second"


@contextmanager
def sqlite() -> Iterator[Database]:
    with tempfile.TemporaryDirectory(prefix="intents-mirror-") as folder:
        yield Database(Path(folder, "mirror.sqlite3"))


@contextmanager
def postgres() -> Iterator[Database]:
    with server() as url:
        yield Database(url)


def pages(entries: int, engine: Engine) -> InsightPages:
    """Measure pages, with a database of so many transfers."""
    with (
        ExitStack() as stack,
        installed() as place,
        stub_service() as service,
        clients() as readers,
        engine() as database,
    ):
        output("-m", "bench.mirror.past", str(entries), INTENTS_DATABASE=str(database.path), **DJANGO)
        url = stack.enter_context(history_stub(entries=FEW, rate=RATE))
        settings = {**CACHED, "WEB_CONCURRENCY": str(WORKERS), "INTENTS_DATABASE": str(database.path)}
        with mirror(url, database.path, "run", calls=CALLS) as process, dashboard(place, service.url, settings) as site:
            readers.run(site.port, PATHS, connections=CONNECTIONS, seconds=WARM_SECONDS, pause=PAUSE)
            used, written, began = _processor(site), _changes(database), time.perf_counter()
            result = readers.run(site.port, PATHS, connections=CONNECTIONS, seconds=SECONDS, pause=PAUSE)
            took = time.perf_counter() - began
            statuses: dict[str, int] = result["statuses"]
            count = sum(statuses.values())
            return InsightPages(
                p50=statistics.median(result["milliseconds"]),
                p99=quantile(result["milliseconds"], 99),
                processor=(_processor(site) - used) * 1000 / count,
                pages=count,
                failed=count - statuses.get("200", 0),
                is_mirror_running=process.poll() is None,
                written=(_changes(database) - written) / took,
            )


def _processor(site: Dashboard) -> float:
    workers = Path(f"/proc/{site.master}/task/{site.master}/children").read_text().split()
    return sum(processor_seconds(int(worker)) for worker in workers)


def _changes(database: Database) -> int:
    """Return how many versions of transfers were written: each changes the time of its reading."""
    [[rows, ended]] = database.rows("SELECT COUNT(*), COUNT(hour) FROM mirror_transfer")
    return rows + ended
