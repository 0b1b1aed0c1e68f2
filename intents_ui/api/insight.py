"""Operations about many transfers, which the local copy of the history answers.

A dashboard without one says so. What reads it is imported only when used, because it needs the mirror's tables.
"""

from typing import cast

from django.apps import apps
from django.http import HttpRequest, HttpResponse
from ninja import Field, P, PathEx, Query, Schema

from intents_ui.api.answers import answered
from intents_ui.api.figure_models import ApiIncidentReport, ApiIncidents, ApiOverview, ApiRouteReport
from intents_ui.api.models import ApiModel
from intents_ui.http import failures


class TimeChoice(Schema):
    """The time that figures are of."""

    window: str | None = Field(None, description="`1h`, `24h`, `7d`, `30d` or `90d`", examples=["24h"])


class FigureChoices(TimeChoice):
    """What figures are of, as in the URLs of `/insight`."""

    by: str | None = Field(None, description="`route`, `provider`, `chain` or `token`", examples=["route"])
    order: str | None = Field(None, description="`used`, `worst` or `slowest`", examples=["worst"])


def get_insight(request: HttpRequest, given: Query[FigureChoices]) -> HttpResponse:
    """Get the success rates and durations of the whole service, and of its routes, providers, chains or tokens."""
    return answer(request, ApiOverview, "overview")


def get_route_figures(
    request: HttpRequest,
    providers: PathEx[str, P(description="Its route providers, as in the URLs of `/insight`", examples=["RELAY"])],
    origin: PathEx[str, P(description="ID of the origin chain", examples=["8453"])],
    destination: PathEx[str, P(description="ID of the destination chain", examples=["42161"])],
    given: Query[TimeChoice],
) -> HttpResponse:
    """Get the success rate and durations of a route: its providers, and the IDs of its chains."""
    return answer(request, ApiRouteReport, "route", providers, origin, destination)


def list_incidents(request: HttpRequest) -> HttpResponse:
    """List the incidents: routes, providers and chains that are or were worse than usual."""
    return answer(request, ApiIncidents, "recent_incidents")


def get_incident(request: HttpRequest, number: PathEx[int, P(description="Its number", examples=[1])]) -> HttpResponse:
    """Get an incident by its number."""
    return answer(request, ApiIncidentReport, "incident", str(number))


def answer(request: HttpRequest, model: type[ApiModel], operation: str, *named: str) -> HttpResponse:
    """Return what an operation of `data` reads, for clients who may see it."""
    if not apps.is_installed("intents_ui.mirror"):
        return failures.page(request, failures.of_dashboard("no mirror"))
    from intents_ui.web.insight import access, choices, data

    @access.insight
    def view(request: HttpRequest) -> HttpResponse:
        picked = choices.read(request)
        if picked.problems:
            return failures.invalid_fields(request, picked.problems)
        return answered(model.model_validate(getattr(data, operation)(picked, *named)))

    return cast(HttpResponse, view(request))
