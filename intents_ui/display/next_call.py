"""What is asked next, with what an answer gave for it: the same operation again, or the next one on the way to the end.

All of it goes back as the exact text that came.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from intents_ui.service import json_text
from intents_ui.service.attempt import Attempt
from intents_ui.service.json_text import Verbatim
from intents_ui.service.scalars import read_intent_id

# What of an answer goes back with the next request of the same operation, and as which member.
CARRIED = {"GetIntentHistory": ("nextPage", "page"), "WaitIntentReceipt": ("receiptStates", "lastReceiptStates")}
WATCH = "watch"


@dataclass(frozen=True, slots=True)
class NextCall:
    """`operation`: what comes next, `WATCH` at the end. `sent`: the intent's exact text for a commit, else its id."""

    operation: str
    sent: str


def next_call(attempt: Attempt) -> NextCall | None:
    match attempt.operation:
        case "QuoteIntent" if intent := _came(attempt).get("intent"):
            return NextCall("CommitIntent", intent)
        case "CommitIntent" if found := changed(attempt):
            return NextCall("ExecuteIntent", found)
        case "ExecuteIntent" if found := changed(attempt):
            return NextCall(WATCH, found)
        case _:
            return None


def changed(attempt: Attempt) -> str:
    """The id of the intent that moved; "" when none did, or none with a page here."""
    if attempt.operation not in ("CommitIntent", "ExecuteIntent"):
        return ""
    try:
        return read_intent_id(json_text.read(_came(attempt)["intentId"]))
    except (KeyError, ValueError):
        return ""


def committed(attempt: Attempt) -> str:
    """Return the exact text of the intent that was committed; "" when none was."""
    return _members(attempt.sent).get("intent", "") if attempt.operation == "CommitIntent" and changed(attempt) else ""


def found_nothing(attempt: Attempt) -> bool:
    """Whether the answer is a list, and an empty one."""
    lists = [text for text in _came(attempt).values() if text.startswith("[")]
    return bool(lists) and all(not text.strip("[] \t\r\n") for text in lists)


def again(attempt: Attempt) -> str:
    """The request for the next page, or for the next change; "" when there is none."""
    if attempt.operation not in CARRIED:
        return ""
    member, asked_as = CARRIED[attempt.operation]
    came = _came(attempt)
    carried = came.get(member, "null")
    if carried == "null" or came.get("done") == "true" or _members(carried).get("more") == "false":
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
