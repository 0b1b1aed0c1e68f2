"""Who may see pages about many transfers, and what they say if the local copy can't be read."""

from collections.abc import Callable
from enum import Enum
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from intents_ui import wiring
from intents_ui.mirror.readonly import CopyUnreadable
from intents_ui.settings import ENV
from intents_ui.web import operator_auth

type View = Callable[..., HttpResponseBase]


class Refusal(Enum):
    """Why figures can't be shown."""

    OFF = "This dashboard shows no figures of many transfers."
    FOR_OPERATORS = "Figures tell about transfers of other people. Only the operator can see them, in a browser."
    NO_MIRROR = "This dashboard has no local copy of the history, so it knows only single transfers."


FEW_OWNERS = 5  # with fewer, figures could tell about a person


def sees_transfers(request: HttpRequest) -> bool:
    """Whether this client may see single transfers, and figures of a few owners: anyone in demo data, else the
    operator.
    """
    return operator_auth.may_see_transfers(request)


def is_open(request: HttpRequest) -> bool:
    """Whether this client may see figures at all (INTENTS_INSIGHT)."""
    return ENV.intents_insight == "public" or (ENV.intents_insight == "operator" and sees_transfers(request))


def insight(view: View) -> View:
    """Let a page answer only who may see figures, and say so if it raises CopyUnreadable. It is never cached."""

    @require_safe
    @wraps(view)
    def page(request: HttpRequest, *args: Any, **given: Any) -> HttpResponseBase:
        response = _refusal(request) or _answer(view, request, *args, **given)
        response["Cache-Control"] = "private, no-store"  # the operator sees more
        return response

    return page


def for_operators(view: View) -> View:
    """Let a page with single transfers answer only who may see them. Decorate with `insight` on top."""

    @wraps(view)
    def page(request: HttpRequest, *args: Any, **given: Any) -> HttpResponseBase:
        return view(request, *args, **given) if sees_transfers(request) else _for_operators(request)

    return page


def why_refused(request: HttpRequest) -> Refusal | None:
    """Return why figures can't be shown to this client, or None."""
    if ENV.intents_insight == "off":
        return Refusal.OFF
    if not is_open(request):
        return Refusal.FOR_OPERATORS
    return Refusal.NO_MIRROR if wiring.mirror_coverage() is None else None


def _refusal(request: HttpRequest) -> HttpResponseBase | None:
    match why_refused(request):
        case Refusal.OFF:
            return render(request, "insight/refused.html", {"is_off": True}, status=HTTPStatus.NOT_FOUND)
        case Refusal.FOR_OPERATORS:
            return _for_operators(request)
        case Refusal.NO_MIRROR:
            return render(request, "insight/no_mirror.html", status=HTTPStatus.NOT_FOUND)
    return None


def _for_operators(request: HttpRequest) -> HttpResponseBase:
    context = {"is_off": False, "has_token": operator_auth.has_token()}
    return render(request, "insight/refused.html", context, status=HTTPStatus.FORBIDDEN)


def _answer(view: View, request: HttpRequest, *args: Any, **given: Any) -> HttpResponseBase:
    try:
        return view(request, *args, **given)
    except CopyUnreadable:
        return render(request, "insight/unreadable.html", status=HTTPStatus.SERVICE_UNAVAILABLE)
