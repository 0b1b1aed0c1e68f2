"""`/embed/intent/<id>`: a transfer's card for frames on other sites.

Only the hosts in INTENTS_EMBED_HOSTS may frame it. It has no form and sets no cookie. Errors are shown in the frame.
"""

from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.formatting import failures
from intents_ui.http import marks
from intents_ui.http.headers import embeddable
from intents_ui.service import lookup, request_context
from intents_ui.service.errors import ServiceError
from intents_ui.transfers import summary
from intents_ui.transfers.statuses import Tone
from intents_ui.web import reading
from intents_ui.web.frame import render
from intents_ui.web.links import canonical


@marks.Marks(is_framed=True)
@require_safe
@embeddable()
def intent(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    """Render the page, or only the card for a refresh by htmx."""
    status, error, known = HTTPStatus.OK, None, None
    try:
        known = canonical(intent_id)
        if known != intent_id:
            return redirect(reverse("embed", args=[known], query=request.GET), permanent=True)
        context = of_transfer(known)
    except Http404 as missing:
        context, status, known = failed("Transfer not found", str(missing)), HTTPStatus.NOT_FOUND, None
    except ServiceError as failure:
        words, error = failures.words(failure), failure
        context = failed(words.title, words.what, may_pass=failures.retry_after(failure) is not None)
    page_path = reverse("intent", args=[known]) if known else None
    context |= {"intent_id": known, "page_path": page_path, "now": request_context.current().as_of}
    return render(request, "sharing/embed.html", context, block="card", status=status, error=error)


def of_transfer(intent_id: str) -> dict[str, object]:
    found, receipt, error = lookup.read_transfer(app.current().service, intent_id)
    transfer = reading.of(found, receipt, error, wait=reading.PATIENCE)
    return {
        "title": summary.of(transfer).title,
        "summary": summary.of(transfer),
        "unread": error is not None,
        "changed_at": transfer.last_change,
        "may_change": error is not None or transfer.may_change,
        "failure": "",
    }


def failed(title: str, what: str, *, may_pass: bool = False) -> dict[str, object]:
    """Return the context of an error with the title and description of the error page."""
    tone = Tone.ATTENTION if may_pass else Tone.NEUTRAL
    return {"title": title, "failure": what, "tone": tone, "may_change": may_pass}
