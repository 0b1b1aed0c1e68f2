"""Label, tone and icon of every status, and one sentence on its meaning. Never color alone.

Also the number of listed intents by status.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from intents_ui.formatting import text
from intents_ui.service.models import FINAL, IntentStatus, TransactionStatus
from intents_ui.service.outcome import execute_by


class Tone(StrEnum):
    NEUTRAL = "neutral"
    PROGRESS = "progress"
    GOOD = "good"
    ATTENTION = "attention"
    BAD = "bad"


@dataclass(frozen=True)
class StatusLabel:
    """A status for display. `icon` is the name of a Lucide icon. `known` is False for unrecognized statuses."""

    word: str
    tone: Tone
    icon: str
    meaning: str
    known: bool = True


INTENTS = {
    IntentStatus.QUOTED: StatusLabel("Quoted", Tone.NEUTRAL, "tag", "The service quoted a price. No funds have moved."),
    IntentStatus.COMMITTED: StatusLabel(
        "Accepted",
        Tone.PROGRESS,
        "lock",
        "The quote was accepted. The transfer must be started within 10 minutes, and before the quote expires.",
    ),
    IntentStatus.EXECUTING: StatusLabel(
        "In progress", Tone.PROGRESS, "loader-circle", "The service is waiting for the deposit or running the transfer."
    ),
    IntentStatus.SUCCEEDED: StatusLabel(
        "Succeeded", Tone.GOOD, "check", "The service reports the transfer as complete."
    ),
    IntentStatus.FAILED: StatusLabel("Failed", Tone.BAD, "x", "The transfer failed. A refund may follow."),
    IntentStatus.REFUNDED: StatusLabel(
        "Refunded", Tone.NEUTRAL, "undo-2", "The transfer failed and the funds were refunded to the owner."
    ),
    IntentStatus.ABORTED: StatusLabel(
        "Aborted", Tone.NEUTRAL, "ban", "The owner aborted the transfer, or it timed out."
    ),
    IntentStatus.INVALID: StatusLabel(
        "Invalid", Tone.NEUTRAL, "circle-slash", "The service rejected the request or its deposit."
    ),
}

EXPIRED = StatusLabel(
    "Expired",
    Tone.NEUTRAL,
    "clock",
    "The quote expired before the transfer started. The service still reports it as QUOTED or COMMITTED.",
)

TRANSACTIONS = {
    TransactionStatus.UNKNOWN: StatusLabel(
        "Not started", Tone.NEUTRAL, "circle-dashed", "Nothing has been submitted yet."
    ),
    TransactionStatus.ON_HOLD: StatusLabel(
        "Waiting", Tone.PROGRESS, "pause", "Waiting for an earlier step or the bridge."
    ),
    TransactionStatus.PENDING: StatusLabel(
        "Pending", Tone.PROGRESS, "hourglass", "Next to run. A pending deposit hasn't arrived yet."
    ),
    TransactionStatus.RELAYING: StatusLabel("Relaying", Tone.PROGRESS, "send", "Being handed to the relayer."),
    TransactionStatus.RELAYED: StatusLabel("Relayed", Tone.PROGRESS, "send", "Accepted by the relayer."),
    TransactionStatus.SENT: StatusLabel("Sent", Tone.PROGRESS, "send", "Submitted to the chain."),
    TransactionStatus.ERRORED: StatusLabel(
        "Retrying", Tone.ATTENTION, "refresh-cw", "It couldn't be submitted and is being retried."
    ),
    TransactionStatus.MINING: StatusLabel(
        "Confirming", Tone.PROGRESS, "loader-circle", "Waiting for confirmation on the chain."
    ),
    TransactionStatus.SUCCEEDED: StatusLabel("Succeeded", Tone.GOOD, "check", "Confirmed on-chain."),
    TransactionStatus.FAILED: StatusLabel("Failed", Tone.BAD, "x", "The transaction failed."),
    TransactionStatus.ABORTED: StatusLabel("Aborted", Tone.NEUTRAL, "ban", "Aborted before completion."),
    TransactionStatus.REVERTED: StatusLabel("Reverted", Tone.BAD, "x", "Reverted on-chain."),
}

NOT_SENT = StatusLabel("Not sent", Tone.BAD, "x", "It couldn't be submitted, and the transfer has closed.")
NOT_GIVEN = StatusLabel("No status", Tone.NEUTRAL, "info", "The service reported no status.", known=False)


def intent(
    status: str | None, *, now: datetime, expires_at: datetime | None = None, updated_at: datetime | None = None
) -> StatusLabel:
    """Return how to show an intent's status. An expired quote has no status of its own, only its expiry tells."""
    if is_expired(status, now=now, expires_at=expires_at, updated_at=updated_at):
        return EXPIRED
    return unknown(status) if status is None or status not in IntentStatus else INTENTS[IntentStatus(status)]


def transaction(status: str | None, *, is_open: bool = True) -> StatusLabel:
    """Return how to show a transaction's status. ERRORED means a retry only while the intent is open."""
    if status == TransactionStatus.ERRORED and not is_open:
        return NOT_SENT
    if status is None or status not in TransactionStatus:
        return unknown(status)
    return TRANSACTIONS[TransactionStatus(status)]


def unknown(status: str | None) -> StatusLabel:
    if status is None:
        return NOT_GIVEN
    meaning = "The service reports a status that this dashboard doesn't recognize yet."
    return StatusLabel(text.name(status).shown, Tone.NEUTRAL, "info", meaning, known=False)


def is_open(status: str | None) -> bool:
    """Return whether the status is not final. An unknown status counts as open."""
    return status not in FINAL


def is_expired(
    status: str | None, *, now: datetime, expires_at: datetime | None, updated_at: datetime | None = None
) -> bool:
    end = execute_by(status, expires_at=expires_at, updated_at=updated_at)
    return end is not None and now >= end


# Delivered first, then open, then not delivered.
ORDER = (Tone.GOOD, Tone.PROGRESS, Tone.ATTENTION, Tone.BAD, Tone.NEUTRAL)
WHOLE = Decimal(100)
HUNDREDTH = Decimal("0.01")
GAP = Decimal("0.8")


@dataclass(frozen=True)
class Share:
    """Intents of one status; `start` and `width` are percent of the bar, with a gap before the next."""

    word: str
    tone: Tone
    count: int
    start: Decimal
    width: Decimal


def mix(statuses: Iterable[StatusLabel]) -> tuple[Share, ...]:
    """Return one share per status, by tone, then most frequent first."""
    counted = Counter((status.tone, status.word) for status in statuses)
    total = counted.total()
    ordered = sorted(counted.items(), key=lambda entry: (ORDER.index(entry[0][0]), -entry[1], entry[0][1]))
    shares = []
    before = 0
    for (tone, word), count in ordered:
        start, end = (percent(each, of=total) for each in (before, before + count))
        gap = min(GAP, (end - start) / 2) if end < WHOLE else Decimal(0)
        shares.append(Share(word, tone, count, start, (end - start - gap).quantize(HUNDREDTH)))
        before += count
    return tuple(shares)


def percent(count: int, *, of: int) -> Decimal:
    return (WHOLE * count / of).quantize(HUNDREDTH)
