"""Messages for failed service calls: what failed, why, and what the user can do."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from http import HTTPStatus

from intents_ui.display.formatting import times
from intents_ui.service import errors
from intents_ui.service.errors import Flaw, Reason, StaleResponse

NOT_AGAIN = "Don't resend a transfer because of this error."
THOSE_GO_ON = "Transfers in progress are not affected."
RETRY = f"Try again in a few seconds. {NOT_AGAIN}"
ADMINISTRATOR = f"Retrying won't help. Contact your administrator. {NOT_AGAIN}"


@dataclass(frozen=True)
class Words:
    title: str
    what: str
    todo: str

    def because(self, what: str) -> "Words":
        return replace(self, what=what)


NOTHING_FOUND = Words(
    "Not found",
    "No matching transfer.",
    "Check what you pasted. A new transfer can take a minute to appear.",
)
BUSY = Words("Dashboard busy", "The dashboard is handling too many requests right now.", RETRY)
BEYOND_SHARE = Words(
    "Too many requests in progress",
    "Your IP address has the maximum number of requests in progress, so this one was not sent to the service.",
    f"Wait until the others finish, then try again. {NOT_AGAIN}",
)
SLOW_DOWN = Words(
    "Rate limited by the service",
    "The service received too many requests and rejected this one.",
    f"Wait a moment, then try again. {NOT_AGAIN}",
)
NO_ACCESS = Words(
    "Authentication failed",
    f"The service rejected the dashboard's credentials. {THOSE_GO_ON}",
    ADMINISTRATOR,
)
INVALID = Words(
    "Invalid request",
    "The service rejected the request format.",
    "Check what you pasted, or search by another identifier of the transfer.",
)
OUTDATED = Words(
    "Dashboard update required",
    f"The service no longer supports a request that this dashboard makes. {THOSE_GO_ON}",
    ADMINISTRATOR,
)
REFUSED = Words(
    "Request rejected",
    "The service rejected the request.",
    f"See the service message below. {NOT_AGAIN}",
)
UNREADABLE = Words(
    "Unexpected response",
    "The service sent a response that the dashboard can't read.",
    f"Try again later. {NOT_AGAIN}",
)
TOO_LONG = Words("Request timed out", "The service took too long to respond.", RETRY)
UNREACHABLE = Words(
    "Service unreachable", f"The service did not respond. {THOSE_GO_ON}", f"Try again later. {NOT_AGAIN}"
)
# The service did respond, so there is no network problem to look for.
FAILED = Words(
    "Service error",
    f"The service couldn't process the request. {THOSE_GO_ON}",
    f"Try again later. {NOT_AGAIN}",
)
PAUSED = Words(
    "Service paused",
    f"The service's operator has paused it. {THOSE_GO_ON}",
    f"Try again later. {NOT_AGAIN}",
)
CANNOT_BE_DONE = Words("Not possible", "", f"Start again with a new quote. {NOT_AGAIN}")
MOVED_ON = Words(
    "Status has changed",
    "The transfer's status no longer allows this action.",
    f"Open the transfer's page for its current status. {NOT_AGAIN}",
)

# The most specific type first.
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

# Messages for users by the service's error code. `operations.MEANINGS` has those for operators.
BY_CODE: Mapping[int, Words] = {
    -10: UNREADABLE.because("The service closed the connection without a response."),
    -9: FAILED.because("The service lost an internal connection before it responded."),
    -8: FAILED.because("The service treated the request as canceled."),
    -7: FAILED,
    -6: FAILED.because("The service crashed on this request. Other requests may still work."),
    -5: UNREADABLE.because("One part of the service couldn't read the response of another."),
    -4: INVALID.because("The service couldn't read the request."),
    -3: OUTDATED.because("The service expects a different HTTP method."),
    -2: OUTDATED.because("The service has no such operation at this URL."),
    -1: FAILED.because("The request failed inside the service."),
    0: REFUSED.because("The service gave no reason."),
    1000: NO_ACCESS,
    1001: NO_ACCESS.because("The dashboard isn't allowed to make this request."),
    1002: NO_ACCESS.because("The dashboard's session with the service has expired."),
    1003: OUTDATED,
    1004: MOVED_ON.because("Another request changed the transfer at the same time."),
    1005: REFUSED.because("The service aborted the request."),
    1006: Words(
        "Not available for this wallet or region",
        "The service blocks this request for this wallet or region.",
        f"This can't be changed in the dashboard. {NOT_AGAIN}",
    ),
    1007: SLOW_DOWN,
    1008: NO_ACCESS.because("The service doesn't know the dashboard's project."),
    1101: NO_ACCESS,
    1102: NO_ACCESS.because("The dashboard's credentials belong to another project."),
    1103: NO_ACCESS.because("The dashboard's credentials are for another origin."),
    1104: NO_ACCESS.because("The dashboard's credentials are for another service."),
    1105: NO_ACCESS.because("The service requires credentials that the dashboard doesn't have."),
    1200: SLOW_DOWN.because("The dashboard has used up its quota."),
    1201: SLOW_DOWN,
    1300: NO_ACCESS.because("The dashboard's project has no access key."),
    1301: NO_ACCESS.because("The dashboard's project has more access keys than allowed."),
    1302: NO_ACCESS.because("The dashboard's project needs an access key."),
    1900: TOO_LONG.because("The service did not finish in time."),
    2000: INVALID.because("The service rejected a value in the request."),
    2001: FAILED,
    2002: FAILED.because("The service doesn't have the required data yet."),
    2003: REFUSED.because("The service found no result for the request."),
    2004: MOVED_ON,
    3000: OUTDATED.because("The service no longer supports this protocol version."),
    7000: CANNOT_BE_DONE.because("Origin and destination are the same, so there is nothing to transfer."),
    7001: CANNOT_BE_DONE.because("The quote has expired."),
    7002: CANNOT_BE_DONE.because("The price impact on this route is too high."),
    7003: CANNOT_BE_DONE.because("The service doesn't support tokens that charge a fee on each transfer."),
    8000: NOTHING_FOUND,
    8008: INVALID.because("The service doesn't support this chain."),
    8009: OUTDATED.because("The service requires a newer version of the dashboard."),
    9000: PAUSED,
    9001: FAILED.because("The service can't reach one of the chains right now."),
}

BY_REASON: Mapping[Reason, Words] = {
    Reason.DNS: UNREACHABLE.because(f"The service's host name couldn't be resolved. {THOSE_GO_ON}"),
    Reason.TLS: UNREACHABLE.because(f"A secure (TLS) connection to the service failed. {THOSE_GO_ON}"),
    Reason.TIMEOUT: UNREACHABLE.because(f"The service took too long to respond. {THOSE_GO_ON}"),
}
BY_FLAW: Mapping[Flaw, Words] = {
    Flaw.TOO_LARGE: UNREADABLE.because("The response is larger than any valid response to this request."),
    Flaw.REDIRECT: UNREADABLE.because("Received a redirect instead of data. It was not followed."),
    Flaw.CONTENT_TYPE: UNREADABLE.because("Received an HTML page instead of data, for example from a captive portal."),
    Flaw.ENCODING: UNREADABLE.because("The response uses a compression that was not requested."),
    Flaw.OTHER_INTENT: UNREADABLE.because("The response is about another transfer, so it is not shown."),
    Flaw.OTHER_FILTER: UNREADABLE.because("The response lists other transfers than requested, so it is not shown."),
    Flaw.OTHER_REQUEST: UNREADABLE.because("The response belongs to another request, so it is not shown."),
    Flaw.MORE_BYTES: UNREADABLE.because("Received more than one response to this request, so none is shown."),
}

# A 5xx only where the service is unreachable or its response is unreadable.
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
    """Return the seconds until a retry can succeed; None if waiting does not help."""
    if error.again_in is not None:
        return max(1, round(error.again_in + 0.5))
    if isinstance(error, errors.TooBusy):
        return max(1, round(error.retry_after or 5))
    return PAUSE_SECONDS if isinstance(error, errors.Unreachable | errors.Unreadable) else None


def until(error: errors.ServiceError, *, now: datetime) -> str:
    """Return `Retry after 12:01:00 UTC (in 12 s).`, or an empty string if waiting does not help."""
    seconds = retry_after(error)
    if seconds is None:
        return ""
    at = times.utc(now + timedelta(seconds=seconds), now=now)
    if isinstance(error, errors.TooBusy) and not isinstance(error, errors.Overloaded):
        return f"Rate limited until {at} (in {seconds} s)."
    return f"Retry after {at} (in {seconds} s)."


def until_all(failed: Sequence[errors.ServiceError], *, now: datetime) -> str:
    """Return the time after which all failed requests can be retried."""
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


def old(answers: Sequence[StaleResponse], *, now: datetime) -> Old | None:
    """Return the age of the oldest response; names of chains and tokens count only where nothing else is stale."""
    result = without_names(answers) or answers
    if not result:
        return None
    oldest = min(result, key=lambda answer: answer.learned_at)
    waits = [answer.again_in for answer in result if answer.again_in is not None]
    return Old(
        oldest.learned_at,
        ", ".join(dict.fromkeys(map(_part, result))),
        _why(oldest.error),
        _again(max(waits, default=None)),
        is_names=result is answers,
    )


def without_names(answers: Sequence[StaleResponse]) -> Sequence[StaleResponse]:
    return [answer for answer in answers if answer.operation not in NAMES]


def _part(answer: StaleResponse) -> str:
    return "balances" if answer.has_balances else STALE.get(answer.operation, "parts of this page")


def _why(error: errors.ServiceError) -> str:
    if isinstance(error, errors.Unreachable) and error.reason is Reason.TIMEOUT:
        return "The service is slow to respond."  # a page with stale data waits only briefly
    return f"{words(error).title}."


def _again(seconds: float | None) -> str:
    if seconds is None or seconds < 1:
        return "Retrying on the next refresh."
    return f"Retrying in {times.duration(timedelta(seconds=round(seconds)))}."


# Responses that say no are results, not failures.
EXPECTED = (errors.NotFound, errors.Invalid, errors.Expired, errors.WrongState)


def unanswered(failed: Sequence[errors.ServiceError]) -> Iterator[tuple[str, str]]:
    """Yield operation and request ID of each failed call once."""
    result = [error for error in failed if not isinstance(error, EXPECTED) and error.operation and error.request_id]
    yield from {(str(error.operation), str(error.request_id)): None for error in result}
