"""Deposit check: whether the deposit is as expected, and the next step; from messages.json."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from intents_ui import tables
from intents_ui.display.formatting import hashes, text, times
from intents_ui.display.formatting.sentences import Sentence, fill
from intents_ui.display.formatting.text import UNKNOWN
from intents_ui.display.summary.placeholders import escalation
from intents_ui.display.tokens import names, token_amounts, warnings
from intents_ui.display.tokens.names import Names
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.display.transfers import statuses, timing
from intents_ui.display.transfers.deposits import Payment
from intents_ui.display.transfers.situation import Situation, derived
from intents_ui.display.transfers.statuses import StatusLabel, Tone
from intents_ui.display.transfers.transfer_data import Facts, first
from intents_ui.service.models import UNEXECUTED, IntentStatus, TransactionStatus
from intents_ui.service.outcome import DEAD, StepStatus


class CheckKind(StrEnum):
    TEXT = "text"
    ADDRESS = "address"
    HASH = "hash"


@dataclass(frozen=True)
class CheckResult:
    """A row of the deposit check. `kind` is the format of `expected` and `found`. An address or hash may be "".

    `expected_whole`, `found_whole`: the text with full addresses if it shortens them, otherwise "".
    """

    label: str
    expected: str
    found: str
    shown: StatusLabel
    kind: CheckKind = CheckKind.TEXT
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


def findings(payment: Payment, *, is_too_late: bool, now: datetime, using: Names) -> Iterator[CheckResult]:
    yield _chain(payment, using=using)
    yield _token(payment, using=using)
    yield _amount(payment, using=using)
    yield _address(payment)
    yield _deadline(payment, is_too_late=is_too_late, now=now)
    yield _transaction(payment)


def exactly(payment: Payment, value: int | None, *, using: Names) -> str:
    """Return the exact amount of the expected token."""
    return UNKNOWN if value is None else token_amounts.exactly(replace(payment.expected, value=value), using=using)


def listed(monies: Iterable[Money], *, using: Names) -> str:
    """Return `99.50 USDC and 1.00 DAI` with exact amounts."""
    known = [money for money in monies if money.value is not None]
    return " and ".join(token_amounts.exact(token_amounts.amount(money, using=using)) for money in known) or UNKNOWN


def chain_name(chain_id: int | None, *, using: Names) -> str:
    return names.of_chain(chain_id, using=using, unknown="a chain that was not named")


def _chain(payment: Payment, *, using: Names) -> CheckResult:
    wanted, found = payment.expected.chain_id, payment.found_chain_id
    expected = UNKNOWN if wanted is None else chain_name(wanted, using=using)
    if found is None:
        return CheckResult("Chain", expected, UNKNOWN, NOT_SEEN)
    shown = NOT_KNOWN if wanted is None else _certainty(payment) if found == wanted else MISMATCH
    return CheckResult("Chain", expected, chain_name(found, using=using), shown)


def _token(payment: Payment, *, using: Names) -> CheckResult:
    expected, in_full = (_name_of(payment.expected, using=using, is_whole=whole) for whole in (False, True))
    if not payment.found:
        return CheckResult("Token", expected, UNKNOWN, NOT_SEEN, expected_whole=in_full)
    # A differing chain has its own row.
    on_chain = [replace(money, chain_id=payment.expected.chain_id) for money in payment.found]
    is_other = all(token_amounts.is_another_token(money, payment.expected) for money in on_chain)
    words, words_in_full = (
        " and ".join(dict.fromkeys(_name_of(money, using=using, is_whole=whole) for money in payment.found))
        for whole in (False, True)
    )
    if is_other and words == expected:
        # Two addresses can shorten to the same text.
        expected, words = in_full, words_in_full
    shown = MISMATCH if is_other else _certainty(payment)
    return CheckResult("Token", expected, words, shown, expected_whole=in_full, found_whole=words_in_full)


def _name_of(money: Money, *, using: Names, is_whole: bool = False) -> str:
    """Return the symbol and, because anyone can copy a symbol, the address, unless it is the chain's native token."""
    known = token_amounts.symbol_of(money.chain_id, money.token_address, metadata=money.metadata, using=using)
    symbol = text.symbol(known).shown if known else ""
    is_coin = money.token_address is None or hashes.is_native(money.token_address)
    warning = warnings.words(token_amounts.marks(replace(money, value=None), using=using))
    written = hashes.checksum if is_whole else hashes.short_address
    words = (symbol, "" if is_coin else written(money.token_address), f"({warning})" if warning else "")
    return " ".join(filter(None, words)) or UNKNOWN


def _amount(payment: Payment, *, using: Names) -> CheckResult:
    expected, words = exactly(payment, payment.expected.value, using=using), listed(payment.found, using=using)
    if not payment.found:
        return CheckResult("Amount", expected, "nothing" if payment.held is not None else UNKNOWN, NOT_SEEN)
    if payment.leftover:
        left = exactly(payment, payment.leftover, using=using)
        return CheckResult("Amount", expected, f"{left} left over", OVERPAID)
    if not (payment.is_confirmed or payment.held or payment.strays):
        return CheckResult("Amount", expected, words, _certainty(payment))
    if words == UNKNOWN:
        return CheckResult("Amount", expected, words, NOT_KNOWN)
    if payment.there is None or not (payment.is_confirmed or payment.there):
        return CheckResult("Amount", expected, words, NOT_COMPARABLE)
    if payment.lacking:
        lacking = exactly(payment, payment.lacking, using=using)
        return CheckResult("Amount", expected, f"{words}: {lacking} too little", UNDERPAID)
    if payment.excess:
        return CheckResult(
            "Amount", expected, f"{words}: {exactly(payment, payment.excess, using=using)} more", OVERPAID
        )
    if payment.expected.value is None:
        return CheckResult("Amount", expected, words, NOT_KNOWN)
    return CheckResult("Amount", expected, words, MATCH if payment.there == payment.expected.value else ENOUGH)


def _address(payment: Payment) -> CheckResult:
    expected, chain_id = payment.address or "", payment.expected.chain_id
    if not payment.is_confirmed and (payment.held or payment.strays):
        return CheckResult("Deposit address", expected, expected, MATCH, CheckKind.ADDRESS, chain_id)
    found = payment.deposit.to_address if payment.is_confirmed or payment.is_reported else None
    if found is None:
        return CheckResult("Deposit address", expected, "", NOT_SEEN, CheckKind.ADDRESS, chain_id)
    # A relayed deposit is a call of the service's contract.
    is_other = token_amounts.is_other_address(found, expected or None) and not payment.deposit.meta_txn_id
    shown = OTHER_ADDRESS if is_other else _certainty(payment)
    return CheckResult("Deposit address", expected, found, shown, CheckKind.ADDRESS, chain_id)


def _deadline(payment: Payment, *, is_too_late: bool, now: datetime) -> CheckResult:
    expected = times.utc(payment.deadline, now=now)
    if payment.deadline is None:
        return CheckResult("Deadline", expected, UNKNOWN, NOT_KNOWN)
    if payment.late_by is None:
        return CheckResult("Deadline", expected, UNKNOWN, _standing(payment, payment.deadline, now=now))
    late_by = payment.late_by
    if late_by <= timedelta():
        return CheckResult("Deadline", expected, f"confirmed {times.duration(-late_by)} before", ON_TIME)
    return CheckResult(
        "Deadline", expected, f"confirmed {times.duration(late_by)} after", LATE if is_too_late else LATE_ACCEPTED
    )


def _standing(payment: Payment, deadline: datetime, *, now: datetime) -> StatusLabel:
    """Return the row of a deadline without a confirmed deposit."""
    if payment.is_confirmed:
        return NOT_KNOWN
    if not payment.facts.is_over(now=now):
        return PASSED if now >= deadline else AHEAD
    # A closed transfer is measured by its end, so that the clock doesn't change it.
    is_open = statuses.is_open(payment.facts.status)
    ended = now if is_open else first(payment.facts.finished_at, payment.facts.last_change)
    return ENDED if ended is not None and ended < deadline else PAST


def _transaction(payment: Payment) -> CheckResult:
    txn_hash = payment.deposit.txn_hash
    if payment.is_reported and txn_hash:
        failed = REVERTED if payment.deposit.txn_mined_at else NOT_CONFIRMED
        state = CONFIRMED if payment.is_confirmed else failed if payment.leg in DEAD else SUBMITTED
        return CheckResult("Transaction", "", txn_hash, state, CheckKind.HASH, payment.deposit.chain_id)
    if txn_hash and not payment.is_confirmed:
        return CheckResult("Transaction", "", "None (balance is monitored)", PLACEHOLDER)
    return CheckResult("Transaction", "", UNKNOWN, CONFIRMED if payment.is_confirmed else NOT_SEEN)


def _certainty(payment: Payment) -> StatusLabel:
    """Return the certainty of a row that matches what was expected."""
    if payment.is_confirmed or payment.held or payment.strays:
        return MATCH
    return NOT_ACCEPTED if payment.leg in DEAD else SUBMITTED


class MessageKey(StrEnum):
    """Rows of messages.json, where `when` states each condition."""

    UNREAD = "unread"
    UNKNOWN = "unknown"
    OFFERED = "offered"
    NOTHING = "nothing"
    WATCHED = "watched"
    PAST_DEADLINE = "past-deadline"
    EXPIRED = "expired"
    CONFIRMING = "confirming"
    UNCONFIRMED = "unconfirmed"
    NOT_FOUND = "not-found"
    REVERTED = "reverted"
    NOT_COUNTED = "not-counted"
    WRONG_CHAIN = "wrong-chain"
    WRONG_TOKEN = "wrong-token"  # noqa: S105 - a token of a chain is no password
    TOO_LITTLE = "too-little"
    TOO_MUCH = "too-much"
    TOO_LATE = "too-late"
    UNCOUNTED = "uncounted"
    NOT_STARTED = "not-started"
    WAITING = "waiting"
    GONE = "gone"
    AS_EXPECTED = "as-expected"


@dataclass(frozen=True)
class Diagnosis:
    """Result of the deposit check. `shown` is the result with its icon and tone.

    `needs_attention`: something was observed that isn't as expected.
    """

    key: MessageKey
    shown: StatusLabel
    sentence: str
    next: str
    findings: tuple[CheckResult, ...]
    needs_attention: bool


DIAGNOSES: Mapping[str, Mapping[str, Any]] = {row["key"]: row for row in tables.read(__package__, "messages.json")}
STALLED = "Contact support with the intent ID."
NOT_BEGUN = frozenset({StepStatus.ABSENT, StepStatus.WAITING, StepStatus.QUEUED})
# Diagnoses in which the deposit itself needs attention, whatever the transfer's status.
TELLING = frozenset(
    {
        MessageKey.WRONG_CHAIN,
        MessageKey.WRONG_TOKEN,
        MessageKey.TOO_LITTLE,
        MessageKey.TOO_MUCH,
        MessageKey.TOO_LATE,
        MessageKey.WAITING,
    }
)


@derived
def of(situation: Situation) -> Diagnosis | None:
    """Return the diagnosis; None if the deposit arrived and the transfer continued."""
    payment, now, using = situation.payment, situation.now, situation.names
    key = diagnosed(payment, now=now)
    if not _is_worth_telling(key, payment.facts):
        return None
    row, words, facts = DIAGNOSES[key], _words(key, payment, now=now, using=using), payment.facts
    next_step = row["after"] if row["after"] and facts.is_over(now=now) else row["next"]
    if key is MessageKey.WAITING and timing.has_come(timing.stalled_at(facts), now=now):
        next_step = STALLED
    rows = tuple(findings(payment, is_too_late=key is MessageKey.TOO_LATE, now=now, using=using))
    return Diagnosis(
        key=key,
        shown=StatusLabel(row["headline"], Tone(row["tone"]), row["icon"], row["when"]),
        sentence=fill(row["sentence"], words),
        next=fill(next_step, words),
        findings=rows,
        needs_attention=bool(payment.found) and any(each.shown.tone in (Tone.ATTENTION, Tone.BAD) for each in rows),
    )


def diagnosed(payment: Payment, *, now: datetime) -> MessageKey:
    facts = payment.facts
    if facts.is_unread:
        return MessageKey.UNREAD
    if facts.is_delivered:
        return MessageKey.TOO_MUCH if payment.leftover else MessageKey.AS_EXPECTED
    if payment.is_elsewhere:
        return MessageKey.WRONG_CHAIN
    if payment.is_confirmed:
        return _of_confirmed(payment, now=now)
    # A later step implies the deposit, whatever its own status.
    if facts.has_arrived:
        return MessageKey.AS_EXPECTED
    return _of_balance(payment, now=now) or _of_unconfirmed(payment, now=now)


def _of_confirmed(payment: Payment, *, now: datetime) -> MessageKey:
    if token_amounts.is_another_token(payment.named, payment.expected):
        return MessageKey.WRONG_TOKEN
    if payment.lacking:
        return MessageKey.TOO_LITTLE
    if payment.excess:
        return MessageKey.TOO_MUCH
    facts = payment.facts
    is_idle = {*facts.legs[1:]} <= NOT_BEGUN | {StepStatus.GIVEN_UP}
    if not is_idle or facts.returning is not StepStatus.ABSENT or facts.status == IntentStatus.REFUNDED:
        return MessageKey.AS_EXPECTED
    return _of_idle(payment, is_over=facts.is_over(now=now))


def _of_idle(payment: Payment, *, is_over: bool) -> MessageKey:
    """Return the diagnosis of a correct deposit that no step has used."""
    is_offer = payment.facts.status in UNEXECUTED
    if (is_over or is_offer) and payment.late_by is not None and payment.late_by > timedelta():
        return MessageKey.TOO_LATE
    if is_over and payment.held == ():
        return MessageKey.GONE
    if is_offer:
        return MessageKey.NOT_STARTED
    return MessageKey.AS_EXPECTED if is_over or payment.facts.legs[1] not in NOT_BEGUN else MessageKey.WAITING


def _of_balance(payment: Payment, *, now: datetime) -> MessageKey | None:
    """Return the diagnosis from the address's balances, while no deposit is confirmed."""
    if not payment.right:
        elsewhere = MessageKey.WRONG_CHAIN if payment.strays else None
        return MessageKey.WRONG_TOKEN if payment.others else elsewhere
    if payment.lacking:
        return MessageKey.TOO_LITTLE
    if payment.facts.is_over(now=now):
        return MessageKey.TOO_LATE
    if payment.facts.status in UNEXECUTED:
        return MessageKey.NOT_STARTED
    return MessageKey.TOO_MUCH if payment.excess else MessageKey.UNCOUNTED


def _of_unconfirmed(payment: Payment, *, now: datetime) -> MessageKey:
    facts, leg = payment.facts, payment.leg
    if leg in DEAD and payment.is_reported:
        was_mined = payment.deposit.status == TransactionStatus.REVERTED or payment.deposit.txn_mined_at is not None
        return MessageKey.REVERTED if was_mined and leg is StepStatus.REJECTED else MessageKey.NOT_FOUND
    if leg is StepStatus.REJECTED and payment.held is None:
        return MessageKey.NOT_COUNTED
    if facts.is_over(now=now):
        return MessageKey.EXPIRED
    if facts.steps.is_deposit_made or leg is StepStatus.MOVING:
        is_stalled = timing.has_come(timing.stalled_at(facts), now=now)
        return MessageKey.UNCONFIRMED if is_stalled else MessageKey.CONFIRMING
    if leg is StepStatus.STRANGE:
        return MessageKey.UNKNOWN
    if facts.status in UNEXECUTED:
        return MessageKey.OFFERED
    if timing.has_come(payment.deadline, now=now):
        return MessageKey.PAST_DEADLINE
    return MessageKey.WATCHED if payment.deposit.txn_hash else MessageKey.NOTHING


def _is_worth_telling(key: MessageKey, facts: Facts) -> bool:
    if key in TELLING:
        return True
    if facts.status in (IntentStatus.SUCCEEDED, IntentStatus.REFUNDED):
        return False
    if facts.lacks_its_receipt and facts.status != IntentStatus.EXECUTING:
        return False
    if key is not MessageKey.AS_EXPECTED:
        return True
    # Stopped between deposit and first step: the owner will ask about the deposit.
    return facts.status in (IntentStatus.ABORTED, IntentStatus.INVALID) and facts.legs[1] is StepStatus.GIVEN_UP


def _words(key: MessageKey, payment: Payment, *, now: datetime, using: Names) -> Mapping[str, str]:
    """Return a row's placeholder values. Untrusted text is already sanitized."""
    facts, deadline = payment.facts, payment.deadline
    unchanged = now - facts.last_change if facts.last_change else None
    return {
        "chain": chain_name(payment.expected.chain_id, using=using),
        "foundChain": chain_name(payment.found_chain_id, using=using),
        "expected": exactly(payment, payment.expected.value, using=using),
        "least": exactly(payment, payment.least, using=using),
        "lacking": exactly(payment, payment.lacking, using=using),
        "excess": exactly(payment, payment.excess, using=using),
        "found": _found(payment, using=using),
        "deadline": times.utc(deadline, now=now) if deadline else "a time that wasn't reported",
        "looked": ", and the deposit address is empty" if payment.held == () else "",
        "late": _late(payment, now=now),
        "escalation": escalation(facts, DIAGNOSES[key].get("minutes", 0), now=now),
        "age": times.duration(unchanged) if unchanged else "a long time",
        "status": text.name(payment.deposit.status or "none given").shown,
    }


def _found(payment: Payment, *, using: Names) -> str:
    """Return what was received, as the start of a sentence."""
    if payment.leftover:
        left = exactly(payment, payment.leftover, using=using)
        return f"The deposit was used, and {left} is still at the deposit address"
    if payment.is_confirmed:
        amount = listed((payment.named,), using=using) if payment.named.value is not None else "The deposit"
        return f"{amount} arrived"
    if payment.held or payment.strays:
        return f"{listed(payment.found, using=using)} is at the deposit address"
    return "A deposit was submitted"


def _late(payment: Payment, *, now: datetime) -> str:
    if payment.late_by and payment.deadline:
        late_by = times.duration(payment.late_by)
        return Sentence(f" {late_by} after the deadline at ", times.utc(payment.deadline, now=now))
    return ", but it came too late or wasn't accepted in time"
