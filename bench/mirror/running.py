"""The mirror's processes, and a dashboard beside them."""

import asyncio
import json
import os
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from threading import Thread

import psycopg

from bench import processes
from bench.history_stub import DAY, History
from bench.load import load
from bench.processes import dashboard, history_stub, installed, quantile, stub_service
from bench.report import Target
from bench.stub_service import serve
from tests.mirror.postgres import server
from tests.serving import free_port
from tests.waiting import until

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
LEASE_SECONDS = 14  # of a process that was killed
AT_ONCE = 3  # lists of windows that the mirror reads
READ = 'SELECT start, "end", CASE WHEN is_sealed THEN 2 ELSE read_at IS NOT NULL END FROM mirror_window'
CLIENTS = {"connections": 4, "pause": 0.1}  # mean seconds between a client's requests
HISTORY = [f"/history?from={number}" for number in range(1, 13)]
INSIGHT = ["/insight", "/insight?window=7d", "/insight?by=provider", "/insight?window=30d&by=chain&order=worst"]
INSIGHT_SECONDS, WARM_SECONDS, WORKERS = 180.0, 5.0, 4
INSIGHT_RATE = 250  # each new transfer is written twice: when it is first read, and when it has ended
TAKEOVERS = 3
STOPPED_SECONDS, WATCHED_SECONDS = 30, 10
LEADER = "SELECT epoch, holder FROM mirror_lease"
WRITTEN = "SELECT COUNT(*) FROM mirror_window WHERE epoch = ?"

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
def mirror(url: str, database: Database, *command: str, calls: int = 5) -> Iterator["subprocess.Popen[bytes]"]:
    """Run `manage.py mirror` during the block. `calls` is `INTENTS_MIRROR_CALLS`, by default as in production."""
    settings = {"INTENTS_DATABASE": str(database.path), "INTENTS_MIRROR_CALLS": str(calls)}
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
    """What a backfill cost so far. `first` are the seconds until the newest day is complete, apart from its last hour.

    `megabytes` is the most resident memory.
    """

    seconds: float = 0.0
    processor: float = 0.0
    megabytes: float = 0.0
    first: float = float("inf")
    transfers: int = 0
    began: float = field(default_factory=time.time)

    def watch(self, url: str, database: Database, *, stop_at: int = sys.maxsize) -> None:
        """Run a backfill until its end, or kill it when it has read so many transfers."""
        began, past = time.perf_counter(), int(self.began) - HOUR
        with mirror(url, database, "backfill", "--days", str(DAYS), calls=CALLS) as process:
            before, processor = self.processor, 0.0
            while process.poll() is None:
                with suppress(ProcessLookupError, OSError, StopIteration):  # it is ending
                    processor = processes.processor_seconds(process.pid)
                    self.megabytes = max(self.megabytes, processes.resident_kb(process.pid) / 1024)
                self.seconds = time.perf_counter() - began
                if self.first > self.seconds and database.is_sealed(past - DAY, past):
                    self.first = self.seconds
                if stop_at < sys.maxsize and self.first < self.seconds and database.transfers >= stop_at:
                    process.kill()
                time.sleep(LOOK_SECONDS)
            self.processor = before + processor
        if process.returncode and stop_at == sys.maxsize:
            sys.exit(f"The backfill failed with exit status {process.returncode}")
        self.transfers = database.transfers


def backfill(options: Namespace) -> Iterator[Target]:
    entries: int = options.entries
    found = Backfill()
    with sqlite() as database, history_stub(entries=entries, days=DAYS) as url:
        found.watch(url, database)
        size = database.path.stat().st_size / found.transfers
    told = f"{found.transfers:,} transfers; `INTENTS_MIRROR_CALLS={CALLS}`"
    each = found.processor * 1e6 / found.transfers
    yield Target(f"backfill: {entries:,} entries", found.seconds / 60, 6, "min", told)
    yield Target("backfill: processor time per transfer", each, 200, "µs", "of the mirror's process")
    yield Target("backfill: resident memory, maximum", found.megabytes, 130, "MB")
    yield Target("backfill: until the newest day is complete", found.first, 60, "s")
    yield Target("size: SQLite per transfer", size, 650, "bytes", "with indexes")
    small = Backfill()
    with sqlite() as database, history_stub(entries=max(entries // 100, 1000), days=DAYS) as url:
        small.watch(url, database)
    told = f"{small.transfers:,} transfers"
    yield Target("backfill: resident memory of a small one", small.megabytes, 130, "MB", told)
    yield resumed(max(entries // 10, 1000))


class LoggedHistory(History):
    """The stub, with a log of the windows that were read to their end."""

    def __init__(self, *, entries: int) -> None:
        super().__init__(entries=entries, days=DAYS)
        self.begun = 0
        self.reads: list[tuple[int, int]] = []

    def reply(self, path: str, body: str) -> bytes:
        reply = super().reply(path, body)
        asked = json.loads(body or "{}")
        if "toTime" in asked:
            self.begun += "after" not in asked["page"]
            if reply.endswith(b'"nextPage":null}'):
                self.reads.append((asked["fromTime"], asked["toTime"] - 1))
        return reply


def resumed(entries: int) -> Target:
    """Kill a backfill halfway, resume it, and count the windows whose complete reads were lost."""
    history, port = LoggedHistory(entries=entries), free_port()
    Thread(target=lambda: asyncio.run(serve(history, port)), daemon=True).start()
    url, found = f"http://127.0.0.1:{port}", Backfill()
    with sqlite() as database:
        found.watch(url, database, stop_at=entries // 2)
        twice = lost(database, history.reads, before=int(found.began) - 2 * HOUR)
        interrupted = history.begun - len(history.reads)
        time.sleep(LEASE_SECONDS + 1)
        found.watch(url, database)
    kinds = sum(history.kind(number).templates[-1].status != "QUOTED" for number in range(entries))
    told = f"{interrupted} more were interrupted; {kinds - found.transfers} transfers are missing in the end"
    return Target("killed and resumed: windows read twice", twice, AT_ONCE, "", told)


def lost(database: Database, reads: Sequence[tuple[int, int]], *, before: int) -> int:
    """Return the number of windows that were read to their end more often than the ledger says.

    Those of the last hours are read again as they age.
    """
    stored = {start: (end, count) for start, end, count in database.rows(READ)}
    return sum(
        sum(since <= start and end <= until for since, until in reads) > count
        for start, (end, count) in stored.items()
        if end <= before
    )


def frugal(options: Namespace) -> Iterator[Target]:
    """Compare pages while the mirror is stopped and while it runs, in an even number of turns each."""
    without, beside = list[list[float]](), list[list[float]]()
    with (
        installed() as place,
        stub_service() as service,
        dashboard(place, service.url, {}) as site,
        history_stub(entries=20_000, days=DAYS, rate=4) as url,
        sqlite() as database,
    ):
        Backfill().watch(url, database)  # faster than within the budget
        with mirror(url, database, "run") as process:
            until(lambda: database.is_sealed(0, int(time.time()) - 2 * HOUR))
            load(site.port, HISTORY, seconds=options.seconds, **CLIENTS)  # until the pages are warm
            for turn in range(options.turns):
                # In the order of ABBA, so that a machine that gets slower or faster makes no difference.
                for is_beside in (turn % 2 == 1, turn % 2 == 0):
                    os.kill(process.pid, signal.SIGCONT if is_beside else signal.SIGSTOP)
                    took = load(site.port, HISTORY, seconds=options.seconds, **CLIENTS).milliseconds
                    (beside if is_beside else without).append(took)
            os.kill(process.pid, signal.SIGCONT)
    noise = 100 * abs(p99(without[::2]) / p99(without[1::2]) - 1)
    medians = [statistics.median(chain(*each)) for each in (without, beside)]
    told = (
        f"p99 {p99(without):.1f} and {p99(beside):.1f} ms, median {medians[0]:.1f} and {medians[1]:.1f} ms, "
        f"{sum(map(len, without)):,} and {sum(map(len, beside)):,} pages, noise {noise:.0f}%"
    )
    worse = 100 * (p99(beside) / p99(without) - 1)
    yield Target("frugal: p99 of pages, worse with the mirror", worse, 10, "%", told)


def p99(turns: list[list[float]]) -> float:
    return quantile(list(chain(*turns)), 99)


def insight_pages(options: Namespace, engine: Engine = sqlite) -> Iterator[Target]:
    """Measure `/insight`, with a database of so many transfers."""
    with ExitStack() as stack:
        place, service = stack.enter_context(installed()), stack.enter_context(stub_service())
        database = stack.enter_context(engine())
        measured("recent_past", options.entries, database)
        # The database has the past instead of the service.
        url = stack.enter_context(history_stub(entries=1_000, rate=INSIGHT_RATE))
        settings = {"WEB_CONCURRENCY": str(WORKERS), "INTENTS_DATABASE": str(database.path)}
        process = stack.enter_context(mirror(url, database, "run", calls=CALLS))
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
    return sum(database.rows("SELECT COUNT(*), COUNT(hour) FROM mirror_transfer")[0])


def leaders(options: Namespace) -> Iterator[Target]:
    """Stop the leader several times, each time for longer than its lease."""
    longest, late = 0.0, 0
    with sqlite() as database, history_stub(entries=4_000, days=2.0, rate=4.0) as url, ExitStack() as stack:
        running = [stack.enter_context(mirror(url, database, "run"))]
        until(lambda: epoch_of(database) > 0)
        running += [stack.enter_context(mirror(url, database, "run")) for _ in range(2)]
        for _ in range(TAKEOVERS):
            [(epoch, holder)] = database.rows(LEADER)
            until(lambda epoch=epoch: written(database, epoch) > 0)
            leader = next(each for each in running if str(holder).endswith(f":{each.pid}"))
            until(lambda leader=leader: stop(leader, database))
            began = time.monotonic()
            until(lambda epoch=epoch: epoch_of(database) > epoch)
            longest = max(longest, time.monotonic() - began)
            before = written(database, epoch)
            time.sleep(began + STOPPED_SECONDS - time.monotonic())
            leader.send_signal(signal.SIGCONT)
            time.sleep(WATCHED_SECONDS)
            late += max(0, written(database, epoch) - before)
    told = f"the longest of {TAKEOVERS}, each after the leader of three processes was stopped for 30 s"
    yield Target("leaders: takeover", longest, 15, "s", told)
    yield Target("leaders: windows written by a former leader", late, 0, "")


def epoch_of(database: Database) -> int:
    with suppress(*NO_TABLES):
        return next((epoch for epoch, _ in database.rows(LEADER)), 0)
    return 0


def written(database: Database, epoch: int) -> int:
    return database.rows(WRITTEN, epoch)[0][0]


def stop(leader: "subprocess.Popen[bytes]", database: Database) -> bool:
    """Stop a process outside of its transactions. In one, it would keep SQLite's file locked."""
    leader.send_signal(signal.SIGSTOP)
    with closing(sqlite3.connect(database.path, timeout=0.2, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            leader.send_signal(signal.SIGCONT)
            return False
    return True
