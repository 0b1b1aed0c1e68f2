"""Lookalike addresses of one transfer: different addresses with the same first and last characters."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from intents_ui.display.formatting import hashes
from intents_ui.display.transfers.transfer import Transfer, derived

# The characters that people compare, and attackers imitate.
EACH_SIDE = 4


@dataclass(frozen=True)
class Party:
    """An address and its role in the transfer: `owner`, `deposit address`, …"""

    role: str
    address: str


@derived
def of(transfer: Transfer) -> tuple[tuple[Party, Party], ...]:
    """Return every such pair once. An address can have several roles. Addresses that aren't hex are ignored."""
    parties: dict[str, Party] = {}
    for party in _parties(transfer):
        parties.setdefault(party.address, party)
    pairs = combinations(parties.values(), 2)
    return tuple((one, other) for one, other in pairs if _ends(one.address) == _ends(other.address))


def _parties(transfer: Transfer) -> Iterator[Party]:
    deposit, refund = transfer.deposit, transfer.refund
    named = (
        ("owner", transfer.owner),
        ("recipient", transfer.recipient),
        ("deposit address", transfer.deposit_address),
        ("destination intent address", transfer.delivery_address),
        ("address that sent the deposit", deposit.from_address if deposit else None),
        ("refund address", refund.to_address if refund else None),
    )
    for role, address in named:
        known = hashes.canonical_address(address) if address else None
        if known:
            yield Party(role, known)


def _ends(address: str) -> tuple[str, str]:
    digits = address.removeprefix("0x")
    return digits[:EACH_SIDE], digits[-EACH_SIDE:]
