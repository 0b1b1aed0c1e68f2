"""Rows of messages.json, each with the messages for one situation."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from typing import Any

from intents_ui.display.transfers.statuses import Tone
from intents_ui.service.wire.models import IntentStatus

SECOND_DEPOSIT = "Do not deposit again for this transfer."


class Who(StrEnum):
    NOBODY = "nobody"
    PAYER = "payer"
    OWNER = "owner"
    SUPPORT = "support"


class Certainty(StrEnum):
    """How certain the location of the funds is."""

    CONFIRMED = "confirmed"
    LIKELY = "likely"
    UNKNOWN = "unknown"
    CONFLICTING = "conflicting"  # two sources conflict


class Attention(StrEnum):
    """What a support team should do about a transfer: nothing, watch it, or act."""

    NONE = "none"
    WATCH = "watch"
    ACT = "act"


class Cause(StrEnum):
    """Why a transfer needs attention."""

    NONE = ""
    CHECK = "check"  # the location of the funds must be checked
    CONFLICT = "conflict"  # the status conflicts with its steps or with the chains
    DEPOSIT = "deposit"  # the deposit is missing, unconfirmed or was not accepted
    FAILED = "failed"
    LATE = "late"
    RECOVERABLE = "recoverable"
    REFUND = "refund"  # a refund is expected or in progress
    REFUND_FAILED = "refund-failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Row:
    """A row. `statuses` are those in which it can apply. `when` describes its condition for readers of the file.

    `place` is a `Place`, or one that depends on the transfer: `last-confirmed`, `balance` or `refund`. `contact` is
    empty if no one needs to be contacted. `warn_second_deposit`: a second deposit is plausible and harmful, so
    `SECOND_DEPOSIT` is shown with the row. `minutes` without a change after which `{escalation}` says to contact
    support, 0 without it. `stem` is the beginning of the headline that balances can't change, empty if they change
    none of it.
    """

    key: str
    statuses: tuple[IntentStatus, ...]
    when: str
    headline: str
    sentence: str
    where: str
    next: str
    who: Who
    contact: str
    tone: Tone
    place: str
    warn_second_deposit: bool
    certainty: Certainty
    attention: Attention
    cause: Cause
    stem: str
    minutes: int = 0


def _row(written: Mapping[str, Any]) -> Row:
    typed = {
        "statuses": tuple(IntentStatus(status) for status in written["statuses"]),
        "who": Who(written["who"]),
        "tone": Tone(written["tone"]),
        "certainty": Certainty(written["certainty"]),
        "attention": Attention(written["attention"]),
        "cause": Cause(written["cause"]),
    }
    return Row(**{**written, **typed})


EXPLANATIONS: Mapping[str, Row] = {
    row["key"]: _row(row)
    for row in json.loads(resources.files(__package__).joinpath("messages.json").read_text("utf-8"))
}
