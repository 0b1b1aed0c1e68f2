"""Deposit check: the expected deposit, and what is known of the received one from its transaction and the address's
balance, row by row. It has no verdict: the summary has the only one.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
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
    """The expected deposit of a transfer (`expected`, at `address`), and what was received.

    `least`: the balance that the first step requires. `held` and `elsewhere`: balances of the deposit address on its
    own chain, None if unknown, and on a wrong one. `right`: that of the expected token. `found`: the confirmed deposit,
    otherwise the balances, otherwise the submitted deposit. `there`: what is known to have arrived of the expected
    token, which is `lacking` something, or has an `excess`. `late_by`: from the deadline to the confirmation.
    `mismatch`: what is wrong with the confirmed deposit, or else with the balance.
    """

    def __init__(self, transfer: Transfer) -> None:
        self.transfer, self.expected, self.address = transfer, transfer.expected_deposit, transfer.deposit_address
        self.deposit = transfer.deposit or NO_DEPOSIT
        self._state = transfer.legs[0]
        self.is_confirmed = self._state is StepStatus.DONE
        # A real hash, so that the deposit's fields describe a transaction.
        self.is_reported = has_hash(transfer.deposit)
        self.least = self._required()
        self.held, self.elsewhere = self._balances()
        self.right = None
        if self.held is not None:
            own = [money for money in self.held if token_amounts.is_same_token(money, self.expected)]
            self.right = sum(money.value or 0 for money in own)
        reported = transfer.reported_deposit
        self.found: Sequence[Money] = self.held or self.elsewhere or ((reported,) if self.is_reported else ())
        self.there, is_other = self.right, not self.right
        if self.is_confirmed:
            is_other = token_amounts.is_another_token(reported, self.expected)
            self.found, self.there = (reported,), None if is_other else reported.value
        self.lacking, self.excess, self.leftover = 0, 0, 0
        if self.there is not None:
            self.lacking = max(0, (self.least or 0) - self.there)
            self.excess = 0 if self.expected.value is None else max(0, self.there - self.expected.value)
        # The first step has used the deposit, so any balance at the address is left over.
        if transfer.legs[1] is StepStatus.DONE or transfer.is_delivered:
            self.excess = self.leftover = self.right or 0
        named, expected = self.deposit.chain_id, self.expected.chain_id
        is_told = self.is_confirmed or self.is_reported
        self.is_elsewhere = is_told and named is not None and expected is not None and named != expected
        self.mismatch: Literal["", "chain", "token", "too little"] = ""
        if self.is_elsewhere or (self.elsewhere and not (self.is_confirmed or self.held)):
            self.mismatch = "chain"
        elif self.is_confirmed or self.held:
            self.mismatch = "token" if is_other else "too little" if self.lacking else ""
        self.deadline = first(transfer.execute_by, transfer.expires_at)
        mined = transfer.mined_at(self.deposit) if self.is_confirmed else None
        self.late_by = mined - self.deadline if mined and self.deadline else None
        self._is_there = self.is_confirmed or bool(self.held or self.elsewhere)
        self._was_not_received = self._state in DEAD and not self._is_there
        # The state of a row that matches what was expected.
        self._certainty = "match" if self._is_there else "not-accepted" if self._state in DEAD else "submitted"

    def _required(self) -> int | None:
        needed, expected = self.transfer.intent.origin_precondition, self.expected
        if needed and token_amounts.is_same_address(needed.owner_address, self.address):
            chain_id = first(needed.chain_id, expected.chain_id)
            token = self.transfer.money(None, chain_id, needed.token_address)
            if needed.min_amount is not None and token_amounts.is_same_token(token, expected):
                return needed.min_amount
        return first(self.transfer.quote.from_amount_min, expected.value)

    def _balances(self) -> tuple[tuple[Money, ...] | None, tuple[Money, ...]]:
        transfer, own, is_same = self.transfer, self.expected.chain_id, token_amounts.is_same_address
        if transfer.has_balance is None or (transfer.has_balance and not transfer.holdings):
            return None, ()
        at = [group for group in transfer.balances.groups if is_same(group.intent_address, self.address)]
        there = [transfer.balance_of(each, inside=group) for group in at for each in group.tokens if each.balance]
        # A transfer may have one address on both of its chains.
        has_one = is_same(transfer.delivery_address, self.address)
        belongs = {None, own, *((transfer.destination_chain_id,) if has_one else ())}
        held = tuple(money for money in there if money.chain_id == own)
        return held, tuple(money for money in there if money.chain_id not in belongs)

    @property
    def is_idle(self) -> bool:
        """Return whether no step has used the confirmed deposit."""
        transfer = self.transfer
        is_refunded = transfer.returning is not StepStatus.ABSENT or transfer.status == IntentStatus.REFUNDED
        return self.is_confirmed and {*transfer.legs[1:]} <= NOT_BEGUN and not is_refunded

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
        if found is None or (found == wanted and self._was_not_received):
            return UNKNOWN, "not-seen"
        state = "not-known" if wanted is None else self._certainty if found == wanted else "mismatch"
        return self.transfer.chain_name(found), state

    def _token(self) -> tuple[str, str, str]:
        """Return the expected token, too."""
        expected, found = _names_of([self.expected]), _names_of(self.found)
        # A differing chain has its own row.
        on_chain = [replace(money, chain_id=self.expected.chain_id) for money in self.found]
        is_other = all(token_amounts.is_another_token(money, self.expected) for money in on_chain)
        if not self.found or (not is_other and self._was_not_received):
            return expected, UNKNOWN, "not-seen"
        if is_other and found == expected:
            # Two addresses can shorten to the same text.
            return expected.whole, found.whole, "mismatch"
        return expected, found, "mismatch" if is_other else self._certainty

    def _amount(self) -> tuple[str, str]:
        amounts = [money.amount.in_words for money in self.found if money.value is not None]
        words = joined(" and ", amounts) or UNKNOWN
        none = UNKNOWN if self.held is None else "none at the deposit address"
        if not self.found:
            return none, "not-seen"
        if self.leftover:
            return Sentence(self._in_words(self.leftover), " left over"), "overpaid"
        if not self._is_there:
            return none if self._was_not_received else words, self._certainty
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
        if not self.is_confirmed and (self.held or self.elsewhere):
            return expected, "match"
        found = self.deposit.to_address if self.is_confirmed or self.is_reported else None
        if found is None:
            return "", "not-seen"
        # A relayed deposit is a call of the service's contract.
        is_other = token_amounts.is_other_address(found, expected or None) and not self.deposit.meta_txn_id
        return found, "other-address" if is_other else self._certainty

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
