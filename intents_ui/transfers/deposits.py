"""Deposit check: the expected deposit, and what is known of the received one from its transaction and the address's
balance, row by row. It has no verdict: the summary has the only one.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum, auto
from functools import cached_property
from typing import Literal

from intents_ui.formatting import hashes, text, times
from intents_ui.formatting.text import UNKNOWN, Sentence, joined
from intents_ui.service.models import UNEXECUTED, IntentStatus, IntentTransaction
from intents_ui.service.outcome import DEAD, StepStatus, has_hash
from intents_ui.tokens import token_amounts
from intents_ui.tokens.token_amounts import Money
from intents_ui.transfers import statuses
from intents_ui.transfers.statuses import StatusLabel, Tone
from intents_ui.transfers.transfer import Transfer, first

NO_DEPOSIT = IntentTransaction()
NOT_BEGUN = frozenset({StepStatus.ABSENT, StepStatus.WAITING, StepStatus.QUEUED, StepStatus.GIVEN_UP})


class Mismatch(StrEnum):
    """How what was received differs from the expected deposit."""

    CHAIN = auto()
    TOKEN = auto()
    TOO_LITTLE = auto()


LABELS = statuses.labels("deposit")
AMOUNT = "Amount"
NOTHING_FOUND = ("not-seen", "not-accepted", "placeholder")


@dataclass(frozen=True)
class CheckRow:
    """`state` is the name of the result's label, `kind` the format of `expected` and `found`, which may be ""."""

    label: str
    expected: str
    found: str
    state: str
    kind: Literal["text", "address", "hash"] = "text"
    chain_id: int | None = None

    @property
    def result(self) -> StatusLabel:
        return LABELS[self.state]


class DepositCheck:
    """The expected deposit of a transfer (`expected`, at `address`), and what was received."""

    def __init__(self, transfer: Transfer) -> None:
        self.transfer = transfer
        self.expected = transfer.expected_deposit
        self.address = transfer.deposit_address
        self.deadline = first(transfer.execute_by, transfer.expires_at)
        self.deposit = transfer.deposit or NO_DEPOSIT
        self._state = transfer.legs[0]
        self.is_confirmed = self._state is StepStatus.DONE
        # A real hash, so that the deposit's fields describe a transaction.
        self.is_reported = has_hash(transfer.deposit)
        # The first step has used the deposit, so any balance at the address is left over.
        self.is_used = transfer.legs[1] is StepStatus.DONE or transfer.is_delivered

    @cached_property
    def least(self) -> int | None:
        """The balance that the first step requires at the deposit address, in base units."""
        needed = self.transfer.intent.origin_precondition
        if (
            needed
            and needed.min_amount is not None
            and token_amounts.is_same_address(needed.owner_address, self.address)
        ):
            chain_id = first(needed.chain_id, self.expected.chain_id)
            if token_amounts.is_same_token(self.transfer.money(None, chain_id, needed.token_address), self.expected):
                return needed.min_amount
        return first(self.transfer.quote.from_amount_min, self.expected.value)

    @cached_property
    def _there(self) -> tuple[Money, ...] | None:
        """Balances of the address on all chains, None if unknown."""
        transfer = self.transfer
        if transfer.has_balance is None or (transfer.has_balance and not transfer.holdings):
            return None
        groups = transfer.balances.groups
        at = [group for group in groups if token_amounts.is_same_address(group.intent_address, self.address)]
        return tuple(
            transfer.balance_of(token, inside=group) for group in at for token in group.tokens if token.balance
        )

    @cached_property
    def held(self) -> tuple[Money, ...] | None:
        """Balances of the deposit address, None if unknown."""
        there = self._there
        return there and tuple(money for money in there if money.chain_id == self.expected.chain_id)

    @cached_property
    def wrong_chain_balances(self) -> tuple[Money, ...]:
        """Balances of the same address on a wrong chain. A transfer may have one address on both of its chains."""
        belongs = {None, self.expected.chain_id}
        if token_amounts.is_same_address(self.transfer.delivery_address, self.address):
            belongs.add(self.transfer.destination_chain_id)
        return tuple(money for money in self._there or () if money.chain_id not in belongs)

    @property
    def is_idle(self) -> bool:
        """Return whether no step has used the confirmed deposit."""
        transfer = self.transfer
        is_refunded = transfer.returning is not StepStatus.ABSENT or transfer.status == IntentStatus.REFUNDED
        return self.is_confirmed and {*transfer.legs[1:]} <= NOT_BEGUN and not is_refunded

    @cached_property
    def right(self) -> int | None:
        """Return the deposit address's balance of the expected token, None if unchecked."""
        if self.held is None:
            return None
        return sum(money.value or 0 for money in self.held if token_amounts.is_same_token(money, self.expected))

    @property
    def found(self) -> Sequence[Money]:
        """Return the confirmed deposit, otherwise the address's balances, otherwise the submitted deposit."""
        reported = (self.transfer.reported_deposit,)
        if self.is_confirmed:
            return reported
        return self.held or self.wrong_chain_balances or (reported if self.is_reported else ())

    @property
    def is_elsewhere(self) -> bool:
        named, expected = self.deposit.chain_id, self.expected.chain_id
        is_told = self.is_confirmed or self.is_reported
        return is_told and named is not None and expected is not None and named != expected

    @property
    def mismatch(self) -> Mismatch | None:
        """Return what is wrong with the confirmed deposit, or else with the balance."""
        if self.is_elsewhere or (self.wrong_chain_balances and not (self.is_confirmed or self.held)):
            return Mismatch.CHAIN
        if not (self.is_confirmed or self.held):
            return None
        if self._is_another_token if self.is_confirmed else not self.right:
            return Mismatch.TOKEN
        return Mismatch.TOO_LITTLE if self.lacking else None

    @property
    def _is_another_token(self) -> bool:
        return token_amounts.is_another_token(self.transfer.reported_deposit, self.expected)

    @cached_property
    def there(self) -> int | None:
        """Return the amount of the expected token known to have arrived."""
        if not self.is_confirmed:
            return self.right
        return None if self._is_another_token else self.transfer.reported_deposit.value

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

    # The check, row by row

    @cached_property
    def rows(self) -> tuple[CheckRow, ...]:
        """Return no rows if the deposit arrived as expected and was used."""
        if not self._is_shown:
            return ()
        expected = self._in_words(self.expected.value)
        if self.least not in (self.expected.value, None):
            expected = Sentence(expected, ", at least ", self._in_words(self.least))
        return (
            CheckRow("Chain", self.transfer.chain_name(self.expected.chain_id, unknown=UNKNOWN), *self._chain()),
            CheckRow("Token", *self._token()),
            CheckRow(AMOUNT, expected, *self._amount()),
            CheckRow("Deposit address", self.address or "", *self._address(), "address", self.expected.chain_id),
            CheckRow("Deadline", times.utc(self.deadline, now=self.transfer.now), *self._deadline()),
            self._transaction(),
        )

    @property
    def findings(self) -> tuple[CheckRow, ...]:
        """Return the amount, and the other rows about which something is known."""
        return tuple(row for row in self.rows if row.label == AMOUNT or row.state not in NOTHING_FOUND)

    @property
    def needs_attention(self) -> bool:
        """Return whether something was observed that isn't as expected."""
        is_off = any(row.result.tone in (Tone.ATTENTION, Tone.BAD) for row in self.rows)
        return bool(self.found) and is_off

    @property
    def _is_shown(self) -> bool:
        transfer = self.transfer
        if transfer.is_unread:
            return False
        if transfer.is_delivered:
            return self.leftover > 0
        # A later step implies the deposit, whatever its own status.
        if transfer.has_arrived and not self.is_confirmed:
            return self.is_elsewhere
        if self.mismatch or self.excess:
            return True
        # Ended, or without the receipt that would tell.
        if transfer.status in (IntentStatus.SUCCEEDED, IntentStatus.REFUNDED):
            return False
        if transfer.lacks_its_receipt and transfer.status != IntentStatus.EXECUTING:
            return False
        if self.is_confirmed:
            return self.is_idle
        # Funds elsewhere, or of unknown amount, imply one that can't be checked.
        return not transfer.has_balance or bool(self.held)

    def _in_words(self, value: int | None) -> str:
        """Return an amount of the expected token."""
        return replace(self.expected, value=value).in_words()

    def _chain(self) -> tuple[str, str]:
        """Return what was found, and the state of this row, as the next ones do."""
        wanted, found = self.expected.chain_id, next((money.chain_id for money in self.found), None)
        if self.is_confirmed or (self.is_reported and not self.held):
            found = first(self.deposit.chain_id, wanted)
        if found is None or (found == wanted and self._was_not_received()):
            return UNKNOWN, "not-seen"
        state = "not-known" if wanted is None else self._certainty() if found == wanted else "mismatch"
        return self.transfer.chain_name(found), state

    def _token(self) -> tuple[str, str, str]:
        """Return the expected token, too."""
        expected, found = _names_of([self.expected]), _names_of(self.found)
        # A differing chain has its own row.
        on_chain = [replace(money, chain_id=self.expected.chain_id) for money in self.found]
        is_other = all(token_amounts.is_another_token(money, self.expected) for money in on_chain)
        if not self.found or (not is_other and self._was_not_received()):
            return expected, UNKNOWN, "not-seen"
        if is_other and found == expected:
            # Two addresses can shorten to the same text.
            return expected.whole, found.whole, "mismatch"
        return expected, found, "mismatch" if is_other else self._certainty()

    def _amount(self) -> tuple[str, str]:
        amounts = [money.amount.in_words for money in self.found if money.value is not None]
        words = joined(" and ", amounts) or UNKNOWN
        none = UNKNOWN if self.held is None else "none at the deposit address"
        if not self.found:
            return none, "not-seen"
        if self.leftover:
            return Sentence(self._in_words(self.leftover), " left over"), "overpaid"
        if not self._is_there():
            return none if self._was_not_received() else words, self._certainty()
        if words == UNKNOWN:
            return words, "not-known"
        if self.there is None or not (self.is_confirmed or self.there):
            return words, "not-comparable"
        if self.lacking:
            return Sentence(words, ": ", self._in_words(self.lacking), " too little"), "underpaid"
        if self.excess:
            return Sentence(words, ": ", self._in_words(self.excess), " more"), "overpaid"
        if self.expected.value is None:
            return words, "not-known"
        return words, "match" if self.there == self.expected.value else "enough"

    def _address(self) -> tuple[str, str]:
        expected = self.address or ""
        if not self.is_confirmed and (self.held or self.wrong_chain_balances):
            return expected, "match"
        found = self.deposit.to_address if self.is_confirmed or self.is_reported else None
        if found is None:
            return "", "not-seen"
        # A relayed deposit is a call of the service's contract.
        is_other = token_amounts.is_other_address(found, expected or None) and not self.deposit.meta_txn_id
        return found, "other-address" if is_other else self._certainty()

    def _deadline(self) -> tuple[str, str]:
        transfer, late_by = self.transfer, self.late_by
        if late_by is not None and late_by <= timedelta():
            return f"confirmed {times.duration(-late_by)} before", "on-time"
        if late_by is not None:
            is_refused = self.is_idle and (transfer.is_over or transfer.status in UNEXECUTED)
            return f"confirmed {times.duration(late_by)} after", "late" if is_refused else "late-accepted"
        if self.deadline is None or self.is_confirmed:
            return UNKNOWN, "not-known"
        if not transfer.is_over:
            return UNKNOWN, "passed" if transfer.now >= self.deadline else "ahead"
        # A closed transfer is measured by its end, so that the clock doesn't change it.
        ended = transfer.now if transfer.is_open else first(transfer.finished_at, transfer.last_change)
        return UNKNOWN, "ended" if ended is not None and ended < self.deadline else "past"

    def _transaction(self) -> CheckRow:
        txn_hash = self.deposit.txn_hash
        if self.is_reported and txn_hash:
            failed = "reverted" if self.deposit.txn_mined_at else "not-confirmed"
            state = "confirmed" if self.is_confirmed else failed if self._state in DEAD else "submitted"
            return CheckRow("Transaction", "", txn_hash, state, "hash", self.deposit.chain_id)
        if txn_hash and not self.is_confirmed:
            return CheckRow("Transaction", "", "None (balance is monitored)", "placeholder")
        return CheckRow("Transaction", "", UNKNOWN, "confirmed" if self.is_confirmed else "not-seen")

    def _is_there(self) -> bool:
        return self.is_confirmed or bool(self.held or self.wrong_chain_balances)

    def _was_not_received(self) -> bool:
        """Return whether a deposit was submitted in vain."""
        return self._state in DEAD and not self._is_there()

    def _certainty(self) -> str:
        """Return the state of a row that matches what was expected."""
        if self._is_there():
            return "match"
        return "not-accepted" if self._state in DEAD else "submitted"


def _names_of(monies: Iterable[Money]) -> text.Address:
    """Return the tokens with their addresses, which `whole` has in full."""
    shown, whole = (
        " and ".join(dict.fromkeys(_name_of(money, written) for money in monies))
        for written in (hashes.short_address, hashes.checksum)
    )
    return text.Address(shown, whole)


def _name_of(money: Money, written: Callable[[str | None], str]) -> str:
    """Return the symbol and, because anyone can copy a symbol, the address, unless it is the chain's native token."""
    symbol = text.symbol(money.symbol).shown if money.symbol else ""
    warning = token_amounts.warning_words(replace(money, value=None).token.marks)
    words = (symbol, "" if money.is_coin else written(money.token_address), f"({warning})" if warning else "")
    return " ".join(filter(None, words)) or UNKNOWN
