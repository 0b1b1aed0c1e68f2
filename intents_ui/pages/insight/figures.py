"""`/insight`, `/insight.json` and `/insight/route/…`: how many transfers are delivered and how fast.

The first two are of all, by route, provider, chain or token. Each of those has a page with its figures over time.
"""

from datetime import timedelta
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse

from intents_ui.web.insight import access, charts, choices, data, figures, incidents, scopes


@access.insight
def overview(request: HttpRequest) -> HttpResponse:
    picked = choices.read(request)
    found, recent = figures.overview(picked), incidents.read()
    marked = [(each.since, each.closed or found.total.figures.at) for each in (*recent.open_now, *recent.over)]
    chart = charts.chart(found.series, length=timedelta(seconds=picked.window.bar), marked=marked)
    return access.page(request, "insight/overview.html", picked=picked, chart=chart, recent=recent, **vars(found))


@access.insight
def overview_json(request: HttpRequest) -> HttpResponse:
    picked = choices.read(request)
    if picked.problems:
        return JsonResponse({"problems": list(picked.problems.values())}, status=HTTPStatus.BAD_REQUEST)
    return JsonResponse(data.overview(picked))


@access.insight
def scope(request: HttpRequest, level: str, **named_by: str) -> HttpResponse:
    picked = choices.read(request)
    name = scopes.of(level, *named_by.values())
    found = figures.report(name, picked)
    chart, here = charts.chart(found.series, length=timedelta(seconds=picked.window.step)), incidents.read().of(name)
    return access.page(request, "insight/scope.html", picked=picked, chart=chart, incidents=here, **vars(found))
