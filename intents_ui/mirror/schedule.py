"""What the mirror reads next: lists of transfers that may change, those that have left them, due windows, audits.

Windows are read from the newest on.
"""

from collections.abc import Collection
from operator import attrgetter
from random import Random

from intents_ui.mirror.models import Window
from intents_ui.mirror.reader import Task
from intents_ui.mirror.windows import DAY, HOUR, MINUTE
from intents_ui.mirror.writer import KEPT_DAYS, Writer, runs
from intents_ui.service.models import IntentStatus

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


class Schedule:
    """The order of work of one leader. Times are Unix seconds by the service's clock."""

    def __init__(self, writer: Writer, *, random: Random) -> None:
        self._writer = writer
        self._random = random
        self._open_sets_due = [0 for _ in OPEN_SETS]
        self._upkeep_due = 0
        self._minute = 0
        self._audits: list[Window] = []
        self._paused_until = 0.0

    def prepare(self, *, now: int) -> None:
        """Do what is due in the database: new windows each minute, retention and the choice of audits each hour."""
        if now // MINUTE != self._minute:
            self._writer.extend(now=now)
            self._minute = now // MINUTE
        if now >= self._upkeep_due:
            if not self._upkeep_due:
                self._open_sets_due[-1] = now + 10 * MINUTE  # a new copy has none of them yet
            self._writer.expire(now=now)
            self._writer.merge()
            self._audits = self.audits()
            self._upkeep_due = now + HOUR

    def next_task(self, *, now: int, busy: Collection[Task] = ()) -> Task | None:
        """Return what to read now, or None. `busy` are the tasks that are being read.

        A window isn't read at the same time as its neighbors, which may be read with it.
        """
        if now < self._paused_until:
            return None
        for place, (every, statuses, since, most_pages) in enumerate(OPEN_SETS):
            if now >= self._open_sets_due[place]:
                self._open_sets_due[place] = now + every
                return Task(now - since, None, statuses, most_pages)
        if alone := self._writer.take_alone(now=now):
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

    def pause(self, until: float) -> None:
        self._paused_until = max(self._paused_until, until)

    def audits(self) -> list[Window]:
        """Return random sealed windows, more often young ones."""
        sealed = Window.objects.filter(is_sealed=True).order_by("-start").values_list("start", flat=True)
        starts = list(sealed)
        chosen = {starts[int(len(starts) * self._random.random() ** 2)] for _ in range(AUDITS if starts else 0)}
        return list(Window.objects.filter(start__in=chosen))
