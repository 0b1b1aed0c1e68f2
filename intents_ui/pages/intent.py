"""`/intent/<id>`: what happened to one transfer, and the proof of it."""

import re
from datetime import UTC, datetime

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import wiring
from intents_ui.display import (
    fees,
    pasted,
    records,
    route,
    sections,
    statuses,
    story,
    text,
    timeline,
    transfer,
    watching,
)
from intents_ui.display.pasted import Kind
from intents_ui.service import lookup
from intents_ui.service.errors import NotFound, ServiceError
from intents_ui.service.together import both
from intents_ui.service.wire import Intent, IntentReceipt

# Ids that are no hash: any word, as the service's own documents show them.
PLAIN_ID = re.compile(r"[A-Za-z0-9_.:-]{1,200}", re.ASCII)


@require_safe
def intent(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    if moved := elsewhere(request, intent_id, page="intent"):
        return moved
    found, receipt, trouble = read(intent_id)
    now = datetime.now(UTC)
    context = told(found, receipt, now=now) | proof(found, receipt)
    context |= {"trouble": trouble, "came_by": came_by(request, receipt)}
    return render(request, "intent.html", context)


def told(found: Intent, receipt: IntentReceipt | None, *, now: datetime) -> dict[str, object]:
    """What changes while a transfer runs, for `parts/receipt.html`."""
    names = wiring.catalog()
    tale = story.story(found, receipt, now=now, using=names)
    return {
        "intent": found,
        "receipt": receipt,
        "names": names,
        "now": now,
        "is_open": statuses.is_open(receipt.status if receipt else found.status),
        "may_change": watching.may_change(found, receipt, now=now),
        "transfer": transfer.of_intent(found, receipt, using=names, now=now),
        "story": tale,
        "stops": route.route(found, receipt, story=tale, using=names),
        "timeline": timeline.timeline(found, receipt, now=now, using=names),
        "fees": fees.fees(found.fees, using=names),
        "memo": memo(receipt),
    }


def proof(found: Intent, receipt: IntentReceipt | None) -> dict[str, object]:
    """Every field, for `parts/proof.html`."""
    return {"sections": sections.sections(records.groups(found, receipt, using=wiring.catalog()))}


def read(intent_id: str) -> tuple[Intent, IntentReceipt | None, ServiceError | None]:
    """The intent and its receipt, asked for at once. One that was never executed has no receipt: that is no trouble.

    Raises what kept us from the intent itself.
    """
    service = wiring.service()
    found, receipt = both(lambda: service.get_intent(intent_id), lambda: service.get_intent_receipt(intent_id))
    if isinstance(found, ServiceError):
        raise found
    if isinstance(receipt, ServiceError):
        return found, None, None if isinstance(receipt, NotFound) else receipt
    return found, receipt, None


def canonical(intent_id: str) -> str:
    """The one way to write this id: `0x` and lower case for a hash, other kinds of ids as they are.

    Raises Http404 for what cannot be an intent's id, so that nothing is asked.
    """
    read = pasted.read(intent_id)
    found = next((each.value for each in read.lookups if each.kind in (Kind.HASH, Kind.INTENT)), None)
    if found is None and not (PLAIN_ID.fullmatch(intent_id) and not read.problem):
        raise Http404(read.problem or "This is not an intent's id.")
    return found or intent_id


def elsewhere(request: HttpRequest, intent_id: str, *, page: str) -> HttpResponseBase | None:
    """A redirect to where this intent's page is, if the address is not the one way to write it."""
    known = canonical(intent_id)
    return None if known == intent_id else moved_to(request, known, page=page)


def moved_to(request: HttpRequest, intent_id: str, *, page: str) -> HttpResponseBase:
    query = request.META["QUERY_STRING"]
    return redirect(reverse(page, args=[intent_id]) + (f"?{query}" if query else ""), permanent=True)


def came_by(request: HttpRequest, receipt: IntentReceipt | None) -> str | None:
    """Which step of the transfer the transaction is that led here (`/tx/…`)."""
    txn_hash = request.GET.get("tx")
    return lookup.leg_of(receipt, txn_hash) if txn_hash and receipt else None


def memo(receipt: IntentReceipt | None) -> text.Text | None:
    """What the payer wrote; made visible and cut, never trusted."""
    written = receipt.summary.memo if receipt and receipt.summary else None
    return text.memo(written) if written else None


@require_safe
def other_address(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    """Other explorers' habits (`/intents/…`, `/i/…`) lead to the one page."""
    return moved_to(request, canonical(intent_id), page="intent")


@require_safe
def as_json(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    """Intent and receipt as the service gave them, in one document; `intentReceipt` is null before there is one."""
    if moved := elsewhere(request, intent_id, page="intent-json"):
        return moved
    found, receipt, trouble = read(intent_id)
    if trouble:
        raise trouble
    received = receipt.received if receipt else "null"
    return json_text(f'{{"intent":{found.received},"intentReceipt":{received}}}')


@require_safe
def raw_intent(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    """The intent exactly as received."""
    if moved := elsewhere(request, intent_id, page="intent-raw"):
        return moved
    return json_text(wiring.service().get_intent(intent_id).received)


@require_safe
def raw_receipt(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    """The receipt exactly as received."""
    if moved := elsewhere(request, intent_id, page="receipt-raw"):
        return moved
    return json_text(wiring.service().get_intent_receipt(intent_id).received)


def json_text(text: str) -> HttpResponse:
    return HttpResponse(text, content_type="application/json; charset=utf-8", headers={"Cache-Control": "no-store"})
