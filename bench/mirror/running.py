"""The mirror's processes, and a dashboard beside them."""

import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg

from bench import processes
from bench.history_stub import DAY
from bench.load import load
from bench.processes import dashboard, history_stub, installed, quantile, stub_service
from bench.report import Target
from tests.postgres import server

HOUR = 3600
NO_TABLES = (sqlite3.OperationalError, psycopg.errors.UndefinedTable)
# `bench.mirror.inside` imports models, which need settings.
INSIDE = """
import dataclasses, django, json, sys
django.setup()
from bench.mirror import inside
targets = getattr(inside, sys.argv[1])(float(sys.argv[2]))
print(json.dumps([dataclasses.astuple(target) for target in targets]))
"""
UNSEALED = 'SELECT COUNT(*) FROM mirror_window WHERE NOT is_sealed AND start >= ? AND "end" <= ?'
DAYS = 30
CALLS = 100  # INTENTS_MIRROR_CALLS: a backfill of this size isn't limited by the default of 5 per second
LOOK_SECONDS = 0.1  # between two looks at the process
CLIENTS = {"connections": 4, "pause": 0.1}  # mean seconds between a client's requests
INSIGHT = ["/insight", "/insight?window=7d", "/insight?by=provider", "/insight?window=30d&by=chain&order=worst"]
INSIGHT_SECONDS, WARM_SECONDS, WORKERS = 180.0, 5.0, 4
INSIGHT_RATE = 250  # each new transfer is written twice: when it is first read, and when it has ended

type Engine = Callable[[], AbstractContextManager["Database"]]


class Database:
    """The mirror's database, read while the mirror writes it: a file, or the URL of a PostgreSQL server."""

    def __init__(self, path: Path | str) -> None:
        self.path = path

    def rows(self, query: str, *values: int) -> list[tuple[int, ...]]:
        if isinstance(self.path, Path):
            with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as database:
                return database.execute(query, values).fetchall()
        with closing(psycopg.connect(self.path)) as database:
            return database.execute(query.replace("?", "%s"), values).fetchall()

    @property
    def transfers(self) -> int:
        return self.rows("SELECT COALESCE(SUM(rows), 0) FROM mirror_window")[0][0]

    def is_sealed(self, since: int, until: int) -> bool:
        """Return whether this time is sealed."""
        with suppress(*NO_TABLES):
            if self.rows("SELECT COUNT(*) FROM mirror_window")[0][0]:
                return self.rows(UNSEALED, since, until)[0][0] == 0
        return False


@contextmanager
def sqlite() -> Iterator[Database]:
    with tempfile.TemporaryDirectory(prefix="intents-mirror-") as folder:
        yield Database(Path(folder, "mirror.sqlite3"))


@contextmanager
def postgres() -> Iterator[Database]:
    with server() as url:
        yield Database(url)


@contextmanager
def mirror(url: str, database: Database, *command: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run `manage.py mirror` during the block."""
    settings = {"INTENTS_DATABASE": str(database.path), "INTENTS_MIRROR_CALLS": str(CALLS)}
    env = processes.clean(INTENTS_SERVICE_URL=url, SECRET_KEY=processes.KEY, **settings)
    with processes.ended(["manage.py", "mirror", *command], env=env, stdout=subprocess.DEVNULL) as process:
        yield process


def measured(part: str, size: float, database: Database) -> Iterable[Target]:
    """Run a part of `bench.mirror.inside` in a new process. `size` is the number of transfers or of seconds."""
    settings = {"INTENTS_DATABASE": str(database.path), "DJANGO_SETTINGS_MODULE": "intents_ui.settings"}
    return [Target(*each) for each in json.loads(processes.output("-c", INSIDE, part, str(size), **settings))]


def fresh(options: Namespace) -> Iterator[Target]:
    with sqlite() as database:
        yield from measured("fresh", options.minutes * 60, database)


def insight(options: Namespace) -> Iterator[Target]:
    for count in sorted({max(options.entries // 100, 1000), options.entries}):
        with sqlite() as database:
            yield from measured("insight", count, database)


def candidates(options: Namespace) -> Iterator[Target]:
    for engine in (sqlite, postgres):
        with engine() as database:
            yield from measured("candidate_transfers", options.entries, database)


@dataclass
class Backfill:
    """What a backfill cost. `first` are the seconds until the newest day is complete, apart from its last hour.

    `megabytes` is the most resident memory.
    """

    seconds: float = 0.0
    processor: float = 0.0
    megabytes: float = 0.0
    first: float = float("inf")
    transfers: int = 0


def run_backfill(entries: int, database: Database) -> Backfill:
    """Read a history of so many entries to its end."""
    found, past = Backfill(), int(time.time()) - HOUR
    with history_stub(entries=entries, days=DAYS) as url:
        began = time.perf_counter()
        with mirror(url, database, "backfill", "--days", str(DAYS)) as process:
            while process.poll() is None:
                with suppress(ProcessLookupError, OSError, StopIteration):  # it is ending
                    found.processor = processes.processor_seconds(process.pid)
                    found.megabytes = max(found.megabytes, processes.resident_kb(process.pid) / 1024)
                found.seconds = time.perf_counter() - began
                if found.first > found.seconds and database.is_sealed(past - DAY, past):
                    found.first = found.seconds
                time.sleep(LOOK_SECONDS)
    if process.returncode:
        sys.exit(f"The backfill failed with exit status {process.returncode}")
    found.transfers = database.transfers
    return found


def backfill(options: Namespace) -> Iterator[Target]:
    entries: int = options.entries
    with sqlite() as database:
        found = run_backfill(entries, database)
        size = database.path.stat().st_size / found.transfers
    told = f"{found.transfers:,} transfers; `INTENTS_MIRROR_CALLS={CALLS}`"
    each = found.processor * 1e6 / found.transfers
    yield Target(f"backfill: {entries:,} entries", found.seconds / 60, 6, "min", told)
    yield Target("backfill: processor time per transfer", each, 200, "µs", "of the mirror's process")
    yield Target("backfill: resident memory, maximum", found.megabytes, 130, "MB")
    yield Target("backfill: until the newest day is complete", found.first, 60, "s")
    yield Target("size: SQLite per transfer", size, 650, "bytes", "with indexes")
    with sqlite() as database:
        small = run_backfill(max(entries // 100, 1000), database)
    told = f"{small.transfers:,} transfers"
    yield Target("backfill: resident memory of a small one", small.megabytes, 130, "MB", told)


def insight_pages(options: Namespace, engine: Engine = sqlite) -> Iterator[Target]:
    """Measure `/insight`, with a database of so many transfers."""
    with ExitStack() as stack:
        place, service = stack.enter_context(installed()), stack.enter_context(stub_service())
        database = stack.enter_context(engine())
        measured("recent_past", options.entries, database)
        # The database has the past instead of the service.
        url = stack.enter_context(history_stub(entries=1_000, rate=INSIGHT_RATE))
        settings = {"WEB_CONCURRENCY": str(WORKERS), "INTENTS_DATABASE": str(database.path)}
        process = stack.enter_context(mirror(url, database, "run"))
        site = stack.enter_context(dashboard(place, service.url, settings))
        load(site.port, INSIGHT, seconds=WARM_SECONDS, **CLIENTS)
        used, written = site.processor, changes(database)
        found = load(site.port, INSIGHT, seconds=INSIGHT_SECONDS, **CLIENTS)
        processor, written = site.processor - used, changes(database) - written
        has_ended = process.poll() is not None
    count, name = found.statuses.total(), "SQLite" if engine is sqlite else "PostgreSQL"
    told = (
        f"{options.entries:,} transfers, {INSIGHT_SECONDS:.0f} s. {count:,} pages, median "
        f"{quantile(found.milliseconds, 50):.1f} ms, {written / found.seconds:,.0f} transfers written per second"
    )
    yield Target(f"pages: /insight, p99, {name}", quantile(found.milliseconds, 99), 30, "ms", told)
    each = processor * 1000 / count
    yield Target(f"pages: /insight, processor time, {name}", each, 10, "ms", "of all workers, per page")
    yield Target(f"pages: responses other than 200, {name}", count - found.statuses["200"], 0, "")
    yield Target(f"pages: mirrors that were ended by a lock, {name}", has_ended, 0, "")


def changes(database: Database) -> int:
    """Return how many versions of transfers were written: each changes the time of its reading."""
    return sum(database.rows('SELECT COUNT(*), COUNT("end") FROM mirror_transfer')[0])
