"""Figures of the mirror as the API and `/insight.json` have them. None is unknown."""

from collections.abc import Sequence

from intents_ui.api import insight as api
from intents_ui.insight import figures
from intents_ui.insight.choices import Choices
from intents_ui.insight.figures import FigureRow, ReasonRow
from intents_ui.mirror.models import ENDED
from intents_ui.service.outcome import Outcome
from intents_ui.settings import ENV
from intents_ui.web import incidents, scopes
from intents_ui.web.incidents import ListedIncident


def overview(picked: Choices) -> api.ApiOverview:
    found, recent = figures.overview(picked), incidents.read()
    return api.ApiOverview(
        is_demo=ENV.embedded,
        **picked.values,
        total=of_row(found.total),
        rows=list(map(of_row, found.rows)),
        reasons=of_reasons(found.reasons),
        incidents_at=recent.judged,
        incidents_unknown_since=recent.unknown_since,
        incidents=list(map(of_incident, recent.open_now)),
    )


def route(picked: Choices, *named_by: str) -> api.ApiRouteReport:
    scope = scopes.of("route", *named_by)
    found = figures.report(scope, picked)
    return api.ApiRouteReport(
        window=picked.values["window"],
        total=of_row(found.total),
        siblings=list(map(of_row, found.rows)),
        reasons=of_reasons(found.reasons),
        incidents=list(map(of_incident, incidents.read().of(scope))),
    )


def recent_incidents(_: Choices) -> api.ApiIncidents:
    recent = incidents.read()
    return api.ApiIncidents(
        incidents_at=recent.judged,
        incidents_unknown_since=recent.unknown_since,
        open=list(map(of_incident, recent.open_now)),
        over=list(map(of_incident, recent.over)),
    )


def of_row(row: FigureRow) -> api.ApiFigures:
    """Return the figures of a scope. Without enough transfers, or with an incomplete time, rates are None."""
    found = row.figures
    owners, not_delivered = found.owners or (None, None)
    return api.ApiFigures.of(
        found,
        level=found.scope.level,
        title=row.scope.title,
        providers=tuple(filter(None, found.scope.providers.split(";"))),
        origin_chain_id=found.scope.origin_chain or None,
        destination_chain_id=found.scope.destination_chain or None,
        token=found.scope.token or None,
        lacking_seconds=found.lacking,
        with_deposit=found.funded,
        outcomes={each.value: found.counts[each] for each in ENDED},
        success_rate=found.success,
        in_time_rate=found.on_time,
        owners=owners,
        owners_not_delivered=not_delivered,
        median_seconds=found.median,
        p95_seconds=found.p95,
        is_p95_at_least=found.is_p95_minimum,
    )


def of_reasons(rows: Sequence[ReasonRow]) -> tuple[api.ApiReason, ...]:
    return tuple(api.ApiReason(step=each.step.lower() or None, reason=each.example, count=each.count) for each in rows)


def of_incident(found: ListedIncident) -> api.ApiIncident:
    """Return an incident. `usual` is a share of the owners. If nothing starts, it is how many were expected."""
    return api.ApiIncident.of(found, alert=found.is_alert, routes=[each.title for each in found.routes])


def incident(_: Choices, number: str) -> api.ApiIncidentReport:
    """Return an incident with what ended since it began."""
    found, course = incidents.report(number)
    return api.ApiIncidentReport(
        **dict(of_incident(found)),
        is_demo=ENV.embedded,
        level=found.scope.scope.level,
        opened=found.opened,
        ended=course.ended,
        not_delivered=course.failed,
        refunded=course.counts[Outcome.REFUNDED],
        last_delivery=course.last_delivery,
    )
