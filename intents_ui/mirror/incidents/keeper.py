"""Keeps the incidents of the copy: reads what ended each minute, and writes what has opened, changed or closed."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields

from django.db.models import Max, Min, Q

from intents_ui.mirror import models
from intents_ui.mirror.figures.facts import FAILED, duration_of, end_of
from intents_ui.mirror.figures.scopes import Level
from intents_ui.mirror.incidents.counting import LONGEST, WINDOWS, Ending, Routes, Scope
from intents_ui.mirror.incidents.detector import Detector
from intents_ui.mirror.incidents.rules import MOST_LAG, Incident, Kind, Knowledge, State
from intents_ui.mirror.incidents.usual import DAYS, Usual, tally
from intents_ui.mirror.windows import DAY, HOUR, MINUTE
from intents_ui.mirror.writer import Writer, set_state

SETTLING = MINUTE  # until what has ended is known
LEAST_HOURS = 24  # of the past, before anything opens
PLANNED_EVERY = 5 * MINUTE  # which hours to read
HOURS_AT_ONCE = 6  # of the past that are read between two tasks of the mirror
KEPT_DAYS = 90
NAME = "incidents"  # of the state


class Keeper:
    """The incidents as one leader sees them. Times are Unix seconds by the service's clock."""

    def __init__(self) -> None:
        self._epoch = 0
        self._minute = 0
        self._planned = 0
        self._observed = 0  # until when endings were told to the detector
        self._pending: list[int] = []  # hours of the past to learn, the newest last
        self._late_after: Mapping[int, int] = {}  # by route
        self._begin(0)

    def keep(self, writer: Writer, *, now: int) -> None:
        """Do what is due: learn hours of the past, and judge each minute."""
        if writer.epoch != self._epoch:
            self._begin(writer.epoch)
        if now >= self._planned + PLANNED_EVERY:
            self._planned = now
            self._late_after = _late_after()
            self._pending = self._unlearned(now)
        for _ in range(min(HOURS_AT_ONCE, len(self._pending))):
            self._learn(self._pending.pop())
        if now // MINUTE != self._minute and not self._pending:
            self._minute = now // MINUTE
            self._judge(writer, now)

    def _begin(self, epoch: int) -> None:
        self._epoch, self._minute, self._planned, self._observed = epoch, 0, 0, 0
        self._routes = Routes()
        self._usual = Usual(self._routes)
        self._late_after = {}
        self._detector = Detector(self._routes, self._usual, start=0, incidents=stored() if epoch else ())

    def _unlearned(self, now: int) -> list[int]:
        """Return the complete hours of two weeks that aren't known yet, the newest last."""
        last = now // HOUR - 2  # before the last hour
        first = last - DAYS * DAY // HOUR + 1
        start = models.Window.objects.aggregate(start=Min("start"))["start"]
        if start is None:
            return []
        incomplete = Q(failures__gt=0, is_sealed=False) | Q(read_at=None)
        lacking = {
            hour
            for since, until in models.Window.objects.filter(incomplete, end__gt=first * HOUR).values_list(
                "start", "end"
            )
            for hour in range(since // HOUR, -(-until // HOUR))
        }
        first = max(first, -(-start // HOUR))
        return [hour for hour in range(first, last + 1) if hour not in lacking and hour not in self._usual]

    def _learn(self, hour: int) -> None:
        self._detector.learn(hour, tally(self._endings(hour * HOUR, (hour + 1) * HOUR)))

    def _judge(self, writer: Writer, now: int) -> None:
        until = now // MINUTE * MINUTE - SETTLING
        knowledge = known(until)
        is_unknown = knowledge.unknown_since(now=until, shortest=WINDOWS[0]) is not None
        is_learning = len(self._usual) < LEAST_HOURS
        changed: Sequence[Incident] = ()
        if not is_learning:
            if not is_unknown:
                self._observe(until)
            changed = self._detector.judge(until, knowledge)
        told = {"judged": until, "unknown_since": self._detector.unknown_since, "is_learning": is_learning}
        with writer.transaction():
            for each in changed:
                store(each)
            set_state(NAME, told)
            if until % HOUR == 0:
                models.Incident.objects.filter(closed__lt=until - KEPT_DAYS * DAY).delete()

    def _observe(self, until: int) -> None:
        """Tell the detector what ended, or everything again if too much has ended since the last time."""
        if until - self._observed > WINDOWS[0]:
            start = until - LONGEST
            incidents = self._detector.incidents
            self._detector = Detector(self._routes, self._usual, start=start, incidents=incidents)
            self._detector.observe(self._endings(start, until - MINUTE), is_past=True)
            self._observed = until - MINUTE
        self._detector.observe(self._endings(self._observed, until))
        self._observed = until

    def _endings(self, since: int, until: int) -> list[Ending]:
        """Return what ended between two times, in order. It can be late only if the usual duration is known."""
        rows = models.Transfer.objects.filter(hour__gte=since // HOUR * HOUR, hour__lt=until).values_list(
            "route_id", "owner", "created", "updated", "started", "ended", "outcome"
        )
        endings = []
        for route, owner, created, updated, started, ended, outcome in rows:
            at = end_of(ended, updated, created) // 1000
            if since <= at < until:
                took = duration_of(started, ended)
                is_late = took is not None and route in self._late_after and took > self._late_after[route]
                endings.append(Ending(route, owner and bytes(owner), at, outcome in FAILED, is_late))
        self._know({each.route for each in endings})
        return sorted(endings, key=lambda each: each.at)

    def _know(self, routes: Collection[int]) -> None:
        missing = [route for route in routes if route not in self._routes]
        for each in models.Route.objects.filter(pk__in=missing) if missing else ():
            chains = (each.origin_chain, each.destination_chain)
            self._routes.add(each.pk, providers=each.providers.split(";"), chains=chains)


def _late_after() -> Mapping[int, int]:
    """Return after how many milliseconds a transfer of each route is late, where that is known."""
    found = models.Route.objects.values_list("pk", "late_after")
    return {route: limit for route, limit in found if limit is not None}


def known(now: int) -> Knowledge:
    """Return how much of the last six hours the mirror knows.

    A window that wasn't read since its end counts as a hole, apart from the lag that is always allowed.
    """
    recent = models.Window.objects.filter(end__gt=now - LONGEST, start__lt=now)
    read_at = models.Window.objects.filter(end__gt=now - LONGEST).aggregate(newest=Max("read_at"))["newest"]
    lacking = []
    for window in recent.filter(is_sealed=False).only("start", "end", "read_at", "failures"):
        is_unread = window.read_at is None or window.read_at < window.end
        if window.failures or (is_unread and window.end <= now - MOST_LAG):
            lacking.append((window.start, window.end))
    first = models.Window.objects.aggregate(start=Min("start"))["start"]
    if first is not None and first > now - LONGEST:
        lacking.append((now - LONGEST, first))
    return Knowledge(lag=LONGEST if read_at is None else max(0, now - read_at), holes=lacking)


def stored() -> Iterable[Incident]:
    """Yield the incidents of the copy that a detector needs: those that are open or closed within two weeks."""
    rows = models.Incident.objects.order_by("-number").prefetch_related("on")
    last = rows.first()
    if last is None:
        return
    kept = Q(closed=None) | Q(closed__gt=last.opened - DAYS * DAY) | Q(pk=last.pk)
    for row in rows.filter(kept):
        yield Incident(
            number=row.number,
            scope=Scope(Level(row.level), row.name),
            kind=Kind(row.kind),
            state=State(row.state),
            since=row.since,
            opened=row.opened,
            recovered=row.recovered,
            closed=row.closed,
            bad=row.bad,
            owners=row.owners,
            usual=row.usual,
            is_alert=row.is_alert,
            folded_into=row.folded_into,
            routes=frozenset(each.route_id for each in row.on.all()),
        )


COLUMNS = [field.name for field in fields(Incident) if field.name not in ("number", "scope", "routes")]


def store(incident: Incident) -> None:
    """Write an incident, within a transaction."""
    columns = {name: getattr(incident, name) for name in COLUMNS}
    row, _ = models.Incident.objects.update_or_create(
        number=incident.number,
        defaults={**columns, "level": incident.scope.level, "name": incident.scope.name},
    )
    before = set(row.on.values_list("route_id", flat=True))
    row.on.filter(route__in=before - incident.routes).delete()
    models.IncidentRoute.objects.bulk_create(
        models.IncidentRoute(incident=row, route_id=route) for route in sorted(incident.routes - before)
    )
