"""`/help` and `/help/status/<STATUS>`: what each status means, and the next step."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from intents_ui.display.formatting import text
from intents_ui.display.summary import status_help as display


@require_safe
def states(request: HttpRequest) -> HttpResponse:
    return listing(request)


@require_safe
def status(request: HttpRequest, status: str) -> HttpResponseBase:
    known = status.strip().upper().replace("-", "_")
    of_intent, of_transaction = display.named(known)
    if not of_intent and not of_transaction:
        return listing(request, missing=text.name(status).shown)
    if known != status:
        return redirect("help-status", known, permanent=True)
    context = {"name": known, "of_intent": of_intent, "of_transaction": of_transaction, "names": display.names()}
    return render(request, "help_status.html", context)


def listing(request: HttpRequest, *, missing: str = "") -> HttpResponse:
    """Render all statuses. `missing`: the unknown status that was requested."""
    context = {
        "intents": display.transfers(),
        "transactions": display.transactions(),
        "others": display.of_any_status(),
        "missing": missing,
    }
    return render(request, "help.html", context, status=HTTPStatus.NOT_FOUND if missing else HTTPStatus.OK)
