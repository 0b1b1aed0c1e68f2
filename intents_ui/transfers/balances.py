"""Balances of a transfer's intent addresses, and what they change in its summary.

A missing price is not a price of 0, and a balance that wasn't loaded is not a balance of 0.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from intents_ui.formatting import amounts
from intents_ui.service.models import BalanceGroup, TokenBalance
from intents_ui.tokens import token_amounts
from intents_ui.transfers import summary
from intents_ui.transfers.transfer import Transfer, derived


@dataclass(frozen=True)
class AddressHolding:
    """The balance of one token at an address, which is `called` so. `said`: its value, or why there is none.

    `side.usd` and `price` (of one token) come from the service. A price of 0 counts as one, but not as a value.
    """

    side: summary.Side
    said: str
    price: Decimal | None
    is_priced: bool
    called: str

    @property
    def is_held(self) -> bool:
        return self.side.money.value != 0

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
    if not is_listed:
        missing = NO_OWNER if transfer.owner is None else NO_TIME if transfer.quoted_at is None else NOT_THERE
        return AddressBalances(sentence=missing)
    found = addresses(transfer)
    if held := holdings(transfer):
        return AddressBalances(found, total(held), NOT_COUNTED if has_balance is False else "")
    return AddressBalances(found, sentence={None: NOT_SAID, False: NOTHING, True: UNNAMED}[has_balance])


def heard(found: AddressBalances) -> str:
    """Return what screen readers announce once the balances have loaded: one line, not every amount and button."""
    value = f"Intent address balances: {found.value.heard}." if found.value else ""
    return f"{value} {found.sentence}".strip()


def addresses(transfer: Transfer) -> tuple[Address, ...]:
    return tuple(
        Address(
            called=_called(group, transfer),
            address=group.intent_address,
            chain=transfer.chain_name(group.chain_id or None),
            chain_id=group.chain_id or None,
            holdings=tuple(_holding(token, group, transfer) for token in group.tokens),
        )
        for group in transfer.balances.groups
    )


def _called(group: BalanceGroup, transfer: Transfer) -> str:
    """Return the address's name. A transfer may have the same address on both chains."""
    if group.intent_address is None:
        return "an unnamed address"
    places = (
        ("deposit address", transfer.deposit_address, transfer.origin_chain_id),
        ("destination intent address", transfer.delivery_address, transfer.destination_chain_id),
    )
    same = [
        (chain_id != group.chain_id, called)
        for called, known, chain_id in places
        if token_amounts.is_same_address(known, group.intent_address)
    ]
    return min(same, default=(True, "another address"))[1]


def _holding(token: TokenBalance, group: BalanceGroup, transfer: Transfer) -> AddressHolding:
    usd, price = None, token.price_usd
    if not token.balance:
        said = "amount not reported" if token.balance is None else "nothing"
    # A value of 0 without a price means that the price is unknown.
    elif token.balance_usd or (token.balance_usd is not None and price):
        usd = token.balance_usd
        said = amounts.usd(usd)
    else:
        said = "no price" if price is None else "value not reported" if price else "priced at $0"
    side = summary.Side(transfer.balance_of(token, inside=group), usd)
    is_priced = usd is not None or (bool(token.balance) and price == 0)
    return AddressHolding(side, said, price, is_priced, _called(group, transfer))


def total(holdings: Iterable[AddressHolding]) -> Value:
    held = tuple(holdings)
    known = [holding.side.usd or Decimal(0) for holding in held if holding.is_priced]
    return Value(amounts.total(known), len(known), len(held))


@derived
def holdings(transfer: Transfer) -> tuple[AddressHolding, ...]:
    """Return all balances above 0, at any address. None if the service reported no amounts."""
    return tuple(each for address in addresses(transfer) for each in address.holdings if each.is_held)
