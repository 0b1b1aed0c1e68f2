"""`/recoverable`: the work list of intents whose money waits to be taken back."""

from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from threading import Lock
from urllib.parse import parse_qsl, urlencode

from cachetools import TTLCache, cached
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from intents_ui import bookmarks, wiring
from intents_ui.display import filters, names
from intents_ui.display.filters import Asked, Filters
from intents_ui.display.recoverable import Sort, how_much, nothing, worklist
from intents_ui.service.answers import HistoryAnswer
from intents_ui.service.paging import Position
from intents_ui.service.recoverable import Read, read
from intents_ui.service.wire import IntentHistory, Page

PAGE_SIZE = 50
# Reading is slow, because the service looks at chains: another order of the same list must not cost it again.
PAGES_HELD = 12
SHARED_SECONDS = 15
NARROWED_BY = ("owner", "origin", "destination", "project", "status", "from", "to", "from_at", "to_at", "zone")
NO_SORT = "The list can be sorted by age or by USD."


@require_safe
@vary_on_headers("HX-Request-Type")
def recoverable(request: HttpRequest) -> HttpResponse:
    asked = filters.read(narrowing(request), chains=wiring.catalog().chains())
    written = request.GET.get("sort", Sort.AGE)
    if asked.problems or written not in Sort:
        return mended(request, asked, problem="" if asked.problems else NO_SORT)
    sort = Sort(written)
    # A form sends its empty fields too; every list has one address.
    if asked.moved or "" in request.GET.values():
        return redirect(url(asked.filters.query, sort=sort))
    at = bookmarks.read(request.GET.get(bookmarks.NAME, ""), of=list_of(asked.filters.query))
    found, as_of = reading(asked.filters, at=at)
    context = form(asked, sort=sort) | listed(found, asked.filters, sort=sort, at=at) | {"as_of": as_of}
    is_partial = request.headers.get("HX-Request-Type") == "partial"
    return render(request, "parts/recoverable.html" if is_partial else "recoverable.html", context)


def narrowing(request: HttpRequest) -> Mapping[str, list[str]]:
    """What of the query narrows the list; its order and length are this page's own."""
    return {name: request.GET.getlist(name) for name in NARROWED_BY if name in request.GET}


def mended(request: HttpRequest, asked: Asked, *, problem: str) -> HttpResponse:
    """The form alone, with what cannot be asked."""
    context = form(asked, sort=Sort.AGE) | {"problem": problem, "read": None}
    return render(request, "recoverable.html", context, status=HTTPStatus.BAD_REQUEST)


def form(asked: Asked, *, sort: Sort) -> dict[str, object]:
    """What the form needs: the chains by name, what it has no field for, and the filters that can be taken off."""
    known = {chain.id: names.chain(chain.id, info=chain) for chain in wiring.catalog().chains()}
    others = asked.filters.with_(owner=None, origin=None, destination=None)
    now = datetime.now(UTC)
    return {
        "now": now,
        "asked": asked,
        "query": asked.filters.query,
        "chains": sorted(known.items(), key=lambda chain: chain[1].lower()),
        "kept": parse_qsl(joined(others.query, order(sort))),
        "chips": [(chip, url(chip.without, sort=sort)) for chip in asked.filters.chips(known, now=now)],
        "sort": sort,
        "problem": "",
    }


def reading(chosen: Filters, *, at: Position) -> tuple[Read, datetime]:
    """What one view reads, and since when it is known."""
    wanted = chosen.with_(recoverable=True, size=PAGE_SIZE)
    answered: list[datetime] = []

    def ask(page: Page) -> HistoryAnswer:
        answer, at = answer_to(wanted, page.received, page)
        answered.append(at)
        return answer

    return read(ask, wanted.first, at=at), min(answered)


@cached(TTLCache(maxsize=PAGES_HELD, ttl=SHARED_SECONDS), key=lambda wanted, cursor, _: (wanted, cursor), lock=Lock())
def answer_to(wanted: Filters, cursor: str, page: Page) -> tuple[HistoryAnswer, datetime]:
    return wiring.service().get_intent_history(page=page, **wanted.request), datetime.now(UTC)


def listed(found: Read, chosen: Filters, *, sort: Sort, at: Position) -> dict[str, object]:
    catalog = wiring.catalog()
    catalog.learn(chains_of(found.entries))
    is_beginning = at.cursor is None
    newer = at.back(at.earlier[-1]) if at.earlier else None
    return {
        "names": catalog,
        "read": found,
        "how_much": how_much(found, is_beginning=is_beginning),
        "nothing": nothing(found, is_beginning=is_beginning, is_narrowed=bool(chosen.query)),
        "sorts": {each: url(chosen.query, sort=each, at=at) for each in Sort},
        "work": worklist(found.entries, sort=sort, using=catalog, now=datetime.now(UTC)),
        "older": url(chosen.query, sort=sort, at=found.following) if found.following else None,
        "newer": url(chosen.query, sort=sort, at=newer) if newer else None,
    }


def chains_of(entries: tuple[IntentHistory, ...]) -> set[int]:
    groups = [group for entry in entries for group in entry.balances]
    chains = [chain for group in groups for chain in (group.chain_id, *(each.chain_id for each in group.tokens))]
    for receipt in (entry.receipt for entry in entries if entry.receipt):
        chains += [receipt.origin_chain_id, receipt.destination_chain_id]
    return {chain for chain in chains if chain}


def url(query: str, *, sort: Sort, at: Position | None = None) -> str:
    """The one address of a list: its filters, its order, and where in it."""
    place = urlencode({bookmarks.NAME: bookmarks.write(at, of=list_of(query))}) if at and at.cursor else ""
    whole = joined(query, order(sort), place)
    return reverse("recoverable") + (f"?{whole}" if whole else "")


def order(sort: Sort) -> str:
    """Nothing for the order that a list has by itself."""
    return "" if sort is Sort.AGE else urlencode({"sort": sort})


def joined(*queries: str) -> str:
    return "&".join(query for query in queries if query)


def list_of(query: str) -> str:
    """What a bookmark belongs to."""
    return f"recoverable?{query}"
