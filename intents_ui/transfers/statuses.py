"""Label, tone and icon of every status, and one sentence on its meaning, from statuses.toml. Never color alone."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from intents_ui import tables
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


def labels(kind: str) -> Mapping[str, StatusLabel]:
    """Return the labels of a kind of status by their names in statuses.toml."""
    return {name: StatusLabel(**{**row, "tone": Tone(row["tone"])}) for name, row in _TABLES[kind].items()}


_TABLES = tables.read(__package__, "statuses.toml")
INTENTS = {IntentStatus(name): label for name, label in labels("intents").items()}
TRANSACTIONS = {TransactionStatus(name): label for name, label in labels("transactions").items()}
_SPECIAL = labels("special")
EXPIRED, NOT_SENT = _SPECIAL["expired"], _SPECIAL["not_sent"]
NOT_GIVEN = replace(_SPECIAL["not_given"], known=False)


def intent(
    status: str | None, *, now: datetime, expires_at: datetime | None = None, updated_at: datetime | None = None
) -> StatusLabel:
    """Return how to show an intent's status. An expired quote has no status of its own, only its expiry tells."""
    end = execute_by(status, expires_at=expires_at, updated_at=updated_at)
    if end is not None and now >= end:
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
