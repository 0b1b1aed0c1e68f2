"""The frame of every page: its template context, and responses with a page or a part of it."""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from intents_ui import app
from intents_ui.formatting import failures
from intents_ui.http.marks import is_partial
from intents_ui.service import request_context
from intents_ui.service.errors import ServiceError
from intents_ui.settings import ENV

# Optional columns of lists of transfers, and those that are drawn if nothing was chosen.
COLUMNS = ("usd", "recipient", "provider", "duration", "reason", "id")
DEFAULT_COLUMNS = ("provider", "duration")
COUNTED_FOR = timedelta(minutes=5)  # how long the navigation shows a count
GENERATED = "Demo: 30 days were generated when the dashboard started."


class AttentionCount:
    """How many transfers need attention, as of the last reading of /attention or the overview."""

    def __init__(self) -> None:
        self._last = 0, datetime.min.replace(tzinfo=UTC)

    def learn(self, count: int) -> None:
        self._last = count, datetime.now(UTC)

    @property
    def value(self) -> int | None:
        """Return the count, or None if it is too old."""
        count, at = self._last
        return count if datetime.now(UTC) - at < COUNTED_FOR else None


def chosen_columns(request: HttpRequest) -> tuple[str, ...]:
    """Return the optional columns of lists that the browser's user has chosen (`/columns`)."""
    written = request.COOKIES.get("columns")
    return DEFAULT_COLUMNS if written is None else tuple(each for each in COLUMNS if each in written.split("."))


def new_export_run() -> str:
    return secrets.token_urlsafe(12)


def context(request: HttpRequest) -> dict[str, object]:
    """Return the context of the frame. Each export started from the page gets its own run ID."""
    has_mirror = settings.MIRROR_DATABASE is not None
    return {
        "columns": chosen_columns(request),
        "embedded": ENV.embedded,
        "generated": GENERATED if settings.DEMO_STARTED is not None else "",
        "has_mirror": has_mirror,
        "has_insight": has_mirror and ENV.insight != "off",
        "has_console": ENV.console != "off",
        "has_api": ENV.intents_api != "off",
        "may_write": ENV.console == "write",
        "takes_token": ENV.intents_console_token is not None,
        "may_be_listed": ENV.intents_index == "index",
        "attention_count": app.current().attention_count.value,
        "url_name": request.resolver_match and request.resolver_match.url_name,
        "export_rows": ENV.intents_max_export_rows,
        "new_export_run": new_export_run,
        "old": request_context.current().stale,
        "failed_calls": request_context.current().failed,
        "paused": app.current().service.health.is_paused,
    }


def render(
    request: HttpRequest,
    template: str,
    context: Mapping[str, object] | None = None,
    *,
    block: str = "",
    status: int = HTTPStatus.OK,
    error: ServiceError | None = None,
    retry_after: int | None = None,
) -> HttpResponse:
    """Render a page, or only this block of it for htmx. A context with a `block` is that of this block alone.

    With the error of a part that failed, the response has the status of that error and isn't stored.
    """
    shown = {"block": block if is_partial(request) else "", **(context or {})}
    response = HttpResponse(render_to_string(template, shown, request), status=status)
    if error:
        response.status_code, retry_after = failures.status(error), failures.retry_after(error)
        response["Cache-Control"] = "no-store"
    if retry_after is not None:
        response["Retry-After"] = str(retry_after)
    return response
