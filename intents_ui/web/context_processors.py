"""Template context of every page's frame."""

from collections.abc import Iterator

from django.http import HttpRequest

from intents_ui import wiring
from intents_ui.exports import progress
from intents_ui.service.context import request_context
from intents_ui.settings import ENV

NAV = (
    ("search", "Search"),
    ("history", "History"),
    ("recoverable", "Recoverable"),
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


def frame(request: HttpRequest) -> dict[str, object]:
    """Return the context of the frame. Each export started from the page gets its own run ID."""
    return {
        "embedded": wiring.embedded(),
        "may_write": ENV.console == "write",
        "may_be_listed": ENV.intents_index == "index",
        "nav": list(nav_links()),
        "export_rows": ENV.intents_max_export_rows,
        "new_export_run": progress.new_run,
        "old": request_context.stale_responses(),
        "unanswered": request_context.failed_calls(),
        "paused": wiring.service().health.maintenance.is_on,
    }
