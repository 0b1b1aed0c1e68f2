"""Keeps the incidents of the copy: reads each minute what was decided, and writes what opened, changed or closed.

The queries for pages are below. They never write.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Min, Q
from pydantic import TypeAdapter

from intents_ui.mirror import coverage, models
from intents_ui.mirror.figures.scopes import scopes_of
from intents_ui.mirror.figures.snapshots import PAIR
from intents_ui.mirror.incidents.detector import (
    DAYS,
    LONGEST,
    MAX_LAG,
    Begun,
    Detector,
    Incident,
    Kind,
    State,
)
from intents_ui.mirror.windows import DAY, HOUR, MINUTE
from intents_ui.mirror.writer import Writer
from intents_ui.service.outcome import Outcome

SETTLING = MINUTE  # until what has ended is known
MIN_HOURS = 24  # of the past, before anything opens
LEARNS_EVERY = 5 * MINUTE
HOURS_AT_ONCE = 6  # of the past that are read between two tasks of the mirror
KEPT_DAYS = 90
MAX_RECENT = 100
NAME = "incidents"  # of the state
COLUMNS = ("owner", "outcome", "status", "failed_step", "created", "started", "end")
DOCUMENT = TypeAdapter(Incident)


class Keeper:
    """The incidents as one leader sees them. Times are Unix seconds by the service's clock.

    It learns from the hours of the last `days`.
    """

    def __init__(self, writer: Writer, *, days: int = DAYS) -> None:
        self._writer, self._days = writer, days
        self._minute = self._learns_at = 0
        self._detector = Detector(incidents=stored())

    def keep(self, *, now: int) -> bool:
        """Do what is due: learn hours of the past, and judge each minute. Return whether all hours are learned."""
        if now >= self._learns_at:
            if hours := self._unlearned(now)[:HOURS_AT_ONCE]:
                # Those of the hour before tell whose transfers are retries.
                self._detector.learn(hours, decided((hours[0] - 1) * HOUR, (hours[-1] + 1) * HOUR))
                return False
            self._learns_at = now + LEARNS_EVERY
        if now // MINUTE != self._minute:
            self._minute = now // MINUTE
            self._judge(self._minute * MINUTE - SETTLING)
        return True

    def _unlearned(self, now: int) -> list[int]:
        """Return the complete hours of these days that weren't learned yet, in order."""
        last = (now - LONGEST) // HOUR - 1
        start = models.Window.objects.aggregate(start=Min("start"))["start"]
        if start is None:
            return []
        first = max(last - self._days * DAY // HOUR + 1, -(-start // HOUR))
        unread = models.Window.objects.filter(Q(read_at=None) | coverage.HOLES, end__gt=first * HOUR)
        lacking = {hour for each in unread for hour in range(each.start // HOUR, -(-each.end // HOUR))}
        return sorted({*range(first, last + 1)} - lacking - self._detector.usual.hours)

    def _judge(self, until: int) -> None:
        is_learning, changed = len(self._detector.usual.hours) < MIN_HOURS, list[Incident]()
        if not is_learning:
            changed = self._detector.judge(until, decided(until - LONGEST, until), holes(until))
        judged = {"judged": until, "unknown_since": self._detector.unknown_since, "is_learning": is_learning}
        with self._writer.transaction():
            rows = [
                {"number": each.number, "closed": each.closed, "document": DOCUMENT.dump_json(each).decode()}
                for each in changed
            ]
            models.write(models.Incident, rows, key=["number"])
            models.set_state(NAME, judged)
            if until % HOUR == 0:
                models.Incident.objects.filter(closed__lt=until - KEPT_DAYS * DAY).delete()


def decided(since: int, until: int) -> Iterator[Begun]:
    """Yield the transfers that ended or were late between two times, and those that are open."""
    rows = models.Transfer.objects.values_list(*PAIR, *COLUMNS)
    ended = rows.filter(end__gte=since * 1000, end__lt=(until + HOUR) * 1000)
    still_open = rows.filter(outcome=Outcome.OPEN, unlisted_since=None)  # SQLite uses no index for "or"
    routes, tokens = models.Route.objects.in_bulk(), models.Token.objects.in_bulk()
    for route, *pair, owner, outcome, status, step, created, started, end in ended.union(still_open, all=True):
        began, limit = (started or created) // 1000, routes[route].late_after // 1000
        scopes = scopes_of(routes[route].key, tuple(tokens[each].key for each in pair if each is not None))
        begun = Begun(scopes, owner and bytes(owner), began)
        found = begun.decided(outcome, status, step, ended=(end or 0) // 1000, limit=limit, now=until)
        if found is None or began > until:
            continue
        if found.at > until:
            yield begun
        elif not found.at or since <= found.at:
            yield found


def holes(now: int) -> list[tuple[int, int]]:
    """Return what the mirror doesn't know of the last six hours, apart from the lag that is always allowed.

    A window that wasn't read since its end is one.
    """
    recent = list(models.Window.objects.filter(end__gt=now - LONGEST).order_by("start"))
    read_at = max((each.read_at or 0 for each in recent), default=0)
    found = [
        (each.start, each.end)
        for each in recent
        if each.start < now
        and not each.is_sealed
        and (each.failures or (each.read_at or 0) < each.end <= now - MAX_LAG)
    ]
    if recent and recent[0].start > now - LONGEST:
        found.append((now - LONGEST, recent[0].start))
    if read_at < now - MAX_LAG:
        found.append((max(read_at, now - LONGEST), now))
    return found


def stored(**which: Any) -> list[Incident]:
    """Return the incidents of the copy, the newest first."""
    rows = models.Incident.objects.filter(**which).order_by("-number")
    return [DOCUMENT.validate_json(row.document) for row in rows]


def judgment() -> Mapping[str, Any]:
    """Return when incidents were last `judged`, `unknown_since` when they can't be, and whether it `is_learning`."""
    found: Mapping[str, Any] = models.state(NAME, {"is_learning": True})
    return found


def recent_incidents() -> Sequence[Incident]:
    """Return the newest incidents, open or not, without those that became a part of another one."""
    return sorted((each for each in stored() if not each.folded_into), key=lambda each: -each.since)[:MAX_RECENT]


def open_counts() -> Mapping[tuple[str, str], int]:
    """Return how many incidents aren't over, by state and kind, with zeros. One query."""
    counts = Counter((each.state, each.kind) for each in stored(closed=None))
    return {(state, kind): counts[state, kind] for state in (State.OPEN, State.RECOVERING) for kind in Kind}
