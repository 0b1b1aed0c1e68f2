"""`/embed/intent/<id>`: a transfer's card for frames on other sites.

Only the hosts in INTENTS_EMBED_HOSTS may frame it. It has no form and sets no cookie. Errors are shown in the frame.
"""

from dataclasses import dataclass
from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import wiring
from intents_ui.display import failures
from intents_ui.display.sharing import preview
from intents_ui.display.summary import glance, summary
from intents_ui.display.transfers.statuses import Tone
from intents_ui.middleware import marks
from intents_ui.middleware.security_headers import embeddable
from intents_ui.service.context.request_context import as_of
from intents_ui.service.errors import ServiceError
from intents_ui.service.queries import transfers
from intents_ui.web.frame import is_partial, part_or_page
from intents_ui.web.links import elsewhere
from intents_ui.web.transfers import situations


@dataclass(frozen=True)
class Failure:
    """An error, with the title and description of the error page."""

    title: str
    what: str
    status: HTTPStatus
    retry_after: int | None = None

    @classmethod
    def of(cls, error: ServiceError) -> "Failure":
        message = failures.words(error)
        return cls(message.title, message.what, failures.status(error), failures.retry_after(error))

    @property
    def may_pass(self) -> bool:
        return self.retry_after is not None

    @property
    def tone(self) -> Tone:
        return Tone.ATTENTION if self.may_pass else Tone.NEUTRAL


@marks.framed
@require_safe
@embeddable()
def intent(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    try:
        return elsewhere(request, intent_id, page="embed") or shown(request, intent_id)
    except Http404 as error:
        return failed(request, Failure("Transfer not found", str(error), HTTPStatus.NOT_FOUND))
    except ServiceError as error:
        return failed(request, Failure.of(error), intent_id=intent_id)


def shown(request: HttpRequest, intent_id: str) -> HttpResponse:
    found, receipt, error = transfers.read(wiring.service(), intent_id)
    situation = situations.of(found, receipt, error, wait=situations.PATIENCE)
    context = {
        "title": preview.describe(situation).title,
        "summary": summary.of(situation),
        "transfer": glance.of(situation),
        "unread": error is not None,
        "changed_at": situation.facts.last_change,
        "may_change": error is not None or situation.may_change,
        "failure": None,
    }
    return page(request, context, intent_id=intent_id)


def failed(request: HttpRequest, failure: Failure, *, intent_id: str | None = None) -> HttpResponse:
    context = {"title": failure.title, "failure": failure, "may_change": failure.may_pass}
    response = page(request, context, intent_id=intent_id)
    response.status_code = failure.status
    if failure.retry_after is not None:
        response["Retry-After"] = str(failure.retry_after)
    response["Cache-Control"] = "no-store"
    return response


def page(request: HttpRequest, context: dict[str, object], *, intent_id: str | None) -> HttpResponse:
    """Render the page, or only the card for a refresh by htmx."""
    page_path = reverse("intent", args=[intent_id]) if intent_id else None
    context |= {"intent_id": intent_id, "page_path": page_path, "is_part": is_partial(request), "now": as_of()}
    return part_or_page(request, "sharing/embed.html", "sharing/embed_fragment.html", context)
