"""Notices of stale data and failed requests, once per page.

The page has a slot for each notice, which fragments fill, too. Other content types have an `Age` header.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers

from intents_ui.display import failures
from intents_ui.http import marks
from intents_ui.service.context import request_context
from intents_ui.web.frame import is_partial

EMPTY = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)


def add_stale_notice(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    def answer(request: HttpRequest) -> HttpResponseBase:
        with request_context.collecting_stale() as old, request_context.collecting_failed() as failed:
            response = get_response(request)
            if old:
                age = datetime.now(UTC) - min(each.learned_at for each in old)  # of the oldest
                response["Age"] = str(max(0, int(age.total_seconds())))
            if is_page(response):
                patch_vary_headers(response, ["HX-Request-Type"])
            match = request.resolver_match
            marked = marks.of_view(match.func) if match else marks.NONE
            # A fragment of a page with the frame.
            is_fragment = is_partial(request) and is_page(response) and not marked.is_framed
            if isinstance(response, HttpResponse) and is_fragment and response.status_code not in EMPTY:
                patch_vary_headers(response, ["HX-Current-URL"])
                whole = marked.is_whole or is_of_this_url(request)
                # The name of the fragment, to find its notice by.
                part = (match and match.url_name) or "part"
                # Only the full page says that names are stale.
                shown = old if whole else failures.without_names(old)
                places = {"old": shown, "unanswered": failed, "is_whole": whole, "part": part}
                response.content += render_to_string("parts/stale_notice_fragment.html", places).encode()
                response["Content-Length"] = str(len(response.content))  # set before by Django
        return response

    return answer


def is_page(response: HttpResponseBase) -> bool:
    return response.headers.get("Content-Type", "").startswith("text/html")


def is_of_this_url(request: HttpRequest) -> bool:
    """Return whether the page has the URL of the fragment, which then refreshes all of its service data."""
    # Compare it as text: it may not be a URL.
    page = (request.htmx.current_url or "").partition("?")[0]  # type: ignore[attr-defined]
    return page == f"{request.scheme}://{request.get_host()}{request.path}"
