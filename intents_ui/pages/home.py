"""`/`: the search box, what may be pasted, the newest intents."""

from datetime import UTC, datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from intents_ui import wiring
from intents_ui.display import transfer
from intents_ui.service.errors import ServiceError
from intents_ui.service.wire import Page

NEWEST = 10


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The list is a courtesy: when it cannot be had, the page says so and the search box stays."""
    now = datetime.now(UTC)
    try:
        answer = wiring.service().get_intent_history(page=Page.first(size=NEWEST))
    except ServiceError as error:
        return render(request, "home.html", {"now": now, "transfers": (), "failed": error})
    transfers = [transfer.of_entry(entry, using=wiring.catalog(), now=now) for entry in answer.intents]
    return render(request, "home.html", {"now": now, "transfers": transfers, "failed": None})
