"""Names of chains, tokens and route providers. Chains and tokens may be unlisted or unavailable.

Also how long the slow providers may take.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from intents_ui import tables
from intents_ui.formatting import text
from intents_ui.service.fields import CHAIN_ID_LIMIT
from intents_ui.service.models import ChainInfo, IntentHistory
from intents_ui.service.results import Names as Names

NO_NAMES = Names()

# Chains of transfers that the service may not list. Relay and LI.FI use their own IDs for some.
WELL_KNOWN = {
    **dict.fromkeys((792703809, 1151111081099710), "Solana"),
    **dict.fromkeys((8253038, 20000000000001), "Bitcoin"),
    728126428: "Tron",
    9270000000000000: "Sui",
    9286185: "Eclipse",
    607: "TON",
}


def chain(chain_id: int | None, *, info: ChainInfo | None, unknown: str = "an unknown chain") -> str:
    """Return the chain's listed or well-known name; `Chain 123` for any other."""
    if chain_id is None:
        return unknown
    return text.name(info.name).shown if info and info.name else WELL_KNOWN.get(chain_id, f"Chain {chain_id}")


def of_chain(chain_id: int | None, *, using: Names, unknown: str = "an unknown chain") -> str:
    """Return the chain's name as `chain` does, by its ID alone."""
    return chain(chain_id, info=using.chain(chain_id), unknown=unknown)


def is_possible(chain_id: int) -> bool:
    """Return whether the service could list this chain ID. It ignores 0 as a filter."""
    return 0 < chain_id < CHAIN_ID_LIMIT


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


@dataclass(frozen=True, slots=True)
class Provider:
    """A route provider. `word`: its name in the API. `slow`: how long it may take, if that is long."""

    word: str
    label: str
    on_one_chain: bool = False
    slow: timedelta | None = None

    @property
    def is_known(self) -> bool:
        """Return whether it's one of KNOWN_PROVIDERS, and so has a page."""
        return self.word in KNOWN_PROVIDERS


def _providers() -> Iterator[Provider]:
    for word, row in tables.read(__package__, "providers.toml").items():
        slow = timedelta(minutes=row["slow_minutes"]) if "slow_minutes" in row else None
        yield Provider(word, row["label"], "on_one_chain" in row, slow)


PROVIDERS = {each.word: each for each in _providers()}
# Without "automatic", which lets the service choose a provider.
KNOWN_PROVIDERS = tuple(word for word in PROVIDERS if word != "AUTO")
SLOW_PROVIDERS = {each.word: each.slow for each in PROVIDERS.values() if each.slow}


def provider(word: str) -> Provider:
    """Return a route provider. An unknown one keeps its text as label, because the list keeps growing."""
    return PROVIDERS.get(word.upper()) or Provider(word, text.name(word).shown)


def provider_named(written: str) -> str | None:
    """Return the API name of the provider with this name or label, in any letter case."""
    by_label = {each.label.casefold(): each.word for each in PROVIDERS.values()}
    return written.upper() if written.upper() in PROVIDERS else by_label.get(written.casefold())


def provider_label(word: str) -> str:
    return provider(word).label


def provider_labels(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(provider_label(word) for word in words if word)


def slow_range(words: Iterable[str]) -> timedelta | None:
    """Return the usual maximum of the slowest provider, or None if none is slow."""
    return max((slow for word in words if (slow := provider(word).slow)), default=None)
