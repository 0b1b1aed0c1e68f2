"""Places where a transfer's funds can be, their addresses, and the furthest place that the steps confirm."""

from enum import StrEnum

from intents_ui.display.transfers.step_status import UNDER_WAY, Leg
from intents_ui.display.transfers.transfer_data import Facts


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
    if facts.is_delivered or destination is Leg.DONE:
        return Place.RECIPIENT
    came_over = origin is Leg.DONE and (facts.is_same_chain or destination is Leg.QUEUED)
    if came_over or destination in (Leg.MOVING, Leg.REJECTED):
        return Place.DELIVERY_ADDRESS
    if origin is Leg.DONE or destination is Leg.RETRYING:
        return Place.DELIVERY_ADDRESS if facts.is_same_chain else Place.PROVIDER
    is_paid = deposit is Leg.DONE or origin in UNDER_WAY | {Leg.REJECTED}
    return Place.DEPOSIT_ADDRESS if is_paid else Place.OWNER


def start_of_the_return(facts: Facts) -> Place:
    """Return where funds are after a failed refund: on the refund's chain, unless the steps say otherwise."""
    _, origin, destination = facts.legs
    side = side_of(facts.refund.chain_id if facts.refund else None, facts)
    crossed = destination in UNDER_WAY | {Leg.REJECTED} or (origin is Leg.DONE and not facts.is_same_chain)
    is_elsewhere = destination is Leg.DONE or (crossed and side is Place.DEPOSIT_ADDRESS)
    return Place.UNKNOWN if is_elsewhere else side


def is_further(one: Place, other: Place) -> bool:
    """Return whether both are on the way to the recipient and the first is beyond the other."""
    return one in WAY and other in WAY and WAY.index(one) > WAY.index(other)
