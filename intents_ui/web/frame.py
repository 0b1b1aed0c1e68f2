"""The frame of every page: its template context, and responses without it, because htmx requests only a part."""

from collections.abc import Iterator, Mapping

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from intents_ui import wiring
from intents_ui.exports import progress
from intents_ui.service.context import request_context
from intents_ui.settings import ENV
from intents_ui.web.transfers import attention

NAV = (
    ("search", "Search"),
    ("history", "History"),
    ("attention", "Attention"),
    ("triage", "Triage"),
    ("tokens", "Tokens"),
    ("chains", "Chains"),
    ("routes", "Routes"),
)


def nav_links() -> Iterator[tuple[str, str]]:
    """Yield the navigation links to enabled pages."""
    yield from NAV
    if ENV.console != "off":
        yield "console", "Console"
    if wiring.embedded():
        yield "demo", "Demo"


def context(request: HttpRequest) -> dict[str, object]:
    """Return the context of the frame. Each export started from the page gets its own run ID."""
    return {
        "embedded": wiring.embedded(),
        "may_write": ENV.console == "write",
        "may_be_listed": ENV.intents_index == "index",
        "nav": tuple(nav_links()),
        "attention_count": attention.reader().count,
        "url_name": request.resolver_match and request.resolver_match.url_name,
        "export_rows": ENV.intents_max_export_rows,
        "new_export_run": progress.new_run,
        "old": request_context.stale_responses(),
        "unanswered": request_context.failed_calls(),
        "paused": wiring.service().health.maintenance.is_on,
    }


def is_partial(request: HttpRequest) -> bool:
    """Return whether htmx requests a part of the page. Every page varies by this header (`stale_notice`)."""
    return request.headers.get("HX-Request-Type") == "partial"


def part_or_page(
    request: HttpRequest, page: str, part: str, context: Mapping[str, object], *, status: int = 200
) -> HttpResponse:
    """Render the template `part` for htmx, and the template `page` otherwise, both with the same context."""
    return render(request, part if is_partial(request) else page, {**context}, status=status)
