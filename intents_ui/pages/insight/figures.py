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
from intents_ui.web.insight import access, choices, data, figures, incidents, scopes


@access.insight
def overview(request: HttpRequest) -> HttpResponse:
    picked = choices.read(request.GET, path=reverse("insight"))
    found = vars(figures.overview(picked))
    context = {"mirror": wiring.mirror_coverage(), "rows_of": choices.LEVELS[picked.by], **found}
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
        "slowest": figures.ended_rows(found.slowest),
        "failures": figures.ended_rows(found.failures),
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
        "series": [(each, figures.rate(each)[0]) for each in reversed(series)],
        "has_days": window in (Period.MONTH, Period.QUARTER),
    }
