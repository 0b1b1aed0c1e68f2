"""The rows of explanations.json, each the words for one situation (domain.md section 6)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from typing import Any

from intents_ui.display.statuses import Tone
from intents_ui.service.wire import IntentStatus


class Who(StrEnum):
    NOBODY = "nobody"
    PAYER = "payer"
    OWNER = "owner"
    SUPPORT = "support"


@dataclass(frozen=True)
class Row:
    """`statuses` are those under which the row can be chosen, `when` says by what else, for those who read the file.

    `place` is a `Place`, or one that depends on the transfer: `last-confirmed`, `balance` or `refund`. `contact` is
    empty when nobody needs to be asked."""

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


def _row(written: Mapping[str, Any]) -> Row:
    typed = {
        "statuses": tuple(IntentStatus(status) for status in written["statuses"]),
        "who": Who(written["who"]),
        "tone": Tone(written["tone"]),
    }
    return Row(**{**written, **typed})


EXPLANATIONS: Mapping[str, Row] = {
    row["key"]: _row(row)
    for row in json.loads(resources.files(__package__).joinpath("explanations.json").read_text("utf-8"))
}
