"""`triage_ticket`: the rows of the triage page for the identifiers of a ticket."""

from typing import Final

from django.http import HttpRequest

from intents_ui.display.triage import cases, export
from intents_ui.display.triage.rows import TriageRow
from intents_ui.mcp import fence
from intents_ui.mcp.arguments import TicketArguments
from intents_ui.mcp.messages import Unanswered
from intents_ui.web import client_ip
from intents_ui.web.triage.ticket_lookup import rows_of

MOST: Final = 20  # identifiers, for which the time of a page suffices
NAMES: Final = (
    *("row", "identifier", "type", "status", "outcome", "headline", "details", "location", "nextStep", "notes"),
    *("links", "asOf"),
)


def triage_ticket(request: HttpRequest, given: TicketArguments) -> str:
    """Return a row for each identifier of a ticket, in the order of the text."""
    found, root = rows_of(given.text, request, most=MOST), client_ip.root(request)
    if found.problem:
        raise Unanswered(found.problem)
    told = [_as_json(row, root=root) for row in found.rows]
    return fence.around_json({"total": export.total(found.rows), "rows": told, "notes": found.notes})


def _as_json(row: TriageRow, *, root: str) -> dict[str, str]:
    """Return what the row says when it is copied, and how urgent it is, without what is empty."""
    cells = dict(zip(NAMES, export.cells(row, root=root), strict=True))
    found = cells | {"intentId": row.intent_id, "owner": row.owner, "urgency": cases.LABELS[cases.urgency(row)].word}
    return {name: value for name, value in found.items() if value}
