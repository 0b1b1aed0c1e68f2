"""The mirror's process: holds the lease, reads in threads, and writes in one."""

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from random import Random, SystemRandom
from threading import Event

from django.db import connection

from intents_ui.mirror import lease
from intents_ui.mirror.coverage import USUAL_LENGTH
from intents_ui.mirror.entry import milliseconds
from intents_ui.mirror.figures.snapshots import Slow, SnapshotWriter
from intents_ui.mirror.incidents.keeper import Keeper
from intents_ui.mirror.lease import LeaseHeld, LeaseLost
from intents_ui.mirror.reader import Reader, Reading, Task
from intents_ui.mirror.schedule import SPANS_AT_ONCE, Schedule
from intents_ui.mirror.windows import DAY
from intents_ui.mirror.writer import Writer

log = logging.getLogger(__name__)

READERS = SPANS_AT_ONCE + 1  # windows, and meanwhile open transfers
DAYS = 30  # of history, unless a backfill reads more
IDLE_SECONDS = 0.5
SPARE_SECONDS = 1.0  # between two looks of a spare process at the lease


@dataclass
class Mirror:
    """Keeps the copy until `stop` is set.

    `source` identifies the service. `is_done` is called before each task and ends the work. `slow` are the usual
    maximums of slow providers. `prefill` is called before the first task, to write what needn't be read.
    """

    reader: Reader
    _: KW_ONLY
    source: str
    now: Callable[[], datetime]
    stop: Event
    days: int = DAYS
    random: Random = field(default_factory=SystemRandom)
    is_done: Callable[[], bool] = lambda: False
    slow: Slow | None = None
    prefill: "Callable[[Mirror], None]" = lambda _: None

    def run(self, *, waits: bool = True) -> None:
        """Keep the copy while this process has the lease. Wait for it otherwise, or raise LeaseHeld."""
        while not self.stop.is_set():
            try:
                with self.lead():
                    self.prefill(self)
                    self._work()
                    return
            except LeaseHeld:
                if not waits:
                    raise
                self.stop.wait(SPARE_SECONDS)
            except LeaseLost:
                log.warning("Another process has taken over the mirror")

    def audit(self) -> tuple[int, int]:
        """Read some sealed windows again. Return how many, and how many of these differed. Raises LeaseHeld."""
        with self.lead():
            readings = [self.reader.read(Task.of(each, is_audit=True)) for each in self.schedule.audits()]
            differing = sum(bool(self.writer.commit(each, now=self.seconds())) for each in readings)
        return len(readings), differing

    @contextmanager
    def lead(self) -> Iterator[None]:
        """Hold the lease during the block. Raises LeaseHeld."""
        with lease.acquired() as epoch:
            self.begin(epoch)
            yield

    def begin(self, epoch: int) -> None:
        """Prepare the ledger. Raises OtherSource if the database is of another source."""
        self.writer = Writer(epoch)
        self.schedule = Schedule(self.writer, random=self.random)
        self.incidents = Keeper(self.writer)
        first = self.seconds() - self.days * DAY - USUAL_LENGTH  # then all that ended in these days was created since
        self.writer.begin(self.source, start=first // DAY * DAY, now=self.seconds())

    def _work(self) -> None:
        renewed = time.monotonic()
        snapshots = SnapshotWriter(self.writer.epoch, self.slow, is_stopped=self.stop.is_set)
        reading: dict[Future[Reading], Task] = {}
        with ThreadPoolExecutor(READERS, "mirror-reader") as readers, ThreadPoolExecutor(1, "mirror-count") as counter:
            counting = counter.submit(self._count, snapshots)
            while not self.stop.is_set() and not self.is_done():
                if time.monotonic() - renewed >= lease.RENEWED_EVERY:
                    self.renew()
                    renewed = time.monotonic()
                self.schedule.prepare(now=self.seconds())
                self.incidents.keep(now=self.seconds())
                while len(reading) < READERS:
                    task = self.schedule.next_task(now=self.seconds(), busy=reading.values())
                    if task is None:
                        break
                    reading[readers.submit(self.reader.read, task)] = task
                if not reading:
                    self.stop.wait(IDLE_SECONDS)
                done, _ = wait(reading, IDLE_SECONDS, FIRST_COMPLETED)
                for each in done:
                    del reading[each]
                    if not self.stop.is_set():
                        result = each.result()
                        self.schedule.pause(self.seconds() + result.pause)
                        self.writer.commit(result, now=self.seconds())
                if counting.done():
                    counting.result()
                    counting = counter.submit(self._count, snapshots)
        if not self.stop.is_set():
            snapshots.write(now=self.seconds())

    def _count(self, snapshots: SnapshotWriter) -> None:
        """Write the figures that are due, in a thread of its own, so that they delay no read or write."""
        try:
            snapshots.write_due(now=self.seconds())
        finally:
            connection.close()  # of this thread

    def renew(self) -> None:
        """Extend the lease. Raises LeaseLost."""
        lease.renew(self.writer.epoch, service_now=milliseconds(self.now()))

    def seconds(self) -> int:
        """Return Unix seconds by the service's clock."""
        return int(self.now().timestamp())
