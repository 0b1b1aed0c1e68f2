"""The word, tone and icon of every status, and one sentence on what it means. Never colour alone."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from intents_ui.display import text
from intents_ui.service.wire import IntentStatus, TransactionStatus


class Tone(StrEnum):
    NEUTRAL = "neutral"
    PROGRESS = "progress"
    GOOD = "good"
    ATTENTION = "attention"
    BAD = "bad"


@dataclass(frozen=True)
class Shown:
    """`icon` names a Lucide icon; `known` is False for a status that this page has no words for."""

    word: str
    tone: Tone
    icon: str
    meaning: str
    known: bool = True


INTENTS = {
    IntentStatus.QUOTED: Shown("Quoted", Tone.NEUTRAL, "tag", "A price was offered. Nothing has moved."),
    IntentStatus.COMMITTED: Shown(
        "Committed", Tone.PROGRESS, "lock", "The offer was accepted and its price is held for up to 10 minutes."
    ),
    IntentStatus.EXECUTING: Shown(
        "In progress", Tone.PROGRESS, "loader-circle", "The service is waiting for the payment or carrying it out."
    ),
    IntentStatus.SUCCEEDED: Shown("Succeeded", Tone.GOOD, "check", "The service reports the transfer as complete."),
    IntentStatus.FAILED: Shown(
        "Failed", Tone.BAD, "x", "The transfer did not work. A return may still follow, so it is worth another look."
    ),
    IntentStatus.REFUNDED: Shown(
        "Refunded", Tone.ATTENTION, "undo-2", "The transfer did not work and the money was sent back to the owner."
    ),
    IntentStatus.ABORTED: Shown(
        "Aborted", Tone.NEUTRAL, "ban", "The transfer was stopped, by the owner or because it ran out of time."
    ),
    IntentStatus.INVALID: Shown(
        "Invalid", Tone.NEUTRAL, "circle-slash", "The service rejected the request, or the payment made for it."
    ),
}

EXPIRED = Shown("Offer expired", Tone.NEUTRAL, "clock", "The price offer ran out before the transfer was started.")

TRANSACTIONS = {
    TransactionStatus.UNKNOWN: Shown("Not started", Tone.NEUTRAL, "circle-dashed", "Nothing has been done yet."),
    TransactionStatus.ON_HOLD: Shown(
        "On hold", Tone.PROGRESS, "pause", "It waits for the step before, or for the bridge to confirm."
    ),
    TransactionStatus.PENDING: Shown(
        "Pending", Tone.PROGRESS, "hourglass", "It is next in line; a deposit waits for the payment to arrive."
    ),
    TransactionStatus.RELAYING: Shown("Relaying", Tone.PROGRESS, "send", "It is being handed to the relayer."),
    TransactionStatus.RELAYED: Shown("Relayed", Tone.PROGRESS, "send", "The relayer has taken it."),
    TransactionStatus.SENT: Shown("Sent", Tone.PROGRESS, "send", "It has been sent to the chain."),
    TransactionStatus.ERRORED: Shown(
        "Retrying", Tone.ATTENTION, "refresh-cw", "It could not be sent and is being tried again."
    ),
    TransactionStatus.MINING: Shown("Mining", Tone.PROGRESS, "loader-circle", "The chain is confirming it."),
    TransactionStatus.SUCCEEDED: Shown("Succeeded", Tone.GOOD, "check", "The chain has confirmed it."),
    TransactionStatus.FAILED: Shown("Failed", Tone.BAD, "x", "The chain has recorded it as failed."),
    TransactionStatus.ABORTED: Shown("Aborted", Tone.NEUTRAL, "ban", "It was given up before it was complete."),
    TransactionStatus.REVERTED: Shown("Reverted", Tone.BAD, "x", "The chain has rejected it; what it did was undone."),
}

NOT_SENT = Shown("Not sent", Tone.BAD, "x", "It could not be sent, and the transfer has ended.")
NOT_GIVEN = Shown("No status", Tone.NEUTRAL, "info", "The service gave no status.", known=False)

# "Stop waiting", not "success". The second set is still worth a look: a refund or a retry may follow (domain.md 1.1).
TERMINAL = frozenset({"SUCCEEDED", "FAILED", "ABORTED", "REFUNDED", "INVALID"})
TERMINAL_FOR_NOW = frozenset({"FAILED", "ABORTED", "INVALID"})

TIME_TO_EXECUTE = timedelta(minutes=10)


def intent(
    status: str | None, *, now: datetime, expires_at: datetime | None = None, updated_at: datetime | None = None
) -> Shown:
    """How an intent's status is shown; there is no status for an expired offer, only the clock says so."""
    if is_expired(status, now=now, expires_at=expires_at, updated_at=updated_at):
        return EXPIRED
    return unknown(status) if status is None or status not in IntentStatus else INTENTS[IntentStatus(status)]


def transaction(status: str | None, *, is_open: bool = True) -> Shown:
    """How a transaction's status is shown; ERRORED is a retry only while the intent is open (domain.md 1.2)."""
    if status == TransactionStatus.ERRORED and not is_open:
        return NOT_SENT
    if status is None or status not in TransactionStatus:
        return unknown(status)
    return TRANSACTIONS[TransactionStatus(status)]


def unknown(status: str | None) -> Shown:
    if status is None:
        return NOT_GIVEN
    meaning = "The service reports a status that this page does not know yet."
    return Shown(text.name(status).shown, Tone.NEUTRAL, "info", meaning, known=False)


def is_open(status: str | None) -> bool:
    """Something can still happen by itself; an unknown status counts as open (domain.md 7.15)."""
    return status not in TERMINAL


def is_expired(
    status: str | None, *, now: datetime, expires_at: datetime | None, updated_at: datetime | None = None
) -> bool:
    end = execute_by(status, expires_at=expires_at, updated_at=updated_at)
    return end is not None and now >= end


def execute_by(
    status: str | None, *, expires_at: datetime | None, updated_at: datetime | None = None
) -> datetime | None:
    """Until when the offer can be used. When it was committed is not on the wire: `updated_at` stands in for it."""
    if status not in (IntentStatus.QUOTED, IntentStatus.COMMITTED):
        return None
    committed = updated_at if status == IntentStatus.COMMITTED else None
    ends = [expires_at, committed + TIME_TO_EXECUTE if committed else None]
    return min((end for end in ends if end), default=None)
