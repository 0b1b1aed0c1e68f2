"""What chains and tokens are called, for a reader; the catalogue may not know them, or be away."""

from collections.abc import Iterable
from typing import Protocol

from intents_ui.display import text
from intents_ui.service.wire import ChainInfo, IntentHistory, TokenInfo


class Names(Protocol):
    """Where names come from; None is "not in the catalogue"."""

    def chain(self, chain_id: int | None) -> ChainInfo | None: ...

    def token(self, chain_id: int | None, address: str | None) -> TokenInfo | None: ...

    def lists(self, chain_id: int | None, address: str | None) -> bool | None:
        """Whether the token is among those that are known of its chain; None where none are."""

    def featured(self, chain_id: int | None) -> tuple[TokenInfo, ...]:
        """Those that are known to be featured on a chain, or (None) on any; the same object while nothing changes."""


class NoNames:
    """A catalogue that knows nothing: chains are numbers and amounts base units."""

    def chain(self, chain_id: int | None) -> ChainInfo | None:
        return None

    def token(self, chain_id: int | None, address: str | None) -> TokenInfo | None:
        return None

    def lists(self, chain_id: int | None, address: str | None) -> bool | None:
        return None

    def featured(self, chain_id: int | None) -> tuple[TokenInfo, ...]:
        return ()


NO_NAMES = NoNames()

# Chains that transfers name and the service may not list; Relay and LI.FI give some of them IDs of their own.
SOLANA = frozenset({792703809, 1151111081099710})
BITCOIN = frozenset({8253038, 20000000000001})
TRON = frozenset({728126428})
WELL_KNOWN = {
    **dict.fromkeys(SOLANA, "Solana"),
    **dict.fromkeys(BITCOIN, "Bitcoin"),
    **dict.fromkeys(TRON, "Tron"),
    9270000000000000: "Sui",
    9286185: "Eclipse",
    607: "TON",
}


def chain(chain_id: int | None, *, info: ChainInfo | None, unknown: str = "an unknown chain") -> str:
    """Return the chain's listed or well-known name; `Chain 123` for any other."""
    if chain_id is None:
        return unknown
    return text.name(info.name).shown if info and info.name else WELL_KNOWN.get(chain_id, f"Chain {chain_id}")


def chains_of(entries: Iterable[IntentHistory]) -> set[int]:
    """The chains that rows of a list name, so that all of them can be learned at once."""
    entries = list(entries)
    receipts = [entry.receipt for entry in entries if entry.receipt]
    chains = [chain for each in receipts for chain in (each.origin_chain_id, each.destination_chain_id)]
    chains += [each.refund_transaction.chain_id for each in receipts if each.refund_transaction]
    groups = [group for entry in entries for group in entry.balances]
    chains += [chain for group in groups for chain in (group.chain_id, *(each.chain_id for each in group.tokens))]
    return {chain for chain in chains if chain}
