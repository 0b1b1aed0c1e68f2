"""What a reader sees when something went wrong: what happened, what was asked, what to do.

Every failure has an honest status code and stands in the whole frame; a request for a fragment gets a fragment.
"""

import logging
import sys
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from intents_ui.display import failures
from intents_ui.service import errors

log = logging.getLogger(__name__)

# The answer's code says who can help: only an unreachable or unreadable service is a 5xx.
STATUSES = (
    (errors.NotFound, HTTPStatus.NOT_FOUND),
    (errors.TooBusy, HTTPStatus.TOO_MANY_REQUESTS),
    (errors.Invalid, HTTPStatus.BAD_REQUEST),
    (errors.Refused, HTTPStatus.FORBIDDEN),
    (errors.ServiceError, HTTPStatus.SERVICE_UNAVAILABLE),
)


@dataclass(frozen=True)
class Failure:
    """What the page says; `status` is the answer's code."""

    status: HTTPStatus
    title: str
    what: str
    todo: str
    operation: str | None = None
    reference: str | None = None
    detail: str | None = None
    retry_after: int | None = None

    @property
    def may_pass(self) -> bool:
        return self.status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


class FailurePages:
    """Turns a `ServiceError` that a view lets through into its page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, errors.ServiceError):
            return None
        return page(request, of_service(error))


def page(request: HttpRequest, failure: Failure) -> HttpResponse:
    template = "parts/failure.html" if request.headers.get("HX-Request-Type") == "partial" else "failure.html"
    response = render(request, template, {"failure": failure}, status=failure.status)
    if failure.retry_after is not None:
        response["Retry-After"] = str(failure.retry_after)
    response["Cache-Control"] = "no-store"
    return response


def of_service(error: errors.ServiceError) -> Failure:
    """The failure page for what the service, or the way to it, did."""
    words = failures.words(error)
    return Failure(
        status=next(status for kind, status in STATUSES if isinstance(error, kind)),
        title=words.title,
        what=words.what,
        todo=words.todo,
        operation=error.operation,
        reference=error.request_id,
        detail=error.message,
        retry_after=retry_after(error),
    )


def retry_after(error: errors.ServiceError) -> int | None:
    if isinstance(error, errors.TooBusy):
        return max(1, round(error.retry_after or 5))
    return 10 if isinstance(error, errors.Unreachable | errors.Unreadable) else None


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return page(
        request,
        Failure(
            HTTPStatus.BAD_REQUEST,
            "This request could not be read",
            "The address or the form holds something that this dashboard cannot take.",
            "Go back, or start again from the search box.",
        ),
    )


def no_such_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    return page(
        request,
        Failure(
            HTTPStatus.NOT_FOUND,
            "There is no such page",
            "The address does not lead anywhere on this dashboard.",
            "If it came from a link, the link may be cut off. Paste what you have into the search box.",
        ),
    )


def our_fault(request: HttpRequest) -> HttpResponse:
    reference = uuid.uuid4().hex[:12]
    log.error("Unforeseen error, reference %s", reference, exc_info=sys.exc_info())
    return page(
        request,
        Failure(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            "Something went wrong in this dashboard",
            "This is our mistake. It says nothing about any transfer.",
            "Try again. If it stays, tell whoever runs this dashboard, with the reference below.",
            reference=reference,
        ),
    )
