"""Chains for display, from either form of the service (docs/contract.md#chaininfo)."""

import re
from dataclasses import dataclass
from enum import StrEnum

from intents_ui.display.formatting import hashes, text
from intents_ui.display.tokens import icons, names
from intents_ui.display.tokens.icons import TokenIcon
from intents_ui.service.fields import CHAIN_ID_LIMIT
from intents_ui.service.models import ChainInfo

SCHEME = re.compile(r"^https?://", re.IGNORECASE)


class Network(StrEnum):
    """Mainnet or testnet. UNKNOWN: one of the two response formats doesn't say."""

    MAINNET = "mainnet"
    TESTNET = "testnet"
    UNKNOWN = "unknown"


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
    return 0 < chain_id < CHAIN_ID_LIMIT
