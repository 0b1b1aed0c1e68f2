"""Places where a transfer's funds can be, and balances there."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from intents_ui.display.tokens.token_amounts import Money


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
