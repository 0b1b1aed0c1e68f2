"""`/embed/ticket`: a side bar for helpdesks with the transfers of the current ticket.

The page around the frame sends the ticket to the script of the side bar, or opens it with the text. Only pages of
INTENTS_EMBED_HOSTS may frame it, and the script reads messages of no others.
"""

from http import HTTPStatus
from typing import Final

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.csp import CSP
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods

from intents_ui.http import client_ip, marks
from intents_ui.http.headers import embeddable
from intents_ui.triage import lookup, rows
from intents_ui.triage.lookup import TicketRows, rows_of
from intents_ui.triage.rows import TriageRow
from intents_ui.web.customer_reply import Reply
from intents_ui.web.frame import render
from intents_ui.web.search import CHECK

MOST: Final = 20  # identifiers
LONGEST_NUMBER: Final = 20  # digits of a ticket's number


@marks.Marks(is_framed=True, costly="always", body="triage")
@require_http_methods(["GET", "HEAD", "POST"])
@embeddable(form_action=CSP.SELF)
@cache_control(no_store=True)
def view(request: HttpRequest) -> HttpResponse:
    if not settings.ENV.intents_embed_hosts:
        raise Http404("This dashboard has no side bar for helpdesks.")
    given = request.POST if request.method == "POST" else request.GET
    received, number = given.get("q", ""), given.get("ticket", "")
    found = rows_of(received, request, most=MOST) if "q" in given else TicketRows()
    by_urgency = [row for group in rows.groups(found.rows) for row in group.rows]
    context = {
        "received": received,
        "number": number if number.isdecimal() and number.isascii() and len(number) <= LONGEST_NUMBER else "",
        "is_done": "q" in given,
        "found": found,
        "check": CHECK,
        "rows": [(row, reply(request, row)) for row in by_urgency],
        "longest": lookup.LONGEST,
        "hosts": settings.ENV.intents_embed_hosts,
    }
    status = HTTPStatus.TOO_MANY_REQUESTS if found.wait else HTTPStatus.OK
    return render(request, "helpdesk/side_bar.html", context, status=status, retry_after=found.wait or None)


def reply(request: HttpRequest, row: TriageRow) -> str:
    """Return the customer reply about the row's transfer, "" without one."""
    if not row.replied_about or row.same_as:
        return ""
    return Reply(row.replied_about[:1], client_ip.root(request)).written()
