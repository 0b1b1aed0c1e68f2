"""Figures of the mirror as JSON: durations in seconds, rates from 0 to 1, times in RFC 3339. None is unknown."""

from collections.abc import Sequence
from datetime import timedelta

from intents_ui.formatting import times
from intents_ui.insight import figures
from intents_ui.insight.choices import Choices
from intents_ui.insight.figures import FigureRow, ReasonRow
from intents_ui.mirror.figures.facts import ENDED
from intents_ui.mirror.figures.queries import Course
from intents_ui.mirror.figures.statistics import Share
from intents_ui.service.outcome import Outcome
from intents_ui.settings import ENV
from intents_ui.web import incidents, scopes
from intents_ui.web.incidents import ListedIncident, RecentIncidents


def overview(picked: Choices) -> dict[str, object]:
    found, recent = figures.overview(picked), incidents.read()
    return {
        "isDemo": ENV.embedded,
        **picked.values,
        "total": of_row(found.total),
        "rows": [of_row(each) for each in found.rows],
        "reasons": of_reasons(found.reasons),
        **_judged(recent),
        "incidents": [of_incident(each) for each in recent.open_now],
    }


def route(picked: Choices, *named_by: str) -> dict[str, object]:
    scope = scopes.of("route", *named_by)
    found = figures.report(scope, picked)
    return {
        "window": picked.values["window"],
        "total": of_row(found.total),
        "siblings": [of_row(each) for each in found.rows],
        "reasons": of_reasons(found.reasons),
        "incidents": [of_incident(each) for each in incidents.read().of(scope)],
    }


def recent_incidents(_: Choices) -> dict[str, object]:
    recent = incidents.read()
    return {
        **_judged(recent),
        "open": [of_incident(each) for each in recent.open_now],
        "over": [of_incident(each) for each in recent.over],
    }


def _judged(recent: RecentIncidents) -> dict[str, object]:
    judgment = recent.judgment
    return {
        "incidentsAt": times.iso(judgment.judged) or None,
        "incidentsUnknownSince": times.iso(judgment.unknown_since) or None,
    }


def of_row(row: FigureRow) -> dict[str, object]:
    """Return the figures of a scope. Without enough transfers, or with an incomplete time, rates are None."""
    figures, success = row.figures, row.figures.success
    _, all_providers, origin, destination, token = figures.scope
    return {
        "level": figures.scope.level,
        "title": row.scope.title,
        "providers": [each for each in all_providers.split(";") if each],
        "originChainId": origin or None,
        "destinationChainId": destination or None,
        "token": token or None,
        "since": times.iso(figures.since),
        "at": times.iso(figures.at),
        "isComplete": figures.is_complete,
        "lackingSeconds": _seconds(figures.completeness.lacking),
        "withDeposit": figures.funded,
        "open": figures.open,
        "late": figures.late,
        "ended": figures.ended,
        "outcomes": {each.value: figures.counts[each] for each in ENDED},
        "successRate": _share(success),
        "inTime": figures.in_time,
        "decided": figures.decided,
        "inTimeRate": _share(figures.on_time),
        "owners": figures.owners and figures.owners[0],
        "ownersNotDelivered": figures.owners and figures.owners[1],
        "medianSeconds": _seconds(figures.median),
        "p95Seconds": _seconds(figures.p95),
        "isP95AtLeast": figures.is_p95_minimum,
    }


def of_reasons(rows: Sequence[ReasonRow]) -> list[dict[str, object]]:
    return [{"step": each.step.lower() or None, "reason": each.example, "count": each.count} for each in rows]


def of_incident(incident: ListedIncident) -> dict[str, object]:
    """Return an incident. `usual` is a share of the owners. If nothing starts, it is how many were expected."""
    return {
        "number": incident.number,
        "title": incident.title,
        "kind": incident.kind,
        "state": incident.state,
        "since": times.iso(incident.since),
        "closed": times.iso(incident.closed) or None,
        "bad": incident.bad,
        "owners": incident.owners,
        "usual": incident.usual,
        "alert": incident.is_alert,
        "sentence": incident.sentence,
        "routes": [each.title for each in incident.routes],
    }


def incident(_: Choices, number: str) -> dict[str, object]:
    return of_report(*incidents.report(number))


def of_report(incident: ListedIncident, course: Course) -> dict[str, object]:
    """Return an incident with what ended since it began."""
    return {
        **of_incident(incident),
        "isDemo": ENV.embedded,
        "level": incident.scope.scope.level,
        "opened": times.iso(incident.opened),
        "ended": course.ended,
        "notDelivered": course.failed,
        "refunded": course.counts[Outcome.REFUNDED],
        "lastDelivery": times.iso(course.last_delivery) or None,
    }


def _share(share: Share | None) -> dict[str, float] | None:
    return None if share is None else {"value": share.value, "low": share.low, "high": share.high}


def _seconds(length: timedelta | None) -> float | None:
    return None if length is None else length.total_seconds()
