"""Commit page: after a confirmation, send a quoted intent to CommitIntent once, unchanged.

If the response doesn't tell whether it was accepted, the intent itself is loaded.
"""

import json
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from http import HTTPStatus

from django.core.cache import caches
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_http_methods

from intents_ui import app
from intents_ui.formatting import failures, text
from intents_ui.http import marks, operator_auth
from intents_ui.http.operator_auth import Confirmed, Refusal
from intents_ui.service import decode, errors, operations, request_context
from intents_ui.service.errors import Reason, ServiceError, Unreadable
from intents_ui.service.models import Intent, IntentStatus
from intents_ui.settings import ENV
from intents_ui.transfers import statuses, summary
from intents_ui.transfers.statuses import StatusLabel, Tone
from intents_ui.transfers.transfer import Transfer, execute_until
from intents_ui.web.frame import render
from intents_ui.web.links import canonical_url

MAX_CHANGES = 50
CHANGE_CAP = 200
# With these reasons, nothing reached the service.
NOT_REACHED = (Reason.REFUSED, Reason.DNS, Reason.TLS)


class CommitOutcome(StrEnum):
    """`UNKNOWN`: sent, but no valid response was received; `REPEATED`: the form had been sent before."""

    COMMITTED = "committed"
    REFUSED = "refused"
    EXPIRED = "expired"
    MOVED_ON = "moved-on"
    NOT_SENT = "not-sent"
    UNKNOWN = "unknown"
    REPEATED = "repeated"


@dataclass(frozen=True)
class Changes:
    """`fields`: the first changed fields, each with its value in the confirmed and the current version, "" where it is
    missing. `before` and `now`: both versions as JSON.

    `before` is None if it was too long for the form."""

    fields: list[tuple[str, str, str]]
    more: int
    before: str | None
    now: str


@dataclass(frozen=True)
class CommitResult:
    """`state`: the current status, if it was loaded; `error`: the response to the commit.

    `until`: the deadline of its execution."""

    outcome: CommitOutcome
    tone: Tone
    icon: str
    title: str
    what: str
    todo: str
    state: StatusLabel | None = None
    error: ServiceError | None = None
    until: datetime | None = None


def changes(before: str | None, now: str) -> Changes:
    """Compare the confirmed JSON of an intent with the JSON that the service gives now, field by field."""
    differing = [] if before is None else _differing(before, now)
    shown = None if before is None else text.visible(before, lines=True)
    return Changes(differing[:MAX_CHANGES], max(len(differing) - MAX_CHANGES, 0), shown, text.visible(now, lines=True))


def _differing(before: str, now: str) -> list[tuple[str, str, str]]:
    def shown(value: str) -> str:
        return text.capped(value, cap=CHANGE_CAP).shown if value else ""

    one, other = (dict(_leaves(decode.read(each), "")) for each in (before, now))
    found = ((field, one.get(field, ""), other.get(field, "")) for field in dict.fromkeys([*one, *other]))
    return [(shown(field), shown(was), shown(now_is)) for field, was, now_is in found if was != now_is]


def _leaves(value: object, at: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{at}.{key}" if at else str(key))
    elif isinstance(value, list) and value:
        for place, inner in enumerate(value):
            yield from _leaves(inner, f"{at}[{place}]")
    else:
        yield at, value if isinstance(value, str) else json.dumps(value, default=str)


def not_offered(intent: Intent, *, now: datetime) -> CommitResult:
    """Return the outcome for an intent that can't be committed: nothing was sent."""
    expired = intent.status == IntentStatus.QUOTED
    return told(CommitOutcome.EXPIRED if expired else CommitOutcome.MOVED_ON, state=intent, now=now)


def outcome_of(error: ServiceError) -> CommitOutcome:
    """Return the outcome that a service error means for a commit."""
    if error.again_in is not None:
        return CommitOutcome.NOT_SENT  # no calls to the service until then
    match error:
        case errors.Expired():
            return CommitOutcome.EXPIRED
        case errors.WrongState():
            return CommitOutcome.MOVED_ON
        case errors.Overloaded():
            return CommitOutcome.NOT_SENT
        case errors.Refused():
            return CommitOutcome.REFUSED
        case errors.Unreachable(code=errors.PAUSED):
            return CommitOutcome.REFUSED
        case errors.Unreachable(reason=reason) if reason in NOT_REACHED:
            return CommitOutcome.NOT_SENT
        case _:
            return CommitOutcome.UNKNOWN


# Of each outcome: tone, icon, title, what happened, and what to do. `{why}` depends on the intent or the error.
MESSAGES = {
    CommitOutcome.COMMITTED: (
        Tone.GOOD,
        "check",
        "Quote accepted",
        "{why} The deposit address is ready. No funds moved.",
        "Start it in time. After that, request a new quote.",
    ),
    CommitOutcome.EXPIRED: (
        Tone.NEUTRAL,
        "clock",
        "Quote expired",
        "The quote expired before it was accepted. No funds moved.",
        "Request a new quote and accept it.",
    ),
    CommitOutcome.REPEATED: (
        Tone.NEUTRAL,
        "info",
        "Already submitted",
        "This form was submitted before, so nothing was sent again.{why}",
        "The transfer page shows the current status and updates automatically.",
    ),
    CommitOutcome.NOT_SENT: (
        Tone.ATTENTION,
        "triangle-alert",
        "Not sent",
        "{why}. Nothing was sent, so the quote isn't accepted. No funds moved.",
        "Try again from the transfer page while the quote is valid.",
    ),
    CommitOutcome.REFUSED: (
        Tone.BAD,
        "circle-x",
        "Quote not accepted",
        "{why} The service rejected the request. No funds moved.",
        "See the reason below. Request a new quote and accept it.",
    ),
    CommitOutcome.MOVED_ON: (
        Tone.NEUTRAL,
        "info",
        "Status has changed",
        "Only a transfer in Quoted status can be accepted. {why}",
        "Check the transfer page before you continue. Do not deposit again because of this error.",
    ),
    CommitOutcome.UNKNOWN: (
        Tone.ATTENTION,
        "triangle-alert",
        "Outcome unknown",
        "The request was sent, but no valid response was received. {why}",
        "It isn't resent automatically. Check the transfer page, which shows the status as soon as it changes.",
    ),
}


def told(
    outcome: CommitOutcome,
    *,
    error: ServiceError | None = None,
    state: Intent | None = None,
    sent: Intent | None = None,
    now: datetime,
) -> CommitResult:
    """`state`: the intent read after the commit, or instead of it; `sent`: the committed one."""
    shown = summary.of(Transfer.of(state, None, now=now)).status if state else None
    known = f"Current status: {shown.word}." if shown else ""
    why, until, todo_instead = "", None, ""
    match outcome:
        case CommitOutcome.COMMITTED:
            shown, why = statuses.intent(IntentStatus.COMMITTED, now=now), "The service accepted the quote unchanged."
            until = execute_until(sent, now=now) if sent else None
        case CommitOutcome.UNKNOWN if state and state.status == IntentStatus.COMMITTED:
            outcome, until = CommitOutcome.COMMITTED, execute_until(state, now=now)
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
    tone, icon, title, what, todo = MESSAGES[outcome]
    return CommitResult(
        outcome, tone, icon, title, what.format(why=why), todo_instead or todo, shown, error=error, until=until
    )


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
        return outcome(request, found.intent_id, not_offered(found, now=at))
    form = secrets.token_urlsafe(12)
    context = {
        "intent": found,
        "execute_until": execute_until(found, now=at),
        "summary": summary.of(transfer),
        "names": names,
        "now": at,
        "form": form,
        "seen": operator_auth.sign_commit(found.raw, intent_id=found.intent_id, form=form),
        "changes": changes(before.text, found.raw) if before else None,
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
        return told(CommitOutcome.NOT_SENT, error=error, now=now())
    if not is_first(intent_id, form):
        return told(CommitOutcome.REPEATED, state=found, now=now())
    if not Transfer.of(found, None, now=now()).is_offered:
        return not_offered(found, now=now())
    if not constant_time_compare(confirmed.digest, operator_auth.digest(found.raw)):
        return found
    try:
        committed = request_context.without_deadline(lambda: app.current().service.ask(operations.commit_intent(found)))
        if committed.lower() != found.intent_id.lower():
            raise Unreadable(reason=Reason.OTHER_INTENT)
    except ServiceError as error:
        return afterwards(intent_id, error)
    app.current().hub.poll_now(intent_id)
    return told(CommitOutcome.COMMITTED, sent=found, now=now())


def afterwards(intent_id: str, error: ServiceError) -> CommitResult:
    """Read the intent once if the response to the commit doesn't include its status."""
    outcome = outcome_of(error)
    if outcome not in (CommitOutcome.UNKNOWN, CommitOutcome.MOVED_ON):
        return told(outcome, error=error, now=now())
    app.current().hub.poll_now(intent_id)
    try:
        state = request_context.without_deadline(lambda: app.current().service.ask(operations.get_intent(intent_id)))
    except ServiceError:
        state = None
    return told(outcome, error=error, state=state, now=now())


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
