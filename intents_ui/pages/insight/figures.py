"""`/insight`, `/insight.json` and `/insight/route/…`: how many transfers are delivered and how fast.

The first two are of all, by route, provider, chain or token. Each of those has a page with its figures over time.
"""

from datetime import timedelta
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from intents_ui.mirror.figures.snapshots import Period
from intents_ui.web.insight import access, charts, choices, data, figures, incidents, scopes
from intents_ui.web.insight.choices import Choices
from intents_ui.web.insight.figures import Report
from intents_ui.web.mirror import mirror_coverage

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@access.insight
def overview(request: HttpRequest) -> HttpResponse:
    picked = choices.read(request)
    found, recent = figures.overview(picked), incidents.read()
    chart = charts.chart(
        found.series,
        length=timedelta(seconds=picked.window.bar),
        marked=[(each.since, each.closed or found.total.figures.at) for each in (*recent.open_now, *recent.over)],
    )
    return page(request, "insight/overview.html", picked, found, chart=chart, recent=recent)


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
    chart = charts.chart(
        () if picked.window is Period.HOUR else found.series,
        length=DAY if picked.window in (Period.MONTH, Period.QUARTER) else HOUR,
    )
    return page(request, "insight/scope.html", picked, found, chart=chart, incidents=incidents.read().of(name))


def page(request: HttpRequest, template: str, picked: Choices, found: Report, **context: Any) -> HttpResponse:
    given = {"mirror": mirror_coverage(), "picked": picked, **vars(found), **context}
    return render(request, template, given, status=HTTPStatus.BAD_REQUEST if picked.problems else HTTPStatus.OK)
