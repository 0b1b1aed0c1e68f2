"""`/saved`: the page of saved items, which the browser fills, and the status of saved transfers."""

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from intents_ui.service.errors import ServiceError
from intents_ui.transfers import summary
from intents_ui.transfers.transfer import Transfer
from intents_ui.web import reading
from intents_ui.web.frame import render
from intents_ui.web.links import canonical

MOST_IDS = 20


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    return render(request, "saved/saved.html")


@require_safe
@cache_control(no_store=True)
def status(request: HttpRequest) -> HttpResponse:
    """Render the status of the requested intent IDs, for the rows of saved transfers."""
    ids = list(dict.fromkeys(request.GET.getlist("id")))
    if not 1 <= len(ids) <= MOST_IDS or not all(map(is_canonical, ids)):
        raise BadRequest
    found = list(zip(ids, reading.of_ids(ids), strict=True))
    context = {
        "read": [(each, summary.of(read)) for each, read in found if isinstance(read, Transfer)],
        "unread": [(each, error) for each, error in found if isinstance(error, ServiceError)],
    }
    return render(request, "saved/status.html", context)


def is_canonical(intent_id: str) -> bool:
    try:
        return canonical(intent_id) == intent_id
    except Http404:
        return False
