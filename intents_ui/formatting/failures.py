"""Messages for failed service calls and rejected requests: what failed, why, what to do; from failures.json."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

from intents_ui import tables
from intents_ui.formatting import times
from intents_ui.formatting.text import Sentence
from intents_ui.service import errors
from intents_ui.service.errors import Reason, StaleResponse


@dataclass(frozen=True)
class Words:
    title: str
    what: str
    todo: str


_TABLE: Mapping[str, Any] = tables.read(__package__, "failures.json")


def _words(row: Mapping[str, str], **values: object) -> Words:
    """Return the words of a row: its own, or those of a message with its own `what` if it has one."""
    row = _TABLE["messages"][row["message"]] | row if "message" in row else row
    return Words(*(row[part].format(**values) for part in ("title", "what", "todo")))


# By class of error, and by other names for the codes of the service.
MESSAGES: Mapping[str, Words] = {name: _words(row) for name, row in _TABLE["messages"].items()}
# By the service's error code: messages for users, and meanings for operators (docs/contract.md#errors).
BY_CODE: Mapping[int, Words] = {int(code): _words(row) for code, row in _TABLE["codes"].items()}
MEANINGS: Mapping[int, str] = {int(code): row["meaning"] for code, row in _TABLE["codes"].items()}
BY_REASON: Mapping[Reason, Words] = {Reason[name]: _words(row) for name, row in _TABLE["reasons"].items()}
OF_DASHBOARD: Mapping[str, Mapping[str, Any]] = _TABLE["dashboard"]


def of_dashboard(name: str, **values: object) -> tuple[HTTPStatus, Words]:
    """Return the status and the message of a failure of the dashboard itself, with `values` in its gaps."""
    return HTTPStatus(OF_DASHBOARD[name]["status"]), _words(OF_DASHBOARD[name], **values)


# A 5xx only where the service is unreachable or its response is unreadable.
STATUSES = (
    (errors.NotFound, HTTPStatus.NOT_FOUND),
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
            return MESSAGES["OutOfTime"]
        # The service did respond, so there is no network problem to look for.
        case errors.Unreachable(status=int()):
            return MESSAGES["failed"]
    if error.reason and error.reason in BY_REASON:
        return BY_REASON[error.reason]
    return next(MESSAGES[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in MESSAGES)


def status(error: errors.ServiceError) -> HTTPStatus:
    return next(status for kind, status in STATUSES if isinstance(error, kind))


def retry_after(error: errors.ServiceError) -> int | None:
    """Return the seconds until a retry can succeed; None if waiting does not help."""
    if error.again_in is not None:
        return max(1, round(error.again_in + 0.5))
    if isinstance(error, errors.TooBusy):
        return max(1, round(error.retry_after or 5))
    return PAUSE_SECONDS if isinstance(error, errors.Unreachable | errors.Unreadable) else None


def until(*failed: errors.ServiceError, now: datetime) -> str:
    """Return `Retry after 12:01:00 UTC (in 12 s).`, when all can be retried, or "" if waiting does not help."""
    error = max(failed, key=lambda each: retry_after(each) or 0, default=None)
    seconds = retry_after(error) if error else None
    if seconds is None:
        return ""
    is_limit = isinstance(error, errors.TooBusy) and not isinstance(error, errors.Overloaded)
    at = times.utc(now + timedelta(seconds=seconds), now=now)
    return Sentence("Rate limited until " if is_limit else "Retry after ", at, f" (in {seconds} s).")


# Operations whose stale responses only name what a page shows.
NAMES = frozenset({"GetChains", "GetTokenList"})


@dataclass(frozen=True)
class StaleNotice:
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


def old(answers: Sequence[StaleResponse], *, now: datetime) -> StaleNotice | None:
    """Return the age of the oldest response; names of chains and tokens count only where nothing else is stale."""
    result = without_names(answers) or answers
    if not result:
        return None
    oldest = min(result, key=lambda answer: answer.learned_at)
    wait = max((answer.again_in or 0 for answer in result), default=0)
    is_slow = oldest.error.is_timeout
    parts = {
        "balances" if each.has_balances else _TABLE["stale"].get(each.operation, "parts of this page")
        for each in result
    }
    return StaleNotice(
        oldest.learned_at,
        ", ".join(sorted(parts, reverse=True)),
        # A page with stale data waits only briefly.
        "The service is slow to respond." if is_slow else f"{words(oldest.error).title}.",
        f"Retrying {f'in {times.duration(timedelta(seconds=round(wait)))}' if wait >= 1 else 'on the next refresh'}.",
        is_names=result is answers,
    )


def without_names(answers: Sequence[StaleResponse]) -> Sequence[StaleResponse]:
    return [answer for answer in answers if answer.operation not in NAMES]


# Responses that say no are results, not failures.
EXPECTED = (errors.NotFound, errors.Invalid, errors.Expired, errors.WrongState)


def failed_calls(failed: Sequence[errors.ServiceError]) -> Iterator[tuple[str, str]]:
    """Yield operation and request ID of each failed call once."""
    result = [error for error in failed if not isinstance(error, EXPECTED) and error.operation and error.request_id]
    yield from {(str(error.operation), str(error.request_id)): None for error in result}
