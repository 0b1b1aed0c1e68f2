"""The mirror's process: holds the lease, reads in threads, and writes in one.

It reads lists of transfers that may change, those that have left them, due windows from the newest on, then audits.
"""

import logging
import time
from collections.abc import Callable, Collection
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from operator import attrgetter
from random import Random, SystemRandom
from threading import Event

from django.db import connection

from intents_ui.mirror import lease
from intents_ui.mirror.coverage import USUAL_LENGTH
from intents_ui.mirror.entry import milliseconds
from intents_ui.mirror.figures.snapshots import Slow, SnapshotWriter
from intents_ui.mirror.incidents.keeper import Keeper
from intents_ui.mirror.lease import LeaseHeld, LeaseLost
from intents_ui.mirror.models import Window
from intents_ui.mirror.reader import Reader, Reading, Task
from intents_ui.mirror.windows import DAY, HOUR, MINUTE
from intents_ui.mirror.writer import KEPT_DAYS, Writer, runs
from intents_ui.service.models import IntentStatus

log = logging.getLogger(__name__)

COMMITTED, EXECUTING = IntentStatus.COMMITTED, IntentStatus.EXECUTING
# Lists of transfers that may still change: the seconds between two reads, the statuses, the seconds since creation, and
# the most pages.
OPEN_SETS = (
    (20, (COMMITTED, EXECUTING), 30 * MINUTE, 20),
    (3 * MINUTE, (EXECUTING,), DAY, 20),
    (10 * MINUTE, (COMMITTED, EXECUTING), KEPT_DAYS * DAY, 20),
    (HOUR, (IntentStatus.FAILED, IntentStatus.ABORTED, IntentStatus.INVALID), 30 * DAY, 100),
)
AUDITS = 20  # windows an hour
SPANS_AT_ONCE = 3
LOOKED_AT = 120  # windows that are due, to find neighbors among
AT_FIRST = 10  # of them. In a backfill these are enough
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
                with lease.acquired() as epoch:
                    self.begin(epoch)
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
        with lease.acquired() as epoch:
            self.begin(epoch)
            readings = [self.reader.read(Task.of(each, is_audit=True)) for each in self.audits()]
            differing = sum(bool(self.writer.commit(each, now=self.seconds())) for each in readings)
        return len(readings), differing

    def begin(self, epoch: int) -> None:
        """Prepare the ledger. Raises OtherSource if the database is of another source."""
        self.writer = Writer(epoch)
        self.incidents = Keeper(self.writer)
        self._open_sets_due = [0 for _ in OPEN_SETS]
        self._upkeep_due = self._minute = 0
        self._audits: list[Window] = []
        self._paused_until = 0.0
        first = self.seconds() - self.days * DAY - USUAL_LENGTH  # then all that ended in these days was created since
        self.writer.begin(self.source, start=first // DAY * DAY, now=self.seconds())

    # What is next

    def prepare(self) -> None:
        """Do what is due in the database: new windows each minute, retention and the choice of audits each hour."""
        now = self.seconds()
        if now // MINUTE != self._minute:
            self.writer.extend(now=now)
            self._minute = now // MINUTE
        if now >= self._upkeep_due:
            if not self._upkeep_due:
                self._open_sets_due[-1] = now + 10 * MINUTE  # a new copy has none of them yet
            self.writer.expire(now=now)
            self.writer.merge()
            self._audits = self.audits()
            self._upkeep_due = now + HOUR

    def next_task(self, *, busy: Collection[Task] = ()) -> Task | None:
        """Return what to read now, or None. `busy` are the tasks that are being read.

        A window isn't read at the same time as its neighbors, which may be read with it.
        """
        now = self.seconds()
        if now < self._paused_until:
            return None
        for place, (every, statuses, since, most_pages) in enumerate(OPEN_SETS):
            if now >= self._open_sets_due[place]:
                self._open_sets_due[place] = now + every
                return Task(now - since, None, statuses, most_pages)
        if alone := self.writer.take_alone(now=now):
            return Task(alone[0], alone[-1] + 1)
        spans = [(task.start, task.end) for task in busy if task.end is not None]
        if len(spans) >= SPANS_AT_ONCE:
            return None
        newest = Window.objects.filter(due__lte=now).order_by("-start")[: LOOKED_AT * (len(spans) + 1)]
        due = (
            each
            for each in newest.iterator(chunk_size=AT_FIRST)
            if not any(start <= each.end and each.start <= end for start, end in spans)
        )
        if run := next(runs(due, by=attrgetter("is_sample")), None):
            return Task.of(*run)
        if self._audits and not busy:
            return Task.of(self._audits.pop(), is_audit=True)
        return None

    def store(self, reading: Reading) -> None:
        """Write what was read, and pause for as long as the service wants no calls."""
        self._paused_until = max(self._paused_until, self.seconds() + reading.pause)
        self.writer.commit(reading, now=self.seconds())

    def audits(self) -> list[Window]:
        """Return random sealed windows, more often young ones."""
        sealed = Window.objects.filter(is_sealed=True).order_by("-start").values_list("start", flat=True)
        starts = list(sealed)
        chosen = {starts[int(len(starts) * self.random.random() ** 2)] for _ in range(AUDITS if starts else 0)}
        return list(Window.objects.filter(start__in=chosen))

    # Work

    def _work(self) -> None:
        renewed = time.monotonic()
        snapshots = SnapshotWriter(self.writer, self.slow, is_stopped=self.stop.is_set)
        reading: dict[Future[Reading], Task] = {}
        with ThreadPoolExecutor(READERS, "mirror-reader") as readers, ThreadPoolExecutor(1, "mirror-count") as counter:
            counting = counter.submit(self._count, snapshots)
            while not self.stop.is_set() and not self.is_done():
                if time.monotonic() - renewed >= lease.RENEWED_EVERY:
                    self.renew()
                    renewed = time.monotonic()
                self.prepare()
                self.incidents.keep(now=self.seconds())
                while len(reading) < READERS and (task := self.next_task(busy=reading.values())):
                    reading[readers.submit(self.reader.read, task)] = task
                if not reading:
                    self.stop.wait(IDLE_SECONDS)
                done, _ = wait(reading, IDLE_SECONDS, FIRST_COMPLETED)
                for each in done:
                    del reading[each]
                    if not self.stop.is_set():
                        self.store(each.result())
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
        """Extend the lease, and tell pages the service's time. Raises LeaseLost."""
        lease.fence(self.writer.epoch, ahead=milliseconds(self.now()) - lease.clock())

    def seconds(self) -> int:
        """Return Unix seconds by the service's clock."""
        return int(self.now().timestamp())
