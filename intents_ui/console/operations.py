"""The emulator's scenarios, the result of a call, and the next call: of the same operation, or the next one.

Values from the response are sent back verbatim.
"""

import shlex
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from intents_ui.console.commit_results import NOT_REACHED
from intents_ui.formatting import failures, text
from intents_ui.service import decode
from intents_ui.service.console import Attempt, JsonFieldKind, Member
from intents_ui.service.decode import Verbatim
from intents_ui.service.errors import KNOWN, Overloaded, Reason, Refused, ServiceError, Unreachable, Unreadable
from intents_ui.service.fields import read_intent_id

# Scenarios of the emulator, by their slug. The first is the default.
SCENARIOS: tuple[tuple[str, str], ...] = (
    ("", "Succeeds within seconds"),
    ("cross-chain-fast", "Succeeds at the speed of a real bridge, in 20 seconds"),
    ("relayer-retries", "Succeeds after a relayer retry, in 30 seconds"),
    ("refunded-inside", "Fails on the origin chain, refunded in the same transaction, in 4 seconds"),
    ("refunded-on-origin", "Fails on the origin chain, refunded there, in 20 seconds"),
    ("refunded-on-destination", "Fails at the last step, refunded on the destination chain, in 30 seconds"),
    ("deposit-reverted", "Deposit reverts, no funds move"),
    ("refund-failed", "Fails, and so does the refund, funds recoverable"),
    ("failed-but-arrived", "Reported as failed, but delivered, in 2 minutes"),
    ("stalled-in-bridge", "Stalls in the bridge for hours"),
)

# A field that only the emulator's ExecuteIntent supports.
SCENARIO = Member("scenario", JsonFieldKind.TEXT, "Scenario to simulate (demo only).")

NOT_SENT = "The request wasn't sent."
MAYBE_DONE = "No response doesn't mean the request failed. Check the intent before retrying."


@dataclass(frozen=True)
class CallOutcome:
    """Result of a call. `name` and `code` come from the service."""

    tone: str
    icon: str
    status: str
    title: str
    meaning: str = ""
    name: str = ""
    code: int | None = None
    message: str = ""
    cause: str = ""
    warning: str = ""


def outcome(attempt: Attempt, *, is_write: bool) -> CallOutcome:
    error = attempt.error
    if error is None:
        return CallOutcome("good", "check", phrase(attempt.status), "Success")
    tone, icon = ("attention", "triangle-alert") if isinstance(error, Refused) else ("bad", "circle-x")
    known = KNOWN.get(error.code) if error.code is not None else None
    message = failures.words(error)
    return CallOutcome(
        tone,
        icon,
        phrase(attempt.status),
        "Rejected" if isinstance(error, Refused) and not isinstance(error, Overloaded) else message.title,
        meaning=failures.MEANINGS[error.code] if known and error.code is not None else _meaning(error),
        name=known[0] if known else error.name or "",
        code=error.code,
        message=error.message if error.code is not None else "",
        cause=error.cause or "",
        warning=MAYBE_DONE if is_write and _may_be_done(error) else "",
    )


def _may_be_done(error: ServiceError) -> bool:
    """Return whether a write may have succeeded although its response doesn't say so."""
    if isinstance(error, Unreachable):
        is_said = error.status is not None and error.status < 500 and error.reason is not Reason.TIMEOUT
        return error.reason not in NOT_REACHED and not is_said
    return isinstance(error, Unreadable)


def _meaning(error: ServiceError) -> str:
    """Return the meaning of an error without a known code."""
    if isinstance(error, Overloaded):
        return f"Too many concurrent requests. {NOT_SENT} Try again in a few seconds."
    if isinstance(error, Unreadable):
        return f"Invalid response: it is {error.reason}."
    if isinstance(error, Unreachable):
        return f"No response: {error.reason}." if error.status is None else "The service or its proxy failed."
    return "Undocumented error code." if error.code is not None else failures.words(error).what


def phrase(status: int | None) -> str:
    if status is None:
        return "No response"
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def time_taken(seconds: float) -> str:
    if seconds < 0.01:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds * 1000:.0f} ms" if seconds < 10 else f"{seconds:.1f} s"


def size(attempt: Attempt) -> str:
    whole, transferred = (text.counted(each, "byte") for each in (attempt.size, attempt.wire_size))
    return whole if attempt.wire_size == attempt.size else f"{whole}, {transferred} transferred"


SOMEWHERE = "https://intent-service.example"  # hides the address of a real service


def curl(url: str, body: str, *, has_key: bool) -> str:
    """Return the call as a shell command, or "" if it contains control characters."""
    if any(unicodedata.category(each) == "Cc" and each not in "\n\t" for each in body):
        return ""
    lines = [f"curl -sS {shlex.quote(url)}", "-H 'Content-Type: application/json'"]
    lines += ["-H 'X-Access-Key: …'"] if has_key else []
    lines += [f"--data-raw {shlex.quote(body)}"]
    return " \\\n  ".join(lines)


# By operation: the response field that the next request sends back, and its request field.
CARRIED = {"GetIntentHistory": ("nextPage", "page"), "WaitIntentReceipt": ("receiptStates", "lastReceiptStates")}
WATCH = "watch"


def next_operation(attempt: Attempt) -> str:
    """Return what an operator does next with the changed intent: an operation, `WATCH` at the end, or ""."""
    order = {"QuoteIntent": "CommitIntent", "CommitIntent": "ExecuteIntent", "ExecuteIntent": WATCH}
    return order[attempt.operation] if changed(attempt) else ""


def quoted(attempt: Attempt) -> str:
    """Return the JSON text of the intent that was just quoted, or "" if none was."""
    return _came(attempt).get("intent", "") if attempt.operation == "QuoteIntent" else ""


def changed(attempt: Attempt) -> str:
    """Return the ID of the intent that was quoted or changed, or "" if none was or it has no page here."""
    if attempt.operation not in ("QuoteIntent", "CommitIntent", "ExecuteIntent"):
        return ""
    members = _members(quoted(attempt)) if attempt.operation == "QuoteIntent" else _came(attempt)
    try:
        return read_intent_id(decode.read(members["intentId"]))
    except (KeyError, ValueError):
        return ""


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
