"""The mirror's process: holds the lease, reads in threads, and writes in one."""

import logging
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import datetime
from random import Random, SystemRandom
from threading import Event

from intents_ui.mirror import lease
from intents_ui.mirror.coverage import USUAL_LENGTH
from intents_ui.mirror.entry import milliseconds
from intents_ui.mirror.figures.snapshots import Slow, SnapshotWriter
from intents_ui.mirror.incidents.keeper import Keeper
from intents_ui.mirror.lease import LeaseLost
from intents_ui.mirror.reader import Reader, Reading, Span, Task
from intents_ui.mirror.schedule import SPANS_AT_ONCE, Schedule
from intents_ui.mirror.windows import DAY
from intents_ui.mirror.writer import Writer

log = logging.getLogger(__name__)

READERS = SPANS_AT_ONCE + 1  # windows, and meanwhile open transfers
DAYS = 30  # of history, unless a backfill reads more
IDLE_SECONDS = 0.5
SPARE_SECONDS = 1.0  # between two looks of a spare process at the lease


class Mirror:
    """Keeps the copy until `stop` is set.

    `source` identifies the service. `is_done` is called before each task and ends the work. `slow` are the usual
    maximums of slow providers. `prefill` is called before the first task, to write what needn't be read.
    """

    def __init__(
        self,
        reader: Reader,
        *,
        source: str,
        now: Callable[[], datetime],
        stop: Event,
        days: int = DAYS,
        random: Random | None = None,
        is_done: Callable[[], bool] = lambda: False,
        slow: Slow | None = None,
        prefill: "Callable[[Mirror, Writer], None]" = lambda *_: None,
    ) -> None:
        self.reader = reader
        self.now = now
        self.stop = stop
        self.schedule = Schedule(random=random or SystemRandom())
        self.incidents = Keeper()
        self.slow = slow
        self._source = source
        self._days = days
        self._is_done = is_done
        self._prefill = prefill

    def run(self, *, waits: bool = True) -> bool:
        """Keep the copy while this process has the lease, and wait for it otherwise. Return whether it had it."""
        while not self.stop.is_set():
            writer = self.lead()
            if writer is None and not waits:
                return False
            if writer is None:
                self.stop.wait(SPARE_SECONDS)
                continue
            try:
                self._prefill(self, writer)
                self._work(writer)
                return True
            except LeaseLost:
                log.warning("Another process has taken over the mirror")
            finally:
                lease.release(writer.epoch)
        return True

    def audit(self) -> tuple[int, int, int] | None:
        """Read some sealed windows again. Return None if another process has the lease.

        Returns how many were read, how many of these differed, and how many of the whole ledger lacked transfers.
        """
        writer = self.lead()
        if writer is None:
            return None
        lacking = writer.verify(now=self.seconds())
        readings = [self.reader.read(Span((window,), is_audit=True)) for window in self.schedule.audits()]
        differing = sum(bool(writer.commit(each, now=self.seconds())) for each in readings)
        lease.release(writer.epoch)
        return len(readings), differing, lacking

    def lead(self) -> Writer | None:
        """Return the writer of a new epoch, or None if another process has the lease."""
        epoch = lease.acquire()
        if epoch is None:
            return None
        writer = Writer(epoch)
        try:
            self.begin(writer)
        except BaseException:
            lease.release(epoch)
            raise
        return writer

    def begin(self, writer: Writer) -> None:
        """Prepare the ledger. Raises OtherSource if the database is of another source."""
        now = self.seconds()
        first = now - self._days * DAY - USUAL_LENGTH  # then all that ended in these days was created since
        writer.begin(self._source, start=first // DAY * DAY, now=now)

    def _work(self, writer: Writer) -> None:
        renewed = time.monotonic()
        snapshots = SnapshotWriter(writer.epoch, self.slow)
        reading: dict[Future[Reading], Task] = {}
        with ThreadPoolExecutor(READERS, thread_name_prefix="mirror-reader") as readers:
            while not self.stop.is_set() and not self._is_done():
                if time.monotonic() - renewed >= lease.RENEWED_EVERY:
                    self.renew(writer)
                    renewed = time.monotonic()
                self.prepare(writer)
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
                        self.write(writer, each.result())
                snapshots.turn(now=self.seconds())
        if not self.stop.is_set():
            snapshots.finish(now=self.seconds(), renew=lambda: self.renew(writer))

    def prepare(self, writer: Writer) -> None:
        """Do what is due in the database."""
        self.schedule.prepare(writer, now=self.seconds())
        self.incidents.keep(writer, now=self.seconds())

    def write(self, writer: Writer, reading: Reading) -> None:
        now = self.seconds()
        self.schedule.pause(now + reading.pause)
        writer.commit(reading, now=now)

    def renew(self, writer: Writer) -> None:
        """Extend the lease. Raises LeaseLost."""
        lease.renew(writer.epoch, service_now=milliseconds(self.now()))

    def seconds(self) -> int:
        """Return Unix seconds by the service's clock."""
        return int(self.now().timestamp())
