"""Incidents of the mirror on a transfer's route, as read in the last seconds, if everyone may see them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.conf import settings

from intents_ui.display.transfers.incidents import IncidentFacts
from intents_ui.display.transfers.transfer_data import Facts
from intents_ui.settings import ENV
from intents_ui.web.recent import reads

if TYPE_CHECKING:
    from intents_ui.web.insight.incidents import ListedIncident

MOST = 50

type RouteOf = tuple[frozenset[str], str, str]  # providers, origin and destination


def recent() -> Sequence["ListedIncident"]:
    """Return the newest incidents, if there is a mirror that can be read and everyone may see them."""
    if settings.MIRROR_DATABASE is None or ENV.intents_insight != "public":
        return ()
    from intents_ui.mirror import readonly  # imported only with a mirror

    return reads().get("incidents", _read, max_age=readonly.MAX_AGE)


def open_now() -> Sequence["ListedIncident"]:
    """Return the open incidents."""
    return [each for each in recent() if each.facts.closed is None]


def on_route(facts: Facts) -> tuple[IncidentFacts, ...]:
    """Return the incidents of a transfer's route, the newest first."""
    found = recent()
    if not found:
        return ()
    route = route_of(facts)
    return tuple(each.facts for each in found if any(route_of_key(*on.scope[1:]) == route for on in each.routes))


def route_of(facts: Facts) -> RouteOf:
    """Return a transfer's route, to compare it with those of the mirror."""
    chains = ("" if each is None else str(each) for each in (facts.origin_chain_id, facts.destination_chain_id))
    return route_of_key(";".join(facts.providers), *chains)


def route_of_key(providers: str, origin: str, destination: str) -> RouteOf:
    return frozenset(filter(None, providers.upper().split(";"))), origin, destination


def _read() -> Sequence["ListedIncident"]:
    from intents_ui.mirror.incidents import queries
    from intents_ui.mirror.readonly import CopyUnreadable, reading
    from intents_ui.web.insight.incidents import listed

    try:
        with reading():
            found = queries.recent_incidents(most=MOST)
    except CopyUnreadable:
        return ()  # the coverage tells
    return listed(found)
