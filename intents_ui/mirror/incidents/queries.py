"""Incidents: queries for pages. They never write."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import Count

from intents_ui.mirror import models
from intents_ui.mirror.entry import RouteKey
from intents_ui.mirror.incidents.keeper import NAME
from intents_ui.mirror.incidents.rules import Kind, State
from intents_ui.mirror.writer import state

MOST = 100


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
    return Judgment(optional_time(told["judged"]), optional_time(told["unknown_since"]), told["is_learning"])


def recent_incidents() -> Sequence[models.Incident]:
    """Return the newest incidents, open or not, without those that became a part of another one."""
    rows = models.Incident.objects.filter(folded_into=None).order_by("-since")
    return list(rows.prefetch_related("on__route")[:MOST])


def open_counts() -> Mapping[tuple[str, str], int]:
    """Return how many incidents aren't over, by state and kind, with zeros. One query."""
    rows = models.Incident.objects.exclude(state=State.OVER).values_list("state", "kind").annotate(Count("pk"))
    found = {(state, kind): count for state, kind, count in rows}
    return {(state, kind): found.get((state, kind), 0) for state in (State.OPEN, State.RECOVERING) for kind in Kind}


def incident(number: int) -> models.Incident | None:
    """Return an incident by its number."""
    return models.Incident.objects.filter(pk=number).prefetch_related("on__route").first()


def routes_of(incident: models.Incident) -> Sequence[RouteKey]:
    """Return the routes where it was seen."""
    routes = (each.route for each in incident.on.all())
    return sorted(RouteKey(each.providers, each.origin_chain, each.destination_chain) for each in routes)


def optional_time(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
