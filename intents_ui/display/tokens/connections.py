"""Connected chains: those that share a route provider with a chain.

A provider of two chains doesn't support every token between them. Routes do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from intents_ui.display.tokens import chains, providers
from intents_ui.display.tokens.chains import Chain, Network
from intents_ui.display.tokens.providers import Provider
from intents_ui.service.models import ChainInfo

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
    """Connections of a chain. `carriers` bridge to other chains, `swappers` only swap on it. `unknown`: not loaded."""

    carriers: tuple[Provider, ...]
    swappers: tuple[Provider, ...]
    unknown: tuple[Provider, ...]
    chains: tuple[Connection, ...]

    @property
    def is_unknown(self) -> bool:
        """Return whether nothing could be loaded."""
        return len(self.unknown) == len(providers.KNOWN)


def connected_chains(chain_id: int, *, among: Sequence[ChainInfo], served: ServedChains) -> Connections:
    here = {word: ids for word, ids in served.items() if ids and chain_id in ids}
    shown = [chains.of(info) for info in among]
    own = next((chain for chain in shown if chain.id == chain_id), None)
    found = [
        Connection(chain, shared)
        for chain in shown
        if chain.id != chain_id and not (own and _are_apart(own, chain))
        if (shared := between(chain_id, chain.id, served=here))
    ]
    return Connections(
        carriers=tuple(providers.of(word) for word in here if word not in providers.ON_ONE_CHAIN),
        swappers=between(chain_id, chain_id, served=here),
        unknown=tuple(providers.of(word) for word, ids in served.items() if ids is None),
        chains=tuple(sorted(found, key=lambda connection: -len(connection.providers))),
    )


def between(one: int, other: int, *, served: ServedChains) -> tuple[Provider, ...]:
    """Return the providers that bridge between two chains or, for a chain and itself, that only swap on it."""
    return tuple(
        providers.of(word)
        for word, ids in served.items()
        if ids and one in ids and other in ids and (word in providers.ON_ONE_CHAIN) is (one == other)
    )


def _are_apart(one: Chain, other: Chain) -> bool:
    """Return whether one is a mainnet and the other a testnet, which no route connects."""
    return {one.network, other.network} == {Network.MAINNET, Network.TESTNET}
