"""`/chains` and `/chain/<id>`: the list of supported chains, and the page of each."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.http import cursors
from intents_ui.search import filters as parameters
from intents_ui.search.filters import Chip, InvalidParameter, Parsed, Query, UrlFilters
from intents_ui.service import operations
from intents_ui.service.catalog import Listed
from intents_ui.service.errors import Invalid, ServiceError
from intents_ui.service.models import NATIVE_TOKEN, ChainInfo, IntentHistory, Page, TokenInfo
from intents_ui.tokens import chains as display
from intents_ui.tokens import names
from intents_ui.tokens.chains import Chain, Network
from intents_ui.tokens.token_amounts import identity
from intents_ui.transfers import summary
from intents_ui.web import reading
from intents_ui.web.frame import render
from intents_ui.web.reading import Part, read_parts

# Possible names of route providers, whose list keeps growing.
PROVIDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}", re.ASCII)
LISTED_AS = {Network.MAINNET: "Mainnets", Network.TESTNET: "Testnets", Network.UNKNOWN: "Not said"}


@dataclass(frozen=True)
class ChainFilters(UrlFilters):
    """Filters of the chain list. `provider`: only chains of this route provider, by its API name."""

    provider: str | None = None
    network: Network | None = None

    def keep(self, chains: Iterable[Chain]) -> list[Chain]:
        return [chain for chain in chains if self.network in (None, chain.network)]

    @property
    def is_known(self) -> bool:
        """Return whether the route provider is a known one."""
        return self.provider in names.PROVIDERS


def read(query: Query) -> Parsed[ChainFilters]:
    """Parse a URL's query. Ignores other parameters."""
    return parameters.parse(query, {"provider": _provider, "network": _network}, ChainFilters)


def title(filters: ChainFilters) -> str:
    """Return `Chains`, `Testnets` or `Chains of Relay`."""
    listed = LISTED_AS[filters.network] if filters.network in (Network.MAINNET, Network.TESTNET) else "Chains"
    return f"{listed} of {names.provider_label(filters.provider)}" if filters.provider else listed


def _provider(written: str) -> str:
    """Return the provider by its API name or label, in any letter case. Unknown names stay unchanged."""
    known = names.provider_named(written)
    if not known and not PROVIDER.fullmatch(written):
        raise InvalidParameter("A route provider is one word of at most 40 letters, digits, “_”, “-” and “.”.")
    return known or written


def _network(written: str) -> Network:
    if written.lower() not in Network:
        raise InvalidParameter("A list can be of mainnet, testnet or unknown chains.")
    return Network(written.lower())


INTENTS_SHOWN = 5
TOKENS_SHOWN = 12
BY_LABEL = sorted(names.PROVIDERS.items(), key=lambda each: each[1].lower())


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    parsed = read(dict(request.GET.lists()))
    if parsed.problems:
        return page(request, form(parsed), status=HTTPStatus.BAD_REQUEST)
    url = cursors.address(reverse("chains"), query=parsed.filters.query)
    if not cursors.is_at(request, url):
        return redirect(url)
    provider = parsed.filters.provider
    if provider is None:
        return page(request, form(parsed) | results(parsed, app.current().catalog.listed_chains()))
    try:
        return page(request, form(parsed) | results(parsed, served_by(provider)))
    except ServiceError as error:
        # With the filters, because an unknown route provider may be the only cause.
        return page(request, form(parsed) | {"failed": error, "is_refused": isinstance(error, Invalid)}, error=error)


def page(request: HttpRequest, context: dict[str, object], **response: Any) -> HttpResponse:
    return render(request, "catalog/chains.html", context, block="list", **response)


def form(parsed: Parsed[ChainFilters]) -> dict[str, object]:
    """Return the context of the filters, valid or not, without results."""
    provider = parsed.filters.provider
    without = parsed.filters.with_(provider=None).query
    return {
        "title": title(parsed.filters),
        "parsed": parsed,
        "filters": parsed.filters,
        "chip": Chip("provider", "Served by", names.provider_label(provider), without) if provider else None,
        "served_by": names.provider(provider) if provider else None,
        "providers": [(label, parsed.filters.with_(provider=word).query) for word, label in BY_LABEL],
        "listed": None,
        "failed": None,
    }


def served_by(provider: str) -> Listed[ChainInfo]:
    if provider in names.PROVIDERS:
        return app.current().catalog.listed_chains(route_provider=provider)
    # Not cached: arbitrary input would evict the lists that every page needs.
    answer = app.current().service.ask(replace(operations.get_chains(route_provider=provider), is_cached=False))
    by_id = {chain.id: chain for chain in answer.chains}
    return Listed(tuple(by_id.values()), answer.unreadable_entries)


def results(parsed: Parsed[ChainFilters], listed: Listed[ChainInfo]) -> dict[str, object]:
    """Return the context of the results."""
    found = [display.of(info) for info in listed.entries]
    known = [info.id for info in app.current().catalog.chains()]
    return {
        "listed": listed,
        "all_known": len(known),
        "found": found,
        "chains": parsed.filters.keep(found),
        "networks": [
            (network, label, count)
            for network, label in LISTED_AS.items()
            if (count := sum(each.network is network for each in found)) or network is parsed.filters.network
        ],
        "featured": app.current().catalog.count_featured(list(dict.fromkeys([*known, *(chain.id for chain in found)]))),
    }


@require_safe
def chain(request: HttpRequest, chain_id: str) -> HttpResponse:
    number = int(chain_id)
    if chain_id != str(number):
        return redirect("chain", number, permanent=True)
    listed = app.current().catalog.listed_chains()
    info = next((each for each in listed.entries if each.id == number), None)
    if info is None:
        return not_listed(request, number, listed)
    catalog = app.current().catalog
    tokens = Part(lambda: catalog.listed_tokens(number))
    ways = Part(lambda: catalog.chains_by_provider(names.KNOWN_PROVIDERS))
    leaving, arriving = lists(number)
    read_parts(tokens, ways, leaving, arriving)
    context = {
        "listed": listed,
        "chain": display.of(info),
        "native": NATIVE_TOKEN,
        "connections": display.connected_chains(
            number, among=listed.entries, served=ways.found or dict.fromkeys(names.KNOWN_PROVIDERS)
        ),
    }
    return render(request, "catalog/chain.html", context | own_tokens(tokens) | newest(leaving, arriving))


def not_listed(request: HttpRequest, number: int, listed: Listed[ChainInfo]) -> HttpResponse:
    """Render the page of an unsupported chain, which may still have transfers."""
    context: dict[str, object] = {"number": number, "listed": listed, "is_possible": False}
    context["has_name"] = number in names.WELL_KNOWN
    if display.is_possible(number):
        leaving, arriving = lists(number)
        read_parts(leaving, arriving)
        context |= {"is_possible": True} | newest(leaving, arriving)
    return render(request, "catalog/chain_not_listed.html", context, status=HTTPStatus.NOT_FOUND)


def lists(number: int) -> tuple[Part[Sequence[IntentHistory]], Part[Sequence[IntentHistory]]]:
    """Return the newest transfers from a chain, and those to it."""
    service, history = (
        app.current().service,
        partial(operations.get_intent_history, page=Page.first(size=INTENTS_SHOWN)),
    )
    return (
        Part(lambda: service.ask(history(origin_chain_id=number)).intents),
        Part(lambda: service.ask(history(destination_chain_id=number)).intents),
    )


def newest(leaving: Part[Sequence[IntentHistory]], arriving: Part[Sequence[IntentHistory]]) -> dict[str, object]:
    rows = {part: [summary.of(each) for each in reading.of_entries(part.found or ())] for part in (leaving, arriving)}
    return {
        "leaving": leaving,
        "arriving": arriving,
        "sent": rows[leaving],
        "received": rows[arriving],
    }


def own_tokens(part: Part[Listed[TokenInfo]]) -> dict[str, object]:
    """Return the chain's tokens, featured ones first, otherwise in the service's order."""
    listed, catalog = part.found, app.current().catalog
    found = sorted(listed.entries if listed else (), key=lambda token: not token.featured)
    return {
        "tokens": part,
        "token_count": len(found),
        "featured_count": sum(token.featured is True for token in found),
        "shown": [
            identity(token.chain_id, token.address, using=catalog, metadata=token) for token in found[:TOKENS_SHOWN]
        ],
    }
