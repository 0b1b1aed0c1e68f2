"""`/intent/<id>/route-stats`: recent transfers on the same route, loaded after the intent's own page."""

from collections.abc import Sequence
from datetime import UTC, datetime

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.service import lookup
from intents_ui.service.lookup import ROUTE_PAGE, newest_of_route, walk
from intents_ui.service.models import IntentHistory
from intents_ui.tokens import names
from intents_ui.transfers.route_stats import of_route
from intents_ui.transfers.transfer import Transfer
from intents_ui.web.frame import render

PAGES = 2
MAX_AGE = 60.0  # seconds


@require_safe
def others(request: HttpRequest, intent_id: str) -> HttpResponse:
    found, receipt, error = lookup.read_transfer(app.current().service, intent_id)
    if error:
        raise error
    transfer = Transfer(found, receipt, now=datetime.now(UTC))  # the receipt names the providers that were used
    origin, destination = transfer.origin_chain_id, transfer.destination_chain_id
    known = app.current().catalog
    context: dict[str, object] = {"intent_id": intent_id, "stats": None, "performance": None}
    if settings.MIRROR_DATABASE is not None:
        from intents_ui.insight import figures  # needs the mirror's tables

        # Figures of the mirror, if it has any, are of more transfers than a list has.
        context["performance"] = figures.performance(request, transfer)
    if not context["performance"] and origin is not None and destination is not None:
        known.learn((origin, destination))
        context |= {
            "stats": of_route(newest(origin, destination), like=transfer, now=transfer.now),
            "origin": names.of_chain(origin, using=known),
            "destination": names.of_chain(destination, using=known),
        }
    return render(request, "transfers/route_stats.html", context, block="stats")


def newest(origin: int, destination: int) -> Sequence[IntentHistory]:
    """Return the newest hundred transfers between two chains, at most MAX_AGE old."""
    service = app.current().service
    pages = walk(lambda page: service.ask(newest_of_route(origin, destination, page), max_age=MAX_AGE), ROUTE_PAGE)
    return [entry for _, (entries, _) in zip(range(PAGES), pages, strict=False) for entry in entries]
