"""Places where a transfer's funds can be, and balances there."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Self

from intents_ui.service.models import BalanceGroup, IntentHistory
from intents_ui.tokens.token_amounts import Money


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


class Check(StrEnum):
    """Whether the service has read the balances of the intent addresses from the chains."""

    CHECKED = "checked"
    PENDING = "pending"  # the lookup runs, and a newer response will follow
    UNCHECKED = "unchecked"


@dataclass(frozen=True)
class Balances:
    """Balances of a transfer's intent addresses from its history entry, or that they are unknown.

    `has_balance`: whether funds are left, None if unchecked. `groups` can be empty although funds are left, if the
    service didn't report the amounts. `checked_at`: when the service read the chains.
    """

    check: Check = Check.UNCHECKED
    has_balance: bool | None = None
    groups: tuple[BalanceGroup, ...] = ()
    checked_at: datetime | None = None

    @classmethod
    def of_entry(cls, entry: IntentHistory, *, checked_at: datetime | None = None) -> Self:
        """Return the balances of a history entry, or unchecked if it was requested without them."""
        has = has_balance(entry)
        if has is None:
            return cls()
        return cls(Check.CHECKED, has, entry.balances, checked_at)


UNCHECKED = Balances()
PENDING = Balances(Check.PENDING)


def has_balance(entry: IntentHistory) -> bool | None:
    """Return whether the intent addresses hold funds. None: not reported, and none listed."""
    if entry.has_balance is not None:
        return entry.has_balance
    return True if any(token.balance for group in entry.balances for token in group.tokens) else None
