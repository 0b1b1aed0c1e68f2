"""What is asked next, with what an answer gave for it: the same operation again, or the next one on the way to the end.

All of it goes back as the exact text that came.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from intents_ui.service import json_text
from intents_ui.service.attempt import Attempt
from intents_ui.service.json_text import Verbatim

# What of an answer goes back with the next request of the same operation, and as which member.
CARRIED = {"GetIntentHistory": ("nextPage", "page"), "WaitIntentReceipt": ("receiptStates", "lastReceiptStates")}
NOTHING = ("null", "")
WATCH = "watch"


@dataclass(frozen=True, slots=True)
class NextCall:
    """`operation`: what comes next, `WATCH` at the end. `sent`: the intent's exact text for a commit, else its id."""

    operation: str
    sent: str


def next_call(attempt: Attempt) -> NextCall | None:
    came = _came(attempt)
    match attempt.operation:
        case "QuoteIntent" if "intent" in came:
            return NextCall("CommitIntent", came["intent"])
        case "CommitIntent" | "ExecuteIntent" if found := _intent_id(came):
            return NextCall("ExecuteIntent" if attempt.operation == "CommitIntent" else WATCH, found)
        case _:
            return None


def changed(attempt: Attempt) -> str:
    """The id of the intent that moved; "" when none did."""
    return _intent_id(_came(attempt)) if attempt.operation in ("CommitIntent", "ExecuteIntent") else ""


def again(attempt: Attempt) -> str:
    """The request for the next page, or for the next change; "" when there is none."""
    member, asked_as = CARRIED.get(attempt.operation, ("", ""))
    carried = _came(attempt).get(member, "")
    if carried in NOTHING:
        return ""
    request = {**_members(attempt.sent), asked_as: carried}
    return json_text.write({name: Verbatim(text) for name, text in request.items()}).decode()


def _came(attempt: Attempt) -> Mapping[str, str]:
    return _members(attempt.text) if attempt.error is None else {}


def _members(text: str) -> Mapping[str, str]:
    """None of what is no object: the service may take that too, and an answer may have lost its form to the mask."""
    try:
        return json_text.members(text) if isinstance(json_text.read(text), dict) else {}
    except ValueError:
        return {}


def _intent_id(came: Mapping[str, str]) -> str:
    found = json_text.read(came.get("intentId", '""'))
    return found if isinstance(found, str) else ""
