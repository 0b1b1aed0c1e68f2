"""Meanings of the service's error codes, the emulator's scenarios, and the result of a call."""

import shlex
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from intents_ui.display import failures
from intents_ui.display.console.commit import NOT_REACHED
from intents_ui.service.errors import KNOWN, Overloaded, Reason, Refused, ServiceError, Unreachable, Unreadable
from intents_ui.service.wire.results import Attempt

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

# Meanings of the service's error codes (docs/contract.md#errors).
MEANINGS: Mapping[int, str] = {
    -10: "The stream ended.",
    -9: "The stream was interrupted.",
    -8: "The client disconnected before the response.",
    -7: "Internal error of the service.",
    -6: "The service crashed on this request.",
    -5: "The service couldn't read an internal response.",
    -4: "Invalid JSON or wrong field type.",
    -3: "Operations accept POST requests only.",
    -2: "No operation has this path.",
    -1: "The request failed in transit.",
    0: "The operation failed with an unnamed error.",
    1000: "Missing or unusable credentials.",
    1001: "The credentials don't permit this.",
    1002: "The session expired.",
    1003: "Unknown method.",
    1004: "Another request changed the same object in the meantime.",
    1005: "The request was aborted.",
    1006: "The service isn't available in this region.",
    1007: "Too many requests from this IP address.",
    1008: "Unknown project.",
    1101: "Unknown or disabled access key.",
    1102: "The access key belongs to another project.",
    1103: "The access key doesn't permit requests from this origin.",
    1104: "The access key doesn't permit this service.",
    1105: "Access key required.",
    1200: "The project's quota is used up. Retrying doesn't help until the quota is raised.",
    1201: "Rate limit of the access key exceeded.",
    1300: "The project has no default access key.",
    1301: "The project has reached its maximum number of access keys.",
    1302: "The project needs at least one access key.",
    1900: "The service timed out.",
    2000: "Missing or invalid field. The cause names it.",
    2001: "Unexpected error in the service.",
    2002: "Not available yet. For ExecuteIntent: the deposit isn't visible on the chain yet.",
    2003: "The quote or the lookup failed. The cause says why.",
    2004: "The intent's status doesn't permit this. The cause names the status.",
    3000: "The requested version of the intent protocol is no longer supported.",
    7000: "Origin and destination are the same.",
    7001: "The quote expired, or 10 minutes have passed since it was accepted. Request a new quote.",
    7002: "Price impact is too high on this route.",
    7003: "Tokens with a transfer fee aren't supported.",
    8000: "Unknown intent, or no receipt yet.",
    8008: "Unsupported chain.",
    8009: "The client version is no longer supported.",
    9000: "The service is paused.",
    9001: "The service can't reach a chain right now.",
}

NOT_SENT = "The request wasn't sent."
MAYBE_DONE = "No response doesn't mean the request failed. Check the intent before retrying."


@dataclass(frozen=True)
class CallOutcome:
    """Result of a call. `name` and `code` come from the service. `is_documented`: the code is in the contract."""

    tone: str
    icon: str
    status: str
    title: str
    meaning: str = ""
    name: str = ""
    code: int | None = None
    is_documented: bool = False
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
        meaning=MEANINGS[error.code] if known and error.code is not None else _meaning(error),
        name=known[0] if known else error.name or "",
        code=error.code,
        is_documented=known is not None,
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
        return f"Invalid response: it is {error.flaw}."
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
    whole = _bytes(attempt.size)
    return whole if attempt.wire_size == attempt.size else f"{whole}, {_bytes(attempt.wire_size)} transferred"


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count:,} bytes"


SOMEWHERE = "https://intent-service.example"  # hides the address of a real service


def curl(url: str, text: str, *, has_key: bool) -> str:
    """Return the call as a shell command, or "" if it contains control characters."""
    if any(unicodedata.category(each) == "Cc" and each not in "\n\t" for each in text):
        return ""
    lines = [f"curl -sS {shlex.quote(url)}", "-H 'Content-Type: application/json'"]
    lines += ["-H 'X-Access-Key: …'"] if has_key else []
    lines += [f"--data-raw {shlex.quote(text)}"]
    return " \\\n  ".join(lines)
