"""Block explorer links: of chains that the service lists, and of well-known others."""

from collections.abc import Sequence
from dataclasses import dataclass

from intents_ui.display.formatting import hashes
from intents_ui.display.search.identifiers import Finding, Kind
from intents_ui.display.tokens import names
from intents_ui.service.wire.models import ChainInfo


@dataclass(frozen=True)
class Explorer:
    chain: str
    link: str


def explorers_of(finding: Finding, *, chains: Sequence[ChainInfo]) -> tuple[Explorer, ...]:
    """Return an explorer for each chain that it may be on: the named one, or all of its kind."""
    links = (
        (names.chain(chain.id, info=chain), _link(chain, finding))
        for chain in chains
        if finding.chain_id in (None, chain.id)
    )
    others = (("Solana", _on_solana(finding)), _on_unlisted(finding, chains=chains))
    return tuple(Explorer(chain, link) for chain, link in (*links, *others) if link)


def transaction_link(txn_hash: str | None, *, chain_id: int | None, info: ChainInfo | None) -> str | None:
    """Return the listed explorer's link, or a well-known chain's."""
    root = hashes.explorer_root(info.explorer_url) if info else None
    if txn_hash is None or hashes.is_placeholder(txn_hash):
        return None
    if root is None:
        return _of_well_known(txn_hash, chain_id=chain_id)
    is_solana = hashes.is_solana_signature(txn_hash)
    return f"{root}/tx/{txn_hash}" if is_solana else hashes.transaction_link(root, txn_hash=txn_hash)


def address_link(address: str | None, *, info: ChainInfo | None) -> str | None:
    """Return the listed explorer's link. Solana addresses need no chain."""
    if info is None and address is not None and hashes.is_solana_address(address):
        return hashes.solana_address_link(address)
    return hashes.address_link(info.explorer_url if info else None, address=address)


def _of_well_known(txn_hash: str, *, chain_id: int | None) -> str | None:
    if chain_id in names.SOLANA:
        return hashes.solana_transaction_link(txn_hash)
    digits = (hashes.canonical_hash(txn_hash) or "").removeprefix("0x")
    if digits and chain_id in names.BITCOIN:
        return f"https://mempool.space/tx/{digits}"
    if digits and chain_id in names.TRON:
        return f"https://tronscan.org/#/transaction/{digits}"
    return None


def _on_unlisted(finding: Finding, *, chains: Sequence[ChainInfo]) -> tuple[str, str | None]:
    is_hash = finding.kind in (Kind.HASH, Kind.TRANSACTION)
    is_listed = any(chain.id == finding.chain_id for chain in chains)
    link = _of_well_known(finding.value, chain_id=finding.chain_id) if is_hash and not is_listed else None
    return names.chain(finding.chain_id, info=None), link


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
            return hashes.solana_transaction_link(finding.value)
        case Kind.SOLANA_ADDRESS:
            return hashes.solana_address_link(finding.value)
        case _:
            return None
