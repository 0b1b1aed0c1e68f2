"""`/saved`: the page of saved items, which the browser fills, and their status. `/columns`: those of lists."""

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from intents_ui.service.errors import ServiceError
from intents_ui.transfers import summary
from intents_ui.web import reading
from intents_ui.web.frame import COLUMNS, render
from intents_ui.web.links import canonical

YEAR = 365 * 86_400  # seconds


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    return render(request, "saved/saved.html")


@require_safe
@cache_control(no_store=True)
def status(request: HttpRequest) -> HttpResponse:
    """Render the status of a saved transfer, for its row."""
    intent_id = request.GET.get("id", "")
    try:
        is_canonical = canonical(intent_id) == intent_id
    except Http404:
        is_canonical = False
    if not is_canonical:
        raise BadRequest
    [read] = reading.load_many([intent_id])
    context = {"error": read} if isinstance(read, ServiceError) else {"error": None, "summary": summary.of(read)}
    return render(request, "saved/status.html", {"intent_id": intent_id, **context})


@require_safe
@cache_control(no_store=True)
def columns(request: HttpRequest) -> HttpResponse:
    """Keep the chosen columns of lists in a cookie, and go back to the list."""
    back = request.GET.get("next", "")
    response = redirect(back if url_has_allowed_host_and_scheme(back, allowed_hosts=None) else "history")
    if back:  # the form was sent
        chosen = ".".join(name for name in COLUMNS if name in request.GET.getlist("columns"))
        response.set_cookie("columns", chosen, max_age=YEAR, secure=request.is_secure(), samesite="Lax")
    return response
