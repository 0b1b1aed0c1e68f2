"""A backfill by `manage.py mirror backfill`: its duration, processor time, memory and size, and what a kill costs."""

import asyncio
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Thread

from bench.history_stub import History
from bench.mirror.databases import DAY, HOUR, Database, mirror, sqlite
from bench.processes import history_stub, processor_seconds, resident_kb
from bench.report import Target
from bench.stub_service import serve
from tests.serving import free_port

DAYS = 30
CALLS = 100  # INTENTS_MIRROR_CALLS: a backfill of this size isn't limited by the default of 5 per second
LOOK_SECONDS = 0.1  # between two looks at the process
LEASE_SECONDS = 14  # of a process that was killed
AT_ONCE = 3  # lists of windows that the mirror reads
READ = 'SELECT start, "end", CASE WHEN is_sealed THEN 2 ELSE read_at IS NOT NULL END FROM mirror_window'


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
                    processor = processor_seconds(process.pid)
                    self.megabytes = max(self.megabytes, resident_kb(process.pid) / 1024)
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


def measure(entries: int) -> Iterator[Target]:
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
