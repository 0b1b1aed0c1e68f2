"""`/address/<address>`: roles, recoverable balances, open transfers and history of an address."""

from collections.abc import Sequence
from datetime import UTC, datetime
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.formatting import hashes
from intents_ui.http import cursors
from intents_ui.http.marks import is_partial
from intents_ui.lists import address_summary as about
from intents_ui.lists.address_lookup import AddressLookup, failed_calls, read
from intents_ui.search import empty_results, filters, input_errors
from intents_ui.search.explorers import Explorer, explorers_of
from intents_ui.search.filters import Filters, ListQuery
from intents_ui.search.identifiers import Finding
from intents_ui.service.errors import ServiceError
from intents_ui.service.lookup import ListPage, Position
from intents_ui.service.results import DELIVERY_ADDRESS, DEPOSIT_ADDRESS, OWNER
from intents_ui.tokens.names import chains_of
from intents_ui.transfers import summary
from intents_ui.web import mirror, reading
from intents_ui.web.frame import render
from intents_ui.web.mirror import Mirrored
from intents_ui.web.reading import BEGINNING

MAX_NEAR = 3
MAX_VIA_ADDRESS = 50  # of the transfers with this intent address: usually one


@require_safe
def view(request: HttpRequest, address: str) -> HttpResponse:
    finding = read(address)
    # Keep an address with a wrong checksum in the URL, so that the user can see it.
    if finding.value != address and finding.warning != input_errors.CHECKSUM:
        return redirect(reverse("address", args=[finding.value], query=request.GET), permanent=True)
    if hashes.is_native(finding.value):
        return render(request, "lists/address.html", head(finding))
    parsed = filters.read({"status": request.GET.getlist("status")})
    if parsed.problems:
        return page(request, head(finding) | history(None, finding, parsed), status=HTTPStatus.BAD_REQUEST)
    at = cursors.read(request.GET.get(cursors.NAME, ""), query=of_owner(finding, parsed).query)
    if at == BEGINNING and not is_partial(request):
        return everything(request, finding, parsed)
    found = reading.list_page(of_owner(finding, parsed), at=at)
    return page(request, head(finding) | history(found, finding, parsed, at=at))


def page(request: HttpRequest, context: dict[str, object], *, status: HTTPStatus = HTTPStatus.OK) -> HttpResponse:
    return render(request, "lists/address.html", context, block="list", status=status)


def of_owner(finding: Finding, parsed: ListQuery) -> Filters:
    return parsed.filters.with_(owner=finding.value)


def head(finding: Finding) -> dict[str, object]:
    """Return the context of every address page, without roles and lists, which need requests."""
    names = app.current().catalog
    return {
        "finding": finding,
        "owner": None,
        "is_owner": False,
        "are_open_below": False,
        "roles": (),
        "tokens": (),
        "nearest": (),
        "list_page": None,
        "names": names,
        "standing": "",
        "explorers": () if hashes.is_native(finding.value) else explorers_of(finding, chains=names.chains()),
    }


def everything(request: HttpRequest, finding: Finding, parsed: ListQuery) -> HttpResponse:
    """Render the full page. Raises the first error if every request failed."""
    parts = AddressLookup(finding, listed=of_owner(finding, parsed))
    paid = mirror.that_paid(request, finding.value)
    if parts.is_nothing and not (paid and paid.lists):
        return miss(request, finding, parts, paid)
    context = head(finding) | cards(parts, finding) | {"paid": paid}
    if context["is_owner"]:
        context |= history(parts.listed.found, finding, parsed, error=parts.listed.error)
        context["are_open_below"] = parsed.filters.status == filters.IN_FLIGHT
    return page(request, context)


def miss(request: HttpRequest, finding: Finding, parts: AddressLookup, paid: Mirrored | None) -> HttpResponse:
    """Render "no matches", or "search incomplete" if a request failed."""
    found, links = failed_calls(parts, *parts.lists), head(finding)["explorers"]
    context = {
        "found": found,
        "findings": [finding],
        "asked": "",  # the page is in the list of recent addresses by itself
        "paid": paid,
        "possible": None,
        "told": None,
        "others": [],
        "unclear": [],
        "criteria": (),
        "pasted": finding.value,
        "not_asked": empty_results.not_asked(found),
        "was_asked": empty_results.was_asked(found),
        "elsewhere": [(finding, links)] if links else [],
    }
    return render(request, "search/search_empty.html", context, status=HTTPStatus.NOT_FOUND, error=found.error)


def cards(parts: AddressLookup, finding: Finding) -> dict[str, object]:
    """Return the context of the cards above the history."""
    now, names = datetime.now(UTC), app.current().catalog
    names.learn(named_in(parts))
    owner, owned = parts.owner, parts.searched(OWNER)
    open_transfers = [summary.of(each) for each in parts.open_transfers]
    return {
        "owner": owner,
        # If the lookup failed, it may be an owner.
        "is_owner": owner.intents != 0 or parts.break_off,
        "roles": [role for role in parts.roles if role.intents],
        "may_be_capped": any(role.may_be_more and parts.searched(role.key) is not None for role in parts.roles),
        "tokens": about.token_names(parts.tokens.found or (), using=names),
        "not_asked": empty_results.not_asked(failed_calls(parts)),
        "nearest": nearest(parts, finding),
        "recoverable": parts.recoverable,
        "work": parts.work,
        "open_list": parts.open_list,
        "open_transfers": open_transfers,
        "standing": about.standing(
            owner,
            in_flight=len(open_transfers),
            more_in_flight=bool(parts.open_list.found and parts.open_list.found.following),
            recoverable=len(parts.work.rows),
        ),
        "totals": about.totals(owned, using=names, now=now) if owned else None,
    } | via_intent_address(parts)


def nearest(parts: AddressLookup, finding: Finding) -> Sequence[Explorer]:
    """Return block explorers of the chains the address is most active on."""
    found = {key: parts.searched(key) or () for key in about.ROLES}
    used = about.used_on(owned=found[OWNER], deposits=found[DEPOSIT_ADDRESS], deliveries=found[DELIVERY_ADDRESS])
    known = [chain for chain in (app.current().catalog.chain(chain_id) for chain_id in used) if chain]
    return explorers_of(finding, chains=known)[:MAX_NEAR]


def via_intent_address(parts: AddressLookup) -> dict[str, object]:
    """Return the transfers through this intent address: how many, those shown, and its role in each by intent ID."""
    keys = (DEPOSIT_ADDRESS, DELIVERY_ADDRESS)
    found = parts.searched(*keys) or ()
    by_key = {key: {intent.intent_id.lower() for intent in parts.searched(key) or ()} for key in keys}
    shown = found[:MAX_VIA_ADDRESS]
    return {
        "passing_count": len(found),
        "via_intent_address": [summary.of(each) for each in reading.from_search(shown)],
        "reasons": {each.intent_id: [key for key in keys if each.intent_id.lower() in by_key[key]] for each in shown},
    }


def named_in(parts: AddressLookup) -> set[int]:
    """Return the chains that the page shows."""
    chains: list[int | None] = list(chains_of(parts.entries))
    for intent in parts.searched(*about.ROLES) or ():
        chains += (intent.origin_chain_id, intent.destination_chain_id)
    return {chain for chain in chains if chain}


def history(
    found: ListPage | None,
    finding: Finding,
    parsed: ListQuery,
    *,
    at: Position = BEGINNING,
    error: ServiceError | None = None,
) -> dict[str, object]:
    """Return the context of the owner's history, for the block `list` of `lists/address.html`."""
    now, listed = datetime.now(UTC), found.entries if found else ()
    return {
        "now": now,
        "is_owner": True,
        "list_page": found,
        "list_error": error,
        "transfers": [summary.of(each) for each in reading.of_entries(listed)],
        "choices": about.CHOICES,
        "problem": parsed.problems.get("status", ""),
        "wanted": of_owner(finding, parsed),
        "export_list": f"address/{finding.value}",
        "export_query": parsed.filters.query,
        "first": url(finding, parsed) if at != BEGINNING else None,
        "previous": url(finding, parsed, at=found.previous) if found and found.previous else None,
        "following": url(finding, parsed, at=found.following) if found and found.following else None,
    }


def url(finding: Finding, parsed: ListQuery, *, at: Position = BEGINNING) -> str:
    """Return the canonical URL of a page of the owner's list."""
    path, of = reverse("address", args=[finding.value]), of_owner(finding, parsed).query
    return cursors.address(path, query=of, written=parsed.filters.query, at=at)
