"""Failures: what failed, what was requested, what to do, in the format that was requested.

Every failure has an honest status code. Pages are shown in the frame, except for rejected requests: those cost no more
than a few formatted sentences, whatever was requested, also before Django has seen the request.
"""

import json
import logging
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, auto
from functools import cache
from http import HTTPStatus
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.urls import is_valid_path
from django.utils.cache import patch_vary_headers
from django.utils.encoding import escape_uri_path
from django.utils.html import escape

from intents_ui import api, mcp
from intents_ui.display import failures
from intents_ui.display.formatting import text
from intents_ui.mcp import messages
from intents_ui.service import errors
from intents_ui.service.context import request_context
from intents_ui.web import assets, cursors

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Failure:
    """Content of an error page; `status` is the status code of the response. `fields`: those that are invalid, and why.

    `takes_token`: a client with the operator token may pass.
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
            case cursors.ListMismatch():
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


class Format(Enum):
    """Formats of a failure. A part of a list leaves the list on the page, with a note above it."""

    PAGE = auto()
    FRAGMENT = auto()
    LIST = auto()
    JSON = auto()
    PROBLEM = auto()
    RPC = auto()
    TEXT = auto()


TEMPLATES: Final = {
    Format.PAGE: "failure.html",
    Format.FRAGMENT: "parts/failure.html",
    Format.LIST: "lists/list_failure.html",
}
CONTENT_TYPES: Final = {
    Format.JSON: "application/json",
    Format.PROBLEM: "application/problem+json",
    Format.RPC: "application/json",
    Format.TEXT: "text/plain; charset=utf-8",
}
LIST_HEADERS: Final = {"HX-Reswap": "afterbegin", "HX-Push-Url": "false"}


def format_of(path: str, *, part: str, target: str) -> Format:
    """Return the format that is requested at a path, by htmx with the headers HX-Request-Type and HX-Target."""
    if path == mcp.PATH:
        return Format.RPC
    if path.startswith(api.PATHS):
        return Format.PROBLEM
    if path.startswith("/rpc/"):
        return Format.TEXT
    if path.endswith((".json", ".ndjson")):
        return Format.JSON
    if part != "partial":
        return Format.PAGE
    return Format.LIST if target == "div#list" else Format.FRAGMENT


def page(request: HttpRequest, failure: Failure) -> HttpResponse:
    """Return the failure as a page, a fragment, or JSON, whichever was requested."""
    found = _format(request)
    if found not in TEMPLATES:
        return rejection(request, failure)
    response = render(request, TEMPLATES[found], {"failure": failure}, status=failure.status)
    patch_vary_headers(response, ["HX-Request-Type", "HX-Target"])
    return _with_headers(response, failure, found)


def rejection(request: HttpRequest, failure: Failure) -> HttpResponse:
    """Return the failure without rendering a template."""
    found = _format(request)
    content_type = CONTENT_TYPES.get(found, "text/html; charset=utf-8")
    response = HttpResponse(content(failure, found), status=failure.status, content_type=content_type)
    return _with_headers(response, failure, found)


def _format(request: HttpRequest) -> Format:
    sent = request.headers
    return format_of(request.path, part=sent.get("HX-Request-Type", ""), target=sent.get("HX-Target", ""))


def _with_headers(response: HttpResponse, failure: Failure, found: Format) -> HttpResponse:
    for name, value in headers(failure, found).items():
        response[name] = value
    response["Cache-Control"] = "no-store"
    return response


def headers(failure: Failure, found: Format) -> dict[str, str]:
    later = {} if failure.retry_after is None else {"Retry-After": str(failure.retry_after)}
    return later | (LIST_HEADERS if found is Format.LIST else {})


PLAIN_SECTION: Final = """<section class="card failure" data-tone="attention" role="alert">
  <h{level}>{title}</h{level}>
  <p class="answer-lead">{what}</p>
  <p>{todo}</p>
  {again}
</section>
"""
SEARCH: Final = "Search by transaction hash, address, intent ID, link or pasted message"
AGAIN: Final = '<p><a class="button" data-kind="main" href="">Try again</a></p>'
PLAIN_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · Intents</title>
{sheets}
</head>
<body>
<header class="frame-head"><div class="frame-bar">
<a class="brand" href="/"><span>Intents</span></a>
<div class="frame-search"><form class="search" role="search" action="/search">
<input type="search" name="q" aria-label="{search}" placeholder="{search}" maxlength="10000" autocomplete="off">
</form></div>
</div></header>
<main class="page" id="page">
{section}</main>
</body>
</html>
"""
# As in lists/list_failure.html.
PLAIN_NOTE: Final = """<title>{title}</title>
<hx-partial hx-target="#list-failure" hx-swap="delete"></hx-partial>
<section class="note list-failure" id="list-failure" aria-labelledby="list-failure-title" data-tone="attention"
  data-said="{title}. The list was not updated."><div>
  <h2 id="list-failure-title">{title}</h2>
  <p>{what} {todo} The list was not updated.</p>
</div></section>
"""


@cache
def sheets() -> str:
    """Return the links to the style sheets of every page."""
    return "\n".join(f'<link rel="stylesheet" href="{static(each)}">' for each in assets.bundled("css/frame.css"))


def content(failure: Failure, found: Format) -> str:
    """Return the failure as text, without rendering a template."""
    words: dict[str, str] = {name: escape(getattr(failure, name)) for name in ("title", "what", "todo")}
    words["again"] = AGAIN if failure.retry_after else ""
    match found:
        case Format.JSON:
            return json.dumps(failure.as_json())
        case Format.PROBLEM:
            return json.dumps(problem(failure))
        case Format.RPC:
            sentence = f"{failure.title}. {failure.what} {failure.todo}"
            # The ID of the request is unknown here.
            return json.dumps(messages.error(None, messages.code_of(failure.status), sentence, problem(failure)))
        case Format.TEXT:
            return f"{failure.title}\n"
        case Format.LIST:
            return PLAIN_NOTE.format(**words)
        case Format.FRAGMENT:
            return PLAIN_SECTION.format(**words, level=2)
        case Format.PAGE:
            return PLAIN_PAGE.format(
                **words, search=SEARCH, sheets=sheets(), section=PLAIN_SECTION.format(**words, level=1)
            )


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
