"""Failures: what failed, what was requested, what to do, in the format that was requested.

Every failure has an honest status code. Pages are shown in the frame, except for rejected requests: those cost no more
than a few formatted sentences, whatever was requested, also before Django has seen the request.

Also notices of stale data and of failed requests, once per page, in slots that fragments fill, too. Other content types
have an `Age` header.
"""

import json
import logging
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from http import HTTPStatus
from typing import Any, cast

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import is_valid_path
from django.utils.cache import patch_vary_headers
from django.utils.encoding import escape_uri_path
from django_htmx.middleware import HtmxDetails

from intents_ui.formatting import failures, text
from intents_ui.http import api_access, client_ip, cursors, json_rpc, marks
from intents_ui.http.json_rpc import Code
from intents_ui.http.marks import is_partial
from intents_ui.service import errors, request_context

log = logging.getLogger(__name__)


class HtmxHttpRequest(HttpRequest):
    """A request as django-htmx's middleware leaves it."""

    htmx: HtmxDetails


@dataclass(frozen=True)
class Failure(failures.Words):
    """Content of an error page; `status` is the status code of the response. `fields`: those that are invalid, and why.

    `takes_token`: a client with the operator token may pass.
    """

    status: HTTPStatus
    operation: str | None = None
    reference: str | None = None
    detail: str | None = None
    retry_after: int | None = None
    looked_for: str | None = None
    until: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    takes_token: bool = False

    @property
    def may_pass(self) -> bool:
        return self.status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


def of_dashboard(name: str, values: Mapping[str, object] | None = None, **how: Any) -> Failure:
    """Return a failure of the dashboard itself: a row of formatting/failures.json with `values` in its gaps."""
    status, words = failures.of_dashboard(name, **(values or {}))
    return Failure(**vars(words), status=status, **how)


def of_service(error: errors.ServiceError, *, looked_for: str | None = None) -> Failure:
    reference = error.request_id or request_context.reference()
    if error.request_id is None:
        log.warning("%s skipped (request ID %s): %s", error.operation or "The service", reference, error.summary)
    return Failure(
        **vars(failures.words(error)),
        status=failures.status(error),
        operation=error.operation,
        reference=reference,
        # Without a code the message is the client's own, and the title and text already say it.
        detail=error.message if error.code is not None else None,
        retry_after=failures.retry_after(error),
        looked_for=looked_for,
        until=failures.until(error, now=datetime.now(UTC)),
    )


class Rejected(Exception):
    """The request is rejected, before or in its view."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.title)
        self.failure = failure


def problem(failure: Failure) -> dict[str, Any]:
    """Return the failure as problem details (RFC 9457)."""
    origin = request_context.current().origin
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


def as_json(failure: Failure) -> dict[str, Any]:
    found = {"error": failure.title, "what": failure.what, "reference": failure.reference}
    return found if failure.retry_after is None else found | {"retry_after": failure.retry_after}


@lru_cache(100)
def _rejection(template: str, failure: Failure) -> str:
    """Return a page or a fragment that depends on the failure alone, so that it is rendered once."""
    return render_to_string(template, {"failure": failure, "again": ""})


def response_of(
    failure: Failure, path: str, sent: Mapping[str, str], request: HttpRequest | None = None
) -> HttpResponse:
    """Return the failure in the format that is requested at a path, by htmx with these headers.

    Without a request, a page has no frame, which would take more than the request may.
    """
    response = HttpResponse(status=failure.status, content_type="application/json")
    response["Cache-Control"] = "no-store"
    if failure.retry_after is not None:
        response["Retry-After"] = str(failure.retry_after)
    if path == api_access.MCP:
        sentence = f"{failure.title}. {failure.what} {failure.todo}"
        # The ID of the request is unknown here.
        code = Code.INTERNAL_ERROR if failure.status.is_server_error else Code.INVALID_REQUEST
        told = json_rpc.error(None, Code.RETRY_LATER if failure.may_pass else code, sentence, problem(failure))
        response.content = json.dumps(told)
    elif path.startswith(api_access.API):
        response["Content-Type"] = "application/problem+json"
        response.content = json.dumps(problem(failure))
    elif path.startswith("/rpc/"):
        response["Content-Type"] = "text/plain; charset=utf-8"
        response.content = f"{failure.title}\n"
    elif path.endswith((".json", ".ndjson")):
        response.content = json.dumps(as_json(failure))
    else:
        response["Content-Type"] = "text/html; charset=utf-8"
        template = "failure.html" if request else "rejection.html"
        if sent.get("HX-Request-Type") == "partial":
            template = "parts/failure.html"
            if sent.get("HX-Target") == "div#list":
                template = "lists/list_failure.html"
                # A part of a list leaves the list on the page, with a note above it.
                response["HX-Reswap"], response["HX-Push-Url"] = "afterbegin", "false"
        context = {"failure": failure, "again": request.get_full_path()} if request else {}
        response.content = render_to_string(template, context, request) if request else _rejection(template, failure)
        patch_vary_headers(response, ["HX-Request-Type", "HX-Target"])
    return response


def page(request: HttpRequest, failure: Failure) -> HttpResponse:
    """Return the failure as a page, a fragment, or JSON, whichever was requested."""
    return response_of(failure, request.path, request.headers, request)


# Middleware and views


class FailurePages:
    """Middleware that turns a `ServiceError` raised by a view into an error page.

    It rejects forms of other sites, also those that change nothing and need no CSRF token. Other sites may use the API,
    which reads no cookies.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        is_form = request.method == "POST" and not request.path.startswith(api_access.API)
        if is_form and not client_ip.is_same_origin(request):
            return page(request, of_dashboard("form of another site"))
        response = self.get_response(request)
        return wrong_method(request, response) if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED else response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        match error:
            case Rejected():
                return page(request, error.failure)
            case errors.ServiceError():
                return page(request, of_service(error, looked_for=looked_for(request)))
            case cursors.Unreadable():
                return page(request, of_dashboard("invalid cursor"))
            case cursors.ListMismatch():
                # The first page, because a cursor belongs to one set of filters.
                query = request.GET.copy()
                query.pop(cursors.NAME, None)
                return redirect(f"{request.path}?{query.urlencode()}" if query else request.path)
            case _:
                return None


def looked_for(request: HttpRequest) -> str | None:
    """Return the identifier in the URL, so that the page can name what was searched for."""
    named = request.resolver_match.kwargs if request.resolver_match else {}
    return named.get("intent_id") or named.get("address")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return page(request, of_dashboard("invalid request"))


def invalid_fields(request: HttpRequest, problems: Mapping[str, str]) -> HttpResponse:
    """Reject a request of the API with fields that are invalid."""
    words = {"problems": " ".join(f"{name}: {problem}" for name, problem in problems.items())}
    return page(request, of_dashboard("invalid parameters", words, fields=tuple(problems.items())))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Reject a form without a valid CSRF token (Django's `CSRF_FAILURE_VIEW`)."""
    is_foreign = reason.startswith(("Origin", "Referer"))
    return page(request, of_dashboard("form of another site" if is_foreign else "form without cookie"))


def wrong_method(request: HttpRequest, refused: HttpResponse) -> HttpResponse:
    is_of_api, allowed = request.path.startswith(api_access.API), ", ".join(sorted(refused["Allow"].split(", ")))
    words = {
        "thing": "path" if is_of_api else "page",
        "method": text.visible(request.method or "")[:20],
        "allowed": allowed,
    }
    name = "method of a page" if "GET" in allowed and not is_of_api else "method"
    response = page(request, of_dashboard(name, words))
    response["Allow"] = allowed
    return response


# Path segments that browsers resolve to the parent.
DOTS = re.compile(r"/\.{1,2}(/|\Z)")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Redirect URLs with a trailing slash to those without; everything else is not found."""
    plain, query = "/" + request.path.strip("/"), request.META["QUERY_STRING"]
    if request.path != plain and is_valid_path(plain) and not DOTS.search(plain):
        return redirect(escape_uri_path(plain) + (f"?{query}" if query else ""), permanent=True)
    # A view explains its own URL; the resolver's text is for developers.
    words = {"why": str(exception) if request.resolver_match else "This URL doesn't exist."}
    name = "not found in the API" if request.path.startswith(api_access.API) else "page not found"
    return page(request, of_dashboard(name, words, looked_for=looked_for(request)))


def internal_error(request: HttpRequest) -> HttpResponse:
    reference = request_context.reference()
    log.error("Unhandled exception, request ID %s", reference, exc_info=sys.exc_info())
    return page(request, of_dashboard("bug", reference=reference))


EMPTY = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)


def add_stale_notice(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    def answer(request: HttpRequest) -> HttpResponseBase:
        with request_context.collecting("stale", "failed") as used:
            response = get_response(request)
            if used.stale:
                response["Age"] = str(max(0, int((datetime.now(UTC) - used.as_of).total_seconds())))
            if not response.headers.get("Content-Type", "").startswith("text/html"):
                return response
            patch_vary_headers(response, ["HX-Request-Type"])
            match = request.resolver_match
            marked = marks.of_view(match.func) if match else marks.NONE
            # A fragment of a page with the frame.
            is_fragment = is_partial(request) and not marked.is_framed and response.status_code not in EMPTY
            if isinstance(response, HttpResponse) and is_fragment:
                patch_vary_headers(response, ["HX-Current-URL"])
                # A fragment from the page's own URL refreshes all of its service data. Compared as text: a client can
                # send anything.
                page_url = (cast("HtmxHttpRequest", request).htmx.current_url or "").partition("?")[0]
                whole = marked.is_whole or page_url == f"{request.scheme}://{request.get_host()}{request.path}"
                # The name of the fragment, to find its notice by.
                part = (match and match.url_name) or "part"
                # Only the full page says that names are stale.
                shown = used.stale if whole else failures.without_names(used.stale)
                places = {"old": shown, "failed_calls": used.failed, "is_whole": whole, "part": part}
                response.content += render_to_string("parts/stale_notice_fragment.html", places).encode()
                response["Content-Length"] = str(len(response.content))  # set before by Django
        return response

    return answer
