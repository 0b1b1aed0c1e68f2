"""What the mirror reads next: lists of transfers that may change, those that have left them, due windows, audits.

Windows are read from the newest on.
"""

from collections.abc import Collection, Mapping
from operator import attrgetter
from random import Random

from intents_ui.mirror.models import Window
from intents_ui.mirror.reader import OpenSet, Span, Task
from intents_ui.mirror.windows import DAY, HOUR, MINUTE, NEVER
from intents_ui.mirror.writer import KEPT_DAYS, LoneRead, Writer, runs
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
NEAR = MINUTE  # between transfers that are read by one call
SPANS_AT_ONCE = 3
LOOKED_AT = 120  # windows that are due, to find neighbors among


class Schedule:
    """The order of work of one leader. Times are Unix seconds by the service's clock."""

    def __init__(self, *, random: Random) -> None:
        self._random = random
        self._open_sets_due = [0 for _ in OPEN_SETS]
        self._upkeep_due = 0
        self._minute = 0
        self._audits: list[Window] = []
        self._alone: dict[bytes, LoneRead] = {}
        self._paused_until = 0.0

    def prepare(self, writer: Writer, *, now: int) -> None:
        """Do what is due in the database: new windows each minute, checks and retention each hour."""
        self._alone = writer.alone
        if now // MINUTE != self._minute:
            for each in [each for each, lone in self._alone.items() if lone.is_over(now)]:
                del self._alone[each]
            writer.extend(now=now)
            self._minute = now // MINUTE
        if now >= self._upkeep_due:
            if not self._upkeep_due:
                self._open_sets_due[-1] = now + 10 * MINUTE  # a new copy has none of them yet
            writer.expire(now=now)
            writer.verify(now=now)
            writer.merge()
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
                return OpenSet(statuses, now - since, most_pages)
        if alone := {each: lone.created for each, lone in self._alone.items() if lone.due <= now}:
            return Span((self._next_alone(alone, now),))
        spans = [task for task in busy if isinstance(task, Span)]
        if len(spans) >= SPANS_AT_ONCE:
            return None
        due = (
            each
            for each in Window.objects.filter(due__lte=now).order_by("-start")[: LOOKED_AT * (len(spans) + 1)]
            if not any(span.start <= each.end and each.start <= span.end for span in spans)
        )
        if run := next(runs(due, by=attrgetter("is_sample")), None):
            return Span(run)
        if self._audits and not busy:
            return Span((self._audits.pop(),), is_audit=True)
        return None

    def _next_alone(self, alone: Mapping[bytes, int], now: int) -> Window:
        """Return the seconds of the oldest of these transfers. It is no window of the ledger."""
        first = min(alone.values())
        near = {each: created for each, created in alone.items() if created < first + NEAR}
        self._alone |= {each: LoneRead(created, NEVER, now) for each, created in near.items()}
        return Window(start=first, end=max(near.values()) + 1, due=now)

    def pause(self, until: float) -> None:
        self._paused_until = max(self._paused_until, until)

    def audits(self) -> list[Window]:
        """Return random sealed windows, more often young ones."""
        sealed = Window.objects.filter(is_sealed=True).order_by("-start").values_list("start", flat=True)
        starts = list(sealed)
        chosen = {starts[int(len(starts) * self._random.random() ** 2)] for _ in range(AUDITS if starts else 0)}
        return list(Window.objects.filter(start__in=chosen))
