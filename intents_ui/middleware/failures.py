"""Error pages: what failed, what was requested, what to do.

Every failure has an honest status code and is shown in the page frame; a request for a fragment gets a fragment.
"""

import logging
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import is_valid_path
from django.utils.cache import patch_vary_headers
from django.utils.encoding import escape_uri_path

from intents_ui import api, mcp
from intents_ui.display import failures
from intents_ui.display.formatting import text
from intents_ui.mcp import messages
from intents_ui.service import errors
from intents_ui.service.context import request_context
from intents_ui.web import cursors
from intents_ui.web.frame import is_partial

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Failure:
    """Content of an error page; `status` is the status code of the response. `fields`: those that are invalid, and why.

    `takes_token`: a client with the operator token may pass. It is hashable, because a rejection is rendered once.
    """

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
    fields: tuple[tuple[str, str], ...] = ()
    takes_token: bool = False

    def as_json(self) -> dict[str, str | int | None]:
        found = {"error": self.title, "what": self.what, "reference": self.reference}
        return found | ({"retry_after": self.retry_after} if self.retry_after is not None else {})

    @property
    def may_pass(self) -> bool:
        return self.status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


# Path segments that browsers resolve to the parent.
DOTS = re.compile(r"/\.{1,2}(/|\Z)")

INVALID_CURSOR = Failure(
    HTTPStatus.BAD_REQUEST,
    "Invalid page link",
    "The link's cursor (cursor=…) is cut off, changed, or from another dashboard.",
    "Open the list from its first page, or ask for a new link.",
)

NO_MIRROR = Failure(
    HTTPStatus.NOT_FOUND,
    "No local copy",
    "This dashboard has no local copy of the service's history, so it knows only single transfers.",
    "An administrator can turn it on: set INTENTS_DATABASE, restart the dashboard and run manage.py mirror run.",
)


class FailurePages:
    """Middleware that turns a `ServiceError` raised by a view into an error page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        return wrong_method(request, response) if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED else response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        match error:
            case errors.ServiceError():
                return page(request, of_service(error, looked_for=looked_for(request)))
            case cursors.Unreadable():
                return page(request, INVALID_CURSOR)
            case cursors.OfAnotherList():
                return redirect(without_cursor(request))
            case _:
                return None


def without_cursor(request: HttpRequest) -> str:
    """Return the URL of the first page, because a cursor belongs to one set of filters."""
    query = request.GET.copy()
    query.pop(cursors.NAME, None)
    return f"{request.path}?{query.urlencode()}" if query else request.path


def looked_for(request: HttpRequest) -> str | None:
    """Return the identifier in the URL, so that the page can name what was searched for."""
    named = request.resolver_match.kwargs if request.resolver_match else {}
    return named.get("intent_id") or named.get("address")


def page(request: HttpRequest, failure: Failure) -> HttpResponse:
    """Return the failure as a page, a fragment, or JSON, whichever was requested."""
    response: HttpResponse
    if request.path == mcp.PATH:
        sentence = f"{failure.title}. {failure.what} {failure.todo}"
        # The ID of the request is unknown here.
        error = messages.error(None, messages.code_of(failure.status), sentence, problem(failure))
        response = JsonResponse(error, status=failure.status)
    elif request.path.startswith(api.PATHS):
        response = JsonResponse(problem(failure), status=failure.status, content_type="application/problem+json")
    elif request.path.endswith((".json", ".ndjson")):
        response = JsonResponse(failure.as_json(), status=failure.status)
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


def problem(failure: Failure) -> dict[str, Any]:
    """Return the failure as problem details (RFC 9457)."""
    origin = request_context.current()
    return {
        "type": "about:blank",
        "title": failure.status.phrase,
        "status": failure.status.value,
        "detail": f"{failure.title}. {failure.what}",
        "whatToDo": failure.todo,
        "requestId": failure.reference or (origin and origin.id),
        "retryAfter": failure.retry_after,
        "fields": [{"field": name, "problem": problem} for name, problem in failure.fields],
    }


def template(request: HttpRequest) -> str:
    if is_of_list(request):
        return "lists/list_failure.html"
    return "parts/failure.html" if is_partial(request) else "failure.html"


def is_of_list(request: HttpRequest) -> bool:
    """Return whether part of a list was requested. On errors the page keeps the list, its filters and its URL."""
    return is_partial(request) and request.headers.get("HX-Target") == "div#list"


def of_service(error: errors.ServiceError, *, looked_for: str | None = None) -> Failure:
    """Return the error page of a failed service call."""
    message = failures.words(error)
    return Failure(
        status=failures.status(error),
        title=message.title,
        what=message.what,
        todo=message.todo,
        operation=error.operation,
        reference=error.request_id or log_unsent(error),
        # Without a code the message is the client's own, and the title and text already say it.
        detail=error.message if error.code is not None else None,
        retry_after=failures.retry_after(error),
        looked_for=looked_for,
        until=failures.until(error, now=datetime.now(UTC)),
    )


def log_unsent(error: errors.ServiceError) -> str:
    """Log a request that was never sent to the service, and return its request ID."""
    reference = request_context.reference()
    log.warning("%s skipped (request ID %s): %s", error.operation or "The service", reference, error.summary)
    return reference


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return page(
        request,
        Failure(
            HTTPStatus.BAD_REQUEST,
            "Invalid request",
            "The URL or form contains a value that the dashboard can't process.",
            "Go back, or start a new search.",
        ),
    )


def invalid_fields(request: HttpRequest, problems: Mapping[str, str]) -> HttpResponse:
    """Reject a request of the API with fields that are invalid."""
    failure = Failure(
        HTTPStatus.BAD_REQUEST,
        "Invalid parameters",
        " ".join(f"{name}: {problem}" for name, problem in problems.items()),
        "Correct them, and send the request again.",
        fields=tuple(problems.items()),
    )
    return page(request, failure)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Reject a form without a valid CSRF token (Django's `CSRF_FAILURE_VIEW`)."""
    foreign = reason.startswith(("Origin", "Referer"))
    return page(
        request,
        Failure(
            HTTPStatus.FORBIDDEN,
            "Form rejected",
            "Your browser reports that the form came from another site. Nothing was sent to the service."
            if foreign
            else "Your session expired or cookies are blocked. Nothing was sent to the service.",
            "Reload the page and try again. If it keeps happening, contact your administrator: behind a proxy,"
            " CSRF_TRUSTED_ORIGINS must include the origin in your address bar."
            if foreign
            else "Reload the page and try again.",
        ),
    )


def wrong_method(request: HttpRequest, refused: HttpResponse) -> HttpResponse:
    is_of_api, method = request.path.startswith(api.PATHS), text.visible(request.method or "")[:20]
    response = page(
        request,
        Failure(
            HTTPStatus.METHOD_NOT_ALLOWED,
            "Method not allowed",
            f"This {'path' if is_of_api else 'page'} doesn't accept {method} requests.",
            "Open it in a browser, or request it with GET."
            if "GET" in refused["Allow"] and not is_of_api
            else f"Send {refused['Allow']}.",
        ),
    )
    response["Allow"] = refused["Allow"]
    return response


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Redirect URLs with a trailing slash to those without; everything else is not found."""
    plain, query = "/" + request.path.strip("/"), request.META["QUERY_STRING"]
    if request.path != plain and is_valid_path(plain) and not DOTS.search(plain):
        return redirect(escape_uri_path(plain) + (f"?{query}" if query else ""), permanent=True)
    is_of_api = request.path.startswith(api.PATHS)
    return page(
        request,
        Failure(
            HTTPStatus.NOT_FOUND,
            "Not found" if is_of_api else "Page not found",
            # A view explains its own URL; the resolver's text is for developers.
            str(exception) if request.resolver_match else "This URL doesn't exist.",
            "Check the path, and the identifiers in it."
            if is_of_api
            else "If you followed a link, it may be cut off. Paste what you have into the search box.",
            looked_for=looked_for(request),
        ),
    )


def internal_error(request: HttpRequest) -> HttpResponse:
    reference = request_context.reference()
    log.error("Unhandled exception, request ID %s", reference, exc_info=sys.exc_info())
    return page(
        request,
        Failure(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            "Something went wrong",
            "This is a dashboard error. Transfers in progress are not affected.",
            "Try again. If it keeps happening, contact your administrator with the request ID below.",
            reference=reference,
        ),
    )
