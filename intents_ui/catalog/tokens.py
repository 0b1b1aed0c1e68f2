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
from intents_ui.catalog.routes import RouteAnswer, RouteQuery, RouteSearch, RouteSide
from intents_ui.catalog.token_list import SEARCH_LIMIT, FoundTokens, TokenFilters, Where, find_tokens
from intents_ui.formatting import failures, hashes, text
from intents_ui.http import cursors
from intents_ui.search import explorers
from intents_ui.search import filters as parameters
from intents_ui.search.filters import InvalidParameter, Parsed
from intents_ui.service import operations
from intents_ui.service.errors import ServiceError
from intents_ui.service.models import IntentHistory, Page, TokenInfo, TokensAnswer
from intents_ui.tokens import names, prices
from intents_ui.tokens.token_amounts import identity, key
from intents_ui.transfers import summary
from intents_ui.web import reading
from intents_ui.web.frame import render

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


@require_safe
@vary_on_headers("HX-Target")
def view(request: HttpRequest) -> HttpResponse:
    parsed = token_list.read(dict(request.GET.lists()), chains=app.current().catalog.chains())
    if parsed.problems:
        return page(request, form(parsed), status=HTTPStatus.BAD_REQUEST)
    after = read_place(request)
    url = address("tokens", parsed.filters, after=after)
    if not cursors.is_at(request, url):
        return redirect(url)
    try:
        return page(request, form(parsed) | window(find_tokens(parsed.filters), parsed.filters, after=after))
    except ServiceError as error:
        return page(request, form(parsed) | failure(error), error=error)


@require_safe
def rows(request: HttpRequest) -> HttpResponse:
    """Render the next batch of an open list."""
    parsed = token_list.read(dict(request.GET.lists()), chains=app.current().catalog.chains())
    after = read_place(request)
    if parsed.problems:
        raise BadRequest
    again = address("tokens-rows", parsed.filters, after=after)
    context: dict[str, object] = {"block": "rows", "error": None, "again": again}
    try:
        context |= window(find_tokens(parsed.filters), parsed.filters, after=after)
    except ServiceError as error:
        return render(request, "catalog/tokens.html", context | failure(error), error=error)
    return render(request, "catalog/tokens.html", context)


def page(request: HttpRequest, context: dict[str, object], **response: Any) -> HttpResponse:
    """Render the page, the part that filters change, or the part that typing changes."""
    is_typed = request.headers.get("HX-Target") == "div#found"
    return render(request, "catalog/tokens.html", context, block="found" if is_typed else "list", **response)


def failure(error: ServiceError) -> dict[str, object]:
    return {"error": error, "message": failures.words(error)}


def read_place(request: HttpRequest) -> int:
    written = request.GET.get(AFTER, "0")
    if not (written.isascii() and written.isdigit() and len(written) <= 9 and int(written) <= LARGEST_PLACE):
        raise BadRequest
    return int(written)


def address(name: str, wanted: TokenFilters, *, after: int = 0) -> str:
    place = urlencode({AFTER: after}) if after else ""
    query = "&".join(part for part in (wanted.query, place) if part)
    return cursors.address(reverse(name), query=query)


def form(parsed: Parsed[TokenFilters]) -> dict[str, object]:
    """Return the context of the filters, valid or not."""
    filters = parsed.filters
    chains = names.by_id(app.current().catalog.chains())
    chips = token_list.chips(filters, chains=chains)
    query = f"“{text.visible(filters.words)}”" if filters.words else ""
    title = ", ".join(part for part in (query, chips["chains"].text if filters.chains else "") if part)
    return {
        "title": f"Tokens: {title}" if title else "Tokens",
        "parsed": parsed,
        "filters": filters,
        "chains": sorted(chains.items(), key=lambda chain: chain[1].lower()),
        "chips": chips,
        "lists": token_list.SHOWN,
        "listed": None,
        "error": None,
    }


def window(listed: FoundTokens, filters: TokenFilters, *, after: int) -> dict[str, object]:
    """Return the context of one batch and its page links."""
    shown = listed.tokens[after : after + WINDOW]
    ends, total = after + len(shown), len(listed.tokens)
    catalog = app.current().catalog
    # Featured tokens carry a flag. For others, the chains' lists are needed.
    catalog.learn(dict.fromkeys(token.chain_id for token in shown if not token.featured))
    found = token_list.rows(shown, using=catalog)
    return {
        "listed": listed,
        "rows": found,
        "prices": priced(found),
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


def priced(found: Sequence[token_list.TokenRow]) -> Mapping[token_list.Where, prices.PriceText]:
    known, catalog = app.current().prices.of(row.where for row in found), app.current().catalog
    return {row.where: prices.told(known.get(row.where), chain=catalog.chain(row.where[0])) for row in found}


@require_safe
def token(request: HttpRequest, chain_id: str, address: str) -> HttpResponse:
    where = canonical(chain_id, address)
    if (chain_id, address) != (str(where[0]), where[1]):
        return redirect("token", *where, permanent=True)
    context, error = about(where)
    return render(request, "catalog/token.html", context, error=error)


def canonical(chain_id: str, written: str) -> Where:
    """Return the chain ID and the canonical address. Raises Http404 for an invalid one, without a service call."""
    known = {chain.id for chain in app.current().catalog.chains()}
    if known and int(chain_id) not in known:
        raise Http404(f"The service does not list {names.chain(int(chain_id), info=None)}.")
    try:
        return int(chain_id), key(parameters.address(written))
    except InvalidParameter as problem:
        raise Http404(str(problem)) from None


def about(where: Where) -> tuple[dict[str, object], ServiceError | None]:
    """Return the page's context, and the error if it's unknown whether the token is listed."""
    chain_id, address = where
    catalog = app.current().catalog
    catalog.learn((chain_id,))
    listed = catalog.token(chain_id, address)
    if listed is None and not hashes.is_native(address):
        found, known = app.current().service.threads.both(
            partial(search, where), partial(app.current().prices.of, [where])
        )
    else:
        found, known = listed, app.current().prices.of([where])
    error = found if isinstance(found, ServiceError) else None
    info = None if isinstance(found, ServiceError) else found
    shown = identity(chain_id, address, using=catalog, metadata=info)
    chain = catalog.chain(chain_id)
    price = None if isinstance(known, ServiceError) else known.get(where)
    symbol = info.symbol if info else chain.native_symbol if chain and hashes.is_native(address) else None
    return {
        "token": shown,
        "token_address": address,
        "info": info,
        "listing": token_list.listing(shown.standing, info, is_searched=error is None),
        "explorer": text.name(chain.explorer_name).shown if chain and chain.explorer_name else "the chain's explorer",
        "link": explorers.address_link(address, chain_id=chain_id, info=chain),
        "price": prices.told(price, chain=chain),
        "error": error,
        "namesakes": namesakes(symbol, where),
    }, error


def search(where: Where) -> TokenInfo | None:
    """Search all token lists of the service, including external ones."""
    found = app.current().service.ask(operations.get_token_list([where[0]], token_address=where[1], limit=1))
    return next((view for view in found.tokens if token_list.place(view) == where), None)


def namesakes(symbol: str | None, where: Where) -> Sequence[token_list.TokenRow]:
    """Return the featured tokens with this symbol; none if they can't be loaded."""
    catalog = app.current().catalog
    try:
        featured = catalog.listed_featured([chain.id for chain in catalog.chains()]).entries
    except ServiceError:
        return ()
    found = token_list.namesakes(symbol, of=where, among=featured)[:NAMESAKES]
    return token_list.rows(found, using=catalog)


@require_safe
def routes(request: HttpRequest, chain_id: str, address: str) -> HttpResponse:
    """Render the routes from and to the token."""
    where = canonical(chain_id, address)
    side = RouteSide(*where)
    onward, inward = app.current().service.threads.both(
        partial(app.current().service.ask, operations.get_exact_input_routes(where)),
        partial(app.current().service.ask, operations.get_exact_output_routes(where)),
    )
    answers = [answer for answer in (onward, inward) if not isinstance(answer, ServiceError)]
    app.current().catalog.learn(dict.fromkeys(view.chain_id for answer in answers for view in answer.tokens))
    context: dict[str, object] = {
        "onward": side_of(onward, RouteQuery(origin=side)),
        "inward": side_of(inward, RouteQuery(destination=side)),
        "chains_shown": CHAINS_SHOWN,
    }
    return part(request, where, "routes", context)


def side_of(
    answer: TokensAnswer | ServiceError, question: RouteQuery
) -> tuple[RouteAnswer | None, ServiceError | None]:
    if isinstance(answer, ServiceError):
        return None, answer
    return RouteSearch(question, app.current().catalog).listed(answer), None


@require_safe
def intents(request: HttpRequest, chain_id: str, address: str) -> HttpResponse:
    """Render the transfers of the token among the newest of its chain."""
    where = canonical(chain_id, address)
    threads = app.current().service.threads
    sides = threads.both(partial(newest, where[0], is_origin=True), partial(newest, where[0], is_origin=False))
    entries = {entry.intent_id: entry for side in sides if not isinstance(side, ServiceError) for entry in side}
    now = datetime.now(UTC)
    found = [summary.of(each) for each in reading.of_entries([*entries.values()])]
    found = [each for each in found if where in (place(each.sent), place(each.received))]
    found.sort(key=lambda each: each.transfer.quoted_at or now, reverse=True)
    context: dict[str, object] = {
        "transfers": found[:INTENTS_SHOWN],
        "count": len(found),
        "failed": [side if isinstance(side, ServiceError) else None for side in sides],
        "looked_at": LOOKED_AT,
    }
    return part(request, where, "intents", context)


def place(side: summary.Side) -> Where | None:
    token = side.token
    return (token.chain_id, key(token.address)) if token.chain_id and token.address else None


def newest(chain_id: int, *, is_origin: bool) -> Sequence[IntentHistory]:
    """Return the newest transfers from or to a chain, at most NEWEST_MAX_AGE old."""
    first = Page.first(size=LOOKED_AT)
    if is_origin:
        call = operations.get_intent_history(page=first, origin_chain_id=chain_id)
    else:
        call = operations.get_intent_history(page=first, destination_chain_id=chain_id)
    return app.current().service.ask(call, max_age=NEWEST_MAX_AGE).intents


def part(request: HttpRequest, where: Where, name: str, context: dict[str, object]) -> HttpResponse:
    """Render a part of the token's page as a fragment, or as a page without JavaScript."""
    chain_id, address = where
    shown = identity(chain_id, address, using=app.current().catalog)
    context |= {
        "token": shown,
        "token_address": address,
        "part": f"catalog/token_{name}.html",
        "heading": HEADINGS[name],
    }
    return render(request, "catalog/token_part.html", context, block="part")
