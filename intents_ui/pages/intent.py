"""`/intent/<id>`: what happened to one transfer, and the proof of it."""

import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock

from cachetools import LRUCache, TTLCache, cached
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from intents_ui import looks, operators, wiring
from intents_ui.display import (
    calls,
    commit,
    doctor,
    fees,
    lookalikes,
    promise,
    records,
    reply,
    route,
    sections,
    share,
    statuses,
    story,
    text,
    timeline,
    times,
    transfer,
    watching,
)
from intents_ui.display.facts import Facts
from intents_ui.links import canonical, elsewhere, moved_to
from intents_ui.live.picture import Picture, digest
from intents_ui.service import freshness, lookup, sharing, transfers
from intents_ui.service.errors import ServiceError
from intents_ui.service.kept import weight
from intents_ui.service.wire import Intent, IntentReceipt

PROOFS_BYTES = 4 * 2**20
PLANS_BYTES = 4 * 2**20
PROOFS_SECONDS = 60.0  # in which "2 min ago" in a fold becomes untrue


@require_safe
def intent(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    if moved := elsewhere(request, intent_id, page="intent"):
        return moved
    found, receipt, trouble = read(intent_id)
    now = datetime.now(UTC)
    context = told(found, receipt, trouble, now=now)
    context |= {"proof": proof_of(found, receipt, may_change=bool(context["may_change"]))}
    context |= {"came_by": came_by(request, receipt), "seen": seen(receipt)}
    return render(request, "intent.html", context)


@require_safe
def receipt(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    """The page's part that changes, for those who have no stream: it is asked for every few seconds."""
    found, known, trouble = read(intent_id)
    mode = "once" if "once" in request.GET else "polled"
    context = told(found, known, trouble, now=datetime.now(UTC)) | {"mode": mode}
    html = render_to_string("parts/polled.html", context, request)
    answer = HttpResponse(html, headers={"ETag": quote_etag(str(context["version"]))})
    return get_conditional_response(request, etag=answer["ETag"], response=answer) or answer


@require_safe
def proof(request: HttpRequest, intent_id: str) -> HttpResponse:
    """Every field as it is now, when a reader unfolds them while the transfer runs."""
    found, known, _ = read(intent_id)
    return HttpResponse(proof_of(found, known, may_change=True))


@require_safe
@vary_on_headers("HX-Request-Type")
def answer(request: HttpRequest, intent_id: str) -> HttpResponse:
    """What to answer a customer, to be copied."""
    found, known, trouble = read(intent_id)
    if trouble:
        raise trouble
    now, names = datetime.now(UTC), wiring.catalog()
    names.learn((found.origin_chain_id, found.destination_chain_id))
    told = reply.reply(
        story.story(found, known, now=now, using=names, **looks.holdings(found, known)),
        transfer.of_intent(found, known, using=names, now=now),
        timeline.timeline(found, known, now=now, using=names),
        url=request.build_absolute_uri(reverse("intent", args=[intent_id])),
        now=now,
        using=names,
    )
    is_part = request.headers.get("HX-Request-Type") == "partial"
    template = "parts/reply.html" if is_part else "reply.html"
    return render(request, template, {"intent_id": intent_id, "reply": told})


def told(
    found: Intent, receipt: IntentReceipt | None, trouble: ServiceError | None = None, *, now: datetime
) -> dict[str, object]:
    """What changes while a transfer runs, for `parts/receipt.html`."""
    names, unread = wiring.catalog(), trouble is not None
    names.learn((found.origin_chain_id, found.destination_chain_id))
    held = looks.holdings(found, receipt)
    tale = story.story(found, receipt, now=now, using=names, unread=unread, **held)
    steps = timeline.timeline(found, receipt, now=now, using=names, unread=unread)
    promised = promise.promise(found, receipt, now=now, using=names, unread=unread)
    ends = transfer.of_intent(found, receipt, using=names, now=now, unread=unread)
    diagnosis = doctor.doctor(found, receipt, now=now, using=names, unread=unread, balances=held.get("balances"))
    may_change = watching.may_change(found, receipt, now=now)
    may_be_committed = operators.level() is operators.Level.WRITE
    offer = commit.offer(Facts.of(found, receipt, unread=unread), now=now) if may_be_committed else None
    # What the service said and what the clock makes of it; the seconds that run are not in it.
    known = receipt.received if receipt else ""
    by_the_clock = (tale, steps.late, steps.stalled, promised.shown, diagnosis, may_change, offer)
    old = freshness.told()
    ages = [round(each.learned_at.timestamp()) for each in old]
    version = digest(repr((known, type(trouble), by_the_clock, ages)))
    return {
        "intent": found,
        "receipt": receipt,
        "trouble": trouble,
        "mode": "",
        "learned_at": min((each.learned_at for each in old), default=None),
        "stale_since": None,
        "went_back_to": None,
        "came_by": None,
        "names": names,
        "now": now,
        "is_open": statuses.is_open(receipt.status if receipt else found.status),
        "may_change": may_change,
        "changes_at": story.changes_at(found, receipt, now=now, unread=unread) if may_change else None,
        "version": version,
        "transfer": ends,
        "preview": share.preview(tale, ends),
        "card": None if unread else share.card(tale, ends, changed_at=Facts.of(found, receipt).last_change),
        "story": tale,
        "stops": route.route(found, receipt, story=tale, using=names, unread=unread),
        "timeline": steps,
        "promise": promised,
        "lookalikes": lookalikes.lookalikes(Facts.of(found, receipt)),
        "diagnosis": diagnosis,
        "offer": offer,
        "looked_at": held.get("checked_at"),
        "fees": fees.fees(found, receipt, using=names),
        "memo": memo(receipt),
    }


def receipt_fragment(picture: Picture) -> str:
    """The page's part that changes, for the stream: made once for all who watch."""
    now = datetime.now(UTC)
    context = told(plan(picture.intent_id), picture.receipt, now=now)
    context |= {"stale_since": picture.stale_since, "learned_at": picture.learned_at, "mode": "live"}
    context["went_back_to"] = picture.went_back_to and statuses.intent(picture.went_back_to, now=now).word
    return render_to_string("parts/live.html", context)


def polling_fragment(intent_id: str) -> str:
    """In place of a stream: the same part, asked for every few seconds."""
    return render_to_string("parts/poll.html", {"intent_id": intent_id})


# What was agreed at the quote does not change; how far a transfer has come is its receipt's to say.
@cached(LRUCache(PLANS_BYTES, getsizeof=lambda intent: weight(len(intent.received))), lock=Lock())
def plan(intent_id: str) -> Intent:
    return wiring.service().get_intent(intent_id)


def seen(receipt: IntentReceipt | None) -> str:
    """What the stream need not send again, because the page has it."""
    return Picture(receipt.intent_id, receipt, learned_at=None).id if receipt else ""


def proof_of(found: Intent, receipt: IntentReceipt | None, *, may_change: bool) -> SafeString:
    """What the calls do and every field, folded at the end of the page: most of its work, and the same at each look."""
    names = wiring.catalog()
    ends = (found.origin_chain_id, found.destination_chain_id)
    lists = (*map(names.chain, ends), *map(names.featured, ends), names.featured(None))
    key = (found.received, receipt.received if receipt else "", may_change, *map(id, lists))
    with proofs_lock:
        known = proofs.get(key)
    if known:
        return known.html
    html = made_proof(found, receipt, may_change=may_change)
    with proofs_lock:
        proofs[key] = Proof(html, lists)
    return html


@dataclass(frozen=True, slots=True)
class Proof:
    """`lists`: the names that it was made with, held with it: by their identity it is found again."""

    html: SafeString
    lists: tuple[object, ...]


proofs: TTLCache[tuple[object, ...], Proof] = TTLCache(
    PROOFS_BYTES, PROOFS_SECONDS, getsizeof=lambda proof: sys.getsizeof(proof.html)
)
proofs_lock = Lock()


def made_proof(found: Intent, receipt: IntentReceipt | None, *, may_change: bool) -> SafeString:
    names = wiring.catalog()
    context = {
        "intent": found,
        "receipt": receipt,
        "names": names,
        "may_change": may_change,
        "chapters": calls.chapters(Facts.of(found, receipt), using=names),
        "sections": sections.sections(records.groups(found, receipt, using=names)),
    }
    return mark_safe(render_to_string("parts/proof.html", context))  # noqa: S308 - a template of ours has escaped it


def read(intent_id: str) -> tuple[Intent, IntentReceipt | None, ServiceError | None]:
    """The intent and its receipt, asked for at once. One that was never executed has no receipt: that is no trouble.

    Raises what kept us from the intent itself.
    """
    watched = wiring.newest(intent_id)
    if watched and watched.receipt and not watched.stale_since:
        return plan(intent_id), watched.receipt, None
    return transfers.read(wiring.service(), intent_id)


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
    """Intent and receipt as the service gave them, in one document; `intentReceipt` is null before there is one.

    `as_of` is there only where the service fails and this is what it said before.
    """
    if moved := elsewhere(request, intent_id, page="intent-json"):
        return moved
    found, receipt, trouble = read(intent_id)
    if trouble:
        raise trouble
    received = receipt.received if receipt else "null"
    as_of = f',"as_of":"{times.iso(sharing.as_of())}"' if freshness.told() else ""
    return json_text(f'{{"intent":{found.received},"intentReceipt":{received}{as_of}}}')


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
