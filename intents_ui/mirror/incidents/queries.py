"""Incidents: queries for pages. They never write."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import Count, QuerySet

from intents_ui.mirror import models
from intents_ui.mirror.entry import RouteKey
from intents_ui.mirror.incidents.keeper import NAME
from intents_ui.mirror.incidents.rules import Kind, Level, Scope, State
from intents_ui.mirror.writer import state

MOST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """An incident.

    Of the `owners` whose transfers began since then, `bad` did not get them in time, and `usual` is the usual share. If
    nothing starts, it is the number of owners that were expected. `routes` are those where it was seen. Another
    incident may have absorbed it (`folded_into`).
    """

    number: int
    scope: Scope
    kind: Kind
    state: State
    since: datetime
    opened: datetime
    recovered: datetime | None
    closed: datetime | None
    bad: int
    owners: int
    usual: float
    is_alert: bool
    folded_into: int | None
    routes: Sequence[RouteKey]

    @property
    def is_open(self) -> bool:
        return self.state is not State.OVER


@dataclass(frozen=True, slots=True)
class Judgment:
    """When the incidents were last judged. Nothing opens or closes since `unknown_since`, or while it is learning."""

    at: datetime | None
    unknown_since: datetime | None
    is_learning: bool


def judgment() -> Judgment:
    """Return how new the incidents are."""
    told = state(NAME)
    if told is None:
        return Judgment(None, None, True)
    return Judgment(_moment(told["judged"]), _moment(told["unknown_since"]), told["is_learning"])


def recent_incidents(*, most: int = MOST) -> Sequence[Incident]:
    """Return the newest incidents, open or not, without those that became a part of another one."""
    return _read(models.Incident.objects.filter(folded_into=None).order_by("-since")[:most])


def open_counts() -> Mapping[tuple[str, str], int]:
    """Return how many incidents aren't over, by state and kind, with zeros. One query."""
    rows = models.Incident.objects.exclude(state=State.OVER).values_list("state", "kind").annotate(Count("pk"))
    found = {(state, kind): count for state, kind, count in rows}
    return {(state, kind): found.get((state, kind), 0) for state in (State.OPEN, State.RECOVERING) for kind in Kind}


def incident(number: int) -> Incident | None:
    """Return an incident by its number."""
    return next(iter(_read(models.Incident.objects.filter(pk=number))), None)


def _read(rows: "QuerySet[models.Incident]") -> Sequence[Incident]:
    return [
        Incident(
            number=row.number,
            scope=Scope(Level(row.level), row.name),
            kind=Kind(row.kind),
            state=State(row.state),
            since=datetime.fromtimestamp(row.since, UTC),
            opened=datetime.fromtimestamp(row.opened, UTC),
            recovered=_moment(row.recovered),
            closed=_moment(row.closed),
            bad=row.bad,
            owners=row.owners,
            usual=row.usual,
            is_alert=row.is_alert,
            folded_into=row.folded_into,
            routes=sorted(
                RouteKey(each.route.providers, each.route.origin_chain, each.route.destination_chain)
                for each in row.on.all()
            ),
        )
        for row in rows.prefetch_related("on__route")
    ]


def _moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
