"""Rows of explanations.json, each with the words for one situation."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from typing import Any

from intents_ui.display.statuses import Tone
from intents_ui.service.wire import IntentStatus

SECOND_DEPOSIT = "Do not deposit again for this transfer."


class Who(StrEnum):
    NOBODY = "nobody"
    PAYER = "payer"
    OWNER = "owner"
    SUPPORT = "support"


class Certainty(StrEnum):
    """How sure it is where the funds are."""

    CONFIRMED = "confirmed"
    LIKELY = "likely"
    UNKNOWN = "unknown"
    CONFLICTING = "conflicting"  # two sources say different things


class Attention(StrEnum):
    """What a support team should do about a transfer: nothing, keep an eye on it, or act."""

    NONE = "none"
    WATCH = "watch"
    ACT = "act"


class Cause(StrEnum):
    """Why a transfer needs attention."""

    NONE = ""
    CHECK = "check"  # where the funds went has to be checked
    CONFLICT = "conflict"  # the service and its steps, or the chains, disagree
    DEPOSIT = "deposit"  # the deposit is missing, unconfirmed or was not accepted
    FAILED = "failed"
    LATE = "late"
    RECOVERABLE = "recoverable"
    REFUND = "refund"  # a refund is expected or under way
    REFUND_FAILED = "refund-failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Row:
    """`statuses` are those under which the row can be chosen, `when` says by what else, for those who read the file.

    `place` is a `Place`, or one that depends on the transfer: `last-confirmed`, `balance` or `refund`. `contact` is
    empty when no one needs to be contacted. `warn_second_deposit`: a second deposit is plausible and would be harmful,
    so `SECOND_DEPOSIT` is shown with the row. `minutes` without a change after which `{escalation}` says to contact
    support; 0 in rows without it. `stem` is the beginning of the headline that balances cannot change; empty where
    they can change nothing of it."""

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
    for row in json.loads(resources.files(__package__).joinpath("explanations.json").read_text("utf-8"))
}
