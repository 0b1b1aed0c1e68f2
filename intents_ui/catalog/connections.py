"""Chains for display, from either form of the service (docs/contract.md#chaininfo), and which are connected.

Connected chains share a route provider. A provider of two chains does not support every token between them. Routes do.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from intents_ui.formatting import hashes, text
from intents_ui.service.models import ChainInfo
from intents_ui.tokens import names, token_amounts
from intents_ui.tokens.names import Provider
from intents_ui.tokens.token_amounts import TokenIcon

SCHEME = re.compile(r"^https?://", re.IGNORECASE)


class Network(StrEnum):
    """Mainnet or testnet. UNKNOWN: one of the two response formats doesn't say."""

    MAINNET = "mainnet"
    TESTNET = "testnet"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Chain:
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
        coin=token_amounts.chain_icon(info.id, name, info),
        native_symbol=text.symbol(info.native_symbol).shown,
        native_name=text.name(info.native_name).shown,
        native_decimals=info.native_decimals,
        network=network(info),
        bridges=info.supports_bridging,
        explorer=text.name(explorer).shown,
        explorer_link=hashes.explorer_root(info.explorer_url),
    )


def network(info: ChainInfo) -> Network:
    if info.is_testnet is None:
        return Network.UNKNOWN
    return Network.TESTNET if info.is_testnet else Network.MAINNET


NAMED = 3  # named providers of a connection; the others are counted

# The chains of each route provider, None where they couldn't be loaded.
type ServedChains = Mapping[str, frozenset[int] | None]


@dataclass(frozen=True)
class Connection:
    chain: Chain
    providers: tuple[Provider, ...]

    @property
    def said(self) -> str:
        """Return `CCTP, Relay` or `CCTP, Hyperlane, Relay and 2 more`."""
        labels = [provider.label for provider in self.providers]
        named, more = ", ".join(labels[:NAMED]), len(labels) - NAMED
        return f"{named} and {more} more" if more > 0 else named


@dataclass(frozen=True)
class Connections:
    """Connections of a chain. `route_providers` bridge to others, `swappers` only swap on it. `unknown`: not loaded."""

    route_providers: tuple[Provider, ...]
    swappers: tuple[Provider, ...]
    unknown: tuple[Provider, ...]
    chains: tuple[Connection, ...]

    @property
    def is_unknown(self) -> bool:
        """Return whether nothing could be loaded."""
        return len(self.unknown) == len(names.KNOWN_PROVIDERS)


def connected_chains(chain_id: int, *, among: Sequence[ChainInfo], served: ServedChains) -> Connections:
    here = {word: ids for word, ids in served.items() if ids and chain_id in ids}
    shown = [of(info) for info in among]
    own = next((chain for chain in shown if chain.id == chain_id), None)
    found = [
        Connection(chain, shared)
        for chain in shown
        if chain.id != chain_id and not (own and ({own.network, chain.network} == {Network.MAINNET, Network.TESTNET}))
        if (shared := between(chain_id, chain.id, served=here))
    ]
    return Connections(
        route_providers=tuple(each for each in map(names.provider, here) if not each.on_one_chain),
        swappers=between(chain_id, chain_id, served=here),
        unknown=tuple(names.provider(word) for word, ids in served.items() if ids is None),
        chains=tuple(sorted(found, key=lambda connection: -len(connection.providers))),
    )


def between(one: int, other: int, *, served: ServedChains) -> tuple[Provider, ...]:
    """Return the providers that bridge between two chains or, for a chain and itself, that only swap on it."""
    return tuple(
        provider
        for word, ids in served.items()
        if ids and one in ids and other in ids and (provider := names.provider(word)).on_one_chain is (one == other)
    )
