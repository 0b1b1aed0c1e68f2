"""What the mirror knows of a transfer's route, as read in the last seconds.

The incidents on it, if everyone may see them, and after how long a transfer is late.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.conf import settings

from intents_ui import app
from intents_ui.display.transfers.incidents import IncidentFacts
from intents_ui.display.transfers.transfer import Transfer
from intents_ui.settings import ENV
from intents_ui.web.mirror import mirror_coverage

if TYPE_CHECKING:
    from intents_ui.web.insight.incidents import ListedIncident, RecentIncidents
from collections.abc import Mapping
from datetime import timedelta

type RouteOf = tuple[frozenset[str], str, str]  # providers, origin and destination


def open_now() -> Sequence["ListedIncident"]:
    """Return the open incidents."""
    found = recent()
    return found.open_now if found else ()


def on_route(transfer: Transfer) -> tuple[IncidentFacts, ...]:
    """Return the incidents of a transfer's route, the newest first."""
    found = recent()
    if not found or not found.incidents:
        return ()
    route = route_of(transfer)
    return tuple(
        each
        for each in found.incidents
        if any(route_of_key(*on.scope.route) == route for on in each.routes) and _has_token(transfer, each)
    )


def _has_token(transfer: Transfer, incident: "ListedIncident") -> bool:
    """Return whether a transfer sends or delivers the token of an incident, if it is one of a token."""
    scope, summary = incident.scope.scope, transfer.summary
    sides = (
        (transfer.origin_chain_id, summary.origin_token_address),
        (transfer.destination_chain_id, summary.destination_token_address),
    )
    wanted = scope.origin_chain, scope.token.lower()
    return not scope.token or any((str(chain), (address or "").lower()) == wanted for chain, address in sides)


def recent() -> "RecentIncidents | None":
    """Return the newest incidents, if there is a mirror that can be read and everyone may see them."""
    if settings.MIRROR_DATABASE is None or ENV.intents_insight != "public":
        return None
    from intents_ui.web.insight import incidents  # imported only with a mirror

    return incidents.recent()


def route_of(transfer: Transfer) -> RouteOf:
    """Return a transfer's route, to compare it with those of the mirror."""
    return route_of_key(*transfer.route)


def route_of_key(providers: str, origin: str, destination: str) -> RouteOf:
    return frozenset(filter(None, providers.upper().split(";"))), origin, destination


MAX_AGE = 60.0  # seconds
LATE_TIME = timedelta(days=1)  # that the mirror knows completely, so that its number of late transfers is right


def late_count() -> int | None:
    """Return how many transfers are late. None if the mirror doesn't know, or not everyone may see it."""
    known = mirror_coverage() if ENV.intents_insight == "public" else None
    if not known or not known.complete_since or known.complete_until:
        return None
    if known.complete_since > known.at - LATE_TIME:
        return None
    from intents_ui.mirror.figures.scopes import EVERYTHING  # imported only with a mirror
    from intents_ui.mirror.readonly import CopyUnreadable
    from intents_ui.web.insight import figures

    try:
        return figures.still_open().of(EVERYTHING)["late"]
    except CopyUnreadable:
        return None


def late_after(transfer: Transfer) -> timedelta | None:
    """Return the limit of a transfer's route. None without a mirror, or if it doesn't know the route."""
    if settings.MIRROR_DATABASE is None:
        return None
    found = app.current().recent_reads.get("route limits", _read_limits, max_age=MAX_AGE)
    return found.get(route_of(transfer)) if found else None


def _read_limits() -> Mapping[RouteOf, timedelta]:
    from intents_ui.mirror.models import Route  # imported only with a mirror
    from intents_ui.mirror.readonly import CopyUnreadable, reading

    try:
        with reading():
            return {route_of_key(*each.key): each.limit for each in Route.objects.all()}
    except CopyUnreadable:
        return {}  # the coverage tells
