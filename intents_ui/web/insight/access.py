"""Who may see figures and incidents, on pages and in the API, and what clients get if the local copy can't be read."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from intents_ui.middleware import failures
from intents_ui.middleware.failures import NO_MIRROR, Failure
from intents_ui.mirror.readonly import CopyUnreadable, understanding
from intents_ui.settings import ENV
from intents_ui.web import operator_auth

OFF = Failure(
    HTTPStatus.NOT_FOUND,
    "Insight is off",
    "This dashboard shows no figures of many transfers.",
    "Look up single transfers.",
)
FOR_STAFF = Failure(
    HTTPStatus.FORBIDDEN,
    "Staff only",
    "Figures tell about transfers of other people. Only staff can see them, in a browser.",
    "Ask the administrator.",
)
UNREADABLE = Failure(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "Local copy unavailable",
    "The local copy can't be read. Other data is not affected.",
    "Look up single transfers as usual, or try again.",
    retry_after=5,
)


type View = Callable[..., HttpResponseBase]


def insight(view: View) -> View:
    """Let a view answer only who may see figures, and say so if it raises CopyUnreadable. It is never cached."""

    @require_safe
    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **given: Any) -> HttpResponseBase:
        try:
            with understanding():
                refusal = why_refused(request)
                response = failures.page(request, refusal) if refusal else view(request, *args, **given)
        except CopyUnreadable:
            response = failures.page(request, UNREADABLE)
        response["Cache-Control"] = "private, no-store"  # staff may see what others may not
        return response

    return answer


def why_refused(request: HttpRequest) -> Failure | None:
    """Return why figures can't be shown to this client, or None."""
    if ENV.intents_insight == "off":
        return OFF
    if not operator_auth.may_see_insight(request):
        return replace(FOR_STAFF, takes_token=operator_auth.has_token())
    return NO_MIRROR if settings.MIRROR_DATABASE is None else None
