"""Next call after a response: the same operation for its next page or change, or the next operation of a transfer.

Values from the response are sent back verbatim.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from intents_ui.service import decode
from intents_ui.service.decode import Verbatim
from intents_ui.service.fields import read_intent_id
from intents_ui.service.wire.results import Attempt

# By operation: the response field that the next request sends back, and its request field.
CARRIED = {"GetIntentHistory": ("nextPage", "page"), "WaitIntentReceipt": ("receiptStates", "lastReceiptStates")}
WATCH = "watch"


@dataclass(frozen=True, slots=True)
class NextCall:
    """`operation`: the next one, or `WATCH` at the end. `sent`: the intent's JSON for a commit, otherwise its ID."""

    operation: str
    sent: str


def suggest(attempt: Attempt) -> NextCall | None:
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
    """Return the ID of the intent that changed, or "" if none did or it has no page here."""
    if attempt.operation not in ("CommitIntent", "ExecuteIntent"):
        return ""
    try:
        return read_intent_id(decode.read(_came(attempt)["intentId"]))
    except (KeyError, ValueError):
        return ""


def committed(attempt: Attempt) -> str:
    """Return the JSON text of the intent that was committed, or "" if none was."""
    return _members(attempt.sent).get("intent", "") if attempt.operation == "CommitIntent" and changed(attempt) else ""


def found_nothing(attempt: Attempt) -> bool:
    """Return whether the response has only empty lists."""
    lists = [text for text in _came(attempt).values() if text.startswith("[")]
    return bool(lists) and all(not text.strip("[] \t\r\n") for text in lists)


def again(attempt: Attempt) -> str:
    """Return the request for the next page or the next change, or "" if there is none."""
    if attempt.operation not in CARRIED:
        return ""
    member, asked_as = CARRIED[attempt.operation]
    came = _came(attempt)
    carried = came.get(member, "null")
    if carried == "null" or came.get("done") == "true" or _members(carried).get("more") == "false":
        return ""
    request = {**_members(attempt.sent), asked_as: carried}
    return decode.write({name: Verbatim(text) for name, text in request.items()}).decode()


def _came(attempt: Attempt) -> Mapping[str, str]:
    return _members(attempt.text) if attempt.error is None else {}


def _members(text: str) -> Mapping[str, str]:
    """Return the fields of a JSON object, or none for other text: masking can break a response's JSON."""
    try:
        return decode.members(text) if isinstance(decode.read(text), dict) else {}
    except ValueError:
        return {}
