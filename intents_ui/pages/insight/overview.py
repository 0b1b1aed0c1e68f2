"""`/insight` and `/insight.json`: how many transfers are delivered and how fast, by route, provider or chain."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse

from intents_ui import wiring
from intents_ui.web.insight import access, choices, data, figures


@access.insight
def view(request: HttpRequest) -> HttpResponse:
    picked = choices.read(request.GET, path=reverse("insight"))
    page = figures.overview(picked)
    context: dict[str, object] = {
        "mirror": wiring.mirror_coverage(),
        "picked": picked,
        "rows_of": choices.LEVELS[picked.by],
        "total": page.total,
        "rows": page.rows,
        "reasons": page.reasons,
        "judgment": page.judgment,
        "incidents": page.incidents,
    }
    status = HTTPStatus.BAD_REQUEST if picked.problems else HTTPStatus.OK
    return render(request, "insight/overview.html", context, status=status)


@access.insight
def as_json(request: HttpRequest) -> HttpResponse:
    picked = choices.read(request.GET, path=reverse("insight"))
    if picked.problems:
        return JsonResponse({"problems": list(picked.problems.values())}, status=HTTPStatus.BAD_REQUEST)
    return JsonResponse(data.of_overview(figures.overview(picked)))
