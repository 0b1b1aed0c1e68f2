"""Connected chains: those that share a route provider with a chain.

A provider of two chains doesn't support every token between them. Routes do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from intents_ui.display.tokens import chains, providers
from intents_ui.display.tokens.chains import Chain, Network
from intents_ui.service.wire.models import ChainInfo

# Excludes "automatic", which lets the service choose a provider.
ASKED = tuple(word for word in providers.LABELS if word != providers.AUTOMATIC)
NAMED = 3  # named providers of a connection; the others are counted


@dataclass(frozen=True)
class Provider:
    word: str
    label: str


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
        return len(self.unknown) == len(ASKED)


def connected_chains(
    chain_id: int, *, among: Sequence[ChainInfo], served: Mapping[str, frozenset[int] | None]
) -> Connections:
    """Return a chain's connections. `served`: the chains of each provider, None where they couldn't be loaded."""
    here = {word: ids for word, ids in served.items() if ids and chain_id in ids}
    carriers = tuple(_provider(word) for word in here if word not in providers.ON_ONE_CHAIN)
    shown = [chains.of(info) for info in among]
    own = next((chain for chain in shown if chain.id == chain_id), None)
    found = [
        Connection(chain, shared)
        for chain in shown
        if chain.id != chain_id and not (own and _are_apart(own, chain))
        if (shared := tuple(each for each in carriers if chain.id in here[each.word]))
    ]
    return Connections(
        carriers=carriers,
        swappers=tuple(_provider(word) for word in here if word in providers.ON_ONE_CHAIN),
        unknown=tuple(_provider(word) for word, ids in served.items() if ids is None),
        chains=tuple(sorted(found, key=lambda connection: -len(connection.providers))),
    )


def _provider(word: str) -> Provider:
    return Provider(word, providers.label(word))


def _are_apart(one: Chain, other: Chain) -> bool:
    """Return whether one is a mainnet and the other a testnet, which no route connects."""
    return {one.network, other.network} == {Network.MAINNET, Network.TESTNET}
