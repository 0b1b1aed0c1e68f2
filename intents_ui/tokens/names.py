"""Names of chains, tokens and route providers. Chains and tokens may be unlisted or unavailable.

Also how long the slow providers may take (docs/contract.md#durations).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from intents_ui.formatting import text
from intents_ui.service.models import ChainInfo, IntentHistory
from intents_ui.service.results import Names as Names

NO_NAMES = Names()

# Chains of transfers that the service may not list. Relay and LI.FI use their own IDs for some.
SOLANA = frozenset({792703809, 1151111081099710})
BITCOIN = frozenset({8253038, 20000000000001})
TRON = frozenset({728126428})
SUI, ECLIPSE, TON = 9270000000000000, 9286185, 607
WELL_KNOWN = {
    **dict.fromkeys(SOLANA, "Solana"),
    **dict.fromkeys(BITCOIN, "Bitcoin"),
    **dict.fromkeys(TRON, "Tron"),
    SUI: "Sui",
    ECLIPSE: "Eclipse",
    TON: "TON",
}


def chain(chain_id: int | None, *, info: ChainInfo | None, unknown: str = "an unknown chain") -> str:
    """Return the chain's listed or well-known name; `Chain 123` for any other."""
    if chain_id is None:
        return unknown
    return text.name(info.name).shown if info and info.name else WELL_KNOWN.get(chain_id, f"Chain {chain_id}")


def of_chain(chain_id: int | None, *, using: Names, unknown: str = "an unknown chain") -> str:
    """Return the chain's name as `chain` does, by its ID alone."""
    return chain(chain_id, info=using.chain(chain_id), unknown=unknown)


def by_id(chains: Iterable[ChainInfo]) -> dict[int, str]:
    """Return the names of listed chains."""
    return {each.id: chain(each.id, info=each) for each in chains}


def chains_of(entries: Iterable[IntentHistory]) -> frozenset[int]:
    """Return the chains in a list's rows, to load their names at once."""
    entries = list(entries)
    receipts = [entry.receipt for entry in entries if entry.receipt]
    chains = [chain for each in receipts for chain in (each.origin_chain_id, each.destination_chain_id)]
    chains += [each.refund_transaction.chain_id for each in receipts if each.refund_transaction]
    groups = [group for entry in entries for group in entry.balances]
    chains += [chain for group in groups for chain in (group.chain_id, *(each.chain_id for each in group.tokens))]
    return frozenset(chain for chain in chains if chain)


AUTOMATIC = "AUTO"
PROVIDERS = {
    "AUTO": "Automatic",
    "CCTP": "CCTP",
    "EVERLONG": "Everlong",
    "GASZIP": "Gas.zip",
    "HYPERLANE": "Hyperlane",
    "LIFI": "LI.FI",
    "LZ_OFT": "LayerZero OFT",
    "LZ_TRANSFER": "LayerZero Transfer",
    "OIF": "Open Intents Framework",
    "RELAY": "Relay",
    "SOMNIA_EXCHANGE": "Somnia Exchange",
    "SOMNIA_SWAP": "Somnia Swap",
    "SUSHI": "Sushi",
    "WETH": "Wrapped Ether",
    "ZEROX": "0x",
}

# Without "automatic", which lets the service choose a provider.
KNOWN_PROVIDERS = tuple(word for word in PROVIDERS if word != AUTOMATIC)

# They swap or wrap on one chain, so two chains with them aren't connected.
ON_ONE_CHAIN = frozenset({"SOMNIA_EXCHANGE", "SOMNIA_SWAP", "SUSHI", "WETH", "ZEROX"})

# Bridges that wait for finality, and their usual maximum.
SLOW_PROVIDERS = {"CCTP": timedelta(minutes=30), "LZ_OFT": timedelta(minutes=90), "LZ_TRANSFER": timedelta(minutes=90)}


@dataclass(frozen=True, slots=True)
class Provider:
    """A route provider. `word`: its name in the API."""

    word: str
    label: str

    @property
    def is_known(self) -> bool:
        """Return whether it's one of KNOWN_PROVIDERS, and so has a page."""
        return self.word in KNOWN_PROVIDERS


def provider(word: str) -> Provider:
    return Provider(word.upper() if word.upper() in PROVIDERS else word, provider_label(word))


def provider_named(written: str) -> str | None:
    """Return the API name of the provider with this name or label, in any letter case."""
    by_label = {label.casefold(): word for word, label in PROVIDERS.items()}
    return written.upper() if written.upper() in PROVIDERS else by_label.get(written.casefold())


def provider_label(provider: str) -> str:
    """Return the provider's name. Unknown providers keep their text, because the list keeps growing."""
    return PROVIDERS.get(provider.upper()) or text.name(provider).shown


def provider_labels(providers: Iterable[str]) -> tuple[str, ...]:
    return tuple(provider_label(provider) for provider in providers if provider)


def slow_range(providers: Iterable[str]) -> timedelta | None:
    known = [SLOW_PROVIDERS[provider.upper()] for provider in providers if provider.upper() in SLOW_PROVIDERS]
    return max(known, default=None)
