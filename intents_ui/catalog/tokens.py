"""`/tokens`: tokens listed by the service, searched while the user types, in batches of 100.

`/token/<chain>/<address>`: one token, listed or not, with its price. Its routes and recent transfers are slower, so the
page loads them as fragments after it has rendered.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from http import HTTPStatus
from typing import Any, ClassVar, NamedTuple
from urllib.parse import urlencode

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from intents_ui import app
from intents_ui.catalog.routes import RouteQuery, listed_routes
from intents_ui.formatting import failures, hashes, text
from intents_ui.http import cursors
from intents_ui.search import filters as parameters
from intents_ui.search import identifiers
from intents_ui.search.filters import Chip, InvalidParameter, Parsed, Query, UrlFilters
from intents_ui.service import operations
from intents_ui.service.catalog import Listed
from intents_ui.service.errors import ServiceError
from intents_ui.service.models import ChainInfo, IntentHistory, Page, TokenInfo
from intents_ui.service.results import Price
from intents_ui.tokens import names, prices
from intents_ui.tokens.names import Names
from intents_ui.tokens.token_amounts import TRUSTED, Identity, TokenStanding, identity, key
from intents_ui.transfers import summary
from intents_ui.web import reading
from intents_ui.web.frame import render
from intents_ui.web.reading import Part, read_parts

LONGEST_SEARCH = 100
MAX_LEFT_OUT = 50
LARGEST_LIMIT = 1000  # tokens per chain
MAX_NAMED = 2  # chains, in a filter's chip
SEARCH_LIMIT = 25  # default per chain: longer results call for a better search
LAST = 10**9  # rank of a featured token without an index
WINDOW = 100
LARGEST_PLACE = 10**6
AFTER = "after"  # in the URL: the number of previous tokens
LOOKED_AT = 30  # newest transfers on each side of the chain, because the service can't filter by token
CHAINS_SHOWN = 8
INTENTS_SHOWN = 10
NEWEST_MAX_AGE = 10.0  # seconds
NAMESAKES = 24

type Where = tuple[int, str]


class Show(StrEnum):
    """How much of the service's lists to show. Each value includes the previous one."""

    FEATURED = "featured"
    LISTED = "listed"
    EXTERNAL = "external"


STANDINGS = {
    TokenStanding.FEATURED: "Featured",
    TokenStanding.NATIVE: "Native token",
    TokenStanding.LISTED: "Listed",
    TokenStanding.UNLISTED: "External list",
    TokenStanding.UNKNOWN: "unknown",
}


@dataclass(frozen=True)
class TokenFilters(UrlFilters):
    """Filters of the token list. Empty `chains` means all. `limit` is per chain. `without`: addresses on any chain."""

    PARAMETERS: ClassVar[Mapping[str, str]] = {"words": "q", "chains": "chain"}

    words: str = ""
    chains: tuple[int, ...] = ()
    show: Show = Show.FEATURED
    without: tuple[str, ...] = ()
    limit: int | None = None

    @property
    def address(self) -> str | None:
        """Return the search text if it is an address, which is matched exactly and not as a name."""
        return hashes.any_address(self.words)

    @property
    def narrows(self) -> bool:
        return self != type(self)(show=self.show)


def read(query: Query, *, chains: Sequence[ChainInfo] = ()) -> Parsed[TokenFilters]:
    """Parse a URL's query. Ignores other parameters."""
    return parameters.parse(
        query,
        {
            "words": _words,
            "chains": partial(_chains, chains=chains),
            "show": _show,
            "without": _without,
            "limit": _limit,
        },
        TokenFilters,
        called=TokenFilters.PARAMETERS,
        repeated=("chains", "without"),
    )


def _words(written: str) -> str:
    """Return the canonical form of an address: both native placeholders are one token."""
    if len(written) > LONGEST_SEARCH:
        raise InvalidParameter(f"Enter at most {LONGEST_SEARCH} characters.")
    found = identifiers.only(written, identifiers.ADDRESSES)
    return key(found) if found else re.sub(r"\s+", " ", written)


def _chains(written: str, *, chains: Sequence[ChainInfo]) -> tuple[int, ...]:
    """Return the chains in the service's order, empty for all of them."""
    found = {parameters.chain_id(word, chains) for word in written.split(",") if word.strip()}
    places = {chain.id: place for place, chain in enumerate(chains)}
    return () if found == places.keys() else tuple(sorted(found, key=lambda each: (places.get(each, 0), each)))


def _show(written: str) -> Show:
    problem = f"Unknown list “{text.name(written).shown}”. Use one of {', '.join(Show)}."
    return parameters.required(Show.__members__.get(written.upper()), problem)


def _without(written: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(key(parameters.address(word)) for word in parameters.words(written)))
    if len(found) > MAX_LEFT_OUT:
        raise InvalidParameter(f"Hide at most {MAX_LEFT_OUT} tokens.")
    return found


def _limit(written: str) -> int:
    if not (written.isascii() and written.isdigit() and len(written) <= 20 and 1 <= int(written) <= LARGEST_LIMIT):
        raise InvalidParameter(f"Enter a limit from 1 to {LARGEST_LIMIT:,} tokens per chain.")
    return int(written)


def chips(wanted: TokenFilters, *, chains: Mapping[int, str]) -> dict[str, Chip]:
    """Return the active filters by name, hidden tokens by their address."""
    found = {}
    if wanted.chains:  # `Base, Polygon` or `Base and 4 more`
        named = [chains.get(each) or names.chain(each, info=None) for each in wanted.chains]
        words = ", ".join(named) if len(named) <= MAX_NAMED else f"{named[0]} and {len(named) - 1} more"
        found["chains"] = Chip("chains", "", words, wanted.with_(chains=()).query)
    if wanted.limit:
        found["limit"] = Chip("limit", f"At most {wanted.limit} per chain", "", wanted.with_(limit=None).query)
    for address in wanted.without:
        others = wanted.with_(without=tuple(each for each in wanted.without if each != address))
        found[address] = Chip("without", "Hidden:", hashes.short_address(address), others.query)
    return found


# The list, in order


@dataclass(frozen=True)
class FoundTokens:
    """The filtered tokens in order, with the results they are from. `cut`: chains whose results were limited."""

    tokens: Sequence[TokenInfo]
    found: Listed[TokenInfo]
    chains: int
    cut: Sequence[str] = ()


def find_tokens(filters: TokenFilters) -> FoundTokens:
    """Return the list. Raises ServiceError if every request failed."""
    catalog = app.current().catalog
    chains = filters.chains or tuple(chain.id for chain in catalog.listed_chains().entries)
    if filters.words:
        answer = app.current().service.ask(
            operations.get_token_list(
                chains,
                search_query=None if filters.address else filters.words,
                token_address=filters.address,
                limit=filters.limit or SEARCH_LIMIT,
                exclude_tokens=filters.without,
            )
        )
        found = Listed(answer.tokens, answer.unreadable_entries)
    elif filters.show is Show.FEATURED:
        found = catalog.listed_featured(chains)
    else:
        found = catalog.listed_on(chains, external=filters.show is Show.EXTERNAL)
    listed = ordered(found.entries, filters, chains=[chain.id for chain in catalog.chains()])
    # Of a chain with as many tokens as were requested, there may be more.
    is_limited = filters.words and not filters.limit
    counts = Counter(token.chain_id for token in found.entries if is_limited)
    cut = [names.of_chain(each, using=catalog) for each, count in counts.items() if count >= SEARCH_LIMIT]
    return FoundTokens(listed, found, len(chains), cut)


def ordered(tokens: Iterable[TokenInfo], filters: TokenFilters, *, chains: Sequence[int]) -> Sequence[TokenInfo]:
    """Return each token once, without excluded ones, at most `limit` per chain.

    Featured tokens come first, by index, then the others by name. In a search, the best match comes first.
    """
    places = {chain_id: number for number, chain_id in enumerate(chains)}
    words = filters.words.casefold()

    def order(token: TokenInfo) -> tuple[int, bool, int, str, int, str]:
        rank = token.feature_index if token.featured and token.feature_index is not None else LAST
        name, chain = (token.name or "").casefold(), places.get(token.chain_id, LAST)
        return _mismatch(token, words) if words else 0, not token.featured, rank, name, chain, token.address

    once: dict[Where, TokenInfo] = {}
    for token in tokens:
        once.setdefault(place(token), token)
    found, counts = [], Counter[int]()
    for token in sorted((each for where, each in once.items() if where[1] not in filters.without), key=order):
        counts[token.chain_id] += 1
        if filters.limit is None or counts[token.chain_id] <= filters.limit:
            found.append(token)
    return found


def _mismatch(token: TokenInfo, words: str) -> int:
    """Return how far a token is from a search. 0 is best."""
    symbol, name = (token.symbol or "").casefold(), (token.name or "").casefold()
    if words in (symbol, token.address.casefold()):
        return 0
    if symbol.startswith(words) or name.startswith(words):
        return 1
    return 2 if words in symbol else 3


def place(token: TokenInfo) -> Where:
    """Return a token's key. Both placeholder addresses of a native token have the same."""
    return token.chain_id, key(token.address)


# Rows


class TokenRow(NamedTuple):
    """A token, with its rank among the featured ones and its link at the chain's explorer."""

    where: Where
    token: Identity
    rank: int | None
    standing: str
    link: str | None


def token_row(token: TokenInfo, *, using: Names) -> TokenRow:
    where, rank = place(token), token.feature_index if token.featured else None
    link = identifiers.address_link(where[1], chain_id=where[0], info=using.chain(where[0]))
    shown = shown_token(token, using=using)
    return TokenRow(where, shown, rank, STANDINGS[shown.standing], link)


def shown_token(token: TokenInfo, *, using: Names) -> Identity:
    return identity(*place(token), using=using, metadata=token)


# The pages of the list


@require_safe
@vary_on_headers("HX-Target")
def view(request: HttpRequest) -> HttpResponse:
    """Render the page, the part that filters change, or the part that typing changes."""
    catalog = app.current().catalog
    parsed = read(dict(request.GET.lists()), chains=catalog.chains())
    filters, found, error = parsed.filters, dict[str, object](), None
    if not parsed.problems:
        after = read_place(request)
        url = address("tokens", filters, after=after)
        if not cursors.is_at(request, url):
            return redirect(url)
        try:
            found = window(filters, after=after)
        except ServiceError as failure:
            found, error = {"message": failures.words(failure)}, failure
    chains = names.by_id(catalog.chains())
    active = chips(filters, chains=chains)
    query = f"“{text.visible(filters.words)}”" if filters.words else ""
    title = ", ".join(part for part in (query, active["chains"].text if filters.chains else "") if part)
    context = {
        "title": f"Tokens: {title}" if title else "Tokens",
        "parsed": parsed,
        "filters": filters,
        "chains": sorted(chains.items(), key=lambda chain: chain[1].lower()),
        "chips": active,
        "listed": None,
        "error": error,
    }
    block = "found" if request.headers.get("HX-Target") == "div#found" else "list"
    status = HTTPStatus.BAD_REQUEST if parsed.problems else HTTPStatus.OK
    return render(request, "catalog/tokens.html", context | found, block=block, status=status, error=error)


@require_safe
def rows(request: HttpRequest) -> HttpResponse:
    parsed = read(dict(request.GET.lists()), chains=app.current().catalog.chains())
    after = read_place(request)
    if parsed.problems:
        raise BadRequest
    try:
        context = window(parsed.filters, after=after)
        return render(request, "catalog/tokens.html", context | {"block": "rows", "error": None})
    except ServiceError as error:
        context = {"block": "rows", "error": error, "again": address("tokens-rows", parsed.filters, after=after)}
        return render(request, "catalog/tokens.html", context, error=error)


def read_place(request: HttpRequest) -> int:
    written = request.GET.get(AFTER, "0")
    if not (written.isascii() and written.isdigit() and len(written) <= 9 and int(written) <= LARGEST_PLACE):
        raise BadRequest
    return int(written)


def address(name: str, wanted: TokenFilters, *, after: int = 0) -> str:
    place = urlencode({AFTER: after}) if after else ""
    query = "&".join(part for part in (wanted.query, place) if part)
    return cursors.address(reverse(name), query=query)


def batch(filters: TokenFilters, *, after: int) -> tuple[FoundTokens, Sequence[TokenRow], Mapping[Where, Price]]:
    """Return the list, the rows of one batch, and their prices. Raises ServiceError if every request failed."""
    listed, catalog = find_tokens(filters), app.current().catalog
    shown = listed.tokens[after : after + WINDOW]
    # Featured tokens carry a flag. For others, the chains' lists are needed.
    catalog.learn(dict.fromkeys(token.chain_id for token in shown if not token.featured))
    found = [token_row(each, using=catalog) for each in shown]
    return listed, found, app.current().prices.of(row.where for row in found)


def window(filters: TokenFilters, *, after: int) -> dict[str, object]:
    """Return the context of one batch and its page links. Raises ServiceError if every request failed."""
    (listed, found, known), catalog = batch(filters, after=after), app.current().catalog
    ends, total = after + len(found), len(listed.tokens)
    return {
        "listed": listed,
        "rows": found,
        "prices": {row.where: prices.told(known.get(row.where), chain=catalog.chain(row.where[0])) for row in found},
        "total": total,
        "after": after,
        "ends": ends,
        "age": listed.found.age,
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
    return {
        "token": shown,
        "token_address": address,
        "info": info,
        "listing": listing_of(shown.standing, info, is_searched=search.error is None),
        "explorer": text.name(chain.explorer_name).shown if chain and chain.explorer_name else "the chain's explorer",
        "link": identifiers.address_link(address, chain_id=chain_id, info=chain),
        "price": prices.told(price.found, chain=chain),
        "error": search.error,
        "namesakes": namesakes(symbol, where),
    }


def searched(where: Where) -> TokenInfo | None:
    """Search all token lists of the service, including external ones."""
    found = app.current().service.ask(operations.get_token_list([where[0]], token_address=where[1], limit=1))
    return next((each for each in found.tokens if place(each) == where), None)


def listing_of(standing: TokenStanding, info: TokenInfo | None, *, is_searched: bool) -> str:
    """`info`: the service's entry, from any list. `is_searched`: all lists were searched."""
    if standing in TRUSTED:
        return STANDINGS[standing]
    if info is None:
        return "Not listed" if is_searched else "Unknown"
    if standing is TokenStanding.UNLISTED:
        return "External list"
    return "Featured" if info.featured else "Unknown"  # the lists are unavailable, but the search found it


def namesakes(symbol: str | None, where: Where) -> Sequence[Identity]:
    """Return the featured tokens with this symbol, those on its chain first; none if they can't be loaded."""
    catalog, wanted = app.current().catalog, (symbol or "").casefold()
    try:
        featured = catalog.listed_featured([chain.id for chain in catalog.chains()]).entries
    except ServiceError:
        return ()
    named = (each for each in featured if each.featured and each.symbol and each.symbol.casefold() == wanted)
    found = sorted((each for each in named if place(each) != where), key=lambda token: token.chain_id != where[0])
    return [shown_token(each, using=catalog) for each in found[:NAMESAKES]]


@require_safe
def routes(request: HttpRequest, chain_id: str, address: str) -> HttpResponse:
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
    found = [each for each in found if where in (place_of(each.sent), place_of(each.received))]
    found.sort(key=lambda each: each.transfer.quoted_at or now, reverse=True)
    context: dict[str, object] = {
        "transfers": found[:INTENTS_SHOWN],
        "count": len(found),
        "failed": [side.error for side in sides],
        "looked_at": LOOKED_AT,
    }
    return part(request, where, "intents", context)


def place_of(side: summary.Side) -> Where | None:
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
        "name": name,
    }
    return render(request, "catalog/token_part.html", context, block="part")
