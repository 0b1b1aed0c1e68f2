"""Chains for display, from either form of the service (docs/contract.md#chaininfo), and filters of their list."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Self
from urllib.parse import urlencode

from intents_ui.display.formatting import hashes, text
from intents_ui.display.tokens import icons, names, providers
from intents_ui.display.tokens.icons import TokenIcon
from intents_ui.service.wire.models import ChainInfo

LARGEST_ID = 2**64 - 1
LONGEST_ECHO = 100
# Possible names of route providers, whose list keeps growing.
PROVIDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}", re.ASCII)
SCHEME = re.compile(r"^https?://", re.IGNORECASE)


class Network(StrEnum):
    """Mainnet or testnet. UNKNOWN: one of the two response formats doesn't say."""

    MAINNET = "mainnet"
    TESTNET = "testnet"
    UNKNOWN = "unknown"


LISTED_AS = {Network.MAINNET: "Mainnets", Network.TESTNET: "Testnets", Network.UNKNOWN: "Not said"}


@dataclass(frozen=True)
class Currency:
    """A chain's native token, sanitized."""

    symbol: str
    name: str
    decimals: int | None


@dataclass(frozen=True)
class Chain:
    """A chain with sanitized names. `explorer_link` is None if the received address can't be linked."""

    id: int
    name: str
    coin: TokenIcon
    currency: Currency
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
        coin=icons.of_chain(info.id, name, logo_uri=info.logo_uri),
        currency=Currency(
            text.symbol(info.native_symbol).shown, text.name(info.native_name).shown, info.native_decimals
        ),
        network=network(info),
        bridges=info.supports_bridging,
        explorer=text.name(explorer).shown,
        explorer_link=hashes.explorer_root(info.explorer_url),
    )


def network(info: ChainInfo) -> Network:
    if info.is_testnet is None:
        return Network.UNKNOWN
    return Network.TESTNET if info.is_testnet else Network.MAINNET


def is_possible(chain_id: int) -> bool:
    """Return whether the service could list this chain ID. It ignores 0 as a filter."""
    return 0 < chain_id <= LARGEST_ID


# Filters of the list


@dataclass(frozen=True)
class ChainFilters:
    """Filters of the chain list. `provider`: only chains of this route provider, by its API name."""

    provider: str | None = None
    network: Network | None = None

    @cached_property
    def query(self) -> str:
        """Return the canonical query string."""
        written = {"provider": self.provider, "network": self.network}
        return urlencode({name: word for name, word in written.items() if word})

    def with_(self, **changes: Any) -> Self:
        return replace(self, **changes)

    def keep(self, chains: Iterable[Chain]) -> list[Chain]:
        return [chain for chain in chains if self.network in (None, chain.network)]


@dataclass(frozen=True)
class ChainQuery:
    """Filters as entered: `problems` by filter name, `typed` is the text to show again."""

    filters: ChainFilters
    problems: Mapping[str, str]
    typed: str

    @property
    def is_known(self) -> bool:
        """Return whether the route provider is a known one."""
        return self.filters.provider in providers.LABELS


@dataclass(frozen=True)
class ChainChoice:
    """A part of the list, with the list's `query` for it."""

    word: str
    count: int
    query: str
    is_chosen: bool


def read(query: Mapping[str, Sequence[str]]) -> ChainQuery:
    """Parse a URL's query. Ignores other parameters."""
    written = {name: (query.get(name) or ("",))[-1].strip() for name in ("provider", "network")}
    problems: dict[str, str] = {}
    provider = _provider(written["provider"])
    if written["provider"] and not provider:
        problems["provider"] = "A route provider is one word of at most 40 letters, digits, “_”, “-” and “.”."
    found = written["network"].lower()
    if found and found not in Network:
        problems["network"] = "A list can be of mainnet, testnet or unknown chains."
    filters = ChainFilters(provider, Network(found) if found in Network else None)
    return ChainQuery(filters, problems, text.visible(written["provider"])[:LONGEST_ECHO])


def choices(chains: Sequence[Chain], filters: ChainFilters) -> tuple[ChainChoice, ...]:
    """Return "all" and each network that is present or selected."""
    counts = {kind: sum(chain.network is kind for chain in chains) for kind in Network}
    kinds = [kind for kind in Network if counts[kind] or kind is filters.network]
    return (
        ChainChoice("All", len(chains), filters.with_(network=None).query, filters.network is None),
        *(
            ChainChoice(LISTED_AS[kind], counts[kind], filters.with_(network=kind).query, filters.network is kind)
            for kind in kinds
        ),
    )


def title(filters: ChainFilters) -> str:
    """Return `Chains`, `Testnets` or `Chains of Relay`."""
    listed = LISTED_AS[filters.network] if filters.network in (Network.MAINNET, Network.TESTNET) else "Chains"
    return f"{listed} of {providers.label(filters.provider)}" if filters.provider else listed


def _provider(written: str) -> str | None:
    """Return the provider by its API name or label, in any letter case. Unknown names stay unchanged."""
    by_name = {label.lower(): word for word, label in providers.LABELS.items()}
    known = written.upper() if written.upper() in providers.LABELS else by_name.get(written.lower())
    return known or (written if PROVIDER.fullmatch(written) else None)
