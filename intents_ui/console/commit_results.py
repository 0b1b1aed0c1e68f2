"""Messages for committing an intent: what has changed since the quote, and the result.

A commit is sent once. If its response doesn't tell whether it was accepted, the intent itself is loaded.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from intents_ui.formatting import failures, text
from intents_ui.service import decode, errors
from intents_ui.service.errors import Reason, ServiceError
from intents_ui.service.models import Intent, IntentStatus
from intents_ui.transfers import statuses, summary
from intents_ui.transfers.statuses import StatusLabel, Tone
from intents_ui.transfers.transfer import Transfer, execute_until

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
