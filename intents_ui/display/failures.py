"""Words for what kept us from an answer: what happened, what the reader can do. It says nothing about any transfer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from http import HTTPStatus

from intents_ui.display import times
from intents_ui.service import errors
from intents_ui.service.errors import Flaw, Reason
from intents_ui.service.freshness import OldAnswer

NOT_AGAIN = "Do not send a transfer again because of this message."
THOSE_GO_ON = "It says nothing about any transfer: those go on without this page."


@dataclass(frozen=True)
class Words:
    title: str
    what: str
    todo: str

    def because(self, what: str) -> "Words":
        return replace(self, what=what)


NOTHING_FOUND = Words(
    "Nothing found",
    "The service does not know what was asked for.",
    "Check what you pasted. A transfer that was only just started can take a minute to appear.",
)
BUSY = Words(
    "This dashboard is busy",
    "So many readers ask at this moment that this question was not put to the service.",
    f"Try again in a few seconds. {NOT_AGAIN}",
)
BEYOND_SHARE = Words(
    "Too much is requested from your address at once",
    "Your address has as many requests in progress as one address may have, so this one was not sent to the service.",
    f"Wait until the others have finished, then try again. {NOT_AGAIN}",
)
SLOW_DOWN = Words(
    "The service asked us to slow down",
    "Too many questions reached the service at once, so it did not answer this one.",
    f"Wait a moment, then try again. {NOT_AGAIN}",
)
NO_ACCESS = Words(
    "The dashboard cannot sign in to the service",
    "The service did not accept this dashboard's credentials. It says nothing about any transfer.",
    f"Whoever runs this dashboard finds this in its log; telling them helps. Trying again does not. {NOT_AGAIN}",
)
INVALID = Words(
    "The service did not accept the question",
    "What was asked does not have the form that the service expects.",
    "Check what you pasted, or search by another identifier of the transfer.",
)
OUTDATED = Words(
    "The dashboard is out of date with the service",
    "The service no longer offers what this dashboard asked for. It says nothing about any transfer.",
    f"Tell whoever runs this dashboard: trying again does not help. {NOT_AGAIN}",
)
REFUSED = Words(
    "The service refused to answer",
    "The service was reached and gave a reason for not answering.",
    f"The reason is below. {NOT_AGAIN}",
)
UNREADABLE = Words(
    "The service's answer could not be read",
    "Something answered, but not in a way that this dashboard understands.",
    f"Try again a little later. {NOT_AGAIN}",
)
TOO_LONG = Words(
    "It took too long",
    "The service was slow, and the time that a page may take was over before it had answered everything.",
    f"Try again in a few seconds. {NOT_AGAIN}",
)
UNREACHABLE = Words(
    "The service cannot be reached",
    f"No answer came from the service. {THOSE_GO_ON}",
    f"Try again a little later. {NOT_AGAIN}",
)
# It was reached, so that nobody has to look for what stands in the way to it.
FAILED = Words(
    "The service has a fault",
    f"The service was reached and could not answer. {THOSE_GO_ON}",
    f"Try again a little later. {NOT_AGAIN}",
)
PAUSED = Words(
    "The service is paused by its operator",
    "The service answers that it is switched off for now. It says nothing about any transfer.",
    f"Try again later. {NOT_AGAIN}",
)
CANNOT_BE_DONE = Words("This cannot be done", "", f"Start again with a new quote. {NOT_AGAIN}")
MOVED_ON = Words(
    "It has moved on meanwhile",
    "The transfer is not in a state any more in which this can be done.",
    f"Open the transfer's page: it says what its state is now. {NOT_AGAIN}",
)

# The most telling kind first.
WORDS = (
    (errors.NotFound, NOTHING_FOUND),
    (errors.BeyondShare, BEYOND_SHARE),
    (errors.Overloaded, BUSY),
    (errors.TooBusy, SLOW_DOWN),
    (errors.AccessDenied, NO_ACCESS),
    (errors.Invalid, INVALID),
    (errors.Refused, REFUSED),
    (errors.Unreadable, UNREADABLE),
    (errors.OutOfTime, TOO_LONG),
    (errors.ServiceError, UNREACHABLE),
)

# Words for users by error code. Those for staff are in `console.MEANINGS`.
BY_CODE: Mapping[int, Words] = {
    -10: UNREADABLE.because("The service ended the conversation instead of answering."),
    -9: FAILED.because("The service lost the connection to itself before it had answered."),
    -8: FAILED.because("The service took the question for withdrawn and did not answer it."),
    -7: FAILED,
    -6: FAILED.because("The service broke down over this question. Other questions may be answered all the same."),
    -5: UNREADABLE.because("One part of the service could not read what another part of it said."),
    -4: INVALID.because("The service could not read the question as it was put."),
    -3: OUTDATED.because("The service is asked in another way than this dashboard asks it."),
    -2: OUTDATED.because("The service does not have what this dashboard asks for, at the place where it asks."),
    -1: FAILED.because("The question was lost inside the service."),
    0: REFUSED.because("The service could not answer, and has no name for the reason."),
    1000: NO_ACCESS,
    1001: NO_ACCESS.because("The service does not allow this dashboard to ask this."),
    1002: NO_ACCESS.because("The service no longer knows this dashboard: its session is over."),
    1003: OUTDATED,
    1004: MOVED_ON.because("Somebody else changed the same thing at the same moment."),
    1005: REFUSED.because("The service gave this question up."),
    1006: Words(
        "Not available for this wallet or region",
        "The service does not answer this question for this wallet, or from this region.",
        f"Nobody at this dashboard can change that. {NOT_AGAIN}",
    ),
    1007: SLOW_DOWN,
    1008: NO_ACCESS.because("The service does not know the project that this dashboard asks for."),
    1101: NO_ACCESS,
    1102: NO_ACCESS.because("The credentials of this dashboard belong to another project."),
    1103: NO_ACCESS.because("The credentials of this dashboard are for another site."),
    1104: NO_ACCESS.because("The credentials of this dashboard are for another service."),
    1105: NO_ACCESS.because("The service wants credentials that this dashboard does not have."),
    1200: SLOW_DOWN.because("This dashboard has asked as much as it may for now: its quota is used up."),
    1201: SLOW_DOWN,
    1300: NO_ACCESS.because("The project of this dashboard has no key at the service."),
    1301: NO_ACCESS.because("The project of this dashboard has more keys at the service than it may have."),
    1302: NO_ACCESS.because("The project of this dashboard needs a key at the service."),
    1900: Words("It took too long", "The service itself did not finish in time.", TOO_LONG.todo),
    2000: INVALID.because("The service did not accept a value in the question."),
    2001: FAILED,
    2002: FAILED.because("What is needed for the answer is not there yet, on the service's side."),
    2003: REFUSED.because("The service looked for an answer and could not make one."),
    2004: MOVED_ON,
    3000: OUTDATED.because("The service no longer speaks the version of the protocol that was asked for."),
    7000: CANNOT_BE_DONE.because("There is nothing to move: it begins and ends at the same place."),
    7001: CANNOT_BE_DONE.because("The time of the quote is over."),
    7002: CANNOT_BE_DONE.because("Too much would be lost on this route, so the service offers none."),
    7003: CANNOT_BE_DONE.because("The token takes a fee each time it is moved, which the service does not support."),
    8000: NOTHING_FOUND,
    8008: INVALID.because("The service does not support this chain."),
    8009: OUTDATED.because("The service wants a newer version of this dashboard."),
    9000: PAUSED,
    9001: FAILED.because("The service cannot reach one of the chains at the moment."),
}

BY_REASON: Mapping[Reason, Words] = {
    Reason.DNS: UNREACHABLE.because(f"The service's name leads nowhere at the moment. {THOSE_GO_ON}"),
    Reason.TLS: UNREACHABLE.because(
        f"A secure connection to the service could not be made, and no other was tried. {THOSE_GO_ON}"
    ),
    Reason.TIMEOUT: UNREACHABLE.because(f"The service took too long to answer. {THOSE_GO_ON}"),
}
BY_FLAW: Mapping[Flaw, Words] = {
    Flaw.TOO_LARGE: UNREADABLE.because("The answer is too large: more came than any answer to this question can be."),
    Flaw.REDIRECT: UNREADABLE.because("An unexpected answer came: the service sent us elsewhere, where nobody went."),
    Flaw.CONTENT_TYPE: UNREADABLE.because(
        "An unexpected answer came: a page for people, as it stands before networks that ask for a sign-in."
    ),
    Flaw.ENCODING: UNREADABLE.because("An unexpected answer came, packed in a way that nobody asked for."),
    Flaw.OTHER_INTENT: UNREADABLE.because("The answer was about another transfer, so it is not shown."),
    Flaw.OTHER_FILTER: UNREADABLE.because("The response lists other transfers than requested, so it is not shown."),
    Flaw.OTHER_REQUEST: UNREADABLE.because("The response was to another request, so it is not shown."),
    Flaw.MORE_BYTES: UNREADABLE.because(
        "More came than one response, so it can't be told which part is the response to this request."
    ),
}

# The answer's code says who can help: only an unreachable or unreadable service is a 5xx.
STATUSES = (
    (errors.NotFound, HTTPStatus.NOT_FOUND),
    (errors.BeyondShare, HTTPStatus.TOO_MANY_REQUESTS),
    (errors.Overloaded, HTTPStatus.SERVICE_UNAVAILABLE),
    (errors.TooBusy, HTTPStatus.TOO_MANY_REQUESTS),
    (errors.Invalid, HTTPStatus.BAD_REQUEST),
    (errors.Refused, HTTPStatus.FORBIDDEN),
    (errors.ServiceError, HTTPStatus.SERVICE_UNAVAILABLE),
)

PAUSE_SECONDS = 10


def words(error: errors.ServiceError) -> Words:
    if error.code is not None and error.code in BY_CODE and not isinstance(error, errors.Overloaded):
        return BY_CODE[error.code]
    match error:
        case errors.OutOfTime():
            return TOO_LONG
        case errors.Unreachable(status=int()):
            return FAILED
        case errors.Unreachable(reason=reason) if reason in BY_REASON:
            return BY_REASON[reason]
        case errors.Unreadable(flaw=flaw) if flaw in BY_FLAW:
            return BY_FLAW[flaw]
    return next(words for kind, words in WORDS if isinstance(error, kind))


def status(error: errors.ServiceError) -> HTTPStatus:
    return next(status for kind, status in STATUSES if isinstance(error, kind))


def retry_after(error: errors.ServiceError) -> int | None:
    """In how many seconds it is worth trying again; None when waiting does not help."""
    if error.again_in is not None:
        return max(1, round(error.again_in + 0.5))
    if isinstance(error, errors.TooBusy):
        return max(1, round(error.retry_after or 5))
    return PAUSE_SECONDS if isinstance(error, errors.Unreachable | errors.Unreadable) else None


def until(error: errors.ServiceError, *, now: datetime) -> str:
    """`It asked for quiet until 12:01:00 UTC.`: from when on it is worth trying again, or nothing."""
    seconds = retry_after(error)
    if seconds is None:
        return ""
    at = times.utc(now + timedelta(seconds=seconds), now=now)
    if isinstance(error, errors.TooBusy) and not isinstance(error, errors.Overloaded):
        return f"The service asked us to slow down until {at}, in {seconds} s: it is not asked before."
    return f"It is asked again at {at} at the earliest, in {seconds} s: open this page again then."


def until_all(failed: Sequence[errors.ServiceError], *, now: datetime) -> str:
    """From when on it is worth asking for all of it again."""
    longest = max(failed, key=lambda error: retry_after(error) or 0, default=None)
    return until(longest, now=now) if longest else ""


# Operations whose stale responses only name what a page shows.
NAMES = frozenset({"GetChains", "GetTokenList"})
STALE = {
    "GetIntent": "this transfer",
    "GetIntentReceipt": "this transfer",
    "WaitIntentReceipt": "this transfer",
    "GetIntentHistory": "transfer list",
    "SearchIntents": "search results",
    "GetExactInputRoutes": "routes",
    "GetExactOutputRoutes": "routes",
    "GetTokenPrices": "prices",
    "GetChains": "names of chains",
    "GetTokenList": "names of tokens",
}


@dataclass(frozen=True)
class Old:
    """Stale data on a page: which parts, last updated when, why, and when the service is asked again."""

    as_of: datetime
    parts: str
    why: str
    again: str
    is_names: bool

    @property
    def sentence(self) -> str:
        """Return a sentence that is still right on another day."""
        return f"Last updated {times.dated(self.as_of)}: {self.parts}. {self.why}"


def old(answers: Sequence[OldAnswer], *, now: datetime) -> Old | None:
    """Return the age of the oldest response; names of chains and tokens count only where nothing else is stale."""
    told = without_names(answers) or answers
    if not told:
        return None
    oldest = min(told, key=lambda answer: answer.learned_at)
    waits = [answer.again_in for answer in told if answer.again_in is not None]
    return Old(
        oldest.learned_at,
        ", ".join(dict.fromkeys(map(_part, told))),
        _why(oldest.error),
        _again(max(waits, default=None)),
        is_names=told is answers,
    )


def without_names(answers: Sequence[OldAnswer]) -> Sequence[OldAnswer]:
    return [answer for answer in answers if answer.operation not in NAMES]


def _part(answer: OldAnswer) -> str:
    return "balances" if answer.has_balances else STALE.get(answer.operation, "parts of this page")


def _why(error: errors.ServiceError) -> str:
    if isinstance(error, errors.Unreachable) and error.reason is Reason.TIMEOUT:
        return "The service is slow to respond."  # a page that has an old answer does not wait for long
    return f"{words(error).title}."


def _again(seconds: float | None) -> str:
    if seconds is None or seconds < 1:
        return "Retrying on the next refresh."
    return f"Retrying in {times.duration(timedelta(seconds=round(seconds)))}."


# What the service says no to is an answer.
EXPECTED = (errors.NotFound, errors.Invalid, errors.Expired, errors.WrongState)


def unanswered(failed: Sequence[errors.ServiceError]) -> Iterator[tuple[str, str]]:
    """Operation and reference of what was asked in vain, each once."""
    told = [error for error in failed if not isinstance(error, EXPECTED) and error.operation and error.request_id]
    yield from {(str(error.operation), str(error.request_id)): None for error in told}
