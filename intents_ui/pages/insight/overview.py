"""`/insight` and `/insight.json`: how many transfers are delivered and how fast, by route, provider or chain."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse

from intents_ui import wiring
from intents_ui.display.formatting import times
from intents_ui.display.tokens import providers
from intents_ui.mirror import readonly
from intents_ui.mirror.figures import queries
from intents_ui.mirror.incidents.queries import Judgment
from intents_ui.mirror.readonly import reading
from intents_ui.pages.insight import choices
from intents_ui.pages.insight.choices import Choices
from intents_ui.web.insight import access, data, incidents, tables
from intents_ui.web.insight.incidents import ListedIncident
from intents_ui.web.insight.tables import FigureRow, FigureTable, ReasonRow
from intents_ui.web.recent import reads


@dataclass(frozen=True)
class InsightPage:
    """What this client may see of the figures that it chose."""

    picked: Choices
    total: FigureRow | None
    table: FigureTable
    reasons: Sequence[ReasonRow]
    judgment: Judgment
    incidents: Sequence[ListedIncident]

    @property
    def status(self) -> HTTPStatus:
        return HTTPStatus.BAD_REQUEST if self.picked.problems else HTTPStatus.OK


@access.insight
def view(request: HttpRequest) -> HttpResponse:
    page = read(request)
    context: dict[str, object] = {
        "mirror": wiring.mirror_coverage(),
        "picked": page.picked,
        "rows_of": choices.LEVELS[page.picked.by],
        "total": page.total,
        "table": page.table,
        "reasons": page.reasons,
        "judgment": page.judgment,
        "incidents": page.incidents,
    }
    return render(request, "insight/overview.html", context, status=page.status)


@access.insight
def as_json(request: HttpRequest) -> HttpResponse:
    page = read(request)
    if page.picked.problems:
        return JsonResponse({"problems": page.picked.problems}, status=page.status)
    judgment = page.judgment
    return JsonResponse(
        {
            "window": page.picked.window,
            "by": page.picked.by,
            "order": page.picked.order,
            "total": page.total and data.of_row(page.total),
            "rows": [data.of_row(each) for each in page.table.rows],
            "leftOut": page.table.left_out,
            "reasons": data.of_reasons(page.reasons),
            "incidentsAt": times.iso(judgment.at) or None,
            "incidentsUnknownSince": times.iso(judgment.unknown_since) or None,
            "incidents": [data.of_incident(each) for each in page.incidents],
        }
    )


def read(request: HttpRequest) -> InsightPage:
    """Return the page's figures, which are at most a few seconds old. Raises CopyUnreadable."""
    picked, sees_all = choices.read(request.GET, path=reverse("insight")), access.sees_transfers(request)
    key = "figures", picked.window, picked.by, picked.order, sees_all
    found = reads().get(key, lambda: counted(picked, sees_all=sees_all), max_age=readonly.MAX_AGE)
    return replace(found, picked=picked)


def counted(picked: Choices, *, sees_all: bool) -> InsightPage:
    now = datetime.now(UTC)
    with reading():
        found = queries.overview(picked.window, now=now, level=picked.by, order=picked.order, slow=providers.SLOW)
    recent = incidents.read()
    return InsightPage(
        picked=picked,
        total=tables.of_total(found.total, sees_all=sees_all),
        table=tables.of_rows(found.rows, sees_all=sees_all),
        reasons=tables.of_reasons(found.reasons, found.total, sees_all=sees_all),
        judgment=recent.judgment,
        incidents=recent.open_now,
    )
