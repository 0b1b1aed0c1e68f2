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
