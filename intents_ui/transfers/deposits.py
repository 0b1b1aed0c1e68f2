"""Deposit check: the expected deposit, and what is known of the received one from its transaction and the address's
balance, row by row. It has no verdict: the summary has the only one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum, auto
from functools import cached_property
from typing import Literal

from intents_ui.formatting import hashes, text, times
from intents_ui.formatting.text import UNKNOWN, Sentence, joined
from intents_ui.service.models import UNEXECUTED, IntentStatus, IntentTransaction
from intents_ui.service.outcome import DEAD, StepStatus, has_hash
from intents_ui.tokens import token_amounts
from intents_ui.tokens.token_amounts import Money
from intents_ui.transfers.statuses import StatusLabel, Tone
from intents_ui.transfers.transfer import Transfer, derived, first

NO_DEPOSIT = IntentTransaction()
NOT_BEGUN = frozenset({StepStatus.ABSENT, StepStatus.WAITING, StepStatus.QUEUED, StepStatus.GIVEN_UP})


class Mismatch(StrEnum):
    """How what was received differs from the expected deposit."""

    CHAIN = auto()
    TOKEN = auto()
    TOO_LITTLE = auto()


@dataclass(frozen=True)
class CheckRow:
    """`kind` is the format of `expected` and `found`. An address or hash may be "".

    `expected_whole`, `found_whole`: the text with full addresses if it shortens them, otherwise "".
    """

    label: str
    expected: str
    found: str
    result: StatusLabel
    kind: Literal["text", "address", "hash"] = "text"
    chain_id: int | None = None
    expected_whole: str = ""
    found_whole: str = ""


MATCH = StatusLabel("Match", Tone.GOOD, "check", "It matches what was expected.")
ENOUGH = StatusLabel("Enough", Tone.GOOD, "check", "It is less than requested and meets the minimum.")
MISMATCH = StatusLabel("Mismatch", Tone.BAD, "x", "It does not match what was expected.")
OTHER_ADDRESS = StatusLabel(
    "Different address", Tone.ATTENTION, "triangle-alert", "The transaction names another address."
)
NOT_COMPARABLE = StatusLabel(
    "Not comparable", Tone.NEUTRAL, "circle-dashed", "It is another token, or on another chain."
)
UNDERPAID = StatusLabel("Underpaid", Tone.BAD, "x", "It is less than the transfer needs.")
OVERPAID = StatusLabel("Overpaid", Tone.ATTENTION, "triangle-alert", "It is more than requested.")
SUBMITTED = StatusLabel("Submitted", Tone.PROGRESS, "hourglass", "It was submitted and is not confirmed yet.")
NOT_ACCEPTED = StatusLabel("Not accepted", Tone.NEUTRAL, "circle-dashed", "It was submitted and not accepted.")
NOT_CONFIRMED = StatusLabel("Not confirmed", Tone.ATTENTION, "triangle-alert", "It was submitted and never confirmed.")
NOT_SEEN = StatusLabel("Not seen", Tone.NEUTRAL, "circle-dashed", "Not seen yet.")
NOT_KNOWN = StatusLabel("Unknown", Tone.NEUTRAL, "circle-dashed", "The service does not report it.")
PLACEHOLDER = StatusLabel("Placeholder", Tone.NEUTRAL, "info", "Placeholder hash, no transaction.")
NOTHING_FOUND = (NOT_SEEN, NOT_ACCEPTED, PLACEHOLDER)
AMOUNT = "Amount"
CONFIRMED = StatusLabel("Confirmed", Tone.GOOD, "check", "The transaction is confirmed.")
REVERTED = StatusLabel("Reverted", Tone.BAD, "x", "The transaction reverted.")
ON_TIME = StatusLabel("On time", Tone.GOOD, "check", "It was confirmed before the deadline.")
LATE = StatusLabel("Late", Tone.BAD, "x", "It was confirmed after the deadline.")
LATE_ACCEPTED = StatusLabel(
    "Late, accepted", Tone.NEUTRAL, "info", "It was confirmed after the deadline, and the transfer continued."
)
AHEAD = StatusLabel("Open", Tone.PROGRESS, "clock", "The deadline has not passed yet.")
ENDED = StatusLabel("Ended before", Tone.NEUTRAL, "info", "The transfer ended before the deadline.")
PAST = StatusLabel("Passed", Tone.NEUTRAL, "clock", "The deadline has passed, and the transfer has ended.")
PASSED = StatusLabel("Passed", Tone.ATTENTION, "clock", "The deadline has passed.")


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
        return tuple(transfer.held(token, inside=group) for group in at for token in group.tokens if token.balance)

    @cached_property
    def held(self) -> tuple[Money, ...] | None:
        """Balances of the deposit address, None if unknown."""
        if self._there is None:
            return None
        return tuple(money for money in self._there if money.chain_id == self.expected.chain_id)

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
    def others(self) -> tuple[Money, ...]:
        """Return the deposit address's balances of other tokens."""
        return tuple(money for money in self.held or () if not token_amounts.is_same_token(money, self.expected))

    @property
    def found(self) -> Sequence[Money]:
        """Return the confirmed deposit, otherwise the address's balances, otherwise the submitted deposit."""
        reported = (self.transfer.reported_deposit,)
        if self.is_confirmed:
            return reported
        return self.held or self.wrong_chain_balances or (reported if self.is_reported else ())

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
        return (
            self._chain(),
            self._token(),
            self._amount(),
            self._address(),
            self._deadline(),
            self._transaction(),
        )

    @property
    def findings(self) -> tuple[CheckRow, ...]:
        """Return the amount, and the other rows about which something is known."""
        return tuple(row for row in self.rows if row.label == AMOUNT or row.result not in NOTHING_FOUND)

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
        return UNKNOWN if value is None else replace(self.expected, value=value).amount.in_words

    def _expected_amount(self) -> str:
        """Return `100.00 USDC`, followed by `, at least 99.00 USDC` if less is enough."""
        value, least = self.expected.value, self.least
        expected = self._in_words(value)
        if least in (value, None):
            return expected
        return Sentence(expected, ", at least ", self._in_words(least))

    def _chain(self) -> CheckRow:
        wanted, found = self.expected.chain_id, self.found_chain_id
        expected = self.transfer.chain_name(wanted, unknown=UNKNOWN)
        if found is None or (found == wanted and self._was_not_received()):
            return CheckRow("Chain", expected, UNKNOWN, NOT_SEEN)
        shown = NOT_KNOWN if wanted is None else self._certainty() if found == wanted else MISMATCH
        return CheckRow("Chain", expected, self.transfer.chain_name(found), shown)

    def _token(self) -> CheckRow:
        expected, in_full = (_name_of(self.expected, is_whole=whole) for whole in (False, True))
        if not self.found:
            return CheckRow("Token", expected, UNKNOWN, NOT_SEEN, expected_whole=in_full)
        # A differing chain has its own row.
        on_chain = [replace(money, chain_id=self.expected.chain_id) for money in self.found]
        is_other = all(token_amounts.is_another_token(money, self.expected) for money in on_chain)
        words, words_in_full = (
            " and ".join(dict.fromkeys(_name_of(money, is_whole=whole) for money in self.found))
            for whole in (False, True)
        )
        if is_other and words == expected:
            # Two addresses can shorten to the same text.
            expected, words = in_full, words_in_full
        if not is_other and self._was_not_received():
            return CheckRow("Token", expected, UNKNOWN, NOT_SEEN, expected_whole=in_full)
        shown = MISMATCH if is_other else self._certainty()
        return CheckRow("Token", expected, words, shown, expected_whole=in_full, found_whole=words_in_full)

    def _amount(self) -> CheckRow:
        expected, words = self._expected_amount(), _listed(self.found)
        none = UNKNOWN if self.held is None else "none at the deposit address"
        if not self.found:
            return CheckRow(AMOUNT, expected, none, NOT_SEEN)
        if self.leftover:
            left = self._in_words(self.leftover)
            return CheckRow(AMOUNT, expected, Sentence(left, " left over"), OVERPAID)
        if not self._is_there():
            is_lost = self._was_not_received()
            return CheckRow(AMOUNT, expected, none if is_lost else words, self._certainty())
        if words == UNKNOWN:
            return CheckRow(AMOUNT, expected, words, NOT_KNOWN)
        if self.there is None or not (self.is_confirmed or self.there):
            return CheckRow(AMOUNT, expected, words, NOT_COMPARABLE)
        if self.lacking:
            lacking = self._in_words(self.lacking)
            return CheckRow(AMOUNT, expected, Sentence(words, ": ", lacking, " too little"), UNDERPAID)
        if self.excess:
            excess = self._in_words(self.excess)
            return CheckRow(AMOUNT, expected, Sentence(words, ": ", excess, " more"), OVERPAID)
        if self.expected.value is None:
            return CheckRow(AMOUNT, expected, words, NOT_KNOWN)
        return CheckRow(AMOUNT, expected, words, MATCH if self.there == self.expected.value else ENOUGH)

    def _address(self) -> CheckRow:
        expected, chain_id = self.address or "", self.expected.chain_id
        if not self.is_confirmed and (self.held or self.wrong_chain_balances):
            return CheckRow("Deposit address", expected, expected, MATCH, "address", chain_id)
        found = self.deposit.to_address if self.is_confirmed or self.is_reported else None
        if found is None:
            return CheckRow("Deposit address", expected, "", NOT_SEEN, "address", chain_id)
        # A relayed deposit is a call of the service's contract.
        is_other = token_amounts.is_other_address(found, expected or None) and not self.deposit.meta_txn_id
        shown = OTHER_ADDRESS if is_other else self._certainty()
        return CheckRow("Deposit address", expected, found, shown, "address", chain_id)

    def _deadline(self) -> CheckRow:
        expected = times.utc(self.deadline, now=self.transfer.now)
        if self.deadline is None:
            return CheckRow("Deadline", expected, UNKNOWN, NOT_KNOWN)
        if self.late_by is None:
            return CheckRow("Deadline", expected, UNKNOWN, self._unmet_deadline(self.deadline))
        late_by = self.late_by
        if late_by <= timedelta():
            return CheckRow("Deadline", expected, f"confirmed {times.duration(-late_by)} before", ON_TIME)
        is_refused = self.is_idle and (self.transfer.is_over or self.transfer.status in UNEXECUTED)
        result = LATE if is_refused else LATE_ACCEPTED
        return CheckRow("Deadline", expected, f"confirmed {times.duration(late_by)} after", result)

    def _unmet_deadline(self, deadline: datetime) -> StatusLabel:
        """Return the row of a deadline without a confirmed deposit."""
        transfer = self.transfer
        if self.is_confirmed:
            return NOT_KNOWN
        if not transfer.is_over:
            return PASSED if transfer.now >= deadline else AHEAD
        # A closed transfer is measured by its end, so that the clock doesn't change it.
        ended = transfer.now if transfer.is_open else first(transfer.finished_at, transfer.last_change)
        return ENDED if ended is not None and ended < deadline else PAST

    def _transaction(self) -> CheckRow:
        txn_hash = self.deposit.txn_hash
        if self.is_reported and txn_hash:
            failed = REVERTED if self.deposit.txn_mined_at else NOT_CONFIRMED
            state = CONFIRMED if self.is_confirmed else failed if self._state in DEAD else SUBMITTED
            return CheckRow("Transaction", "", txn_hash, state, "hash", self.deposit.chain_id)
        if txn_hash and not self.is_confirmed:
            return CheckRow("Transaction", "", "None (balance is monitored)", PLACEHOLDER)
        return CheckRow("Transaction", "", UNKNOWN, CONFIRMED if self.is_confirmed else NOT_SEEN)

    def _is_there(self) -> bool:
        return self.is_confirmed or bool(self.held or self.wrong_chain_balances)

    def _was_not_received(self) -> bool:
        """Return whether a deposit was submitted in vain."""
        return self._state in DEAD and not self._is_there()

    def _certainty(self) -> StatusLabel:
        """Return the certainty of a row that matches what was expected."""
        if self._is_there():
            return MATCH
        return NOT_ACCEPTED if self._state in DEAD else SUBMITTED


@derived
def of(transfer: Transfer) -> DepositCheck:
    return DepositCheck(transfer)


def _listed(monies: Iterable[Money]) -> str:
    """Return `99.50 USDC and 1.00 DAI`."""
    known = [money for money in monies if money.value is not None]
    return joined(" and ", [money.amount.in_words for money in known]) or UNKNOWN


def _name_of(money: Money, *, is_whole: bool = False) -> str:
    """Return the symbol and, because anyone can copy a symbol, the address, unless it is the chain's native token."""
    symbol = text.symbol(money.symbol).shown if money.symbol else ""
    is_coin = money.token_address is None or hashes.is_native(money.token_address)
    warning = token_amounts.warning_words(replace(money, value=None).token.marks)
    written = hashes.checksum if is_whole else hashes.short_address
    words = (symbol, "" if is_coin else written(money.token_address), f"({warning})" if warning else "")
    return " ".join(filter(None, words)) or UNKNOWN
