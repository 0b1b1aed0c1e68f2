"""`/kept`: what the reader's browser keeps for him, the same page for everybody, and how the transfers in it stand."""

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from intents_ui import situations
from intents_ui.display import transfer
from intents_ui.display.situation import Situation
from intents_ui.links import canonical
from intents_ui.service.errors import ServiceError

MOST_IDS = 20


@require_safe
def kept(request: HttpRequest) -> HttpResponse:
    return render(request, "kept.html")


@require_safe
def status(request: HttpRequest) -> HttpResponse:
    """The status of each transfer whose Intent ID the browser names, for the rows that it keeps."""
    ids = list(dict.fromkeys(request.GET.getlist("id")))
    if not 1 <= len(ids) <= MOST_IDS or not all(map(is_canonical, ids)):
        raise BadRequest
    found = list(zip(ids, situations.of_ids(ids), strict=True))
    context = {
        "read": [(each, transfer.of(read)) for each, read in found if isinstance(read, Situation)],
        "unread": [(each, error) for each, error in found if isinstance(error, ServiceError)],
    }
    response = render(request, "parts/kept_status.html", context)
    response["Cache-Control"] = "no-store"
    return response


def is_canonical(intent_id: str) -> bool:
    try:
        return canonical(intent_id) == intent_id
    except Http404:
        return False
