"""Deposit check: whether the deposit is as expected, and the next step; from messages.json."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from intents_ui import tables
from intents_ui.display.deposits import checks
from intents_ui.display.deposits.checks import CheckResult, chain_name, exactly, listed
from intents_ui.display.formatting import text, times
from intents_ui.display.formatting.sentences import Sentence, fill
from intents_ui.display.summary.placeholders import escalation
from intents_ui.display.tokens import token_amounts
from intents_ui.display.tokens.names import Names
from intents_ui.display.transfers import timing
from intents_ui.display.transfers.deposits import Payment
from intents_ui.display.transfers.situation import Situation, derived
from intents_ui.display.transfers.statuses import DEAD, StatusLabel, StepStatus, Tone, is_made
from intents_ui.display.transfers.transfer_data import Facts
from intents_ui.service.models import IntentStatus, TransactionStatus


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
OFFERS = frozenset({IntentStatus.QUOTED, IntentStatus.COMMITTED})
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
    row, words = DIAGNOSES[key], _words(key, payment, now=now, using=using)
    rows = tuple(checks.findings(payment, is_too_late=key is MessageKey.TOO_LATE, now=now, using=using))
    return Diagnosis(
        key=key,
        shown=StatusLabel(row["headline"], Tone(row["tone"]), row["icon"], row["when"]),
        sentence=fill(row["sentence"], words),
        next=fill(_next(key, payment, now=now), words),
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
    if _was_taken_up(payment):
        return MessageKey.AS_EXPECTED
    return _of_idle(payment, is_over=payment.facts.is_over(now=now))


def _was_taken_up(payment: Payment) -> bool:
    facts = payment.facts
    _, origin, destination = facts.legs
    is_idle = {origin, destination} <= NOT_BEGUN | {StepStatus.GIVEN_UP}
    return not is_idle or facts.returning is not StepStatus.ABSENT or facts.status == IntentStatus.REFUNDED


def _of_idle(payment: Payment, *, is_over: bool) -> MessageKey:
    """Return the diagnosis of a correct deposit that no step has used."""
    is_offer = payment.facts.status in OFFERS
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
    if payment.facts.status in OFFERS:
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
    if is_made(facts.deposit) or leg is StepStatus.MOVING:
        is_stalled = timing.has_come(timing.stalled_at(facts), now=now)
        return MessageKey.UNCONFIRMED if is_stalled else MessageKey.CONFIRMING
    return MessageKey.UNKNOWN if leg is StepStatus.STRANGE else _of_nothing(payment, now=now)


def _of_nothing(payment: Payment, *, now: datetime) -> MessageKey:
    if payment.facts.status in OFFERS:
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


def _next(key: MessageKey, payment: Payment, *, now: datetime) -> str:
    row, facts = DIAGNOSES[key], payment.facts
    if key is MessageKey.WAITING and timing.has_come(timing.stalled_at(facts), now=now):
        return STALLED
    return str(row["after"] if row["after"] and facts.is_over(now=now) else row["next"])


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
