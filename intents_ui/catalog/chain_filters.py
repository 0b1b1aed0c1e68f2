"""Filters of the chain list: by route provider and network."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from intents_ui.search import parameters
from intents_ui.search.parameters import InvalidParameter, Parsed, Query, UrlFilters
from intents_ui.tokens import names
from intents_ui.tokens.chains import Chain, Network

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
