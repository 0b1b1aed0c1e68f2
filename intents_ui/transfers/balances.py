"""Balances of a transfer's intent addresses, and what they change in its summary.

A missing price is not a price of 0, and a balance that wasn't loaded is not a balance of 0.

Also the transfers with a recoverable balance, and what they hold.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from functools import cached_property

from intents_ui.formatting import amounts
from intents_ui.service.models import BalanceGroup, TokenBalance
from intents_ui.transfers import summary
from intents_ui.transfers.transfer import Transfer, derived

DEPOSIT_ADDRESS = "deposit address"
DELIVERY_ADDRESS = "destination intent address"
OTHER_ADDRESS = "another address"
UNNAMED_ADDRESS = "an unnamed address"


class ValueStatus(StrEnum):
    """What is known about a balance's value."""

    PRICED = "priced"
    UNPRICED = "unpriced"  # its value in USD is not reported
    WORTHLESS = "worthless"  # its price is 0
    NOTHING = "nothing"  # a balance of 0
    UNKNOWN = "unknown"  # the amount is not reported


@dataclass(frozen=True)
class AddressHolding:
    """The balance of one token at one address. `side.usd` and `price` (of one token) come from the service."""

    side: summary.Side
    price: Decimal | None
    worth: ValueStatus
    called: str
    address: str | None

    @property
    def is_held(self) -> bool:
        return self.worth is not ValueStatus.NOTHING

    @property
    def is_priced(self) -> bool:
        return self.worth in (ValueStatus.PRICED, ValueStatus.WORTHLESS)

    @property
    def said(self) -> str:
        """Return `$79.71`, or why there is no value."""
        match self.worth:
            case ValueStatus.PRICED:
                return amounts.usd(self.side.usd)
            case ValueStatus.WORTHLESS:
                return "priced at $0"
            case ValueStatus.NOTHING:
                return "nothing"
            case ValueStatus.UNKNOWN:
                return "amount not reported"
            case ValueStatus.UNPRICED:
                return "no price" if self.price is None else "value not reported"

    @property
    def each(self) -> str:
        """Return `$1.00 each` if the price is informative."""
        return f"{amounts.usd(self.price)} each" if self.price and self.is_held else ""


@dataclass(frozen=True)
class Address:
    """An intent address on a chain; without `holdings` it is empty."""

    called: str
    address: str | None
    chain: str
    chain_id: int | None
    holdings: tuple[AddressHolding, ...]


@dataclass(frozen=True)
class Value:
    """The total of the holdings that have a USD price, and how many have one."""

    usd: Decimal
    priced: int
    of: int

    @property
    def shown(self) -> str:
        """`$79.71`; `no price` when no token has one."""
        return amounts.usd(self.usd) if self.priced else "no price"

    @property
    def rests_on(self) -> str:
        """Return `2 of 3 tokens priced` if some have no price."""
        return "" if self.priced in (0, self.of) else f"{self.priced} of {self.of} tokens priced"

    @property
    def heard(self) -> str:
        """Return `$79.71, 2 of 3 tokens priced` or `funds without a USD price`."""
        shown = self.shown if self.priced else "funds without a USD price"
        return f"{shown}, {self.rests_on}" if self.rests_on else shown


@dataclass(frozen=True)
class AddressBalances:
    """`sentence` replaces the addresses or explains them. `value` None: no funds."""

    addresses: tuple[Address, ...] = ()
    value: Value | None = None
    sentence: str = ""

    @property
    def are_zero(self) -> bool:
        """Return whether the service reports that all addresses are empty."""
        return self.sentence == NOTHING


NOT_THERE = "Balances unavailable: this transfer isn't in the owner's history."
NOT_SAID = "Balances unavailable: the service didn't report them."
NOTHING = "No funds at this transfer's intent addresses."
UNNAMED = "The service reports a balance but not at which address."
NOT_COUNTED = "Not recoverable, according to the service."
NO_OWNER = "Balances unavailable: no owner is recorded for this transfer."
NO_TIME = "Balances unavailable: no creation time is recorded for this transfer."


def of(transfer: Transfer, *, is_listed: bool) -> AddressBalances:
    """`is_listed`: the owner's history holds the transfer, so the service can report its balances."""
    has_balance = transfer.has_balance
    if transfer.owner is None and not is_listed:
        return AddressBalances(sentence=NO_OWNER)
    if not is_listed:
        return AddressBalances(sentence=NO_TIME if transfer.quoted_at is None else NOT_THERE)
    found = addresses(transfer)
    held = [holding for address in found for holding in address.holdings if holding.is_held]
    if held:
        return AddressBalances(found, value(held), NOT_COUNTED if has_balance is False else "")
    return AddressBalances(found, sentence={None: NOT_SAID, False: NOTHING, True: UNNAMED}[has_balance])


def heard(found: AddressBalances) -> str:
    """Return what screen readers announce once the balances have loaded: one line, not every amount and button."""
    lines = [f"Intent address balances: {found.value.heard}."] if found.value else []
    lines += [found.sentence] if found.sentence else []
    return " ".join(lines)


def addresses(transfer: Transfer) -> tuple[Address, ...]:
    return tuple(_address(group, transfer) for group in transfer.balances.groups)


def _address(group: BalanceGroup, transfer: Transfer) -> Address:
    chain_id = group.chain_id or None
    return Address(
        called=_called(group, transfer),
        address=group.intent_address,
        chain=transfer.chain_name(chain_id),
        chain_id=chain_id,
        holdings=tuple(_holding(token, group, transfer) for token in group.tokens),
    )


def _called(group: BalanceGroup, transfer: Transfer) -> str:
    """Return the address's name. A transfer may have the same address on both chains."""
    if group.intent_address is None:
        return UNNAMED_ADDRESS
    address = group.intent_address.lower()
    places = (
        (DEPOSIT_ADDRESS, transfer.deposit_address, transfer.origin_chain_id),
        (DELIVERY_ADDRESS, transfer.delivery_address, transfer.destination_chain_id),
    )
    same = [(called, chain_id) for called, known, chain_id in places if known and known.lower() == address]
    on_its_chain = [called for called, chain_id in same if chain_id == group.chain_id]
    return next(iter([*on_its_chain, *(called for called, _ in same)]), OTHER_ADDRESS)


def _holding(token: TokenBalance, group: BalanceGroup, transfer: Transfer) -> AddressHolding:
    worth = _worth(token)
    return AddressHolding(
        side=summary.Side(
            transfer.held(token, inside=group), token.balance_usd if worth is ValueStatus.PRICED else None
        ),
        price=token.price_usd,
        worth=worth,
        called=_called(group, transfer),
        address=group.intent_address,
    )


def _worth(token: TokenBalance) -> ValueStatus:
    """Return the worth. A value of 0 without a price means that the price is unknown."""
    if token.balance is None:
        return ValueStatus.UNKNOWN
    if token.balance == 0:
        return ValueStatus.NOTHING
    if token.balance_usd:
        return ValueStatus.PRICED
    if token.price_usd is None:
        return ValueStatus.UNPRICED
    if token.price_usd == 0:
        return ValueStatus.WORTHLESS
    return ValueStatus.UNPRICED if token.balance_usd is None else ValueStatus.PRICED


def value(holdings: Iterable[AddressHolding]) -> Value:
    held = tuple(holdings)
    known = [holding.side.usd or Decimal(0) for holding in held if holding.is_priced]
    return Value(amounts.total(known), len(known), len(held))


def holdings(transfer: Transfer) -> Iterator[AddressHolding]:
    """Return all balances above 0, at any address."""
    for address in addresses(transfer):
        yield from (each for each in address.holdings if each.is_held)


LAST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class RecoverableRow:
    """A transfer and the balances at its intent addresses, each derived on first use: counts need neither."""

    transfer: Transfer

    @property
    def summary(self) -> summary.Summary:
        return summary.of(self.transfer)

    @cached_property
    def holdings(self) -> tuple[AddressHolding, ...]:
        """The balances above 0. Empty if the service reported no amounts."""
        return tuple(holdings(self.transfer))

    @cached_property
    def value(self) -> Value:
        return value(self.holdings)

    @property
    def intent_id(self) -> str:
        return self.transfer.intent.intent_id

    @property
    def created_at(self) -> datetime | None:
        return self.transfer.quoted_at


@dataclass(frozen=True)
class Worklist:
    """Transfers with a recoverable balance, oldest first, and the sum of their balances."""

    rows: tuple[RecoverableRow, ...]
    value: Value


def worklist(found: Sequence[Transfer]) -> Worklist:
    """Return the worklist of a list's rows, which have their balances."""
    held = [
        recoverable_row(each)
        for each in found
        if each.balances.has_balance is not False
        or any(token.balance != 0 for group in each.balances.groups for token in group.tokens)
    ]
    rows = tuple(sorted(held, key=by_age))
    return Worklist(rows, value(holding for row in rows for holding in row.holdings))


@derived
def recoverable_row(transfer: Transfer) -> RecoverableRow:
    """Return a transfer as a row, the same one for the same transfer."""
    return RecoverableRow(transfer)


def by_age(row: RecoverableRow) -> tuple[datetime, str]:
    """Sort the oldest first."""
    return row.created_at or LAST, row.intent_id
