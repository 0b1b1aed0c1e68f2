"""`/chains` and `/chain/<id>`: the list of supported chains, and the page of each, with those that are connected.

Connected chains share a route provider. A provider of two chains does not support every token between them. Routes do.
`/provider/<name>`: a route provider, its chains, and its transfers among the newest ones.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from http import HTTPStatus
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.formatting import hashes, text
from intents_ui.http import cursors
from intents_ui.search import filters as parameters
from intents_ui.search.filters import Chip, InvalidParameter, Parsed, Query, UrlFilters
from intents_ui.service import operations
from intents_ui.service.catalog import Listed
from intents_ui.service.errors import Invalid, ServiceError
from intents_ui.service.models import NATIVE_TOKEN, ChainInfo, Page
from intents_ui.tokens import names
from intents_ui.tokens.names import Provider
from intents_ui.tokens.token_amounts import TokenIcon, chain_icon, identity
from intents_ui.transfers import summary
from intents_ui.web import reading
from intents_ui.web.frame import render
from intents_ui.web.reading import Part, read_parts


class Network(StrEnum):
    """Mainnet or testnet. UNKNOWN: one of the two response formats doesn't say."""

    MAINNET = "mainnet"
    TESTNET = "testnet"
    UNKNOWN = "unknown"


SCHEME = re.compile(r"^https?://", re.IGNORECASE)
NETWORKS = {False: Network.MAINNET, True: Network.TESTNET, None: Network.UNKNOWN}
# Possible names of route providers, whose list keeps growing.
PROVIDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}", re.ASCII)
LISTED_AS = {Network.MAINNET: "Mainnets", Network.TESTNET: "Testnets", Network.UNKNOWN: "Not said"}
INTENTS_SHOWN = 5
TOKENS_SHOWN = 12
TRANSFERS_SHOWN = 10  # of a provider
ROUTES_SHOWN = 12
BY_LABEL = sorted(names.PROVIDERS.values(), key=lambda each: each.label.lower())


class Chain(NamedTuple):
    """A chain with sanitized names. `explorer_link` is None if the received address can't be linked."""

    id: int
    name: str
    coin: TokenIcon
    native_symbol: str
    native_name: str
    native_decimals: int | None
    network: Network
    bridges: bool | None
    explorer: str
    explorer_link: str | None


def of(info: ChainInfo) -> Chain:
    name = names.chain(info.id, info=info)
    explorer = info.explorer_name or SCHEME.sub("", info.explorer_url or "").rstrip("/")
    return Chain(
        id=info.id,
        name=name,
        coin=chain_icon(info.id, name, info),
        native_symbol=text.symbol(info.native_symbol).shown,
        native_name=text.name(info.native_name).shown,
        native_decimals=info.native_decimals,
        network=NETWORKS[info.is_testnet],
        bridges=info.supports_bridging,
        explorer=text.name(explorer).shown,
        explorer_link=hashes.explorer_root(info.explorer_url),
    )


# The list


@dataclass(frozen=True)
class ChainFilters(UrlFilters):
    """Filters of the chain list. `provider`: only chains of this route provider, by its API name."""

    provider: str | None = None
    network: Network | None = None

    @property
    def is_known(self) -> bool:
        return self.provider in names.PROVIDERS

    @property
    def title(self) -> str:
        """Return `Chains`, `Testnets` or `Chains of Relay`."""
        listed = LISTED_AS[self.network] if self.network in (Network.MAINNET, Network.TESTNET) else "Chains"
        return f"{listed} of {names.provider_label(self.provider)}" if self.provider else listed


def read(query: Query) -> Parsed[ChainFilters]:
    """Parse a URL's query. Ignores other parameters."""
    return parameters.parse(query, {"provider": _provider, "network": _network}, ChainFilters)


def _provider(written: str) -> str:
    """Return the provider by its API name or label, in any letter case. Unknown names stay unchanged."""
    known = names.provider_named(written)
    if not known and not PROVIDER.fullmatch(written):
        raise InvalidParameter("A route provider is one word of at most 40 letters, digits, “_”, “-” and “.”.")
    return known or written


def _network(written: str) -> Network:
    problem = "A list can be of mainnet, testnet or unknown chains."
    return parameters.required(Network.__members__.get(written.upper()), problem)


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    """Render the list, or only its filters if they are invalid or the request for a provider's chains failed."""
    parsed = read(dict(request.GET.lists()))
    filters, provider, catalog = parsed.filters, parsed.filters.provider, app.current().catalog
    listed, error = None, None
    if not parsed.problems:
        url = cursors.address(reverse("chains"), query=filters.query)
        if not cursors.is_at(request, url):
            return redirect(url)
        try:
            listed = served_by(provider) if provider else catalog.listed_chains()
        except ServiceError as failure:
            if not provider:
                raise
            error = failure  # an unknown route provider may be the only cause
    chip = None
    if provider:
        chip = Chip("provider", "Served by", names.provider_label(provider), filters.with_(provider=None).query)
    context: dict[str, object] = {
        "title": filters.title,
        "parsed": parsed,
        "filters": filters,
        "chip": chip,
        "served_by": names.provider(provider) if provider else None,
        "providers": [(each.label, filters.with_(provider=each.word).query) for each in BY_LABEL],
        "listed": listed,
        "failed": error,
        "is_refused": isinstance(error, Invalid),
    }
    if listed:
        known = [info.id for info in catalog.chains()]
        found = [of(info) for info in listed.entries]
        counts = [(each, label, sum(chain.network is each for chain in found)) for each, label in LISTED_AS.items()]
        context |= {
            "all_known": len(known),
            "found": found,
            "chains": [chain for chain in found if filters.network in (None, chain.network)],
            "networks": [each for each in counts if each[2] or each[0] is filters.network],
            "featured": catalog.count_featured(list(dict.fromkeys([*known, *(each.id for each in found)]))),
        }
    status = HTTPStatus.BAD_REQUEST if parsed.problems else HTTPStatus.OK
    return render(request, "catalog/chains.html", context, block="list", status=status, error=error)


def served_by(provider: str) -> Listed[ChainInfo]:
    if provider in names.PROVIDERS:
        return app.current().catalog.listed_chains(route_provider=provider)
    # Not cached: arbitrary input would evict the lists that every page needs.
    answer = app.current().service.uncached().ask(operations.get_chains(route_provider=provider))
    by_id = {chain.id: chain for chain in answer.chains}
    return Listed(tuple(by_id.values()), answer.unreadable_entries)


# One chain


@require_safe
def chain(request: HttpRequest, chain_id: str) -> HttpResponse:
    number, catalog = int(chain_id), app.current().catalog
    if chain_id != str(number):
        return redirect("chain", number, permanent=True)
    listed = catalog.listed_chains()
    info = next((each for each in listed.entries if each.id == number), None)
    leaving, arriving = (Part(partial(newest, **{f"{side}_chain_id": number})) for side in ("origin", "destination"))
    context: dict[str, object] = {"listed": listed, "leaving": leaving, "arriving": arriving}
    if info is None:
        # An unsupported chain may still have transfers.
        is_possible = names.is_possible(number)
        if is_possible:
            read_parts(leaving, arriving)
        context |= {"number": number, "is_possible": is_possible, "has_name": number in names.WELL_KNOWN}
        return render(request, "catalog/chain_not_listed.html", context, status=HTTPStatus.NOT_FOUND)
    tokens = Part(lambda: catalog.listed_tokens(number))
    ways = Part(lambda: catalog.chains_by_provider(names.KNOWN_PROVIDERS))
    read_parts(tokens, ways, leaving, arriving)
    served = ways.found or dict.fromkeys(names.KNOWN_PROVIDERS)
    here = [names.provider(word) for word, ids in served.items() if ids and number in ids]
    # Featured ones first, otherwise in the service's order.
    own = sorted(tokens.found.entries if tokens.found else (), key=lambda token: not token.featured)
    context |= {
        "chain": of(info),
        "bridges_here": [each for each in here if not each.on_one_chain],
        "swappers": [each for each in here if each.on_one_chain],
        "unknown": [names.provider(word) for word, ids in served.items() if ids is None],
        "is_unknown": all(ids is None for ids in served.values()),
        "native": NATIVE_TOKEN,
        "connected": connected_chains(number, among=listed.entries, served=served),
        "tokens": tokens,
        "token_count": len(own),
        "featured_count": sum(token.featured is True for token in own),
        "shown": [identity(each.chain_id, each.address, using=catalog, metadata=each) for each in own[:TOKENS_SHOWN]],
    }
    return render(request, "catalog/chain.html", context)


def newest(**chain: Any) -> Sequence[summary.Summary]:
    """Return the newest transfers from a chain, or those to it."""
    call = operations.get_intent_history(page=Page.first(size=INTENTS_SHOWN), **chain)
    return [summary.of(each) for each in reading.of_entries(app.current().service.ask(call).intents)]


# The chains of each route provider, None where they couldn't be loaded.
type ServedChains = Mapping[str, frozenset[int] | None]


def connected_chains(
    chain_id: int, *, among: Sequence[ChainInfo], served: ServedChains
) -> list[tuple[Chain, tuple[Provider, ...]]]:
    """Return the other chains of the same network, each with the providers that bridge to it. The most come first."""
    shown = [of(info) for info in among]
    own = next((chain for chain in shown if chain.id == chain_id), None)
    found = [
        (chain, shared)
        for chain in shown
        if chain.id != chain_id and not (own and ({own.network, chain.network} == {Network.MAINNET, Network.TESTNET}))
        if (shared := between(chain_id, chain.id, served=served))
    ]
    return sorted(found, key=lambda each: -len(each[1]))


def between(one: int, other: int, *, served: ServedChains) -> tuple[Provider, ...]:
    """Return the providers that bridge between two chains or, for a chain and itself, that only swap on it."""
    return tuple(
        provider
        for word, ids in served.items()
        if ids and one in ids and other in ids and (provider := names.provider(word)).on_one_chain is (one == other)
    )


# A route provider


@require_safe
def provider(request: HttpRequest, name: str) -> HttpResponse:
    word = names.provider_named(name)
    if word not in names.KNOWN_PROVIDERS:
        known = tuple(map(names.provider, names.KNOWN_PROVIDERS))
        context: dict[str, object] = {"name": text.name(name).shown, "providers": known}
        return render(request, "catalog/provider_unknown.html", context, status=HTTPStatus.NOT_FOUND)
    if word != name:
        return redirect("provider", word, permanent=True)
    catalog = app.current().catalog
    served, newest = Part(partial(catalog.listed_chains, route_provider=word)), Part(reading.latest)
    read_parts(served, newest)
    if served.error and newest.error:
        raise served.error
    # The service can't filter by provider.
    transfers = reading.of_entries(newest.found or ())
    found = [each for each in transfers if word in map(str.upper, each.providers)]
    pairs, used = Counter((each.origin_chain_id, each.destination_chain_id) for each in found).most_common(), []
    for (origin, destination), count in pairs[:ROUTES_SHOWN]:
        start, end = catalog.chain(origin), catalog.chain(destination)
        query = parameters.encode({"from": origin, "to": destination}) if start and end else ""
        used.append((names.chain(origin, info=start), names.chain(destination, info=end), count, query))
    context = {
        "provider": names.provider(word),
        "swaps_only": names.provider(word).on_one_chain,
        "slow_range": names.slow_range([word]),
        "all_known": len(catalog.chains()),
        "listed": served.found,
        "chains_error": served.error,
        "chains": [of(info) for info in served.found.entries] if served.found else (),
        "transfers_error": newest.error,
        "looked_at": len(transfers),
        "count": len(found),
        "transfers": [summary.of(each) for each in found[:TRANSFERS_SHOWN]],
        "routes": used,
        "more_routes": len(pairs[ROUTES_SHOWN:]),
    }
    return render(request, "catalog/provider.html", context)
