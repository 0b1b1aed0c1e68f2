"""Lookalike addresses of one transfer: different addresses with the same first and last characters."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from intents_ui.display.formatting import hashes
from intents_ui.display.transfers.situation import Situation, derived
from intents_ui.display.transfers.transfer_data import Facts

# The characters that people compare, and attackers imitate.
EACH_SIDE = 4


@dataclass(frozen=True)
class Party:
    """An address and its role in the transfer: `owner`, `deposit address`, …"""

    role: str
    address: str
    chain_id: int | None


@dataclass(frozen=True)
class Pair:
    """Two different addresses that look the same."""

    one: Party
    other: Party


@derived
def of(situation: Situation) -> tuple[Pair, ...]:
    """Return every such pair once. An address can have several roles. Addresses that aren't hex are ignored."""
    parties: dict[str, Party] = {}
    for party in _parties(situation.facts):
        parties.setdefault(party.address, party)
    pairs = combinations(parties.values(), 2)
    return tuple(Pair(one, other) for one, other in pairs if _ends(one.address) == _ends(other.address))


def _parties(facts: Facts) -> Iterator[Party]:
    origin, destination = facts.origin_chain_id, facts.destination_chain_id
    deposit, refund = facts.deposit, facts.refund
    named = (
        ("owner", facts.owner, origin),
        ("recipient", facts.recipient, destination),
        ("deposit address", facts.deposit_address, origin),
        ("destination intent address", facts.delivery_address, destination),
        (
            "address that sent the deposit",
            deposit.from_address if deposit else None,
            deposit.chain_id if deposit else None,
        ),
        ("refund address", refund.to_address if refund else None, refund.chain_id if refund else None),
    )
    for role, address, chain_id in named:
        known = hashes.canonical_address(address) if address else None
        if known:
            yield Party(role, known, chain_id)


def _ends(address: str) -> tuple[str, str]:
    digits = address.removeprefix("0x")
    return digits[:EACH_SIDE], digits[-EACH_SIDE:]
