"""`/`: the search box and recent transfers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from intents_ui import wiring
from intents_ui.display.summary import glance
from intents_ui.middleware import marks
from intents_ui.service.errors import ServiceError
from intents_ui.service.wire.models import IntentHistory, Page
from intents_ui.web import situations

SHOWN = 10
# New transfers are counted up to this number. Beyond it, the list restarts at the newest.
READ = 40


@dataclass(frozen=True)
class Newest:
    """The list as rendered earlier, from `top`, and the number of newer transfers (a minimum unless `is_counted`)."""

    transfers: Sequence[glance.Transfer]
    newer: int
    is_counted: bool

    @property
    def top(self) -> str:
        return self.transfers[0].intent_id if self.transfers else ""


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    return render(request, "home.html", read(request))


@marks.whole
@require_safe
def newest(request: HttpRequest) -> HttpResponse:
    """Refresh the rows of an open page. New transfers are announced, not inserted."""
    return render(request, "lists/newest.html", read(request))


def read(request: HttpRequest) -> dict[str, object]:
    """Read the list. If that fails, the page shows a notice and the search box still works."""
    now = datetime.now(UTC)
    try:
        found = listed(entries(), top=request.GET.get("top", ""))
    except ServiceError as error:
        return {"now": now, "newest": Newest((), 0, True), "failed": error}
    return {"now": now, "newest": found, "failed": None}


def listed(found: Sequence[IntentHistory], *, top: str) -> Newest:
    newer = len(list(takewhile(lambda entry: entry.intent_id != top, found))) if top else 0
    is_counted = newer < len(found)
    shown = found[newer if is_counted else 0 :][:SHOWN]
    return Newest([glance.of(each) for each in situations.of_entries(shown)], newer, is_counted)


def entries() -> Sequence[IntentHistory]:
    """Fetch the newest entries."""
    return wiring.service().get_intent_history(page=Page.first(size=READ)).intents
