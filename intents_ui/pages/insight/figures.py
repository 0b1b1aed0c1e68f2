"""`/insight`, `/insight.json` and `/insight/route/…`: how many transfers are delivered and how fast.

The first two are of all, by route, provider, chain or token. Each of those has a page with its figures over time.
"""

from collections.abc import Sequence
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse

from intents_ui import wiring
from intents_ui.display.insight import charts
from intents_ui.display.insight.charts import Bucket
from intents_ui.mirror.figures.queries import BucketFigures
from intents_ui.mirror.figures.scopes import Level, ScopeName, scope_of_token
from intents_ui.mirror.figures.snapshots import Period
from intents_ui.mirror.figures.statistics import share
from intents_ui.mirror.windows import DAY
from intents_ui.web.insight import access, choices, data, figures, incidents, scopes
from intents_ui.web.insight.figures import Overview


@access.insight
def overview(request: HttpRequest) -> HttpResponse:
    picked = choices.read(request.GET, path=reverse("insight"))
    found = figures.overview(picked)
    context = {"mirror": wiring.mirror_coverage(), "rows_of": choices.LEVELS[picked.by], **vars(found), **trend(found)}
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
        "columns": None,
        "reasons": figures.of_reasons(found.reasons, failed=found.figures.failed),
        "siblings": siblings,
        "tokens": figures.token_rows(found.tokens),
    } | drawn(found.series, picked.window)
    status = HTTPStatus.BAD_REQUEST if picked.problems else HTTPStatus.OK
    return render(request, "insight/scope.html", context, status=status)


def drawn(series: Sequence[BucketFigures], window: Period) -> dict[str, object]:
    """Return the charts of a period and the rows of their table, newest first. An hour is too short for a chart."""
    if window is Period.HOUR:
        return {}
    buckets = [
        Bucket(each.delivered, each.ended - each.delivered, each.is_complete, each.median, each.p95) for each in series
    ]
    return {
        "columns": charts.columns(buckets),
        "band": charts.band(buckets),
        "series": [(each, figures.rate(each.success)[0]) for each in reversed(series)],
        "has_days": window in (Period.MONTH, Period.QUARTER),
    }


def trend(found: Overview) -> dict[str, object]:
    """Return the chart of all transfers with incidents as marks, and the rows of its table, newest first."""
    series, bar = found.series, found.picked.window.bar
    if not series:
        return {"columns": None}
    columns = charts.columns([Bucket(each.delivered, each.ended - each.delivered, each.is_complete) for each in series])
    since = int(series[0].start.timestamp())
    end = int(found.total.figures.at.timestamp())
    spans = (
        (int(each.facts.since.timestamp()), int(each.facts.closed.timestamp()) if each.facts.closed else end)
        for each in (*found.incidents, *found.over)
    )
    return {
        "columns": columns,
        "marks": charts.marks(spans, since=since, bar=bar, width=columns.width),
        "series": [
            (each, figures.rate(share(each.delivered, each.ended) if each.is_complete else None)[0])
            for each in reversed(series)
        ],
        "has_days": bar == DAY,
    }
