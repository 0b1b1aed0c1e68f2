"""`/embed/intent/<id>`: a transfer's card for frames on other sites.

Only the hosts in INTENTS_EMBED_HOSTS may frame it. It has no form and sets no cookie. Errors are shown in the frame.
"""

from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.formatting import failures
from intents_ui.http import marks
from intents_ui.http.headers import embeddable
from intents_ui.service import lookup
from intents_ui.service.errors import ServiceError
from intents_ui.service.request_context import as_of
from intents_ui.transfers import summary
from intents_ui.transfers.statuses import Tone
from intents_ui.web import reading
from intents_ui.web.frame import render
from intents_ui.web.links import canonical_url


@marks.Marks(is_framed=True)
@require_safe
@embeddable()
def intent(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    try:
        return shown(request, intent_id)
    except Http404 as error:
        return page(request, failed("Transfer not found", str(error)), status=HTTPStatus.NOT_FOUND)
    except ServiceError as error:
        words, may_pass = failures.words(error), failures.retry_after(error) is not None
        context = failed(words.title, words.what, may_pass=may_pass)
        return page(request, context, intent_id=intent_id, error=error)


@canonical_url
def shown(request: HttpRequest, intent_id: str) -> HttpResponse:
    found, receipt, error = lookup.read_transfer(app.current().service, intent_id)
    transfer = reading.of(found, receipt, error, wait=reading.PATIENCE)
    context = {
        "title": summary.of(transfer).title,
        "summary": summary.of(transfer),
        "unread": error is not None,
        "changed_at": transfer.last_change,
        "may_change": error is not None or transfer.may_change,
        "failure": "",
    }
    return page(request, context, intent_id=intent_id)


def failed(title: str, what: str, *, may_pass: bool = False) -> dict[str, object]:
    """Return the context of an error with the title and description of the error page."""
    tone = Tone.ATTENTION if may_pass else Tone.NEUTRAL
    return {"title": title, "failure": what, "tone": tone, "may_change": may_pass}


def page(
    request: HttpRequest, context: dict[str, object], *, intent_id: str | None = None, **response: Any
) -> HttpResponse:
    """Render the page, or only the card for a refresh by htmx. `response`: its status, or its error."""
    page_path = reverse("intent", args=[intent_id]) if intent_id else None
    context |= {"intent_id": intent_id, "page_path": page_path, "now": as_of()}
    return render(request, "sharing/embed.html", context, block="card", **response)
