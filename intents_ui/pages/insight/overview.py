"""`/insight`: how many transfers are delivered and how fast, by route, provider or chain."""

from datetime import UTC, datetime
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from intents_ui import wiring
from intents_ui.display.tokens import providers
from intents_ui.mirror.figures import queries
from intents_ui.mirror.incidents import queries as incident_queries
from intents_ui.mirror.readonly import reading
from intents_ui.pages.insight import choices
from intents_ui.web.insight import access, incidents, tables


@access.insight
def view(request: HttpRequest) -> HttpResponse:
    picked, now = choices.read(request.GET, path=request.path), datetime.now(UTC)
    with reading():
        found = queries.overview(picked.window, now=now, level=picked.by, order=picked.order, slow=providers.SLOW)
        judgment, open_now = incident_queries.judgment(), incident_queries.open_incidents()
    sees_all = access.sees_transfers(request)
    context: dict[str, object] = {
        "mirror": wiring.mirror_coverage(),
        "picked": picked,
        "rows_of": choices.LEVELS[picked.by],
        "total": tables.of_total(found.total, sees_all=sees_all),
        "table": tables.of_rows(found.rows, sees_all=sees_all),
        "reasons": tables.of_reasons(found.reasons, found.total, sees_all=sees_all),
        "judgment": judgment,
        "incidents": incidents.listed(open_now),
    }
    status = HTTPStatus.BAD_REQUEST if picked.problems else HTTPStatus.OK
    return render(request, "insight/overview.html", context, status=status)
