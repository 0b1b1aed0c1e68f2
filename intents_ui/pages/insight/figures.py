"""`/insight`, `/insight.json` and `/insight/route/…`: how many transfers are delivered and how fast.

The first two are of all, by route, provider, chain or token. Each of those has a page with its figures over time.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse

from intents_ui import wiring
from intents_ui.display.insight import charts
from intents_ui.display.insight.charts import Bucket
from intents_ui.display.transfers.incidents import IncidentFacts
from intents_ui.mirror.figures.queries import Bar
from intents_ui.mirror.figures.scopes import Level, ScopeName, scope_of_token
from intents_ui.mirror.figures.snapshots import Period
from intents_ui.mirror.figures.statistics import share
from intents_ui.mirror.windows import DAY, HOUR
from intents_ui.web.insight import access, choices, data, figures, incidents, scopes


@access.insight
def overview(request: HttpRequest) -> HttpResponse:
    picked = choices.read(request.GET, path=reverse("insight"))
    found = figures.overview(picked)
    context = {"mirror": wiring.mirror_coverage(), "rows_of": choices.LEVELS[picked.by], **vars(found)} | drawn(
        found.series,
        bar=picked.window.bar,
        until=found.total.figures.at,
        marked=(each.facts for each in (*found.incidents, *found.over)),
    )
    status = HTTPStatus.BAD_REQUEST if picked.problems else HTTPStatus.OK
    return render(request, "insight/overview.html", context, status=status)


@access.insight
def overview_json(request: HttpRequest) -> HttpResponse:
    picked = choices.read(request.GET, path=reverse("insight"))
    if picked.problems:
        return JsonResponse({"problems": list(picked.problems.values())}, status=HTTPStatus.BAD_REQUEST)
    return JsonResponse(data.of_overview(figures.overview(picked)))


@access.insight
def route(request: HttpRequest, used: str, origin: str, destination: str) -> HttpResponse:
    return page(request, scopes.route(used, origin, destination))


@access.insight
def provider(request: HttpRequest, name: str) -> HttpResponse:
    return page(request, scopes.checked(ScopeName(Level.PROVIDER, name)))


@access.insight
def chain(request: HttpRequest, chain_id: str) -> HttpResponse:
    return page(request, scopes.checked(ScopeName(Level.CHAIN, "", chain_id)))


@access.insight
def token(request: HttpRequest, chain_id: str, address: str) -> HttpResponse:
    return page(request, scopes.checked(scope_of_token(chain_id, address)))


def page(request: HttpRequest, scope: ScopeName) -> HttpResponse:
    picked = choices.read(request.GET, path=request.path)
    found = figures.report(scope, picked)
    total, *siblings = figures.of_rows([found.figures, *found.siblings])
    context: dict[str, object] = {
        "mirror": wiring.mirror_coverage(),
        "picked": picked,
        "scope": total.scope,
        "total": total,
        "incidents": incidents.read().of(scope),
        "reasons": figures.of_reasons(found.reasons, failed=found.figures.failed),
        "siblings": siblings,
        "tokens": figures.token_rows(found.tokens),
    } | drawn(
        () if picked.window is Period.HOUR else found.series,
        bar=DAY if picked.window in (Period.MONTH, Period.QUARTER) else HOUR,
        until=found.figures.at,
    )
    status = HTTPStatus.BAD_REQUEST if picked.problems else HTTPStatus.OK
    return render(request, "insight/scope.html", context, status=status)


def drawn(
    series: Sequence[Bar], *, bar: int, until: datetime, marked: Iterable[IncidentFacts] = ()
) -> dict[str, object]:
    """Return the charts of a period, with incidents as marks, and the rows of their table, newest first.

    `bar`: the seconds of an hour or a day. Without `series` there is no chart.
    """
    if not series:
        return {"columns": None}
    buckets = [
        Bucket(each.delivered, each.ended - each.delivered, each.is_complete, each.median, each.p95) for each in series
    ]
    columns = charts.columns(buckets)
    since = int(series[0].start.timestamp()) // bar * bar
    spans = ((int(each.since.timestamp()), int((each.closed or until).timestamp())) for each in marked)
    return {
        "columns": columns,
        "marks": charts.marks(spans, since=since, bar=bar, width=columns.width),
        "band": charts.band(buckets),
        "series": [
            (each, figures.rate(share(each.delivered, each.ended) if each.is_complete else None)[0])
            for each in reversed(series)
        ],
        "has_days": bar == DAY,
    }
