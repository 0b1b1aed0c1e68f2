"""The places that the money of a transfer can be at, and their addresses."""

from enum import StrEnum

from intents_ui.display.facts import Facts


class Place(StrEnum):
    OWNER = "owner"
    DEPOSIT_ADDRESS = "deposit-address"
    PROVIDER = "provider"
    DELIVERY_ADDRESS = "delivery-address"
    RECIPIENT = "recipient"
    RETURNING = "returning"
    RETURNED = "returned"
    UNKNOWN = "unknown"


def chain_of(place: Place, facts: Facts) -> int | None:
    """None for what is between chains, or on one that is not known."""
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
