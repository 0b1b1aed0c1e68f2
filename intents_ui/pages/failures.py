"""What a reader sees when something went wrong: what happened, what was asked, what to do.

Every failure has an honest status code and stands in the whole frame; a request for a fragment gets a fragment.
"""

import logging
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import is_valid_path
from django.utils.cache import patch_vary_headers
from django.utils.encoding import escape_uri_path

from intents_ui import bookmarks
from intents_ui.display import failures, text
from intents_ui.service import errors, origin

log = logging.getLogger(__name__)


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
    looked_for: str | None = None
    until: str = ""

    def as_json(self) -> dict[str, str | int | None]:
        told = {"error": self.title, "what": self.what, "reference": self.reference}
        return told | ({"retry_after": self.retry_after} if self.retry_after is not None else {})

    @property
    def may_pass(self) -> bool:
        return self.status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


# A place in a path that browsers take as a step up.
DOTS = re.compile(r"/\.{1,2}(/|\Z)")

BAD_BOOKMARK = Failure(
    HTTPStatus.BAD_REQUEST,
    "This place in the list cannot be found",
    "The part of the link that says where in the list it leads (cursor=…) is cut off, changed, or of another dashboard."
    " Nothing was asked of the service.",
    "Open the list from its beginning, or ask for the link again.",
)


class FailurePages:
    """Turns a `ServiceError` that a view lets through into its page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        return wrong_method(request, response) if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED else response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        match error:
            case errors.ServiceError():
                return page(request, of_service(error, looked_for=looked_for(request)))
            case bookmarks.Unreadable():
                return page(request, BAD_BOOKMARK)
            case bookmarks.OfAnotherList():
                return redirect(without_bookmark(request))
            case _:
                return None


def without_bookmark(request: HttpRequest) -> str:
    """A changed filter makes another list, and it begins at its beginning."""
    query = request.GET.copy()
    query.pop(bookmarks.NAME, None)
    return f"{request.path}?{query.urlencode()}" if query else request.path


def looked_for(request: HttpRequest) -> str | None:
    """What the address names, so that the page can say what was asked for."""
    named = request.resolver_match.kwargs if request.resolver_match else {}
    return named.get("intent_id") or named.get("address")


def page(request: HttpRequest, failure: Failure) -> HttpResponse:
    """The failure in the whole frame, as a fragment, or as JSON, by what was asked for."""
    if request.path.endswith((".json", ".ndjson")):
        response: HttpResponse = JsonResponse(failure.as_json(), status=failure.status)
    else:
        response = render(request, template(request), {"failure": failure}, status=failure.status)
        patch_vary_headers(response, ["HX-Request-Type", "HX-Target"])
        if is_of_list(request):
            response["HX-Reswap"] = "afterbegin"
            response["HX-Push-Url"] = "false"
    if failure.retry_after is not None:
        response["Retry-After"] = str(failure.retry_after)
    response["Cache-Control"] = "no-store"
    return response


def template(request: HttpRequest) -> str:
    if is_of_list(request):
        return "parts/list_failure.html"
    return "parts/failure.html" if request.headers.get("HX-Request-Type") == "partial" else "failure.html"


def is_of_list(request: HttpRequest) -> bool:
    """Another part of a list that a reader has before him: his filters and rows stay, and so does their address."""
    return request.headers.get("HX-Request-Type") == "partial" and request.headers.get("HX-Target") == "div#list"


def of_service(error: errors.ServiceError, *, looked_for: str | None = None) -> Failure:
    """The failure page for what the service, or the way to it, did."""
    words = failures.words(error)
    return Failure(
        status=failures.status(error),
        title=words.title,
        what=words.what,
        todo=words.todo,
        operation=error.operation,
        reference=error.request_id or noted(error),
        # What has no code of the service was said by ourselves, and the words above say it.
        detail=error.message if error.code is not None else None,
        retry_after=failures.retry_after(error),
        looked_for=looked_for,
        until=failures.until(error, now=datetime.now(UTC)),
    )


def noted(error: errors.ServiceError) -> str:
    """The reference of a question that was never put to the service, so that no call has left one in the log."""
    reference = origin.reference()
    log.warning("%s was not asked, reference %s: %s", error.operation or "The service", reference, error.summary)
    return reference


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


def unproven_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form that writes, without the proof that one of our own pages sent it (Django's `CSRF_FAILURE_VIEW`)."""
    foreign = reason.startswith(("Origin", "Referer"))
    return page(
        request,
        Failure(
            HTTPStatus.FORBIDDEN,
            "This form was not taken",
            "It came from another site, as far as your browser says, so nothing was sent to the service."
            if foreign
            else "The proof that one of our own pages sent it is missing or has changed, so nothing was sent to the"
            " service. A page that was open for long lacks it, and a browser that keeps no cookies.",
            "Open the page anew and send the form from there. If it happens again, tell whoever runs this dashboard:"
            " behind a proxy, CSRF_TRUSTED_ORIGINS has to name the address that you see."
            if foreign
            else "Open the page anew and send the form from there.",
        ),
    )


def wrong_method(request: HttpRequest, refused: HttpResponse) -> HttpResponse:
    response = page(
        request,
        Failure(
            HTTPStatus.METHOD_NOT_ALLOWED,
            "This page can only be read",
            f"It does not take {text.visible(request.method or '')[:20]} requests.",
            "Open it in a browser, or ask for it with GET.",
        ),
    )
    response["Allow"] = refused["Allow"]
    return response


def no_such_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Our addresses have no slash at their end: those that have one lead to those that have none."""
    plain, query = "/" + request.path.strip("/"), request.META["QUERY_STRING"]
    if request.path != plain and is_valid_path(plain) and not DOTS.search(plain):
        return redirect(escape_uri_path(plain) + (f"?{query}" if query else ""), permanent=True)
    return page(
        request,
        Failure(
            HTTPStatus.NOT_FOUND,
            "There is no such page",
            # What a view says of its own address; what the site map says of one that it lacks is for its makers.
            str(exception) if request.resolver_match else "The address does not lead anywhere on this dashboard.",
            "If it came from a link, the link may be cut off. Paste what you have into the search box.",
            looked_for=looked_for(request),
        ),
    )


def our_fault(request: HttpRequest) -> HttpResponse:
    reference = origin.reference()
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
