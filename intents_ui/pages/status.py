"""`/status`: service health, age of cached lists and the mirror, live viewers of this process. Sends no requests."""

from datetime import UTC, datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from intents_ui import wiring
from intents_ui.display import service_state
from intents_ui.web import client_ip


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    now = datetime.now(UTC)
    lists = wiring.catalog().known()
    context = {
        "in_detail": client_ip.runs_it(request),
        "service": service_state.state(wiring.health().status(), now=now),
        "lists": lists,
        "mirror": wiring.mirror_coverage(),
        "chains_at": service_state.before(lists.chains_age, now=now),
        "oldest_at": service_state.before(lists.oldest, now=now),
        "newest_at": service_state.before(lists.newest, now=now),
        "watched": len(wiring.hub().watched),
        "viewers": wiring.hub().viewers,
        "began_at": wiring.lifecycle().began_at,
    }
    response = render(request, "status.html", context)
    response["Cache-Control"] = "private, no-store"  # administrators see more
    return response
