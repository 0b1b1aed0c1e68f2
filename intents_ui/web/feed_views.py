"""Feeds of a transfer's events and of an owner's newest transfers, as Atom (RFC 4287).

Errors are error responses, never empty feeds. Frequent requests are served from a short-lived cache, with 304 if
nothing has changed.
"""

from collections.abc import Sequence

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.formatting import hashes
from intents_ui.search.filters import Filters
from intents_ui.service import lookup, operations
from intents_ui.service.models import Intent, IntentHistory, IntentReceipt
from intents_ui.web import feed_entries as feeds
from intents_ui.web import reading
from intents_ui.web.feed_entries import Entry
from intents_ui.web.feeds import respond
from intents_ui.web.links import canonical_url

MOST = 25
MAX_AGE = 15.0  # seconds


@require_safe
@canonical_url
def intent(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    found, receipt = transfer(intent_id)
    feed = feeds.of_transfer(reading.of(found, receipt, wait=reading.PATIENCE))
    return respond(request, feed, page=reverse("intent", args=[intent_id]), page_of=page_of)


@require_safe
def address(request: HttpRequest, address: str) -> HttpResponseBase:
    known = hashes.account(address)
    if known is None:
        raise Http404("This is not an account address.")
    if known != address:
        return redirect(reverse("address-atom", args=[known]), permanent=True)
    feed = feeds.of_owner(address, reading.of_entries(newest(address)))
    return respond(request, feed, page=reverse("address", args=[address]), page_of=page_of)


def transfer(intent_id: str) -> tuple[Intent, IntentReceipt | None]:
    """Return the intent and its receipt. Raises ServiceError for either, because both are needed for the status."""
    found, receipt, error = lookup.read_transfer(app.current().service, intent_id)
    if error:
        raise error
    return found, receipt


def newest(owner: str) -> Sequence[IntentHistory]:
    wanted = Filters(owner=owner, size=MOST)
    call = operations.get_intent_history(page=wanted.first, **wanted.request)
    return app.current().service.ask(call, max_age=MAX_AGE).intents[:MOST]


def page_of(entry: Entry) -> str:
    return reverse("intent", args=[entry.about])
