"""Words for what kept us from an answer: what happened, what the reader can do. It says nothing about any transfer."""

from dataclasses import dataclass
from http import HTTPStatus

from intents_ui.service import errors

NOT_AGAIN = "Do not send a transfer again because of this message."


@dataclass(frozen=True)
class Words:
    title: str
    what: str
    todo: str


# The most telling kind first.
WORDS = (
    (
        errors.NotFound,
        Words(
            "Nothing found",
            "The service does not know what was asked for.",
            "Check what you pasted. A transfer that was only just started can take a minute to appear.",
        ),
    ),
    (
        errors.Overloaded,
        Words(
            "This dashboard is busy",
            "So many readers ask at this moment that this question was not put to the service.",
            f"Try again in a few seconds. {NOT_AGAIN}",
        ),
    ),
    (
        errors.TooBusy,
        Words(
            "The service asked us to slow down",
            "Too many questions reached the service at once, so it did not answer this one.",
            f"Wait a moment, then try again. {NOT_AGAIN}",
        ),
    ),
    (
        errors.AccessDenied,
        Words(
            "The dashboard may not ask the service",
            "The service did not accept this dashboard's credentials. It says nothing about any transfer.",
            f"Tell whoever runs this dashboard. {NOT_AGAIN}",
        ),
    ),
    (
        errors.Invalid,
        Words(
            "The service did not accept the question",
            "What was asked does not have the form that the service expects.",
            "Check what you pasted, or search by another identifier of the transfer.",
        ),
    ),
    (
        errors.Refused,
        Words(
            "The service refused to answer",
            "The service was reached and gave a reason for not answering.",
            f"The reason is below. {NOT_AGAIN}",
        ),
    ),
    (
        errors.Unreadable,
        Words(
            "The service's answer could not be read",
            "Something answered, but not in a way that this dashboard understands.",
            f"Try again in a minute. {NOT_AGAIN}",
        ),
    ),
    (
        errors.OutOfTime,
        Words(
            "It took too long",
            "The service was slow, and the time that a page may take was over before it had answered everything.",
            f"Try again in a few seconds. {NOT_AGAIN}",
        ),
    ),
    (
        errors.ServiceError,
        Words(
            "The service cannot be reached",
            "No answer came from the service. It says nothing about any transfer: those go on without this page.",
            f"Try again in a minute. {NOT_AGAIN}",
        ),
    ),
)


# It was reached, so that nobody has to look for what stands in the way to it.
PAUSED = Words(
    "The service is paused by its operator",
    "The service answers that it is switched off for now. It says nothing about any transfer.",
    f"Try again later. {NOT_AGAIN}",
)
PAUSED_CODE = 9000
FAILED = Words(
    "The service has a fault",
    "The service was reached and could not answer. It says nothing about any transfer: those go on without this page.",
    f"Try again in a minute. {NOT_AGAIN}",
)

# The answer's code says who can help: only an unreachable or unreadable service is a 5xx.
STATUSES = (
    (errors.NotFound, HTTPStatus.NOT_FOUND),
    (errors.Overloaded, HTTPStatus.SERVICE_UNAVAILABLE),
    (errors.TooBusy, HTTPStatus.TOO_MANY_REQUESTS),
    (errors.Invalid, HTTPStatus.BAD_REQUEST),
    (errors.Refused, HTTPStatus.FORBIDDEN),
    (errors.ServiceError, HTTPStatus.SERVICE_UNAVAILABLE),
)


def words(error: errors.ServiceError) -> Words:
    if isinstance(error, errors.Unreachable) and error.code == PAUSED_CODE:
        return PAUSED
    if isinstance(error, errors.Unreachable) and error.status is not None:
        return FAILED
    return next(words for kind, words in WORDS if isinstance(error, kind))


def status(error: errors.ServiceError) -> HTTPStatus:
    return next(status for kind, status in STATUSES if isinstance(error, kind))


def retry_after(error: errors.ServiceError) -> int | None:
    """In how many seconds it is worth trying again; None when waiting does not help."""
    if isinstance(error, errors.TooBusy):
        return max(1, round(error.retry_after or 5))
    return 10 if isinstance(error, errors.Unreachable | errors.Unreadable) else None
