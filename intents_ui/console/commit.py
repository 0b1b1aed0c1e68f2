"""Commit page: after a confirmation, send a quoted intent to CommitIntent once, unchanged."""

import re
import secrets
from datetime import UTC, datetime
from http import HTTPStatus

from django.core.cache import caches
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_http_methods

from intents_ui import app
from intents_ui.console import commit_results as words
from intents_ui.console.commit_results import CommitOutcome, CommitResult
from intents_ui.formatting import failures
from intents_ui.http import marks, operator_auth
from intents_ui.http.operator_auth import Confirmed, Refusal
from intents_ui.service import operations, request_context
from intents_ui.service.errors import Reason, ServiceError, Unreadable
from intents_ui.service.models import Intent
from intents_ui.settings import ENV
from intents_ui.transfers import summary
from intents_ui.transfers.transfer import Transfer, execute_until
from intents_ui.web.frame import render
from intents_ui.web.links import canonical_url

FORM = re.compile(r"[A-Za-z0-9_-]{16}", re.ASCII)
FORM_SECONDS = operator_auth.CONFIRMED_SECONDS  # how long submitted forms are remembered
UNPROVEN = Refusal(HTTPStatus.BAD_REQUEST, "The form was incomplete, so nothing was sent. Submit it again.")
CHANGED = Refusal(
    HTTPStatus.CONFLICT,
    "The service changed this transfer after you opened this page, so nothing was sent. "
    "Review the changes, then accept this version.",
)


@marks.Marks(body="console")
@require_http_methods(["GET", "HEAD", "POST"])
@operator_auth.operator_form
@canonical_url
def view(request: HttpRequest, intent_id: str) -> HttpResponse:
    if ENV.console != "write":
        raise Http404("Commits are disabled in this dashboard.")
    if request.method != "POST":
        return confirmation(request, app.current().service.ask(operations.get_intent(intent_id)))
    form = request.POST.get("form", "")
    confirmed = operator_auth.read_commit(request.POST.get("seen", ""), intent_id=intent_id, form=form)
    refused = None if FORM.fullmatch(form) and confirmed else UNPROVEN
    if confirmed is None or (refused := refused or operator_auth.refusal(request)):
        return confirmation(request, app.current().service.ask(operations.get_intent(intent_id)), refused)
    operator_auth.record(request, "CommitIntent")
    sent = send(intent_id, form=form, confirmed=confirmed)
    if isinstance(sent, Intent):
        response = confirmation(request, sent, CHANGED, before=confirmed)
    else:
        response = outcome(request, intent_id, sent)
    operator_auth.remember(request, response)
    return response


def confirmation(
    request: HttpRequest, found: Intent, refused: Refusal | None = None, *, before: Confirmed | None = None
) -> HttpResponse:
    """Render the confirmation page. `before`: the confirmed version, if the intent has changed since."""
    at, names = now(), app.current().catalog
    names.learn((found.origin_chain_id, found.destination_chain_id))
    transfer = Transfer.of(found, None, now=at, names=names)
    if not transfer.is_offered:
        return outcome(request, found.intent_id, words.not_offered(found, now=at))
    form = secrets.token_urlsafe(12)
    context = {
        "intent": found,
        "execute_until": execute_until(found, now=at),
        "summary": summary.of(transfer),
        "names": names,
        "now": at,
        "form": form,
        "seen": operator_auth.sign_commit(found.raw, intent_id=found.intent_id, form=form),
        "changes": words.changes(before.text, found.raw) if before else None,
        "asked": operator_auth.asked(request),
        "refused": refused,
    }
    status, wait = (refused.status, refused.wait) if refused else (HTTPStatus.OK, None)
    return render(request, "transfers/commit.html", context, status=status, retry_after=wait)


def send(intent_id: str, *, form: str, confirmed: Confirmed) -> CommitResult | Intent:
    """Read the intent again and send it unchanged, once per form, however often it is submitted.

    If the intent has changed since the confirmation, send nothing and return the intent.
    """
    try:
        found = app.current().service.ask_uncached(operations.get_intent(intent_id))
    except ServiceError as error:
        return words.told(CommitOutcome.NOT_SENT, error=error, now=now())
    if not is_first(intent_id, form):
        return words.told(CommitOutcome.REPEATED, state=found, now=now())
    if not Transfer.of(found, None, now=now()).is_offered:
        return words.not_offered(found, now=now())
    if not constant_time_compare(confirmed.digest, operator_auth.digest(found.raw)):
        return found
    try:
        committed = request_context.without_deadline(lambda: app.current().service.ask(operations.commit_intent(found)))
        if committed.lower() != found.intent_id.lower():
            raise Unreadable(reason=Reason.OTHER_INTENT)
    except ServiceError as error:
        return afterwards(intent_id, error)
    app.current().hub.poll_now(intent_id)
    return words.told(CommitOutcome.COMMITTED, sent=found, now=now())


def afterwards(intent_id: str, error: ServiceError) -> CommitResult:
    """Read the intent once if the response to the commit doesn't include its status."""
    outcome = words.outcome_of(error)
    if outcome not in (CommitOutcome.UNKNOWN, CommitOutcome.MOVED_ON):
        return words.told(outcome, error=error, now=now())
    app.current().hub.poll_now(intent_id)
    try:
        state = request_context.without_deadline(lambda: app.current().service.ask(operations.get_intent(intent_id)))
    except ServiceError:
        state = None
    return words.told(outcome, error=error, state=state, now=now())


def is_first(intent_id: str, form: str) -> bool:
    """Return whether this is the form's first submission.

    During a Redis outage only this process knows, and the service rejects a second commit.
    """
    key = f"commit:{intent_id}:{form}"
    added = app.current().redis_guard.call(lambda: caches["default"].add(key, 1, FORM_SECONDS))
    return caches["own"].add(key, 1, FORM_SECONDS) if added is None else added


def outcome(request: HttpRequest, intent_id: str, told: CommitResult) -> HttpResponse:
    context = {"intent_id": intent_id, "result": told, "now": now()}
    return render(request, "transfers/commit_result.html", context, status=status(told))


def status(told: CommitResult) -> HTTPStatus:
    match told.outcome:
        case CommitOutcome.COMMITTED:
            return HTTPStatus.OK
        case CommitOutcome.EXPIRED | CommitOutcome.MOVED_ON | CommitOutcome.REPEATED:
            return HTTPStatus.CONFLICT
        case CommitOutcome.UNKNOWN:
            return HTTPStatus.SERVICE_UNAVAILABLE
        case CommitOutcome.REFUSED | CommitOutcome.NOT_SENT:
            return failures.status(told.error) if told.error else HTTPStatus.SERVICE_UNAVAILABLE


def now() -> datetime:
    return datetime.now(UTC)
