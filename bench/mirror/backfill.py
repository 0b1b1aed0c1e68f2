"""A backfill by `manage.py mirror backfill`: its duration, processor time, memory and size, and what a kill costs."""

import asyncio
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

import psycopg

from bench.history_stub import History
from bench.live import processor_seconds, resident_kb
from bench.processes import KEY, clean, ended, history_stub
from bench.stub_service import serve
from tests.serving import ROOT, free_port

DAYS = 30
CALLS = 100  # INTENTS_MIRROR_CALLS: a backfill of this size isn't limited by the default of 5 per second
LOOK_SECONDS = 0.1  # between two looks at the process
LEASE_SECONDS = 14  # of a process that was killed
DAY, HOUR = 86_400, 3600
READ = 'SELECT start, "end", CASE WHEN is_sealed THEN 2 ELSE read_at IS NOT NULL END FROM mirror_window'
UNSEALED = 'SELECT COUNT(*) FROM mirror_window WHERE NOT is_sealed AND start >= ? AND "end" <= ?'


@dataclass
class Backfill:
    """What a backfill cost so far. `first` are the seconds until the newest day is complete, apart from its last hour.

    `megabytes` is the most resident memory, `size` the bytes of the database.
    """

    seconds: float = 0.0
    processor: float = 0.0
    megabytes: float = 0.0
    first: float = float("inf")
    transfers: int = 0
    size: int = 0
    began: float = field(default_factory=time.time)

    @property
    def each(self) -> float:
        """CPU microseconds per transfer."""
        return self.processor * 1e6 / max(1, self.transfers)


class Database:
    """The mirror's database, read while the mirror writes it: a file, or the URL of a PostgreSQL server."""

    def __init__(self, path: Path | str) -> None:
        self.path = path

    @property
    def size(self) -> int:
        """Return the bytes of the file, 0 of a PostgreSQL database."""
        return self.path.stat().st_size if isinstance(self.path, Path) else 0

    def rows(self, query: str, *values: int) -> list[tuple[int, ...]]:
        if isinstance(self.path, Path):
            with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as database:
                return database.execute(query, values).fetchall()
        with closing(psycopg.connect(self.path)) as server:
            return server.execute(query.replace("?", "%s"), values).fetchall()

    @property
    def transfers(self) -> int:
        return self.rows("SELECT COALESCE(SUM(rows), 0) FROM mirror_window")[0][0]

    def is_sealed(self, since: int, until: int) -> bool:
        """Return whether this time is sealed."""
        with suppress(sqlite3.OperationalError, psycopg.errors.UndefinedTable):  # there are no tables yet
            if self.rows("SELECT COUNT(*) FROM mirror_window")[0][0]:
                return self.rows(UNSEALED, since, until)[0][0] == 0
        return False


@contextmanager
def mirror(url: str, database: Path | str, *command: str, calls: int = CALLS) -> Iterator["subprocess.Popen[bytes]"]:
    """Run `manage.py mirror` during the block."""
    settings = {"INTENTS_DATABASE": str(database), "INTENTS_MIRROR_CALLS": str(calls)}
    env = clean(INTENTS_SERVICE_URL=url, SECRET_KEY=KEY, **settings)
    with ended(["manage.py", "mirror", *command], cwd=ROOT, env=env, stdout=subprocess.DEVNULL) as process:
        yield process


def watch(url: str, database: Database, found: Backfill, *, days: int = DAYS, stop_at: int = sys.maxsize) -> None:
    """Run a backfill until its end, or kill it when it has read so many transfers."""
    began, past = time.perf_counter(), int(found.began) - HOUR
    with mirror(url, database.path, "backfill", "--days", str(days)) as process:
        before, processor = found.processor, 0.0
        while process.poll() is None:
            with suppress(ProcessLookupError, OSError, StopIteration):  # it is ending
                processor = processor_seconds(process.pid)
                found.megabytes = max(found.megabytes, resident_kb(process.pid) / 1024)
            found.seconds = time.perf_counter() - began
            if found.first > found.seconds and database.is_sealed(past - DAY, past):
                found.first = found.seconds
            if stop_at < sys.maxsize and found.first < found.seconds and database.transfers >= stop_at:
                process.kill()
            time.sleep(LOOK_SECONDS)
        found.processor = before + processor
    if process.returncode and stop_at == sys.maxsize:
        sys.exit(f"The backfill failed with exit status {process.returncode}")
    found.transfers = database.transfers
    found.size = database.size


@contextmanager
def stub_and_database(entries: int, days: int) -> Iterator[tuple[str, Database]]:
    with (
        tempfile.TemporaryDirectory(prefix="intents-mirror-") as folder,
        history_stub(entries=entries, days=days) as url,
    ):
        yield url, Database(Path(folder, "mirror.sqlite3"))


def whole(entries: int, *, days: int = DAYS) -> Backfill:
    """Read a history of so many entries."""
    found = Backfill()
    with stub_and_database(entries, days) as (url, database):
        watch(url, database, found, days=days)
    return found


class LoggedHistory(History):
    """The stub, in a thread. `reads` are the first and last second of each list that it served to its end."""

    def __init__(self, *, entries: int) -> None:
        super().__init__(entries=entries, days=DAYS)
        self.reads: list[tuple[int, int]] = []
        self.begun = 0

    def reply(self, path: str, body: str) -> bytes:
        reply = super().reply(path, body)
        asked = json.loads(body or "{}")
        if "toTime" in asked:
            self.begun += "after" not in asked["page"]
            if reply.endswith(b'"nextPage":null}'):
                self.reads.append((asked["fromTime"], asked["toTime"] - 1))
        return reply


@dataclass(frozen=True)
class Resumed:
    """What a kill cost: windows whose complete reads were lost, and reads that it interrupted."""

    windows_read_twice: int
    interrupted: int
    missing: int  # transfers in the end, compared with a backfill that wasn't killed


def resumed(entries: int) -> Resumed:
    """Kill a backfill halfway, and resume it."""
    history, port = LoggedHistory(entries=entries), free_port()
    Thread(target=lambda: asyncio.run(serve(history, port)), daemon=True).start()
    url, found = f"http://127.0.0.1:{port}", Backfill()
    with tempfile.TemporaryDirectory(prefix="intents-mirror-") as folder:
        database = Database(Path(folder, "mirror.sqlite3"))
        watch(url, database, found, stop_at=entries // 2)
        twice = lost(database, history.reads, before=int(found.began) - 2 * HOUR)
        interrupted = history.begun - len(history.reads)
        time.sleep(LEASE_SECONDS + 1)
        watch(url, database, found)
    kinds = sum(history.kind(number).templates[-1].status != "QUOTED" for number in range(entries))
    return Resumed(twice, interrupted, kinds - found.transfers)


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
