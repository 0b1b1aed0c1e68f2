"""Where a hash or an address can be looked at when the service knows nothing of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from intents_ui.display import hashes, names, solana
from intents_ui.display.pasted import Finding, Kind
from intents_ui.service.wire import ChainInfo


@dataclass(frozen=True)
class Explorer:
    chain: str
    link: str


def explorers(finding: Finding, *, chains: Sequence[ChainInfo]) -> tuple[Explorer, ...]:
    """One for each of the chains on which it may be: the one that was named with it, or all of its kind."""
    links = (
        (names.chain(chain.id, info=chain), _link(chain, finding))
        for chain in chains
        if finding.chain_id in (None, chain.id)
    )
    return tuple(Explorer(chain, link) for chain, link in (*links, ("Solana", _on_solana(finding))) if link)


def _link(chain: ChainInfo, finding: Finding) -> str | None:
    match finding.kind:
        case Kind.HASH | Kind.TRANSACTION:
            return hashes.transaction_link(chain.explorer_url, txn_hash=finding.value)
        case Kind.ADDRESS:
            return hashes.address_link(chain.explorer_url, address=finding.value)
        case _:
            return None


def _on_solana(finding: Finding) -> str | None:
    match finding.kind:
        case Kind.SOLANA_SIGNATURE:
            return solana.transaction_link(finding.value)
        case Kind.SOLANA_ADDRESS:
            return solana.address_link(finding.value)
        case _:
            return None
