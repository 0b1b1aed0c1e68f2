"""Operations about many transfers, which the local copy of the history answers.

A dashboard without one says so. What reads it is imported only when used, because it needs the mirror's tables.
"""

from datetime import datetime
from typing import cast

from django.apps import apps
from django.http import HttpRequest, HttpResponse
from ninja import Field, P, PathEx, Query, Schema

from intents_ui.api.answers import answered
from intents_ui.api.models import ApiModel, one_of
from intents_ui.http import failures
from intents_ui.service.outcome import Outcome


class ApiShare(ApiModel):
    """A share with its 95% confidence interval."""

    value: float = Field(description="From 0 to 1", examples=[0.97])
    low: float = Field(description="Lower end of the interval", examples=[0.95])
    high: float = Field(description="Upper end of the interval", examples=[0.99])


class ApiFigures(ApiModel):
    """Figures of a route, a provider, a chain, a token or the whole service, in a time."""

    level: str = Field(description="`service`, `route`, `provider`, `chain`, `token`", examples=["route"])
    title: str = Field(description="What they are of", examples=["Base to Arbitrum One with Relay"])
    providers: tuple[str, ...] = Field(description="Its route providers", examples=[["RELAY"]])
    origin_chain_id: str | None = Field(description="ID of the origin chain, or of the chain", examples=["8453"])
    destination_chain_id: str | None = Field(description="ID of the destination chain", examples=["42161"])
    token: str | None = Field(
        description="Address of the token", examples=[None, "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"]
    )
    since: datetime = Field(description="Beginning of the time", examples=["2026-11-20T12:00:00Z"])
    at: datetime = Field(description="End of the time", examples=["2026-11-21T12:00:00Z"])
    is_complete: bool = Field(description="Whether the local copy has all of it", examples=[True])
    lacking_seconds: float | None = Field(description="How much of it is missing", examples=[0.0])
    with_deposit: int = Field(description="Transfers whose deposit arrived", examples=[412])
    open: int = Field(description="Of these, open ones", examples=[3])
    late: int = Field(description="Of these, late ones", examples=[1])
    ended: int = Field(description="Of these, ended ones", examples=[409])
    outcomes: dict[str, int] = Field(
        description=f"How they ended: {one_of(Outcome)}", examples=[{"delivered": 400, "refunded": 9}]
    )
    success_rate: ApiShare | None = Field(
        description="Delivered ones of those that ended. Null with too few, or if the time is incomplete"
    )
    in_time: int = Field(description="Delivered before they were late", examples=[396])
    decided: int = Field(
        description="Delivered, refunded or failed by their route, or late. `inTime` are a part of these",
        examples=[406],
    )
    in_time_rate: ApiShare | None = Field(description="`inTime` of `decided`. Null as for `successRate`")
    owners: int | None = Field(description="Owners of the ended ones, for at most a day", examples=[310])
    owners_not_delivered: int | None = Field(description="Of these, owners of one that was not delivered", examples=[8])
    median_seconds: float | None = Field(description="Median duration of the delivered ones", examples=[41.0])
    p95_seconds: float | None = Field(description="95% take no longer. Null below 100 durations", examples=[180.0])
    is_p95_at_least: bool = Field(description="Whether `p95Seconds` is a minimum", examples=[False])


class ApiReason(ApiModel):
    """Why transfers were not delivered. `reason` is untrusted input."""

    step: str | None = Field(description="The step that failed", examples=["bridge"])
    reason: str = Field(description="As the service reports it", examples=["Slippage exceeded"])
    count: int = Field(description="How many", examples=[5])


class ApiIncident(ApiModel):
    """A time in which a route, a provider, a token or a chain was worse than usual."""

    number: int = Field(description="Its number", examples=[12])
    title: str = Field(description="What it is of", examples=["Relay"])
    kind: str = Field(description="`undelivered` (not in time) or `silent` (nothing starts)", examples=["undelivered"])
    state: str = Field(description="`open`, `recovering` or `over`", examples=["open"])
    since: datetime = Field(description="When it began", examples=["2026-11-21T10:05:00Z"])
    closed: datetime | None = Field(description="When it ended", examples=[None, "2026-11-21T11:40:00Z"])
    bad: int = Field(description="Owners whose transfers were not delivered in time", examples=[9])
    owners: int = Field(description="Owners whose transfers began in this time", examples=[21])
    usual: float = Field(
        description="Usual share of affected owners, from 0 to 1. If nothing starts, owners expected", examples=[0.02]
    )
    alert: bool = Field(description="Whether chance hardly explains it", examples=[True])
    sentence: str = Field(description="What happens", examples=["9 of 21 owners did not get their transfers in time."])
    routes: tuple[str, ...] = Field(description="Its routes", examples=[["Base to Arbitrum One with Relay"]])


class ApiIncidentReport(ApiIncident):
    """An incident with what ended since it began."""

    is_demo: bool = Field(description="Whether the data was generated for a demo", examples=[False])
    level: str = Field(
        description="`service`, `route`, `provider`, `chain`, `token`, `provider on chain`", examples=["provider"]
    )
    opened: datetime = Field(description="When it was found", examples=["2026-11-21T10:15:00Z"])
    ended: int = Field(description="Transfers that ended", examples=[40])
    not_delivered: int = Field(description="Of these, not delivered", examples=[17])
    refunded: int = Field(description="Of these, refunded", examples=[11])
    last_delivery: datetime | None = Field(description="Time of the last delivery", examples=["2026-11-21T11:00:00Z"])


class ApiIncidents(ApiModel):
    """The newest incidents."""

    incidents_at: datetime | None = Field(description="When they were last judged", examples=["2026-11-21T12:00:00Z"])
    incidents_unknown_since: datetime | None = Field(
        description="Since when they can't be judged, because the local copy is behind",
        examples=[None, "2026-11-21T11:00:00Z"],
    )
    open: tuple[ApiIncident, ...] = Field(description="Those that go on")
    over: tuple[ApiIncident, ...] = Field(description="Those that are over, newest first")


class ApiOverview(ApiModel):
    """Figures of the whole service, and of its routes, providers, chains or tokens."""

    is_demo: bool = Field(description="Whether the data was generated for a demo", examples=[False])
    window: str = Field(description="The time: `1h`, `24h`, `7d`, `30d`, `90d`", examples=["24h"])
    by: str = Field(description="`route`, `provider`, `chain`, `token`", examples=["route"])
    order: str = Field(description="Order of the rows", examples=["used"])
    total: ApiFigures = Field(description="Of the whole service")
    rows: tuple[ApiFigures, ...] = Field(description="Of each")
    reasons: tuple[ApiReason, ...] = Field(description="Why transfers were not delivered, most frequent first")
    incidents_at: datetime | None = Field(
        description="When incidents were last judged", examples=["2026-11-21T12:00:00Z"]
    )
    incidents_unknown_since: datetime | None = Field(
        description="Since when they can't be judged", examples=[None, "2026-11-21T11:00:00Z"]
    )
    incidents: tuple[ApiIncident, ...] = Field(description="Open incidents")


class ApiRouteReport(ApiModel):
    """Figures of a route over a time."""

    window: str = Field(description="The time: `1h`, `24h`, `7d`, `30d`, `90d`", examples=["24h"])
    total: ApiFigures = Field(description="Figures of the route")
    siblings: tuple[ApiFigures, ...] = Field(description="Other routes between these chains")
    reasons: tuple[ApiReason, ...] = Field(description="Why transfers were not delivered, most frequent first")
    incidents: tuple[ApiIncident, ...] = Field(description="Open incidents of the route")


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
    from intents_ui.insight import access, choices, data

    @access.insight
    def view(request: HttpRequest) -> HttpResponse:
        picked = choices.read(request)
        if picked.problems:
            return failures.invalid_fields(request, picked.problems)
        return answered(model.model_validate(getattr(data, operation)(picked, *named)))

    return cast(HttpResponse, view(request))
