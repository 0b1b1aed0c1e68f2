"""Figures of the mirror as JSON: durations in seconds, rates from 0 to 1, times in RFC 3339. None is unknown."""

from collections.abc import Sequence
from datetime import timedelta

from intents_ui.display.formatting import times
from intents_ui.mirror.figures.statistics import Share
from intents_ui.settings import ENV
from intents_ui.web.insight.figures import FigureRow, Overview, ReasonRow
from intents_ui.web.insight.incidents import IncidentReport, ListedIncident


def of_overview(page: Overview) -> dict[str, object]:
    judgment = page.judgment
    return {
        "isDemo": ENV.embedded,
        "window": page.picked.window,
        "by": page.picked.by,
        "order": page.picked.order,
        "total": of_row(page.total),
        "rows": [of_row(each) for each in page.rows],
        "reasons": of_reasons(page.reasons),
        "incidentsAt": times.iso(judgment.at) or None,
        "incidentsUnknownSince": times.iso(judgment.unknown_since) or None,
        "incidents": [of_incident(each) for each in page.incidents],
    }


def of_row(row: FigureRow) -> dict[str, object]:
    """Return the figures of a scope. Without enough transfers, or with an incomplete time, rates are None."""
    figures, success = row.figures, row.figures.success
    _, all_providers, origin, destination, token = figures.scope
    return {
        "level": figures.scope.level,
        "title": row.scope.named.title,
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
        "outcomes": {outcome.value: count for outcome, count in figures.counts.items()},
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


def of_incident(listed: ListedIncident) -> dict[str, object]:
    """Return an incident. `usual` is a share of the owners. If nothing starts, it is how many were expected."""
    facts = listed.facts
    return {
        "number": facts.number,
        "title": facts.title,
        "kind": facts.kind,
        "state": facts.state,
        "since": times.iso(facts.since),
        "closed": times.iso(facts.closed) or None,
        "bad": facts.bad,
        "owners": facts.owners,
        "usual": facts.usual,
        "alert": facts.is_alert,
        "sentence": facts.sentence,
        "routes": [each.named.title for each in listed.routes],
    }


def of_report(found: IncidentReport) -> dict[str, object]:
    """Return an incident with what ended since it began."""
    return {
        **of_incident(found.listed),
        "isDemo": ENV.embedded,
        "level": found.level,
        "opened": times.iso(found.opened),
        "ended": found.ended,
        "notDelivered": found.failed,
        "refunded": found.refunded,
        "lastDelivery": times.iso(found.course.last_delivery) or None,
    }


def _share(share: Share | None) -> dict[str, float] | None:
    return None if share is None else {"value": share.value, "low": share.low, "high": share.high}


def _seconds(length: timedelta | None) -> float | None:
    return None if length is None else length.total_seconds()
