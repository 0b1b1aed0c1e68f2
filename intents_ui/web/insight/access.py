"""Who may see pages about many transfers, and what they say if the local copy can't be read."""

from collections.abc import Callable
from enum import Enum
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from intents_ui import wiring
from intents_ui.mirror.readonly import CopyUnreadable, understanding
from intents_ui.settings import ENV
from intents_ui.web import operator_auth

UNREADABLE = "The local copy of the history can't be read."

type View = Callable[..., HttpResponseBase]


class Refusal(Enum):
    """Why figures can't be shown."""

    OFF = "This dashboard shows no figures of many transfers."
    FOR_STAFF = "Figures tell about transfers of other people. Only staff can see them, in a browser."
    NO_MIRROR = "This dashboard has no local copy of the history, so it knows only single transfers."


def insight(view: View) -> View:
    """Let a page answer only who may see figures, and say so if it raises CopyUnreadable. It is never cached."""

    @require_safe
    @wraps(view)
    def page(request: HttpRequest, *args: Any, **given: Any) -> HttpResponseBase:
        try:
            with understanding():
                response = _refusal(request) or view(request, *args, **given)
        except CopyUnreadable:
            response = _unreadable(request)
        response["Cache-Control"] = "private, no-store"  # staff may see what others may not
        return response

    return page


def why_refused(request: HttpRequest) -> Refusal | None:
    """Return why figures can't be shown to this client, or None."""
    if ENV.intents_insight == "off":
        return Refusal.OFF
    if not operator_auth.may_see_insight(request):
        return Refusal.FOR_STAFF
    return Refusal.NO_MIRROR if wiring.mirror_coverage() is None else None


def _refusal(request: HttpRequest) -> HttpResponseBase | None:
    match why_refused(request):
        case Refusal.OFF:
            return render(request, "insight/refused.html", {"is_off": True}, status=HTTPStatus.NOT_FOUND)
        case Refusal.FOR_STAFF:
            context = {"is_off": False, "has_token": operator_auth.has_token()}
            return render(request, "insight/refused.html", context, status=HTTPStatus.FORBIDDEN)
        case Refusal.NO_MIRROR:
            return render(request, "insight/no_mirror.html", status=HTTPStatus.NOT_FOUND)
    return None


def _unreadable(request: HttpRequest) -> HttpResponse:
    if request.path.endswith(".json"):
        return JsonResponse({"problems": [UNREADABLE]}, status=HTTPStatus.SERVICE_UNAVAILABLE)
    return render(request, "insight/unreadable.html", status=HTTPStatus.SERVICE_UNAVAILABLE)
