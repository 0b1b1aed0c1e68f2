"""The expected deposit, and what is known of the received one from its transaction and the address's balance."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum, auto

from intents_ui.display.tokens import token_amounts
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.display.transfers.transfer import Transfer, derived, first
from intents_ui.service.models import IntentStatus, IntentTransaction
from intents_ui.service.outcome import StepStatus, has_hash

NO_DEPOSIT = IntentTransaction()
NOT_BEGUN = frozenset({StepStatus.ABSENT, StepStatus.WAITING, StepStatus.QUEUED, StepStatus.GIVEN_UP})


class Mismatch(StrEnum):
    """How what was received differs from the expected deposit."""

    CHAIN = auto()
    TOKEN = auto()
    TOO_LITTLE = auto()


@dataclass(frozen=True)
class Payment:
    """A deposit. `expected` is the requested amount, `least` the minimum (base units), `deadline` the end of its
    validity.

    `held`: balances of the deposit address, None if unchecked. `strays`: balances of the same address on a wrong
    chain.
    """

    transfer: Transfer
    expected: Money
    least: int | None
    address: str | None
    deadline: datetime | None
    held: tuple[Money, ...] | None
    strays: tuple[Money, ...]

    @property
    def leg(self) -> StepStatus:
        return self.transfer.legs[0]

    @property
    def deposit(self) -> IntentTransaction:
        return self.transfer.deposit or NO_DEPOSIT

    @property
    def is_confirmed(self) -> bool:
        return self.leg is StepStatus.DONE

    @property
    def is_reported(self) -> bool:
        """Return whether the deposit has a real hash, so that its fields describe a transaction."""
        return has_hash(self.transfer.deposit)

    @property
    def is_used(self) -> bool:
        """Return whether the first step has used the deposit, so that any balance at the address is left over."""
        return self.transfer.legs[1] is StepStatus.DONE or self.transfer.is_delivered

    @property
    def is_idle(self) -> bool:
        """Return whether no step has used the confirmed deposit."""
        transfer = self.transfer
        is_refunded = transfer.returning is not StepStatus.ABSENT or transfer.status == IntentStatus.REFUNDED
        return self.is_confirmed and {*transfer.legs[1:]} <= NOT_BEGUN and not is_refunded

    @property
    def named(self) -> Money:
        """Return the deposit's own amount, which is reliable only once it is confirmed."""
        return self.transfer.reported_deposit

    @property
    def right(self) -> int | None:
        """Return the deposit address's balance of the expected token, None if unchecked."""
        if self.held is None:
            return None
        return sum(money.value or 0 for money in self.held if token_amounts.is_same_token(money, self.expected))

    @property
    def others(self) -> tuple[Money, ...]:
        """Return the deposit address's balances of other tokens."""
        return tuple(money for money in self.held or () if not token_amounts.is_same_token(money, self.expected))

    @property
    def found(self) -> Sequence[Money]:
        """Return the confirmed deposit, otherwise the address's balances, otherwise the submitted deposit."""
        if self.is_confirmed:
            return (self.named,)
        return self.held or self.strays or ((self.named,) if self.is_reported else ())

    @property
    def found_chain_id(self) -> int | None:
        if self.is_confirmed or (self.is_reported and not self.held):
            return first(self.deposit.chain_id, self.expected.chain_id)
        return next((money.chain_id for money in self.found), None)

    @property
    def is_elsewhere(self) -> bool:
        named, expected = self.deposit.chain_id, self.expected.chain_id
        is_told = self.is_confirmed or self.is_reported
        return is_told and named is not None and expected is not None and named != expected

    @property
    def mismatch(self) -> Mismatch | None:
        """Return what is wrong with the confirmed deposit, or else with the balance."""
        is_held = bool(self.held)
        if self.is_elsewhere or (self.strays and not (self.is_confirmed or is_held)):
            return Mismatch.CHAIN
        if not (self.is_confirmed or is_held):
            return None
        is_another = token_amounts.is_another_token(self.named, self.expected) if self.is_confirmed else not self.right
        if is_another:
            return Mismatch.TOKEN
        return Mismatch.TOO_LITTLE if self.lacking else None

    @property
    def there(self) -> int | None:
        """Return the amount of the expected token known to have arrived."""
        if not self.is_confirmed:
            return self.right
        return None if token_amounts.is_another_token(self.named, self.expected) else self.named.value

    @property
    def leftover(self) -> int:
        return (self.right or 0) if self.is_used else 0

    @property
    def lacking(self) -> int:
        return 0 if self.there is None or self.least is None else max(0, self.least - self.there)

    @property
    def excess(self) -> int:
        """Return the amount above the request, or left over."""
        if self.is_used:
            return self.leftover
        return 0 if self.there is None or self.expected.value is None else max(0, self.there - self.expected.value)

    @property
    def late_by(self) -> timedelta | None:
        """Return the time from the deadline to the confirmation, negative if before the deadline."""
        mined = self.transfer.mined_at(self.deposit) if self.is_confirmed else None
        return mined - self.deadline if mined and self.deadline else None


@derived
def of(transfer: Transfer) -> Payment:
    """Return the expected and the received deposit."""
    is_unknown = transfer.has_balance is None or (transfer.has_balance and not transfer.holdings)
    balances = None if is_unknown else transfer.balances.groups
    expected, address = transfer.expected_deposit, transfer.deposit_address
    groups = [group for group in balances or () if token_amounts.is_same_address(group.intent_address, address)]
    there = [transfer.held(token, inside=group) for group in groups for token in group.tokens if token.balance]
    held = tuple(money for money in there if money.chain_id == expected.chain_id)
    return Payment(
        transfer=transfer,
        expected=expected,
        least=_least(transfer, expected),
        address=address,
        deadline=first(transfer.execute_by, transfer.expires_at),
        held=None if balances is None else held,
        strays=tuple(money for money in there if _is_stray(money, expected, transfer)),
    )


def _least(transfer: Transfer, expected: Money) -> int | None:
    """Return the balance that the first step requires at the deposit address."""
    needed = transfer.intent.origin_precondition
    if (
        needed
        and needed.min_amount is not None
        and token_amounts.is_same_address(needed.owner_address, transfer.deposit_address)
    ):
        of = transfer.money(None, first(needed.chain_id, expected.chain_id), needed.token_address)
        if token_amounts.is_same_token(of, expected):
            return needed.min_amount
    return first(transfer.quote.from_amount_min, expected.value)


def _is_stray(money: Money, expected: Money, transfer: Transfer) -> bool:
    """Compare chain and address: a transfer may have the same address on both of its chains."""
    belongs = {expected.chain_id}
    if token_amounts.is_same_address(transfer.delivery_address, transfer.deposit_address):
        belongs.add(transfer.destination_chain_id)
    return money.chain_id is not None and money.chain_id not in belongs
