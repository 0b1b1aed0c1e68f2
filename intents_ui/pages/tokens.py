"""`/tokens`: tokens listed by the service, searched while the user types, in batches of 100."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from urllib.parse import urlencode

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from intents_ui import wiring
from intents_ui.display import failures
from intents_ui.display.catalog import token_filters, token_list
from intents_ui.display.catalog.token_filters import TokenFilters
from intents_ui.display.formatting import text
from intents_ui.display.search.parameters import Parsed
from intents_ui.display.tokens import names, prices
from intents_ui.service.errors import ServiceError
from intents_ui.web import cursors
from intents_ui.web.catalog import tokens as found_tokens
from intents_ui.web.catalog.tokens import SEARCH_LIMIT, FoundTokens
from intents_ui.web.frame import is_partial

WINDOW = 100
LARGEST_PLACE = 10**6
AFTER = "after"  # in the URL: the number of previous tokens


@require_safe
@vary_on_headers("HX-Target")
def view(request: HttpRequest) -> HttpResponse:
    parsed = token_filters.read(dict(request.GET.lists()), chains=wiring.catalog().chains())
    if parsed.problems:
        return page(request, form(parsed), status=HTTPStatus.BAD_REQUEST)
    after = read_place(request)
    url = address("tokens", parsed.filters, after=after)
    if not cursors.is_at(request, url):
        return redirect(url)
    try:
        return page(request, form(parsed) | window(found_tokens.find(parsed.filters), parsed.filters, after=after))
    except ServiceError as error:
        return failed(page(request, form(parsed) | failure(error), status=failures.status(error)), error)


@require_safe
def rows(request: HttpRequest) -> HttpResponse:
    """Render the next batch of an open list."""
    parsed = token_filters.read(dict(request.GET.lists()), chains=wiring.catalog().chains())
    after = read_place(request)
    if parsed.problems:
        raise BadRequest
    context: dict[str, object] = {"error": None, "again": address("tokens-rows", parsed.filters, after=after)}
    try:
        context |= window(found_tokens.find(parsed.filters), parsed.filters, after=after)
    except ServiceError as error:
        context |= failure(error)
        return failed(render(request, "catalog/token_rows.html", context, status=failures.status(error)), error)
    return render(request, "catalog/token_rows.html", context)


def page(request: HttpRequest, context: dict[str, object], *, status: HTTPStatus = HTTPStatus.OK) -> HttpResponse:
    """Render the page, the part that filters change, or the part that typing changes."""
    template = "catalog/tokens.html"
    if is_partial(request):
        is_typed = request.headers.get("HX-Target") == "div#found"
        template = "catalog/token_results_fragment.html" if is_typed else "catalog/token_list_fragment.html"
    return render(request, template, context, status=status)


def failure(error: ServiceError) -> dict[str, object]:
    return {"error": error, "message": failures.words(error)}


def failed(response: HttpResponse, error: ServiceError) -> HttpResponse:
    if seconds := failures.retry_after(error):
        response["Retry-After"] = str(seconds)
    response["Cache-Control"] = "no-store"
    return response


def read_place(request: HttpRequest) -> int:
    written = request.GET.get(AFTER, "0")
    if not (written.isascii() and written.isdigit() and len(written) <= 9 and int(written) <= LARGEST_PLACE):
        raise BadRequest
    return int(written)


def address(name: str, wanted: TokenFilters, *, after: int = 0) -> str:
    place = urlencode({AFTER: after}) if after else ""
    query = "&".join(part for part in (wanted.query, place) if part)
    return cursors.address(reverse(name), of=query)


def form(parsed: Parsed[TokenFilters]) -> dict[str, object]:
    """Return the context of the filters, valid or not."""
    filters = parsed.filters
    chains = names.by_id(wiring.catalog().chains())
    chain_chip = token_filters.chain_chip(filters, chains=chains)
    sought = f"“{text.visible(filters.words)}”" if filters.words else ""
    title = ", ".join(part for part in (sought, chain_chip.text if chain_chip else "") if part)
    return {
        "title": f"Tokens: {title}" if title else "Tokens",
        "parsed": parsed,
        "filters": filters,
        "chains": sorted(chains.items(), key=lambda chain: chain[1].lower()),
        "chain_chip": chain_chip,
        "limit_chip": token_filters.limit_chip(filters),
        "left_out": token_filters.left_out_chips(filters),
        "choices": token_filters.choices(filters),
        "listed": None,
        "error": None,
    }


def window(listed: FoundTokens, filters: TokenFilters, *, after: int) -> dict[str, object]:
    """Return the context of one batch and its page links."""
    shown = listed.tokens[after : after + WINDOW]
    ends, total = after + len(shown), len(listed.tokens)
    catalog = wiring.catalog()
    # Featured tokens carry a flag. For others, the chains' lists are needed.
    catalog.learn(dict.fromkeys(token.chain_id for token in shown if not token.featured))
    found = token_list.rows(shown, using=token_list.Given(catalog, shown))
    return {
        "listed": listed,
        "rows": found,
        "prices": priced(found),
        "total": total,
        "after": after,
        "ends": ends,
        "age": listed.found.age,
        "sentence": token_list.sentence(total, filters, chains=listed.chains),
        "failed_chains": [names.chain(each, info=catalog.chain(each)) for each in listed.found.failed],
        "next": address("tokens", filters, after=ends) if ends < total else None,
        "next_rows": address("tokens-rows", filters, after=ends) if ends < total else None,
        "previous": address("tokens", filters, after=max(0, after - WINDOW)) if after else None,
        "window": WINDOW,
        "search_limit": SEARCH_LIMIT,
    }


def priced(found: Sequence[token_list.TokenRow]) -> Mapping[token_list.Where, prices.PriceText]:
    known, catalog = wiring.prices().of(row.where for row in found), wiring.catalog()
    return {row.where: prices.told(known.get(row.where), chain=catalog.chain(row.where[0])) for row in found}
