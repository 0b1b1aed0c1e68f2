"""Deposit check: the expected and the received deposit, row by row. It has no verdict: the summary has the only one."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from intents_ui.display.formatting import hashes, text, times
from intents_ui.display.formatting.text import UNKNOWN, Sentence, joined
from intents_ui.display.tokens import token_amounts, warnings
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.display.transfers import deposits
from intents_ui.display.transfers.deposits import Payment
from intents_ui.display.transfers.statuses import StatusLabel, Tone
from intents_ui.display.transfers.transfer import Transfer, derived, first
from intents_ui.service.models import UNEXECUTED, IntentStatus
from intents_ui.service.outcome import DEAD


class RowKind(StrEnum):
    TEXT = "text"
    ADDRESS = "address"
    HASH = "hash"


@dataclass(frozen=True)
class CheckRow:
    """`kind` is the format of `expected` and `found`. An address or hash may be "".

    `expected_whole`, `found_whole`: the text with full addresses if it shortens them, otherwise "".
    """

    label: str
    expected: str
    found: str
    result: StatusLabel
    kind: RowKind = RowKind.TEXT
    chain_id: int | None = None
    expected_whole: str = ""
    found_whole: str = ""


@dataclass(frozen=True)
class DepositCheck:
    """`needs_attention`: something was observed that isn't as expected."""

    rows: tuple[CheckRow, ...]
    needs_attention: bool


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


@derived
def of(transfer: Transfer) -> DepositCheck | None:
    """Return the check; None if the deposit arrived as expected and was used."""
    payment = deposits.of(transfer)
    if not _is_shown(transfer, payment):
        return None
    rows = (
        _chain(payment),
        _token(payment),
        _amount(payment),
        _address(payment),
        _deadline(payment),
        _transaction(payment),
    )
    is_off = any(row.result.tone in (Tone.ATTENTION, Tone.BAD) for row in rows)
    return DepositCheck(rows, needs_attention=bool(payment.found) and is_off)


def _is_shown(transfer: Transfer, payment: Payment) -> bool:
    if transfer.is_unread:
        return False
    if transfer.is_delivered:
        return payment.leftover > 0
    # A later step implies the deposit, whatever its own status.
    if transfer.has_arrived and not payment.is_confirmed:
        return payment.is_elsewhere
    if payment.mismatch or payment.excess:
        return True
    # Ended, or without the receipt that would tell.
    if transfer.status in (IntentStatus.SUCCEEDED, IntentStatus.REFUNDED):
        return False
    if transfer.lacks_its_receipt and transfer.status != IntentStatus.EXECUTING:
        return False
    if payment.is_confirmed:
        return payment.is_idle
    # Funds elsewhere, or of unknown amount, imply one that can't be checked.
    return not transfer.has_balance or bool(payment.held)


def _in_words(payment: Payment, value: int | None) -> str:
    """Return an amount of the expected token."""
    if value is None:
        return UNKNOWN
    return replace(payment.expected, value=value).amount.in_words


def _expected_amount(payment: Payment) -> str:
    """Return `100.00 USDC`, followed by `, at least 99.00 USDC` if less is enough."""
    value, least = payment.expected.value, payment.least
    expected = _in_words(payment, value)
    if least in (value, None):
        return expected
    return Sentence(expected, ", at least ", _in_words(payment, least))


def _listed(monies: Iterable[Money]) -> str:
    """Return `99.50 USDC and 1.00 DAI`."""
    known = [money for money in monies if money.value is not None]
    return joined(" and ", [money.amount.in_words for money in known]) or UNKNOWN


def _chain(payment: Payment) -> CheckRow:
    wanted, found = payment.expected.chain_id, payment.found_chain_id
    expected = payment.transfer.chain_name(wanted, unknown=UNKNOWN)
    if found is None or (found == wanted and _was_not_received(payment)):
        return CheckRow("Chain", expected, UNKNOWN, NOT_SEEN)
    shown = NOT_KNOWN if wanted is None else _certainty(payment) if found == wanted else MISMATCH
    return CheckRow("Chain", expected, payment.transfer.chain_name(found), shown)


def _token(payment: Payment) -> CheckRow:
    expected, in_full = (_name_of(payment.expected, is_whole=whole) for whole in (False, True))
    if not payment.found:
        return CheckRow("Token", expected, UNKNOWN, NOT_SEEN, expected_whole=in_full)
    # A differing chain has its own row.
    on_chain = [replace(money, chain_id=payment.expected.chain_id) for money in payment.found]
    is_other = all(token_amounts.is_another_token(money, payment.expected) for money in on_chain)
    words, words_in_full = (
        " and ".join(dict.fromkeys(_name_of(money, is_whole=whole) for money in payment.found))
        for whole in (False, True)
    )
    if is_other and words == expected:
        # Two addresses can shorten to the same text.
        expected, words = in_full, words_in_full
    if not is_other and _was_not_received(payment):
        return CheckRow("Token", expected, UNKNOWN, NOT_SEEN, expected_whole=in_full)
    shown = MISMATCH if is_other else _certainty(payment)
    return CheckRow("Token", expected, words, shown, expected_whole=in_full, found_whole=words_in_full)


def _name_of(money: Money, *, is_whole: bool = False) -> str:
    """Return the symbol and, because anyone can copy a symbol, the address, unless it is the chain's native token."""
    symbol = text.symbol(money.symbol).shown if money.symbol else ""
    is_coin = money.token_address is None or hashes.is_native(money.token_address)
    warning = warnings.words(replace(money, value=None).marks)
    written = hashes.checksum if is_whole else hashes.short_address
    words = (symbol, "" if is_coin else written(money.token_address), f"({warning})" if warning else "")
    return " ".join(filter(None, words)) or UNKNOWN


def _amount(payment: Payment) -> CheckRow:
    expected, words = _expected_amount(payment), _listed(payment.found)
    none = UNKNOWN if payment.held is None else "none at the deposit address"
    if not payment.found:
        return CheckRow("Amount", expected, none, NOT_SEEN)
    if payment.leftover:
        left = _in_words(payment, payment.leftover)
        return CheckRow("Amount", expected, Sentence(left, " left over"), OVERPAID)
    if not _is_there(payment):
        is_lost = _was_not_received(payment)
        return CheckRow("Amount", expected, none if is_lost else words, _certainty(payment))
    if words == UNKNOWN:
        return CheckRow("Amount", expected, words, NOT_KNOWN)
    if payment.there is None or not (payment.is_confirmed or payment.there):
        return CheckRow("Amount", expected, words, NOT_COMPARABLE)
    if payment.lacking:
        lacking = _in_words(payment, payment.lacking)
        return CheckRow("Amount", expected, Sentence(words, ": ", lacking, " too little"), UNDERPAID)
    if payment.excess:
        excess = _in_words(payment, payment.excess)
        return CheckRow("Amount", expected, Sentence(words, ": ", excess, " more"), OVERPAID)
    if payment.expected.value is None:
        return CheckRow("Amount", expected, words, NOT_KNOWN)
    return CheckRow("Amount", expected, words, MATCH if payment.there == payment.expected.value else ENOUGH)


def _address(payment: Payment) -> CheckRow:
    expected, chain_id = payment.address or "", payment.expected.chain_id
    if not payment.is_confirmed and (payment.held or payment.strays):
        return CheckRow("Deposit address", expected, expected, MATCH, RowKind.ADDRESS, chain_id)
    found = payment.deposit.to_address if payment.is_confirmed or payment.is_reported else None
    if found is None:
        return CheckRow("Deposit address", expected, "", NOT_SEEN, RowKind.ADDRESS, chain_id)
    # A relayed deposit is a call of the service's contract.
    is_other = token_amounts.is_other_address(found, expected or None) and not payment.deposit.meta_txn_id
    shown = OTHER_ADDRESS if is_other else _certainty(payment)
    return CheckRow("Deposit address", expected, found, shown, RowKind.ADDRESS, chain_id)


def _deadline(payment: Payment) -> CheckRow:
    expected = times.utc(payment.deadline, now=payment.transfer.now)
    if payment.deadline is None:
        return CheckRow("Deadline", expected, UNKNOWN, NOT_KNOWN)
    if payment.late_by is None:
        return CheckRow("Deadline", expected, UNKNOWN, _standing(payment, payment.deadline))
    late_by = payment.late_by
    if late_by <= timedelta():
        return CheckRow("Deadline", expected, f"confirmed {times.duration(-late_by)} before", ON_TIME)
    is_refused = payment.is_idle and (payment.transfer.is_over or payment.transfer.status in UNEXECUTED)
    result = LATE if is_refused else LATE_ACCEPTED
    return CheckRow("Deadline", expected, f"confirmed {times.duration(late_by)} after", result)


def _standing(payment: Payment, deadline: datetime) -> StatusLabel:
    """Return the row of a deadline without a confirmed deposit."""
    transfer = payment.transfer
    if payment.is_confirmed:
        return NOT_KNOWN
    if not transfer.is_over:
        return PASSED if transfer.now >= deadline else AHEAD
    # A closed transfer is measured by its end, so that the clock doesn't change it.
    ended = transfer.now if transfer.is_open else first(transfer.finished_at, transfer.last_change)
    return ENDED if ended is not None and ended < deadline else PAST


def _transaction(payment: Payment) -> CheckRow:
    txn_hash = payment.deposit.txn_hash
    if payment.is_reported and txn_hash:
        failed = REVERTED if payment.deposit.txn_mined_at else NOT_CONFIRMED
        state = CONFIRMED if payment.is_confirmed else failed if payment.leg in DEAD else SUBMITTED
        return CheckRow("Transaction", "", txn_hash, state, RowKind.HASH, payment.deposit.chain_id)
    if txn_hash and not payment.is_confirmed:
        return CheckRow("Transaction", "", "None (balance is monitored)", PLACEHOLDER)
    return CheckRow("Transaction", "", UNKNOWN, CONFIRMED if payment.is_confirmed else NOT_SEEN)


def _is_there(payment: Payment) -> bool:
    return payment.is_confirmed or bool(payment.held or payment.strays)


def _was_not_received(payment: Payment) -> bool:
    """Return whether a deposit was submitted in vain."""
    return payment.leg in DEAD and not _is_there(payment)


def _certainty(payment: Payment) -> StatusLabel:
    """Return the certainty of a row that matches what was expected."""
    if _is_there(payment):
        return MATCH
    return NOT_ACCEPTED if payment.leg in DEAD else SUBMITTED
