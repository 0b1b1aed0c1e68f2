"""Answers about many transfers, for clients who may see them."""

from django.http import HttpRequest, HttpResponse

from intents_ui.api.answers import answered
from intents_ui.api.figure_models import ApiIncidentReport, ApiIncidents, ApiOverview, ApiRouteReport
from intents_ui.http import failures
from intents_ui.web.insight import access, choices, data, incidents, scopes


@access.insight
def overview(request: HttpRequest) -> HttpResponse:
    picked = choices.read(request)
    if picked.problems:
        return failures.invalid_fields(request, picked.problems)
    return answered(ApiOverview.model_validate(data.overview(picked)))


@access.insight
def route(request: HttpRequest, *named_by: str) -> HttpResponse:
    picked = choices.read(request)
    if picked.problems:
        return failures.invalid_fields(request, picked.problems)
    return answered(ApiRouteReport.model_validate(data.route(scopes.of("route", *named_by), picked)))


@access.insight
def incident_list(request: HttpRequest) -> HttpResponse:
    return answered(ApiIncidents.model_validate(data.recent_incidents()))


@access.insight
def incident(request: HttpRequest, number: str) -> HttpResponse:
    return answered(ApiIncidentReport.model_validate(data.of_report(*incidents.report(number))))
