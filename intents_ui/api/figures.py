"""Answers about many transfers, for clients who may see them."""

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse

from intents_ui.api.answers import answered
from intents_ui.api.figure_models import ApiIncidentReport, ApiIncidents, ApiOverview, ApiRouteReport
from intents_ui.api.insight import NO_MIRROR
from intents_ui.middleware import failures
from intents_ui.middleware.failures import Failure
from intents_ui.mirror.readonly import CopyUnreadable, understanding
from intents_ui.web.insight import access, choices, data, incidents, scopes
from intents_ui.web.insight.access import Refusal

type View = Callable[..., HttpResponse]

OFF = Failure(
    HTTPStatus.NOT_FOUND,
    "Insight is off",
    Refusal.OFF.value,
    "Look up single transfers.",
)
FOR_STAFF = Failure(
    HTTPStatus.FORBIDDEN,
    "Staff only",
    Refusal.FOR_STAFF.value,
    "Ask the administrator.",
)
UNREADABLE = Failure(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "Local copy unavailable",
    "The local copy of the history can't be read at the moment.",
    "Look up single transfers as usual, or try again.",
    retry_after=5,
)
REFUSALS = {Refusal.OFF: OFF, Refusal.FOR_STAFF: FOR_STAFF, Refusal.NO_MIRROR: NO_MIRROR}


def guarded(view: View) -> View:
    """Let an operation answer only who may see figures. It is never cached, because staff may see more."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any) -> HttpResponse:
        if refusal := access.why_refused(request):
            return failures.page(request, REFUSALS[refusal])
        try:
            with understanding():
                response = view(request, *args)
        except CopyUnreadable:
            return failures.page(request, UNREADABLE)
        response["Cache-Control"] = "private, no-store"
        return response

    return answer


@guarded
def overview(request: HttpRequest) -> HttpResponse:
    picked = choices.read(request)
    if picked.problems:
        return failures.invalid_fields(request, picked.problems)
    return answered(ApiOverview.model_validate(data.overview(picked)))


@guarded
def route(request: HttpRequest, providers: str, origin: str, destination: str) -> HttpResponse:
    picked = choices.read(request)
    if picked.problems:
        return failures.invalid_fields(request, picked.problems)
    return answered(ApiRouteReport.model_validate(data.route(scopes.route(providers, origin, destination), picked)))


@guarded
def incident_list(request: HttpRequest) -> HttpResponse:
    return answered(ApiIncidents.model_validate(data.recent_incidents()))


@guarded
def incident(request: HttpRequest, number: str) -> HttpResponse:
    return answered(ApiIncidentReport.model_validate(data.of_report(incidents.report(number))))
