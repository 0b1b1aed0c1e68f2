"""`/`: the search box, what may be pasted, the newest intents."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile

from cachetools import TTLCache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from intents_ui import situations, wiring
from intents_ui.display import transfer
from intents_ui.service.errors import ServiceError
from intents_ui.service.sharing import shared
from intents_ui.service.wire import IntentHistory, Page

SHOWN = 10
# So many newer ones can be counted before the list that a reader has before him has to begin anew.
READ = 40
SHARED_SECONDS = 2


@dataclass(frozen=True)
class Newest:
    """The list as one reader has it: it begins at `top`, however many have come since (`newer`, at least)."""

    transfers: Sequence[transfer.Transfer]
    newer: int
    is_counted: bool

    @property
    def top(self) -> str:
        return self.transfers[0].intent_id if self.transfers else ""


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    return render(request, "home.html", read(request))


@require_safe
def newest(request: HttpRequest) -> HttpResponse:
    """The same rows as they are now, for a page that stays open; new ones are announced and not pushed."""
    return render(request, "parts/newest.html", read(request))


def read(request: HttpRequest) -> dict[str, object]:
    """The list is a courtesy: when it cannot be had, the page says so and the search box stays."""
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
    return Newest([transfer.of(each) for each in situations.of_entries(shown)], newer, is_counted)


@shared(TTLCache(maxsize=1, ttl=SHARED_SECONDS))
def entries() -> Sequence[IntentHistory]:
    """Shared by all who look at the same moment."""
    return wiring.service().get_intent_history(page=Page.first(size=READ)).intents
