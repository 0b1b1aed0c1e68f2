"""`/embed/intent/<id>`: a transfer's card for frames on other sites.

Only the hosts in INTENTS_EMBED_HOSTS may frame it. It has no form and sets no cookie. Errors are shown in the frame.
"""

from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.display import failures
from intents_ui.display.sharing import preview
from intents_ui.display.summary import glance, summary
from intents_ui.display.transfers.statuses import Tone
from intents_ui.middleware import marks
from intents_ui.middleware.security_headers import embeddable
from intents_ui.service import lookup
from intents_ui.service.context.request_context import as_of
from intents_ui.service.errors import ServiceError
from intents_ui.web.frame import is_partial, part_or_page
from intents_ui.web.links import canonical_url
from intents_ui.web.transfers import situations


@marks.framed
@require_safe
@embeddable()
def intent(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    try:
        return shown(request, intent_id)
    except Http404 as error:
        return failed(request, "Transfer not found", str(error), HTTPStatus.NOT_FOUND)
    except ServiceError as error:
        words, wait = failures.words(error), failures.retry_after(error)
        return failed(request, words.title, words.what, failures.status(error), retry_after=wait, intent_id=intent_id)


@canonical_url
def shown(request: HttpRequest, intent_id: str) -> HttpResponse:
    found, receipt, error = lookup.read_transfer(app.current().service, intent_id)
    situation = situations.of(found, receipt, error, wait=situations.PATIENCE)
    context = {
        "title": preview.describe(situation).title,
        "summary": summary.of(situation),
        "transfer": glance.of(situation),
        "unread": error is not None,
        "changed_at": situation.facts.last_change,
        "may_change": error is not None or situation.may_change,
        "failure": "",
    }
    return page(request, context, intent_id=intent_id)


def failed(
    request: HttpRequest,
    title: str,
    what: str,
    status: HTTPStatus,
    *,
    retry_after: int | None = None,
    intent_id: str | None = None,
) -> HttpResponse:
    """Show an error with the title and description of the error page."""
    may_pass = retry_after is not None
    tone = Tone.ATTENTION if may_pass else Tone.NEUTRAL
    context = {"title": title, "failure": what, "tone": tone, "may_change": may_pass}
    response = page(request, context, intent_id=intent_id)
    response.status_code = status
    if may_pass:
        response["Retry-After"] = str(retry_after)
    response["Cache-Control"] = "no-store"
    return response


def page(request: HttpRequest, context: dict[str, object], *, intent_id: str | None) -> HttpResponse:
    """Render the page, or only the card for a refresh by htmx."""
    page_path = reverse("intent", args=[intent_id]) if intent_id else None
    context |= {"intent_id": intent_id, "page_path": page_path, "is_part": is_partial(request), "now": as_of()}
    return part_or_page(request, "sharing/embed.html", "sharing/embed_fragment.html", context)
