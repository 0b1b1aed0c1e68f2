"""On-chain balances of a transfer's two intent addresses, from its history entry."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from intents_ui.display.formatting import hashes
from intents_ui.display.tokens import token_amounts
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.display.transfers.locations import Place, side_of
from intents_ui.display.transfers.transfer_data import Facts
from intents_ui.service.wire.models import BalanceGroup


@dataclass(frozen=True)
class Holding:
    """Balances of one address on one chain; `at` is the intent address that it is, if any."""

    at: Place
    chain_id: int | None
    address: str | None
    sums: tuple[Money, ...]
    usd: Decimal = Decimal(0)


def holdings(balances: Sequence[BalanceGroup], facts: Facts) -> tuple[Holding, ...]:
    """Return the non-empty addresses, most valuable first."""
    found = [held for group in balances if (held := _holding(group, facts))]
    return tuple(sorted(found, key=lambda held: held.usd, reverse=True))


def _holding(group: BalanceGroup, facts: Facts) -> Holding | None:
    there = [token for token in group.tokens if token.balance and token.balance > 0]
    if not there:
        return None
    chain_id = group.chain_id or next((token.chain_id for token in there if token.chain_id), None)
    return Holding(
        at=_at(group.intent_address, chain_id, facts),
        chain_id=chain_id,
        address=group.intent_address,
        sums=tuple(token_amounts.held(token, inside=group) for token in there),
        usd=sum((token.balance_usd for token in there if token.balance_usd), Decimal(0)),
    )


def _at(address: str | None, chain_id: int | None, facts: Facts) -> Place:
    """Return the place. On a single chain the address decides, if the transfer has a delivery step."""
    side = side_of(chain_id, facts)
    has_two = facts.is_same_chain and facts.destination is not None
    is_second = has_two and _is_same(address, facts.delivery_address) and not _is_same(address, facts.deposit_address)
    return Place.DELIVERY_ADDRESS if is_second else side


def _is_same(one: str | None, other: str | None) -> bool:
    if one is None or other is None:
        return False
    return (hashes.canonical_address(one) or one) == (hashes.canonical_address(other) or other)
