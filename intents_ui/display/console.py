"""Words for operations that somebody calls by hand: what each is for, what a write does, what came of a call."""

import shlex
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from intents_ui.display import failures
from intents_ui.display.commit import NOT_REACHED
from intents_ui.service.attempt import Attempt
from intents_ui.service.errors import Overloaded, Reason, Refused, ServiceError, Unreachable, Unreadable
from intents_ui.service.refusals import KNOWN

ABOUT: Mapping[str, str] = {
    "SearchIntents": "Finds intents by an id, a hash or an address.",
    "GetIntentHistory": "Lists intents page by page, with their receipts.",
    "GetIntent": "Gives one intent: what was quoted, and its state.",
    "GetIntentReceipt": "Gives what has happened to an intent so far, transaction by transaction.",
    "WaitIntentReceipt": "Waits, up to about half a minute, until something happens to an intent.",
    "CommitIntent": "Accepts a quote. Execute within 10 minutes of accepting, and before the quote expires.",
    "GetTokenList": "Lists the tokens of chains: the featured ones, or all that are listed.",
    "GetChains": "Lists the chains that the service moves money between.",
    "GetExactInputRoutes": "Lists what can be had for a token.",
    "GetExactOutputRoutes": "Lists what a token can be paid with.",
    "QuoteIntent": "Makes an intent: what would be paid, what would arrive, and the fees.",
    "ExecuteIntent": "Sets a committed intent going.",
    "GetTokenPrices": "Gives prices of tokens in US dollars.",
}

# Before something is written: what it does, and what it does not.
CONSEQUENCES: Mapping[str, str] = {
    "QuoteIntent": "This makes a quote. It costs nothing and moves no money. The intent will stand in the history,"
    " where every reader sees it.",
    "CommitIntent": "This accepts the quote for its owner. It moves no money, but cannot be taken back: an intent is"
    " committed once. Execute within 10 minutes of accepting, and before the quote expires.",
    "ExecuteIntent": "This sets the transfer going: as soon as the deposit is there, the service moves it. That cannot"
    " be taken back.",
}

# How an invented transfer may go, by what the embedded service calls it; the first is what it does unasked.
PLOTS: tuple[tuple[str, str], ...] = (
    ("", "It succeeds within seconds"),
    ("cross-chain-fast", "It succeeds at the pace of a real bridge, in 20 seconds"),
    ("relayer-retries", "It succeeds after a relayer tried again, in half a minute"),
    ("refunded-inside", "A call on the origin chain fails: refunded at once, in 4 seconds"),
    ("refunded-on-origin", "The origin transaction fails: refunded on the origin chain, in 20 seconds"),
    ("refunded-on-destination", "The last step fails: refunded on the destination chain, in half a minute"),
    ("deposit-reverted", "The deposit reverts: nothing moves"),
    ("refund-failed", "It fails, and so does the refund: the money waits to be recovered"),
    ("failed-but-arrived", "It is said to have failed, and arrived, in 2 minutes"),
    ("stalled-in-bridge", "It hangs in the bridge, for hours"),
)

# Meanings of the service's error codes (docs/contract.md#errors).
MEANINGS: Mapping[int, str] = {
    -10: "The stream is over.",
    -9: "The stream broke off.",
    -8: "The caller left before the answer.",
    -7: "Something failed inside the service.",
    -6: "The service crashed over this request.",
    -5: "The service could not read what one of its own parts answered.",
    -4: "The request is no JSON, or a member of it is of the wrong type.",
    -3: "Operations are called by POST only.",
    -2: "There is no such operation under this path.",
    -1: "The request failed on its way.",
    0: "The operation failed with an error that has no name of its own.",
    1000: "No credentials came with the request, or none that can be used.",
    1001: "The credentials are not allowed to do this.",
    1002: "The session is over.",
    1003: "The service has no such method.",
    1004: "Another request has changed the same thing meanwhile.",
    1005: "The request was given up.",
    1006: "The service does not answer in this region.",
    1007: "Too many requests came from this address.",
    1008: "The project is not known.",
    1101: "The access key is unknown, or switched off.",
    1102: "The access key is another project's.",
    1103: "The access key is not for requests from this origin.",
    1104: "The access key is not for this service.",
    1105: "The access key is missing where one is needed.",
    1200: "The project's quota is used up. Waiting does not help: the quota has to be raised.",
    1201: "Too many requests came with this key in a short time.",
    1300: "The project has no default access key.",
    1301: "The project has as many access keys as it may have.",
    1302: "The project needs at least one access key.",
    1900: "The service did not finish in time.",
    2000: "A member is missing, or its value is not accepted. The cause names it.",
    2001: "Something unforeseen went wrong inside the service.",
    2002: "What is needed is not there yet: for ExecuteIntent, the deposit cannot be seen on the chain so far.",
    2003: "The quote or the look-up failed. The cause says why.",
    2004: "The intent is not in a state in which this can be done. The cause names its state.",
    3000: "The version of the intent protocol that was asked for is no longer supported.",
    7000: "Origin and destination are the same: there is nothing to move.",
    7001: "The quote expired, or 10 minutes have passed since it was accepted. Request a new quote.",
    7002: "The price on this route would be too bad: too much would be lost.",
    7003: "The token takes a fee whenever it is moved, which the service does not support.",
    8000: "The service does not know the intent, or it has no receipt yet.",
    8008: "The service does not support this chain.",
    8009: "The client is too old for this service.",
    9000: "The service is switched off for now.",
    9001: "The service cannot reach a chain at the moment.",
}

NOT_SENT = "Nothing was sent to the service."
MAYBE_DONE = "No answer does not mean that nothing was done: look at the intent before you send this again."


@dataclass(frozen=True)
class Outcome:
    """What came of a call. `name` and `code` are the service's own; `is_documented`: we know the error by its code."""

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


def outcome(attempt: Attempt, *, is_write: bool) -> Outcome:
    error = attempt.error
    if error is None:
        return Outcome("good", "check", phrase(attempt.status), "Answered")
    tone, icon = ("attention", "triangle-alert") if isinstance(error, Refused) else ("bad", "circle-x")
    known = KNOWN.get(error.code) if error.code is not None else None
    told = failures.words(error)
    return Outcome(
        tone,
        icon,
        phrase(attempt.status),
        "Refused" if isinstance(error, Refused) and not isinstance(error, Overloaded) else told.title,
        meaning=MEANINGS[error.code] if known and error.code is not None else _meaning(error),
        name=known[0] if known else error.name or "",
        code=error.code,
        is_documented=known is not None,
        message=error.message if error.code is not None else "",
        cause=error.cause or "",
        warning=MAYBE_DONE if is_write and _may_be_done(error) else "",
    )


def _may_be_done(error: ServiceError) -> bool:
    """Whether a write may have been done although it was not answered so."""
    if isinstance(error, Unreachable):
        is_said = error.status is not None and error.status < 500 and error.reason is not Reason.TIMEOUT
        return error.reason not in NOT_REACHED and not is_said
    return isinstance(error, Unreadable)


def _meaning(error: ServiceError) -> str:
    """Of what the service has no code for."""
    if isinstance(error, Overloaded):
        return f"As many calls are under way here as may be at a time. {NOT_SENT} Try again in a few seconds."
    if isinstance(error, Unreadable):
        return f"What came is no answer of the service: it is {error.flaw}."
    if isinstance(error, Unreachable):
        return (
            f"No answer: {error.reason}." if error.status is None else "The service, or what stands before it, failed."
        )
    return "The service documents no error with this code." if error.code is not None else failures.words(error).what


def phrase(status: int | None) -> str:
    if status is None:
        return "No answer"
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
    return whole if attempt.wire_size == attempt.size else f"{whole}, {_bytes(attempt.wire_size)} on the way"


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count:,} bytes"


SOMEWHERE = "https://intent-service.example"  # in the place of the service's own address


def curl(url: str, text: str, *, has_key: bool) -> str:
    """The same call for a shell, whatever stands in it; "" for what no terminal takes safely."""
    if any(unicodedata.category(each) == "Cc" and each not in "\n\t" for each in text):
        return ""
    lines = [f"curl -sS {shlex.quote(url)}", "-H 'Content-Type: application/json'"]
    lines += ["-H 'X-Access-Key: …'"] if has_key else []
    lines += [f"--data-raw {shlex.quote(text)}"]
    return " \\\n  ".join(lines)
