"""Commit page: after a confirmation, send a quoted intent to CommitIntent once, unchanged.

If the response doesn't tell whether it was accepted, the intent itself is loaded.
"""

import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any

from django.core.cache import caches
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from intents_ui import app, tables
from intents_ui.formatting import failures, text
from intents_ui.http import marks, operator_auth
from intents_ui.http.operator_auth import Confirmed, Refusal
from intents_ui.service import decode, errors, operations, request_context
from intents_ui.service.errors import Reason, ServiceError, Unreadable
from intents_ui.service.models import Intent, IntentStatus
from intents_ui.settings import ENV
from intents_ui.transfers import statuses, summary
from intents_ui.transfers.transfer import Transfer, execute_until
from intents_ui.web.frame import render
from intents_ui.web.links import canonical_url

MAX_CHANGES = 50
CHANGE_CAP = 200
SHOWN_AGAIN = 100_000  # characters of the confirmed JSON that the form carries, to show what changed since
FORM_SECONDS = 3600  # for which a form can be submitted, and is remembered after that
# With these reasons, nothing reached the service.
NOT_REACHED = (Reason.REFUSED, Reason.DNS, Reason.TLS)

UNPROVEN = Refusal(HTTPStatus.BAD_REQUEST, "The form was incomplete, so nothing was sent. Submit it again.")
CHANGED = Refusal(
    HTTPStatus.CONFLICT,
    "The service changed this transfer after you opened this page, so nothing was sent. "
    "Review the changes, then accept this version.",
)


class CommitOutcome(StrEnum):
    """`UNKNOWN`: sent, but no valid response was received; `REPEATED`: the form had been sent before."""

    COMMITTED = "committed"
    REFUSED = "refused"
    EXPIRED = "expired"
    MOVED_ON = "moved-on"
    NOT_SENT = "not-sent"
    UNKNOWN = "unknown"
    REPEATED = "repeated"


MESSAGES: Mapping[str, Mapping[str, Any]] = tables.read(__package__, "outcomes.toml")


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
    confirmed = operator_auth.read_confirmed(request.POST.get("seen", ""), intent_id, form, max_age=FORM_SECONDS)
    refused = operator_auth.refusal(request) if confirmed else UNPROVEN
    if confirmed is None or refused:
        return confirmation(request, app.current().service.ask(operations.get_intent(intent_id)), refused)
    operator_auth.record(request, "CommitIntent")
    sent = send(intent_id, form=form, confirmed=confirmed)
    if isinstance(sent, Intent):
        response = confirmation(request, sent, CHANGED, changes=changes(confirmed.carried, sent.raw))
    else:
        response = page(request, intent_id, sent)
    operator_auth.remember(request, response)
    return response


def confirmation(
    request: HttpRequest, found: Intent, refused: Refusal | None = None, *, changes: SimpleNamespace | None = None
) -> HttpResponse:
    """Render the confirmation page. `changes`: those of the intent since its confirmation."""
    at, names = datetime.now(UTC), app.current().catalog
    names.learn((found.origin_chain_id, found.destination_chain_id))
    transfer = Transfer(found, None, now=at, names=names)
    if not transfer.is_offered:
        return page(request, found.intent_id, not_offered(found))
    form = secrets.token_urlsafe(12)
    carried = found.raw if len(found.raw) <= SHOWN_AGAIN else None
    context = {
        "intent": found,
        "execute_until": execute_until(found, now=at),
        "summary": summary.of(transfer),
        "names": names,
        "now": at,
        "form": form,
        "seen": operator_auth.sign(found.raw, found.intent_id, form, carried=carried),
        "changes": changes,
        "asked": operator_auth.TokenPrompt(request),
        "refused": refused,
    }
    status, wait = (refused.status, refused.wait) if refused else (HTTPStatus.OK, None)
    return render(request, "transfers/commit.html", context, status=status, retry_after=wait)


def page(request: HttpRequest, intent_id: str, result: SimpleNamespace) -> HttpResponse:
    status = result.status
    if not status:  # refused or not sent
        status = failures.status(result.error) if result.error else HTTPStatus.SERVICE_UNAVAILABLE
    context = {"intent_id": intent_id, "result": result, "now": datetime.now(UTC)}
    return render(request, "transfers/commit_result.html", context, status=status)


def send(intent_id: str, *, form: str, confirmed: Confirmed) -> SimpleNamespace | Intent:
    """Read the intent again and send it once per form, or nothing if it has changed, which returns the intent."""
    service, hub = app.current().service, app.current().hub
    try:
        found = service.ask_uncached(operations.get_intent(intent_id))
    except ServiceError as error:
        return result(CommitOutcome.NOT_SENT, error=error)
    if not is_first(intent_id, form):
        return result(CommitOutcome.REPEATED, state=found)
    if not Transfer(found, None, now=datetime.now(UTC)).is_offered:
        return not_offered(found)
    if not confirmed.is_of(found.raw):
        return found
    try:
        committed = request_context.without_deadline(lambda: service.ask(operations.commit_intent(found)))
        if committed.lower() != found.intent_id.lower():
            raise Unreadable(reason=Reason.OTHER_INTENT)
    except ServiceError as error:
        outcome, state = outcome_of(error), None
        if outcome in (CommitOutcome.UNKNOWN, CommitOutcome.MOVED_ON):
            hub.poll_now(intent_id)
            with suppress(ServiceError):  # the response to the commit doesn't include the status
                state = request_context.without_deadline(lambda: service.ask(operations.get_intent(intent_id)))
        return result(outcome, error=error, state=state)
    hub.poll_now(intent_id)
    return result(CommitOutcome.COMMITTED, state=found)


def is_first(intent_id: str, form: str) -> bool:
    # During a Redis outage only this process knows, and the service rejects a second commit.
    key = f"commit:{intent_id}:{form}"
    added = app.current().redis_guard.call(lambda: caches["default"].add(key, 1, FORM_SECONDS))
    return caches["own"].add(key, 1, FORM_SECONDS) if added is None else added


def outcome_of(error: ServiceError) -> CommitOutcome:
    if error.again_in is not None:
        return CommitOutcome.NOT_SENT  # no calls to the service until then
    match error:
        case errors.Expired():
            return CommitOutcome.EXPIRED
        case errors.WrongState():
            return CommitOutcome.MOVED_ON
        case errors.Overloaded():
            return CommitOutcome.NOT_SENT
        case errors.Refused() | errors.Unreachable(code=errors.PAUSED):
            return CommitOutcome.REFUSED
        case errors.Unreachable(reason=reason) if reason in NOT_REACHED:
            return CommitOutcome.NOT_SENT
        case _:
            return CommitOutcome.UNKNOWN


def not_offered(intent: Intent) -> SimpleNamespace:
    """Return the outcome for an intent that can't be committed: nothing was sent."""
    expired = intent.status == IntentStatus.QUOTED
    return result(CommitOutcome.EXPIRED if expired else CommitOutcome.MOVED_ON, state=intent)


def result(
    outcome: CommitOutcome, *, error: ServiceError | None = None, state: Intent | None = None
) -> SimpleNamespace:
    """Return what the page says. `state`: the intent that was committed, or as it was read after or instead of that.

    The result's `state` is the current status, if it was loaded, and `until` the deadline of its execution.
    """
    at = datetime.now(UTC)
    shown = summary.of(Transfer(state, None, now=at)).status if state else None
    known = f"Current status: {shown.word}." if shown else ""
    why, until, todo_instead = "", None, ""
    match outcome:
        case CommitOutcome.COMMITTED:
            shown, why = statuses.intent(IntentStatus.COMMITTED, now=at), "The service accepted the quote unchanged."
            until = execute_until(state, now=at) if state else None
        case CommitOutcome.UNKNOWN if state and state.status == IntentStatus.COMMITTED:
            outcome, until = CommitOutcome.COMMITTED, execute_until(state, now=at)
            why = "The response was lost, but the service reports the quote as accepted."
        case CommitOutcome.UNKNOWN:
            why = known or "Couldn't load the current status either."
            if shown == statuses.INTENTS[IntentStatus.QUOTED]:
                why += " The request may still be in progress."
        case CommitOutcome.MOVED_ON:
            # An error's cause has the status, such as `status=EXECUTING`.
            words = ((error.cause or "") if error else "").partition("status=")[2].split()
            if words and not known:
                known = f"Current status: {text.name(words[0].rstrip('.,;)')).shown}."
            why = known or "Couldn't load the current status."
            why += " The request changed nothing." if error else " Nothing was sent."
        case CommitOutcome.REPEATED:
            why = f" {known}".rstrip()
        case CommitOutcome.NOT_SENT:
            why = failures.words(error).title if error else "No response from the service"
        case CommitOutcome.REFUSED if error and not isinstance(error, errors.Invalid):
            message = failures.words(error)
            why, todo_instead = f"{message.title}.", message.todo
        case CommitOutcome.REFUSED:
            why = "The service rejected the intent: it differs from the quote or is malformed."
    words_of = dict(MESSAGES[outcome])
    words_of |= {"what": words_of["what"].format(why=why), "todo": todo_instead or words_of["todo"]}
    return SimpleNamespace(outcome=outcome, **words_of, state=shown, error=error, until=until)


def changes(before: str | None, now: str) -> SimpleNamespace:
    """Compare the confirmed JSON of an intent with the JSON that the service gives now, field by field.

    `before` is None if it was too long for the form. `fields` are the first changed fields, each with its value in both
    versions, "" where it is missing.
    """

    def shown(value: str) -> str:
        return text.capped(value, cap=CHANGE_CAP).shown if value else ""

    differing = []
    if before is not None:
        one, other = (dict(_leaves(decode.read(each), "")) for each in (before, now))
        found = ((field, one.get(field, ""), other.get(field, "")) for field in dict.fromkeys([*one, *other]))
        differing = [(shown(field), shown(was), shown(now_is)) for field, was, now_is in found if was != now_is]
    return SimpleNamespace(
        fields=differing[:MAX_CHANGES],
        more=max(len(differing) - MAX_CHANGES, 0),
        before=None if before is None else text.visible(before, lines=True),
        now=text.visible(now, lines=True),
    )


def _leaves(value: object, at: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{at}.{key}" if at else str(key))
    elif isinstance(value, list) and value:
        for place, inner in enumerate(value):
            yield from _leaves(inner, f"{at}[{place}]")
    else:
        yield at, value if isinstance(value, str) else json.dumps(value, default=str)
