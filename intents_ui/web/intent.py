"""`/intent/<id>`: one transfer, with its raw data."""

from collections.abc import Callable
from datetime import UTC, datetime
from threading import Lock

from cachetools import LRUCache, cached
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.fields import calls as descriptions
from intents_ui.fields import values
from intents_ui.formatting import failures, times
from intents_ui.http import marks
from intents_ui.live.snapshot import Snapshot
from intents_ui.search import empty_results, identifiers
from intents_ui.service import lookup, operations, request_context, results
from intents_ui.service.cache import weight
from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import ServiceError
from intents_ui.service.models import Intent, IntentReceipt
from intents_ui.settings import ENV
from intents_ui.transfers import balances, route_stats, statuses, summary
from intents_ui.transfers.transfer import UNCHECKED, Check, Transfer
from intents_ui.web import customer_reply, links, reading
from intents_ui.web.customer_reply import Escalation, Reply
from intents_ui.web.frame import render
from intents_ui.web.links import canonical, canonical_url

PLANS_BYTES = 4 * 2**20


@require_safe
@canonical_url
def view(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    transfer, receipt_error = read(intent_id)
    root = request.build_absolute_uri("/")[:-1]
    context = live_context(transfer, receipt_error, root=root)
    context |= searched(request, transfer, receipt_error) | {"intent_id": intent_id, "root": root}
    receipt = transfer.receipt if transfer.may_change else None
    # The ID of the snapshot that the page already shows.
    context["seen"] = Snapshot(receipt.intent_id, receipt, learned_at=None).id if receipt else ""
    # The balances if they loaded in time. Otherwise the page loads them as a fragment.
    is_checked = transfer.balances.check is Check.CHECKED
    context["held"] = balances.of(transfer, is_listed=True) if is_checked else None
    return render(request, "transfers/intent.html", context)


@marks.Marks(is_whole=True)
@require_safe
def receipt(request: HttpRequest, intent_id: str) -> HttpResponse:
    """Return the part of the page that changes, for clients that poll instead of streaming."""
    mode = "once" if "once" in request.GET else "polled"
    transfer, receipt_error = read(intent_id)
    root = request.build_absolute_uri("/")[:-1]
    context = live_context(transfer, receipt_error, root=root) | {"mode": mode, "block": "update"}
    return render(request, "transfers/intent.html", context)


@require_safe
@canonical_url
def proof(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    """Decoded calls, every field, and the raw JSON: most of a transfer's work, so the page loads it when unfolded."""
    return render(request, "transfers/raw_data.html", all_fields(*read(intent_id)), block="fields")


def all_fields(transfer: Transfer, receipt_error: ServiceError | None = None) -> dict[str, object]:
    """Return the context of `transfers/raw_data.html`. `receipt_error`: why the receipt couldn't be loaded."""
    return {
        "transfer": transfer,
        "receipt_error": receipt_error,
        "transactions": descriptions.transactions(transfer),
        "sections": values.sections(transfer),
    }


@require_safe
@canonical_url
def intent_balances(request: HttpRequest, intent_id: str) -> HttpResponse:
    """Wait for the balances of the intent addresses, which the page loads once it has rendered, however slow.

    Their failure doesn't affect the page around the part.
    """
    names, failed, checked_at, found = app.current().catalog, None, None, balances.AddressBalances()
    try:
        intent = app.current().service.ask(operations.get_intent(intent_id))
        names.learn((intent.origin_chain_id, intent.destination_chain_id))
        transfer = Transfer(intent, None, now=datetime.now(UTC), names=names)
        looked_up = reading.look_up_balances(transfer)
        held = looked_up or UNCHECKED
        names.learn(group.chain_id or None for group in held.groups)
        checked_at = held.checked_at
        found = balances.of(transfer.at(transfer.now, held), is_listed=looked_up is not None)
    except ServiceError as error:
        if not marks.is_partial(request):
            raise
        failed = error
    said = f"Couldn't load balances: {failures.words(failed).title}." if failed else balances.heard(found)
    context = {"intent_id": intent_id, "names": names, "checked_at": checked_at, "balances": found}
    context |= {"said": said, "failed": failed}
    return render(request, "transfers/balances.html", context, block="balances", error=failed)


@require_safe
def answer(request: HttpRequest, intent_id: str) -> HttpResponse:
    """Return the customer reply, and the text for an escalation."""
    transfer, root = reading.read(intent_id), request.build_absolute_uri("/")[:-1]
    texts = messages(transfer, root=root, stats=known_stats(transfer))
    context = {"intent_id": intent_id, "learned_at": learned_at(transfer.receipt), **texts}
    return render(request, "sharing/reply.html", context, block="texts")


def messages(transfer: Transfer, *, root: str, stats: route_stats.RouteStats | None = None) -> dict[str, object]:
    """Return the context of `sharing/reply_texts.html`. `root`: scheme and host of the links."""
    escalation, to = Escalation(transfer, links.page_url(transfer, root=root), stats), ENV.intents_escalation_to
    return {"reply": Reply([transfer], root), "escalation": escalation, "escalate": to and escalation.link(to)}


def known_stats(transfer: Transfer) -> route_stats.RouteStats | None:
    """Return statistics of the route if a page has loaded them. Sends no request."""
    if transfer.origin_chain_id is None or transfer.destination_chain_id is None:
        return None
    known = app.current().service.cache.get(
        lookup.newest_of_route(transfer.origin_chain_id, transfer.destination_chain_id)
    )
    return route_stats.of_route(known.answer.intents, like=transfer, now=transfer.now) if known else None


def live_context(transfer: Transfer, receipt_error: ServiceError | None = None, *, root: str = "") -> dict[str, object]:
    """Return the context of `transfers/receipt.html`, the part that changes while a transfer is open.

    `root`: scheme and host of links in texts to copy. A stream, which clients of several hosts share, has none.
    """
    return {
        "transfer": transfer,
        "receipt_error": receipt_error,
        "mode": "",
        "stale_since": None,
        "regressed_to": None,
        "searched_step": None,
        "other_explorer": "",
        "drawn_at": datetime.now(UTC),
        "learned_at": learned_at(transfer.receipt),
        "may_accept": transfer.is_offered and ENV.console == "write",
        "changes_at": changes_at(transfer),
        # The last transaction's page at its block explorer.
        "explorer": next((link for _, _, link, _ in reversed(customer_reply.transactions(transfer)) if link), None),
        **({"reply": None} if receipt_error else messages(transfer, root=root)),
    }


def changes_at(transfer: Transfer) -> datetime | None:
    """Return when the page asks again, even if nothing happens to the transfer."""
    told_until = None
    if transfer.may_change or summary.of(transfer).row.minutes:
        told_until = summary.changes_at(transfer)
    return min(filter(None, (told_until, customer_reply.renewed_at(transfer))), default=None)


def learned_at(receipt: IntentReceipt | None) -> datetime | None:
    """Return when the oldest response of the page arrived, or None if all of them are as new as the page."""
    times = [each.learned_at for each in request_context.current().stale]
    watched = watched_now(receipt.intent_id) if receipt else None
    return min([*times, watched.learned_at] if watched and watched.learned_at else times, default=None)


def receipt_fragment(snapshot: Snapshot) -> str:
    """Return the part of the page that changes, for the stream, rendered once for all viewers.

    If the service hasn't responded to the stream so far, it shows what the page itself shows.
    """
    with request_context.within(reading.PATIENCE), request_context.collecting("stale"):
        if snapshot.learned_at:
            transfer, receipt_error = reading.of(app.current().plan(snapshot.intent_id), snapshot.receipt), None
        else:
            transfer, receipt_error = read(snapshot.intent_id)
        context = live_context(transfer, receipt_error)
    context |= {"stale_since": snapshot.stale_since, "mode": "live"}
    context["learned_at"] = snapshot.learned_at or context["learned_at"]
    context["regressed_to"] = snapshot.regressed_to and statuses.intent(snapshot.regressed_to, now=transfer.now).word
    return render_to_string("transfers/intent.html", context | {"block": "update"})


def polling_fragment(intent_id: str) -> str:
    """Return the polling element that replaces a stream."""
    return render_to_string("transfers/intent.html", {"intent_id": intent_id, "block": "poll"})


def cached_plan(service: ServiceClient) -> Callable[[str], Intent]:
    """Return a function that reads an intent once: after its quote only the status changes, which the receipt has."""
    plans: LRUCache[str, Intent] = LRUCache(PLANS_BYTES, getsizeof=lambda view: weight(len(view.raw)))
    return cached(plans, lock=Lock())(lambda intent_id: service.ask(operations.get_intent(intent_id)))


def read(intent_id: str) -> tuple[Transfer, ServiceError | None]:
    """Return the transfer, and why its receipt couldn't be loaded. None if it was never executed and has no receipt.

    Raises the ServiceError of the intent itself.
    """
    found, receipt, receipt_error = requested(intent_id)
    transfer = reading.of(found, receipt, receipt_error)
    return transfer, receipt_error


def requested(intent_id: str) -> tuple[Intent, IntentReceipt | None, ServiceError | None]:
    """Return the intent and its receipt, requested concurrently or, for a watched transfer, from memory."""
    watched = watched_now(intent_id)
    if watched and watched.receipt:
        return app.current().plan(intent_id), watched.receipt, None
    return lookup.read_transfer(app.current().service, intent_id)


def watched_now(intent_id: str) -> Snapshot | None:
    """Return the snapshot of a watched transfer, or None during an outage, when a page may know more."""
    newest = app.current().hub.newest(intent_id)
    return newest if newest and not newest.stale_since else None


def searched(request: HttpRequest, transfer: Transfer, receipt_error: ServiceError | None) -> dict[str, object]:
    """Return the step whose transaction the user searched for (`/tx/…`), or a warning if there is none."""
    given, receipt = request.GET.get("tx"), transfer.receipt
    txn_hash = identifiers.only(given, identifiers.HASHES) if given else None
    if txn_hash is None:
        return {"searched_step": None, "warning": None, "other_explorer": ""}
    doubt = results.doubt(txn_hash, transfer.intent.intent_id, receipt_error or receipt)
    return {
        "searched_step": receipt.step_of(txn_hash) if receipt else None,
        "warning": empty_results.warning(doubt) if doubt else None,
        "other_explorer": identifiers.other_explorer(
            request.GET.get("link", ""),
            chain_id=receipt.chain_of(txn_hash) if receipt else None,
            chains=app.current().catalog.chains(),
        ),
    }


@require_safe
def other_address(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    """Redirect the paths of other explorers (`/intents/…`, `/i/…`)."""
    return redirect(reverse("intent", args=[canonical(intent_id)], query=request.GET), permanent=True)


@require_safe
@canonical_url
def as_json(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    """Return the intent and its receipt as received, in one document. `intentReceipt` is null if there is none yet.

    `as_of` is included only if the service fails and the data is stale.
    """
    found, receipt, receipt_error = requested(intent_id)
    if receipt_error:
        raise receipt_error
    received = receipt.raw if receipt else "null"
    as_of = f',"as_of":"{times.iso(request_context.current().as_of)}"' if request_context.current().stale else ""
    return json_text(f'{{"intent":{found.raw},"intentReceipt":{received}{as_of}}}')


@require_safe
@canonical_url
def raw_intent(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    """Return the intent exactly as received."""
    return json_text(app.current().service.ask(operations.get_intent(intent_id)).raw)


@require_safe
@canonical_url
def raw_receipt(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    """Return the receipt exactly as received."""
    return json_text(app.current().service.ask(operations.get_intent_receipt(intent_id)).raw)


def json_text(text: str) -> HttpResponse:
    return HttpResponse(text, content_type="application/json; charset=utf-8", headers={"Cache-Control": "no-store"})
