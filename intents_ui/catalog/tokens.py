"""`/tokens`: tokens listed by the service, searched while the user types, in batches of 100.

`/token/<chain>/<address>`: one token, listed or not, with its price. Its routes and recent transfers are slower, so the
page loads them as fragments after it has rendered.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from intents_ui import app
from intents_ui.catalog import token_list
from intents_ui.catalog.routes import RouteQuery, listed_routes
from intents_ui.catalog.token_list import SEARCH_LIMIT, TokenFilters, TokenRow, Where, find_tokens
from intents_ui.formatting import failures, hashes, text
from intents_ui.http import cursors
from intents_ui.search import explorers
from intents_ui.search import filters as parameters
from intents_ui.search.filters import InvalidParameter, Parsed
from intents_ui.service import operations
from intents_ui.service.errors import ServiceError
from intents_ui.service.models import IntentHistory, Page, TokenInfo
from intents_ui.tokens import names, prices
from intents_ui.tokens.token_amounts import TRUSTED, TokenStanding, identity, key
from intents_ui.transfers import summary
from intents_ui.web import reading
from intents_ui.web.frame import render
from intents_ui.web.reading import Part, read_parts

WINDOW = 100
LARGEST_PLACE = 10**6
AFTER = "after"  # in the URL: the number of previous tokens
LOOKED_AT = 30  # newest transfers on each side of the chain, because the service can't filter by token
CHAINS_SHOWN = 8
INTENTS_SHOWN = 10
NEWEST_MAX_AGE = 10.0  # seconds
NAMESAKES = 24
# Titles of a part as its own page.
HEADINGS = {"routes": "Routes of", "intents": "Recent transfers of"}
LISTINGS = {
    "Featured": "Featured by the service.",
    "Native token": "Each chain has one. Not featured by the service.",
    "Listed": "On the service's list, not featured.",
    "External list": "From an external token list.",
    "Not listed": "On none of the service's token lists.",
    "Unknown": "Couldn't load the service's lists.",
}


# The list


@require_safe
@vary_on_headers("HX-Target")
def view(request: HttpRequest) -> HttpResponse:
    parsed = token_list.read(dict(request.GET.lists()), chains=app.current().catalog.chains())
    if parsed.problems:
        return page(request, parsed, {}, status=HTTPStatus.BAD_REQUEST)
    after = read_place(request)
    url = address("tokens", parsed.filters, after=after)
    if not cursors.is_at(request, url):
        return redirect(url)
    try:
        return page(request, parsed, window(parsed.filters, after=after))
    except ServiceError as error:
        return page(request, parsed, {"message": failures.words(error)}, error=error)


@require_safe
def rows(request: HttpRequest) -> HttpResponse:
    """Render the next batch of an open list."""
    parsed = token_list.read(dict(request.GET.lists()), chains=app.current().catalog.chains())
    after = read_place(request)
    if parsed.problems:
        raise BadRequest
    try:
        context = window(parsed.filters, after=after)
        return render(request, "catalog/tokens.html", context | {"block": "rows", "error": None})
    except ServiceError as error:
        context = {"block": "rows", "error": error, "again": address("tokens-rows", parsed.filters, after=after)}
        return render(request, "catalog/tokens.html", context, error=error)


def page(
    request: HttpRequest, parsed: Parsed[TokenFilters], found: Mapping[str, object], **response: Any
) -> HttpResponse:
    """Render the page, the part that filters change, or the part that typing changes. Without results while invalid."""
    filters, chains = parsed.filters, names.by_id(app.current().catalog.chains())
    chips = token_list.chips(filters, chains=chains)
    query = f"“{text.visible(filters.words)}”" if filters.words else ""
    title = ", ".join(part for part in (query, chips["chains"].text if filters.chains else "") if part)
    context = {
        "title": f"Tokens: {title}" if title else "Tokens",
        "parsed": parsed,
        "filters": filters,
        "chains": sorted(chains.items(), key=lambda chain: chain[1].lower()),
        "chips": chips,
        "lists": token_list.SHOWN,
        "listed": None,
        "error": response.get("error"),
    }
    block = "found" if request.headers.get("HX-Target") == "div#found" else "list"
    return render(request, "catalog/tokens.html", {**context, **found}, block=block, **response)


def read_place(request: HttpRequest) -> int:
    written = request.GET.get(AFTER, "0")
    if not (written.isascii() and written.isdigit() and len(written) <= 9 and int(written) <= LARGEST_PLACE):
        raise BadRequest
    return int(written)


def address(name: str, wanted: TokenFilters, *, after: int = 0) -> str:
    place = urlencode({AFTER: after}) if after else ""
    query = "&".join(part for part in (wanted.query, place) if part)
    return cursors.address(reverse(name), query=query)


def window(filters: TokenFilters, *, after: int) -> dict[str, object]:
    """Return the context of one batch and its page links. Raises ServiceError if every request failed."""
    listed, catalog = find_tokens(filters), app.current().catalog
    shown = listed.tokens[after : after + WINDOW]
    ends, total = after + len(shown), len(listed.tokens)
    # Featured tokens carry a flag. For others, the chains' lists are needed.
    catalog.learn(dict.fromkeys(token.chain_id for token in shown if not token.featured))
    found = token_list.rows(shown, using=catalog)
    known = app.current().prices.of(row.where for row in found)
    return {
        "listed": listed,
        "rows": found,
        "prices": {row.where: prices.told(known.get(row.where), chain=catalog.chain(row.where[0])) for row in found},
        "total": total,
        "after": after,
        "ends": ends,
        "age": listed.found.age,
        "sentence": token_list.sentence(total, filters, chains=listed.chains),
        "failed_chains": [names.of_chain(each, using=catalog) for each in listed.found.failed],
        "next": address("tokens", filters, after=ends) if ends < total else None,
        "next_rows": address("tokens-rows", filters, after=ends) if ends < total else None,
        "previous": address("tokens", filters, after=max(0, after - WINDOW)) if after else None,
        "window": WINDOW,
        "search_limit": SEARCH_LIMIT,
    }


# One token


@require_safe
def token(request: HttpRequest, chain_id: str, address: str) -> HttpResponse:
    where = canonical(chain_id, address)
    if (chain_id, address) != (str(where[0]), where[1]):
        return redirect("token", *where, permanent=True)
    context = about(where)
    return render(request, "catalog/token.html", context, error=context["error"])


def canonical(chain_id: str, written: str) -> Where:
    """Return the chain ID and the canonical address. Raises Http404 for an invalid one, without a service call."""
    known = {chain.id for chain in app.current().catalog.chains()}
    if known and int(chain_id) not in known:
        raise Http404(f"The service does not list {names.chain(int(chain_id), info=None)}.")
    try:
        return int(chain_id), key(parameters.address(written))
    except InvalidParameter as problem:
        raise Http404(str(problem)) from None


def about(where: Where) -> dict[str, Any]:
    """Return the page's context, with the error if it's unknown whether the token is listed."""
    chain_id, address = where
    catalog = app.current().catalog
    catalog.learn((chain_id,))
    listed, chain = catalog.token(chain_id, address), catalog.chain(chain_id)
    is_known = listed is not None or hashes.is_native(address)
    search = Part(lambda: listed if is_known else searched(where))
    price = Part(lambda: app.current().prices.of([where]).get(where))
    read_parts(search, price)
    info = search.found
    shown = identity(chain_id, address, using=catalog, metadata=info)
    symbol = info.symbol if info else chain.native_symbol if chain and hashes.is_native(address) else None
    listing = listing_of(shown.standing, info, is_searched=search.error is None)
    return {
        "token": shown,
        "token_address": address,
        "info": info,
        "listing": listing,
        "listing_note": LISTINGS[listing],
        "explorer": text.name(chain.explorer_name).shown if chain and chain.explorer_name else "the chain's explorer",
        "link": explorers.address_link(address, chain_id=chain_id, info=chain),
        "price": prices.told(price.found, chain=chain),
        "error": search.error,
        "namesakes": namesakes(symbol, where),
    }


def searched(where: Where) -> TokenInfo | None:
    """Search all token lists of the service, including external ones."""
    found = app.current().service.ask(operations.get_token_list([where[0]], token_address=where[1], limit=1))
    return next((each for each in found.tokens if token_list.place(each) == where), None)


def listing_of(standing: TokenStanding, info: TokenInfo | None, *, is_searched: bool) -> str:
    """`info`: the service's entry, from any list. `is_searched`: all lists were searched."""
    if standing in TRUSTED:
        return token_list.STANDINGS[standing]
    if info is None:
        return "Not listed" if is_searched else "Unknown"
    if standing is TokenStanding.UNLISTED:
        return "External list"
    return "Featured" if info.featured else "Unknown"  # the lists are unavailable, but the search found it


def namesakes(symbol: str | None, where: Where) -> Sequence[TokenRow]:
    """Return the featured tokens with this symbol, those on its chain first; none if they can't be loaded."""
    catalog, wanted = app.current().catalog, (symbol or "").casefold()
    try:
        featured = catalog.listed_featured([chain.id for chain in catalog.chains()]).entries
    except ServiceError:
        return ()
    named = (each for each in featured if each.featured and each.symbol and each.symbol.casefold() == wanted)
    found = sorted(
        (each for each in named if token_list.place(each) != where), key=lambda token: token.chain_id != where[0]
    )
    return token_list.rows(found[:NAMESAKES], using=catalog)


@require_safe
def routes(request: HttpRequest, chain_id: str, address: str) -> HttpResponse:
    """Render the routes from and to the token."""
    where = canonical(chain_id, address)
    onward = Part(partial(listed_routes, RouteQuery(*where)))
    inward = Part(partial(listed_routes, RouteQuery(destination=where[0], wanted=where[1])))
    read_parts(onward, inward)
    return part(request, where, "routes", {"onward": onward, "inward": inward, "chains_shown": CHAINS_SHOWN})


@require_safe
def intents(request: HttpRequest, chain_id: str, address: str) -> HttpResponse:
    """Render the transfers of the token among the newest of its chain."""
    where = canonical(chain_id, address)
    sides = [Part(partial(newest, **{side: where[0]})) for side in ("origin_chain_id", "destination_chain_id")]
    read_parts(*sides)
    entries = {entry.intent_id: entry for side in sides for entry in side.found or ()}
    now = datetime.now(UTC)
    found = [summary.of(each) for each in reading.of_entries([*entries.values()])]
    found = [each for each in found if where in (place(each.sent), place(each.received))]
    found.sort(key=lambda each: each.transfer.quoted_at or now, reverse=True)
    context: dict[str, object] = {
        "transfers": found[:INTENTS_SHOWN],
        "count": len(found),
        "failed": [side.error for side in sides],
        "looked_at": LOOKED_AT,
    }
    return part(request, where, "intents", context)


def place(side: summary.Side) -> Where | None:
    token = side.token
    return (token.chain_id, key(token.address)) if token.chain_id and token.address else None


def newest(**chain: Any) -> Sequence[IntentHistory]:
    """Return the newest transfers from or to a chain, at most NEWEST_MAX_AGE old."""
    call = operations.get_intent_history(page=Page.first(size=LOOKED_AT), **chain)
    return app.current().service.ask(call, max_age=NEWEST_MAX_AGE).intents


def part(request: HttpRequest, where: Where, name: str, context: dict[str, object]) -> HttpResponse:
    """Render a part of the token's page as a fragment, or as a page without JavaScript."""
    chain_id, address = where
    context |= {
        "token": identity(chain_id, address, using=app.current().catalog),
        "token_address": address,
        "part": f"catalog/token_{name}.html",
        "heading": HEADINGS[name],
    }
    return render(request, "catalog/token_part.html", context, block="part")
