"""Feeds of a transfer's events and of an owner's newest transfers, as Atom (RFC 4287) and JSON Feed 1.1.

Errors are error responses, never empty feeds. Frequent requests are served from a short-lived cache, with 304 if
nothing has changed.
"""

from collections.abc import Sequence

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import wiring
from intents_ui.display.lists import address as about
from intents_ui.display.lists.filters import Filters
from intents_ui.display.sharing import feeds
from intents_ui.display.sharing.feeds import Entry
from intents_ui.service.operations import operations
from intents_ui.service.queries import transfers
from intents_ui.service.wire.models import Intent, IntentHistory, IntentReceipt
from intents_ui.web.feeds import ATOM, JSON, Format, respond
from intents_ui.web.links import elsewhere
from intents_ui.web.transfers import situations

MOST = 25
MAX_AGE = 15.0  # seconds


@require_safe
def intent_atom(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    return elsewhere(request, intent_id, page="intent-atom") or of_intent(request, intent_id, ATOM)


@require_safe
def intent_json(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    return elsewhere(request, intent_id, page="intent-feed") or of_intent(request, intent_id, JSON)


@require_safe
def address_atom(request: HttpRequest, address: str) -> HttpResponseBase:
    return of_other_address(address, page="address-atom") or of_owner(request, address, ATOM)


@require_safe
def address_json(request: HttpRequest, address: str) -> HttpResponseBase:
    return of_other_address(address, page="address-feed") or of_owner(request, address, JSON)


def of_other_address(written: str, *, page: str) -> HttpResponse | None:
    """Return a redirect for a non-canonical spelling. Raises Http404 for anything but an account address."""
    known = about.canonical(written)
    if known is None:
        raise Http404("This is not an account address.")
    return None if known == written else redirect(reverse(page, args=[known]), permanent=True)


def of_intent(request: HttpRequest, intent_id: str, how: Format) -> HttpResponseBase:
    found, receipt = transfer(intent_id)
    feed = feeds.of_transfer(situations.of(found, receipt, wait=situations.PATIENCE))
    return respond(request, feed, how, page=reverse("intent", args=[intent_id]), page_of=page_of)


def of_owner(request: HttpRequest, address: str, how: Format) -> HttpResponseBase:
    feed = feeds.of_owner(address, situations.of_entries(newest(address)))
    return respond(request, feed, how, page=reverse("address", args=[address]), page_of=page_of)


def transfer(intent_id: str) -> tuple[Intent, IntentReceipt | None]:
    """Return the intent and its receipt. Raises ServiceError for either, because both are needed for the status."""
    found, receipt, error = transfers.read(wiring.service(), intent_id)
    if error:
        raise error
    return found, receipt


def newest(owner: str) -> Sequence[IntentHistory]:
    wanted = Filters(owner=owner, size=MOST)
    call = operations.get_intent_history(page=wanted.first, **wanted.request)
    return wiring.service().ask(call, max_age=MAX_AGE).intents[:MOST]


def page_of(entry: Entry) -> str:
    return reverse("intent", args=[entry.about])
