"""`/insight`, `/insight.json` and `/insight/route/…`: how many transfers are delivered and how fast.

The first two are of all, by route, provider, chain or token. Each of those has a page with its figures over time.
"""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse

from intents_ui.web.insight import access, choices, data, figures, incidents, scopes


@access.insight
def overview(request: HttpRequest) -> HttpResponse:
    picked = choices.read(request)
    report, recent = figures.overview(picked), incidents.read()
    return access.page(request, "insight/overview.html", picked=picked, report=report, recent=recent)


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
    report, here = figures.report(name, picked), incidents.read().of(name)
    return access.page(request, "insight/scope.html", picked=picked, incidents=here, **vars(report))
