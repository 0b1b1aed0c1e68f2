"""`/embed/ticket`: a side bar for helpdesks with the transfers of the ticket at hand.

It is opened by Zendesk's signed token, by a signed URL, or by Chatwoot, whose page sends the conversation to the script
of the side bar. Only the pages of these helpdesks may frame it. The form of an opened side bar has a signed pass.
Rejections are shown in the frame.
"""

from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Final

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.csp import CSP
from django.views.decorators.http import require_http_methods

from intents_ui.display.sharing.customer_reply import Reply
from intents_ui.display.triage import cases, ticket
from intents_ui.display.triage.rows import TriageRow
from intents_ui.middleware import marks
from intents_ui.middleware.security_headers import framed_by
from intents_ui.web import client_ip
from intents_ui.web.helpdesk import signatures
from intents_ui.web.helpdesk.signatures import Rejected
from intents_ui.web.triage.ticket_lookup import TicketRows, rows_of

MOST: Final = 20  # identifiers
LONGEST_NUMBER: Final = 20  # digits of a ticket's number
SIGNED: Final = frozenset({"q", "signature"})


class Opener(StrEnum):
    """What opens a side bar."""

    CHATWOOT = "chatwoot"
    URL = "url"
    ZENDESK = "zendesk"

    @property
    def origin(self) -> str | None:
        """Return the origin of the page around the frame, if the script may exchange messages with it."""
        origins = {Opener.CHATWOOT: settings.ENV.intents_chatwoot_origin, Opener.ZENDESK: settings.ENV.zendesk_origin}
        return origins.get(self)


@dataclass(frozen=True)
class SideBar:
    """What the side bar shows. Without `found` nothing was looked up. `number` is the ticket's, from the script."""

    opener: Opener
    received: str = ""
    number: str = ""
    found: TicketRows | None = None


@marks.framed
@marks.costly()
@marks.body("triage")
@require_http_methods(["GET", "HEAD", "POST"])
@framed_by(lambda: settings.ENV.side_bar_hosts, form_action=CSP.SELF)
def view(request: HttpRequest) -> HttpResponse:
    if not settings.ENV.side_bar_hosts:
        raise Http404("This dashboard has no side bar for helpdesks.")
    try:
        return shown(request, opened(request))
    except Rejected as rejected:
        return rendered(request, {"rejected": str(rejected)}, status=HTTPStatus.FORBIDDEN)


def opened(request: HttpRequest) -> SideBar:
    """Return the side bar. Raises Rejected unless the request is signed, or Chatwoot opens an empty one."""
    if request.method == "POST":
        if token := request.POST.get("token"):
            signatures.check_zendesk(token)
            return SideBar(Opener.ZENDESK)
        opener = Opener(signatures.check_pass(request.POST.get("pass", "")))
        number = request.POST.get("ticket", "")
        is_number = number.isdecimal() and number.isascii() and len(number) <= LONGEST_NUMBER
        return looked_up(request, opener, request.POST.get("q", ""), number=number if is_number else "")
    if SIGNED & request.GET.keys():
        signatures.check_url(request.path, request.META["QUERY_STRING"])
        return looked_up(request, Opener.URL, request.GET.get("q", ""))
    if settings.ENV.intents_chatwoot_origin is None:
        raise Rejected(signatures.NOT_SIGNED)
    return SideBar(Opener.CHATWOOT)


def looked_up(request: HttpRequest, opener: Opener, received: str, *, number: str = "") -> SideBar:
    return SideBar(opener, received, number, rows_of(received, request, most=MOST))


def shown(request: HttpRequest, bar: SideBar) -> HttpResponse:
    found = bar.found or TicketRows()
    by_urgency = [row for group in cases.groups(found.rows) for row in group.rows]
    context = {
        "rejected": "",
        "bar": bar,
        "found": found,
        "rows": [(row, reply(request, row)) for row in by_urgency],
        "pass": signatures.new_pass(bar.opener),
        "longest": ticket.LONGEST,
    }
    response = rendered(request, context, status=HTTPStatus.TOO_MANY_REQUESTS if found.wait else HTTPStatus.OK)
    if found.wait:
        response["Retry-After"] = str(found.wait)
    return response


def reply(request: HttpRequest, row: TriageRow) -> str:
    """Return the customer reply about the row's transfer, "" without one."""
    if not row.replied_about or row.same_as:
        return ""
    situation = row.replied_about[0]
    path = reverse("intent", args=[situation.intent.intent_id])
    return Reply(situation, client_ip.root(request) + path).plain


def rendered(request: HttpRequest, context: dict[str, object], *, status: HTTPStatus) -> HttpResponse:
    response = render(request, "helpdesk/side_bar.html", context, status=status)
    response["Cache-Control"] = "no-store"
    return response
