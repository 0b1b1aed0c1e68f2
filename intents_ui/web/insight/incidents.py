"""Incidents of the mirror for pages, with the names of what they are of."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.http import Http404

from intents_ui.display.transfers.incidents import IncidentFacts
from intents_ui.mirror import coverage, readonly
from intents_ui.mirror.figures import queries as figures
from intents_ui.mirror.figures.queries import Course
from intents_ui.mirror.figures.scopes import ScopeName, scopes_of
from intents_ui.mirror.incidents import keeper
from intents_ui.mirror.incidents.keeper import Judgment, optional_time
from intents_ui.mirror.incidents.rules import Incident
from intents_ui.mirror.readonly import CopyUnreadable, reading, understanding
from intents_ui.service.outcome import Outcome
from intents_ui.web.insight.scopes import NamedScope, named
from intents_ui.web.recent import reads

LONGEST_NUMBER = 15  # digits


@dataclass(frozen=True, kw_only=True)
class ListedIncident(IncidentFacts):
    """An incident with what it is of, and the routes where it was seen."""

    scope: NamedScope
    routes: Sequence[NamedScope]


@dataclass(frozen=True)
class RecentIncidents:
    """The newest incidents, and when they were last judged."""

    judgment: Judgment
    incidents: Sequence[ListedIncident]

    @property
    def open_now(self) -> Sequence[ListedIncident]:
        return [each for each in self.incidents if each.closed is None]

    @property
    def over(self) -> Sequence[ListedIncident]:
        return [each for each in self.incidents if each.closed is not None]

    def of(self, scope: ScopeName) -> Sequence[ListedIncident]:
        """Return the open incidents of a scope or of a part of it, and those that were seen on it."""
        return [
            each
            for each in self.open_now
            if each.scope.scope == scope or any(scope in scopes_of(on.scope.route) for on in each.routes)
        ]


def recent() -> RecentIncidents | None:
    """Return the incidents as read in the last seconds. None if the database can't be read."""
    return reads().get("incidents", _read, max_age=readonly.MAX_AGE)


def read() -> RecentIncidents:
    """Return the same. Raises CopyUnreadable."""
    found = recent()
    if found is None:
        raise CopyUnreadable("incidents")
    return found


def _read() -> RecentIncidents | None:
    try:
        with understanding():
            with reading():
                judgment, found = keeper.judgment(), keeper.recent_incidents()
            return RecentIncidents(judgment, listed(found))
    except CopyUnreadable:
        return None


def listed(found: Sequence[Incident]) -> list[ListedIncident]:
    """Name incidents. The names of their chains are loaded together."""
    places = [[each.scope, *sorted(each.routes)] for each in found]
    names = iter(named(scope for each in places for scope in each))
    return [_listed(incident, *(next(names) for _ in each)) for incident, each in zip(found, places, strict=True)]


def _listed(incident: Incident, whole: NamedScope, *routes: NamedScope) -> ListedIncident:
    return ListedIncident(
        number=incident.number,
        title=whole.title,
        kind=incident.kind,
        state=incident.state,
        since=datetime.fromtimestamp(incident.since, UTC),
        recovered=optional_time(incident.recovered),
        closed=optional_time(incident.closed),
        bad=int(incident.bad),
        owners=int(incident.owners),
        usual=float(incident.usual),
        is_alert=incident.is_alert,
        scope=whole,
        routes=routes,
    )


@dataclass(frozen=True)
class IncidentReport:
    """An incident, and what ended since it began."""

    incident: ListedIncident
    level: str
    opened: datetime
    course: Course

    @property
    def ended(self) -> int:
        return sum(self.course.counts.values())

    @property
    def failed(self) -> int:
        """The transfers that were not delivered."""
        return self.ended - self.course.counts.get(Outcome.DELIVERED, 0)

    @property
    def refunded(self) -> int:
        return self.course.counts.get(Outcome.REFUNDED, 0)


def report(number: str) -> IncidentReport:
    """Return an incident by its digits. Raises Http404 for an unknown number, and CopyUnreadable."""
    with reading():
        found = keeper.incident(int(number)) if len(number) <= LONGEST_NUMBER else None
        if found is None:
            raise Http404("There is no incident with this number.")
        since, until = datetime.fromtimestamp(found.since, UTC), optional_time(found.closed) or coverage.service_now()
        course = figures.course(found.scope, since=since, until=until)
    return IncidentReport(listed([found])[0], found.scope.level, datetime.fromtimestamp(found.opened, UTC), course)
