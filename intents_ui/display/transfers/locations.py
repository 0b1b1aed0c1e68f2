"""Places where a transfer's funds can be, their addresses, the furthest place that the steps confirm, and
the on-chain balances of the two intent addresses."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from intents_ui.display.formatting import hashes
from intents_ui.display.tokens import token_amounts
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.display.transfers.transfer_data import Facts
from intents_ui.service.models import BalanceGroup
from intents_ui.service.outcome import UNDER_WAY, StepStatus


class Place(StrEnum):
    OWNER = "owner"
    DEPOSIT_ADDRESS = "deposit-address"
    PROVIDER = "provider"
    DELIVERY_ADDRESS = "delivery-address"
    RECIPIENT = "recipient"
    RETURNING = "returning"
    RETURNED = "returned"
    UNKNOWN = "unknown"


# In the order of a transfer.
WAY = (Place.OWNER, Place.DEPOSIT_ADDRESS, Place.PROVIDER, Place.DELIVERY_ADDRESS, Place.RECIPIENT)


def chain_of(place: Place, facts: Facts) -> int | None:
    """Return a location's chain, None if between chains or unknown."""
    match place:
        case Place.OWNER | Place.DEPOSIT_ADDRESS:
            return facts.origin_chain_id
        case Place.DELIVERY_ADDRESS | Place.RECIPIENT:
            return facts.destination_chain_id
        case Place.RETURNING | Place.RETURNED:
            return facts.refund.chain_id if facts.refund else None
        case _:
            return None


def address_of(place: Place, facts: Facts) -> str | None:
    match place:
        case Place.OWNER:
            return facts.owner
        case Place.DEPOSIT_ADDRESS:
            return facts.deposit_address
        case Place.DELIVERY_ADDRESS:
            return facts.delivery_address or (facts.deposit_address if facts.is_same_chain else None)
        case Place.RECIPIENT:
            return facts.recipient or facts.owner
        case Place.RETURNING | Place.RETURNED:
            return facts.refund.to_address if facts.refund else None
        case _:
            return None


def side_of(chain_id: int | None, facts: Facts) -> Place:
    """Return which of the two intent addresses is on that chain."""
    if chain_id is None or chain_id not in (facts.origin_chain_id, facts.destination_chain_id):
        return Place.UNKNOWN
    return Place.DEPOSIT_ADDRESS if chain_id == facts.origin_chain_id else Place.DELIVERY_ADDRESS


def last_confirmed(facts: Facts) -> Place:
    """Return the place after the last step that succeeded, or that must have because a later one began."""
    deposit, origin, destination = facts.legs
    if facts.is_delivered or destination is StepStatus.DONE:
        return Place.RECIPIENT
    came_over = origin is StepStatus.DONE and (facts.is_same_chain or destination is StepStatus.QUEUED)
    if came_over or destination in (StepStatus.MOVING, StepStatus.REJECTED):
        return Place.DELIVERY_ADDRESS
    if origin is StepStatus.DONE or destination is StepStatus.RETRYING:
        return Place.DELIVERY_ADDRESS if facts.is_same_chain else Place.PROVIDER
    is_paid = deposit is StepStatus.DONE or origin in UNDER_WAY | {StepStatus.REJECTED}
    return Place.DEPOSIT_ADDRESS if is_paid else Place.OWNER


def start_of_the_return(facts: Facts) -> Place:
    """Return where funds are after a failed refund: on the refund's chain, unless the steps say otherwise."""
    _, origin, destination = facts.legs
    side = side_of(facts.refund.chain_id if facts.refund else None, facts)
    crossed = destination in UNDER_WAY | {StepStatus.REJECTED} or (
        origin is StepStatus.DONE and not facts.is_same_chain
    )
    is_elsewhere = destination is StepStatus.DONE or (crossed and side is Place.DEPOSIT_ADDRESS)
    return Place.UNKNOWN if is_elsewhere else side


def is_further(one: Place, other: Place) -> bool:
    """Return whether both are on the way to the recipient and the first is beyond the other."""
    return one in WAY and other in WAY and WAY.index(one) > WAY.index(other)


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
