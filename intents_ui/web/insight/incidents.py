"""Incidents of the mirror for pages, with the names of what they are of."""

from collections.abc import Sequence
from dataclasses import dataclass

from intents_ui.display.transfers.incidents import IncidentFacts
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName
from intents_ui.mirror.incidents.queries import Incident
from intents_ui.web.insight.scopes import LinkedScope, linked


@dataclass(frozen=True)
class ListedIncident:
    """An incident in words, what it is of, and its page's routes."""

    facts: IncidentFacts
    scope: LinkedScope
    routes: Sequence[LinkedScope]


def listed(found: Sequence[Incident]) -> list[ListedIncident]:
    """Name incidents. The names of their chains are loaded together."""
    places = [[scope(each), *(ScopeName(Level.ROUTE, *route) for route in each.routes)] for each in found]
    named = iter(linked(scope for scopes in places for scope in scopes))
    told = []
    for incident, scopes in zip(found, places, strict=True):
        whole, *routes = [next(named) for _ in scopes]
        told.append(ListedIncident(_facts(incident, whole), whole, routes))
    return told


def scope(incident: Incident) -> ScopeName:
    """Return what an incident is of."""
    match incident.level:
        case Level.ROUTE if incident.routes:
            return ScopeName(Level.ROUTE, *incident.routes[0])
        case Level.PROVIDER:
            return ScopeName(Level.PROVIDER, incident.name)
        case Level.CHAIN:
            return ScopeName(Level.CHAIN, "", incident.name)
    return EVERYTHING


def _facts(incident: Incident, scope: LinkedScope) -> IncidentFacts:
    return IncidentFacts(
        number=incident.number,
        title=scope.named.title,
        kind=incident.kind.value,
        state=incident.state.value,
        since=incident.since,
        closed=incident.closed,
        bad=incident.bad,
        owners=incident.owners,
        usual=incident.usual,
    )
