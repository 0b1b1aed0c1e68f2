"""Who may see figures and incidents, on pages and in the API, and what clients get if the local copy can't be read."""

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from intents_ui.http import failures, operator_auth
from intents_ui.http.failures import Failure, of_dashboard
from intents_ui.insight.choices import Choices
from intents_ui.mirror.readonly import CopyUnreadable, understanding
from intents_ui.settings import ENV
from intents_ui.web.frame import render
from intents_ui.web.mirror import mirror_coverage

UNREADABLE = of_dashboard("mirror unreadable", retry_after=5)

type View = Callable[..., HttpResponseBase]


def insight(view: View) -> View:
    """Let a view answer only who may see figures, and say so if it raises CopyUnreadable. It is never cached."""

    @require_safe
    @cache_control(private=True, no_store=True)  # staff may see what others may not
    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **given: Any) -> HttpResponseBase:
        try:
            with understanding():
                refusal = why_refused(request)
                return failures.page(request, refusal) if refusal else view(request, *args, **given)
        except CopyUnreadable:
            return failures.page(request, UNREADABLE)

    return answer


def page(request: HttpRequest, template: str, *, picked: Choices | None = None, **context: Any) -> HttpResponse:
    """Return a page of the mirror, which fails if a choice is unknown."""
    status = HTTPStatus.BAD_REQUEST if picked and picked.problems else HTTPStatus.OK
    return render(request, template, {"mirror": mirror_coverage(), "picked": picked, **context}, status=status)


def why_refused(request: HttpRequest) -> Failure | None:
    """Return why figures can't be shown to this client, or None."""
    if ENV.insight == "off":
        return of_dashboard("insight off")
    if not operator_auth.may_see_insight(request):
        return of_dashboard("staff only", takes_token=operator_auth.has_token())
    return of_dashboard("no mirror") if settings.MIRROR_DATABASE is None else None
