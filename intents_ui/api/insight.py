"""Operations about many transfers, which the local copy of the history answers.

A dashboard without one says so. What reads it is imported only when used, because it needs the mirror's tables.
"""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, cast

from django.apps import apps
from django.http import HttpRequest, HttpResponse, JsonResponse
from ninja import P, PathEx, Query, Schema
from pydantic import BeforeValidator

from intents_ui.api.models import ApiModel, about, one_of, optional
from intents_ui.http import failures
from intents_ui.service.outcome import Outcome

# Durations are in seconds.
# Not a `type` statement, which would be a schema of its own in the description of the API.
Seconds = Annotated[float, BeforeValidator(lambda found: getattr(found, "total_seconds", lambda: found)())]


class ApiShare(ApiModel):
    """A share with its 95% confidence interval."""

    value: float = about("From 0 to 1", 0.97)
    low: float = about("Lower end of the interval", 0.95)
    high: float = about("Upper end of the interval", 0.99)


class ApiFigures(ApiModel):
    """Figures of a route, a provider, a chain, a token or the whole service, in a time."""

    level: str = about("`service`, `route`, `provider`, `chain`, `token`", "route")
    title: str = about("What they are of", "Base to Arbitrum One with Relay")
    providers: tuple[str, ...] = about("Its route providers", ["RELAY"])
    origin_chain_id: str | None = about("ID of the origin chain, or of the chain", "8453")
    destination_chain_id: str | None = about("ID of the destination chain", "42161")
    token: str | None = about("Address of the token", None, "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913")
    since: datetime = about("Beginning of the time", "2026-11-20T12:00:00Z")
    at: datetime = about("End of the time", "2026-11-21T12:00:00Z")
    is_complete: bool = about("Whether the local copy has all of it", True)
    lacking_seconds: Seconds | None = about("How much of it is missing", 0.0)
    with_deposit: int = about("Transfers whose deposit arrived", 412)
    open: int = about("Of these, open ones", 3)
    late: int = about("Of these, late ones", 1)
    ended: int = about("Of these, ended ones", 409)
    outcomes: dict[str, int] = about(f"How they ended: {one_of(Outcome)}", {"delivered": 400, "refunded": 9})
    success_rate: ApiShare | None = about(
        "Delivered ones of those that ended. Null with too few, or if the time is incomplete"
    )
    in_time: int = about("Delivered before they were late", 396)
    decided: int = about("Delivered, refunded or failed by their route, or late. `inTime` are a part of these", 406)
    in_time_rate: ApiShare | None = about("`inTime` of `decided`. Null as for `successRate`")
    owners: int | None = about("Owners of the ended ones, for at most a day", 310)
    owners_not_delivered: int | None = about("Of these, owners of one that was not delivered", 8)
    median_seconds: Seconds | None = about("Median duration of the delivered ones", 41.0)
    p95_seconds: Seconds | None = about("95% take no longer. Null below 100 durations", 180.0)
    is_p95_at_least: bool = about("Whether `p95Seconds` is a minimum", False)


class ApiReason(ApiModel):
    """Why transfers were not delivered. `reason` is untrusted input."""

    step: str | None = about("The step that failed", "bridge")
    reason: str = about("As the service reports it", "Slippage exceeded")
    count: int = about("How many", 5)


class ApiIncident(ApiModel):
    """A time in which a route, a provider, a token or a chain was worse than usual."""

    number: int = about("Its number", 12)
    title: str = about("What it is of", "Relay")
    kind: str = about("`undelivered` (not in time) or `silent` (nothing starts)", "undelivered")
    state: str = about("`open`, `recovering` or `over`", "open")
    since: datetime = about("When it began", "2026-11-21T10:05:00Z")
    closed: datetime | None = about("When it ended", None, "2026-11-21T11:40:00Z")
    bad: int = about("Owners whose transfers were not delivered in time", 9)
    owners: int = about("Owners whose transfers began in this time", 21)
    usual: float = about("Usual share of affected owners, from 0 to 1. If nothing starts, owners expected", 0.02)
    alert: bool = about("Whether chance hardly explains it", True)
    sentence: str = about("What happens", "9 of 21 owners did not get their transfers in time.")
    routes: tuple[str, ...] = about("Its routes", ["Base to Arbitrum One with Relay"])


class ApiIncidentReport(ApiIncident):
    """An incident with what ended since it began."""

    is_demo: bool = about("Whether the data was generated for a demo", False)
    level: str = about("`service`, `route`, `provider`, `chain`, `token`, `provider on chain`", "provider")
    opened: datetime = about("When it was found", "2026-11-21T10:15:00Z")
    ended: int = about("Transfers that ended", 40)
    not_delivered: int = about("Of these, not delivered", 17)
    refunded: int = about("Of these, refunded", 11)
    last_delivery: datetime | None = about("Time of the last delivery", "2026-11-21T11:00:00Z")


class ApiIncidents(ApiModel):
    """The newest incidents."""

    incidents_at: datetime | None = about("When they were last judged", "2026-11-21T12:00:00Z")
    incidents_unknown_since: datetime | None = about(
        "Since when they can't be judged, because the local copy is behind", None, "2026-11-21T11:00:00Z"
    )
    open: tuple[ApiIncident, ...] = about("Those that go on")
    over: tuple[ApiIncident, ...] = about("Those that are over, newest first")


class ApiOverview(ApiModel):
    """Figures of the whole service, and of its routes, providers, chains or tokens."""

    is_demo: bool = about("Whether the data was generated for a demo", False)
    window: str = about("The time: `1h`, `24h`, `7d`, `30d`, `90d`", "24h")
    by: str = about("`route`, `provider`, `chain`, `token`", "route")
    order: str = about("Order of the rows", "used")
    total: ApiFigures = about("Of the whole service")
    rows: tuple[ApiFigures, ...] = about("Of each")
    reasons: tuple[ApiReason, ...] = about("Why transfers were not delivered, most frequent first")
    incidents_at: datetime | None = about("When incidents were last judged", "2026-11-21T12:00:00Z")
    incidents_unknown_since: datetime | None = about("Since when they can't be judged", None, "2026-11-21T11:00:00Z")
    incidents: tuple[ApiIncident, ...] = about("Open incidents")


class ApiRouteReport(ApiModel):
    """Figures of a route over a time."""

    window: str = about("The time: `1h`, `24h`, `7d`, `30d`, `90d`", "24h")
    total: ApiFigures = about("Figures of the route")
    siblings: tuple[ApiFigures, ...] = about("Other routes between these chains")
    reasons: tuple[ApiReason, ...] = about("Why transfers were not delivered, most frequent first")
    incidents: tuple[ApiIncident, ...] = about("Open incidents of the route")


class TimeChoice(Schema):
    """The time that figures are of."""

    window: str | None = optional("`1h`, `24h`, `7d`, `30d` or `90d`", "24h")


class FigureChoices(TimeChoice):
    """What figures are of, as in the URLs of `/insight`."""

    by: str | None = optional("`route`, `provider`, `chain` or `token`", "route")
    order: str | None = optional("`used`, `worst` or `slowest`", "worst")


def get_insight(request: HttpRequest, given: Query[FigureChoices]) -> HttpResponse:
    """Get the success rates and durations of the whole service, and of its routes, providers, chains or tokens."""
    return answer(request, "overview")


def get_route_figures(
    request: HttpRequest,
    providers: PathEx[str, P(description="Its route providers, as in the URLs of `/insight`", examples=["RELAY"])],
    origin: PathEx[str, P(description="ID of the origin chain", examples=["8453"])],
    destination: PathEx[str, P(description="ID of the destination chain", examples=["42161"])],
    given: Query[TimeChoice],
) -> HttpResponse:
    """Get the success rate and durations of a route: its providers, and the IDs of its chains."""
    return answer(request, "route", providers, origin, destination)


def list_incidents(request: HttpRequest) -> HttpResponse:
    """List the incidents: routes, providers and chains that are or were worse than usual."""
    return answer(request, "recent_incidents")


def get_incident(request: HttpRequest, number: PathEx[int, P(description="Its number", examples=[1])]) -> HttpResponse:
    """Get an incident by its number."""
    return answer(request, "incident", str(number))


def answer(request: HttpRequest, operation: str, *named: str, **named_in_url: str) -> HttpResponse:
    """Return what an operation of `figures` reads, for clients who may see it."""
    if not apps.is_installed("intents_ui.mirror"):
        return failures.page(request, failures.of_dashboard("no mirror"))
    from intents_ui.api import figures  # needs the mirror's tables
    from intents_ui.insight import access, choices

    @access.insight
    def view(request: HttpRequest) -> HttpResponse:
        picked = choices.read(request)
        if picked.problems and request.path.endswith(".json"):
            return JsonResponse({"problems": list(picked.problems.values())}, status=HTTPStatus.BAD_REQUEST)
        if picked.problems:
            return failures.invalid_fields(request, picked.problems)
        found: ApiModel = getattr(figures, operation)(picked, *named, **named_in_url)
        return found.response()

    return cast(HttpResponse, view(request))
