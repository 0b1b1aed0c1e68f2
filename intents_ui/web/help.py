"""Pages about the dashboard.

`/help` and `/help/status/<STATUS>`: what each status means, and the next step. `/api`: what the API is for, and its
operations. `/status`: service health, age of cached lists and the mirror, live viewers of this process; it sends no
requests.
"""

from datetime import UTC, datetime, timedelta
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.formatting import text
from intents_ui.http import client_ip
from intents_ui.ops import lifecycle
from intents_ui.transfers import status_help as display
from intents_ui.transfers.statuses import labels
from intents_ui.web.frame import render
from intents_ui.web.mirror import mirror_coverage


@require_safe
def status(request: HttpRequest, status: str) -> HttpResponseBase:
    known = status.strip().upper().replace("-", "_")
    of_intent, of_transaction = display.named(known)
    if not of_intent and not of_transaction:
        return states(request, missing=text.name(status).shown)
    if known != status:
        return redirect("help-status", known, permanent=True)
    context = {"name": known, "of_intent": of_intent, "of_transaction": of_transaction, "names": display.names()}
    return render(request, "help_status.html", context)


@require_safe
def states(request: HttpRequest, *, missing: str = "") -> HttpResponse:
    """Render all statuses. `missing`: the unknown status that was requested."""
    search = client_ip.root(request) + reverse("search")
    context = {
        "intents": display.transfers(),
        "transactions": display.transactions(),
        "others": display.of_any_status(),
        "missing": missing,
        "bookmark": f'javascript:void open("{search}?q="+encodeURIComponent(getSelection()))',
    }
    return render(request, "help.html", context, status=HTTPStatus.NOT_FOUND if missing else HTTPStatus.OK)


@require_safe
@cache_control(private=True, no_store=True)  # administrators see more
def service(request: HttpRequest) -> HttpResponse:
    now = datetime.now(UTC)
    lists, state = app.current().catalog.known(), app.current().service.health.status()
    context = {
        "in_detail": client_ip.runs_it(request),
        "service": labels("service")[state.state],
        "answered_at": before(state.answered, now=now),
        "failed_at": before(state.failed, now=now),
        "troubled_since": before(state.degraded_for, now=now),
        "response_time": quick(state.typical),
        "lists": lists,
        "mirror": mirror_coverage(),
        "chains_at": before(lists.chains_age, now=now),
        "oldest_at": before(lists.oldest, now=now),
        "newest_at": before(lists.newest, now=now),
        "watched": len(app.current().hub.watched),
        "viewers": app.current().hub.viewers,
        "began_at": lifecycle.began_at,
    }
    return render(request, "status.html", context)


def before(seconds: float | None, *, now: datetime) -> datetime | None:
    return None if seconds is None else now - timedelta(seconds=seconds)


def quick(seconds: float | None) -> str | None:
    """Return the median response time, as `1.2 s` or `25 ms`."""
    if seconds is None:
        return None
    return f"{seconds:.1f} s" if seconds >= 1 else f"{max(round(seconds * 1000), 1)} ms"
