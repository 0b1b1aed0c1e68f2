"""Words for committing an intent: whether it can be committed, and the result.

A commit is sent once. Where its answer does not say whether it was taken, the intent itself is asked for.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from intents_ui.display import failures, statuses, summary, text
from intents_ui.display.situation import Situation
from intents_ui.display.statuses import Shown, Tone
from intents_ui.service import errors, json_text, paused
from intents_ui.service.errors import Reason, ServiceError
from intents_ui.service.wire import Intent, IntentStatus

MOST_CHANGES = 50
CHANGE_CAP = 200
# With these nothing has reached the service.
NOT_REACHED = (Reason.REFUSED, Reason.DNS, Reason.TLS)
NOTHING_MOVED = "Nothing was moved and nothing has changed."


class Outcome(StrEnum):
    """`UNKNOWN`: sent, and no answer came that says whether it was taken; `REPEATED`: its form had been sent before."""

    COMMITTED = "committed"
    REFUSED = "refused"
    EXPIRED = "expired"
    MOVED_ON = "moved-on"
    NOT_SENT = "not-sent"
    UNKNOWN = "unknown"
    REPEATED = "repeated"


@dataclass(frozen=True)
class Offer:
    """An intent that can be committed now, `until` its quote expires; None where the service does not say when.

    `execute_until`: the deadline of its execution, if it is committed now."""

    until: datetime | None
    execute_until: datetime | None


@dataclass(frozen=True)
class Change:
    """A field of an intent as it was confirmed and as the service gives it now; "" where it is not there."""

    field: str
    before: str
    now: str


@dataclass(frozen=True)
class Changes:
    """`fields`: those that differ, the first of them; `before` and `now`: both versions whole.

    `before` is None where it was too long to be carried along."""

    fields: list[Change]
    more: int
    before: str | None
    now: str


@dataclass(frozen=True)
class Told:
    """`state`: what the service says of the intent now, where it was asked; `error`: what it said to the commit.

    `until`: the deadline of its execution."""

    outcome: Outcome
    tone: Tone
    icon: str
    title: str
    what: str
    todo: str
    state: Shown | None = None
    error: ServiceError | None = None
    until: datetime | None = None


def changes(before: str | None, now: str) -> Changes:
    """Compare the confirmed JSON of an intent with the JSON that the service gives now, field by field."""
    differing = [] if before is None else _differing(before, now)
    shown = None if before is None else text.visible(before, lines=True)
    return Changes(
        differing[:MOST_CHANGES], max(len(differing) - MOST_CHANGES, 0), shown, text.visible(now, lines=True)
    )


def _differing(before: str, now: str) -> list[Change]:
    one, other = (dict(_leaves(json_text.read(each), "")) for each in (before, now))
    return [
        Change(*(text.capped(each, cap=CHANGE_CAP).shown if each else "" for each in (field, was, now_is)))
        for field in dict.fromkeys([*one, *other])
        if (was := one.get(field, "")) != (now_is := other.get(field, ""))
    ]


def _leaves(value: object, at: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{at}.{key}" if at else str(key))
    elif isinstance(value, list) and value:
        for place, inner in enumerate(value):
            yield from _leaves(inner, f"{at}[{place}]")
    else:
        yield at, value if isinstance(value, str) else json.dumps(value, default=str)


def offer(situation: Situation) -> Offer | None:
    """Only for a quote that is in time and was not used; a receipt that could not be read may say that it was."""
    facts = situation.facts
    if facts.status != IntentStatus.QUOTED or facts.is_unread or facts.is_under_way or situation.is_expired:
        return None
    return Offer(facts.expires_at, execute_until(facts.intent, now=situation.now))


def execute_until(intent: Intent, *, now: datetime) -> datetime | None:
    """Return the deadline of a committed intent, or of one that is committed now."""
    committed_at = intent.updated_at if intent.status == IntentStatus.COMMITTED else None
    return statuses.execute_by(IntentStatus.COMMITTED, expires_at=intent.expires_at, updated_at=committed_at or now)


def not_offered(intent: Intent, *, now: datetime) -> Told:
    """For an intent that was read and cannot be committed: nothing was sent."""
    expired = intent.status == IntentStatus.QUOTED
    return told(Outcome.EXPIRED if expired else Outcome.MOVED_ON, state=intent, now=now)


def outcome_of(error: ServiceError) -> Outcome:
    """What an error says of a commit."""
    if error.again_in is not None:
        return Outcome.NOT_SENT  # the service is left alone until then
    match error:
        case errors.Expired():
            return Outcome.EXPIRED
        case errors.WrongState():
            return Outcome.MOVED_ON
        case errors.Overloaded():
            return Outcome.NOT_SENT
        case errors.Refused():
            return Outcome.REFUSED
        case errors.Unreachable(code=paused.PAUSED_CODE):
            return Outcome.REFUSED
        case errors.Unreachable(reason=reason) if reason in NOT_REACHED:
            return Outcome.NOT_SENT
        case _:
            return Outcome.UNKNOWN


def told(
    outcome: Outcome,
    *,
    error: ServiceError | None = None,
    state: Intent | None = None,
    sent: Intent | None = None,
    now: datetime,
) -> Told:
    """`state`: the intent as it was read after the commit, or instead of it; `sent`: as it was committed."""
    shown = summary.of(Situation.of(state, None, now=now)).status if state else None
    match outcome:
        case Outcome.COMMITTED:
            until = execute_until(sent, now=now) if sent else None
            return _committed(statuses.intent(IntentStatus.COMMITTED, now=now), until=until)
        case Outcome.UNKNOWN if state and state.status == IntentStatus.COMMITTED:
            return _committed(shown, until=execute_until(state, now=now), lost=True, error=error)
        case Outcome.UNKNOWN:
            return _unknown(shown, error)
        case Outcome.MOVED_ON:
            return _moved_on(shown, error)
        case Outcome.EXPIRED:
            return Told(
                outcome,
                Tone.NEUTRAL,
                "clock",
                "Too late to commit",
                f"The quote has expired, so the intent was not committed. {NOTHING_MOVED}",
                "Ask for a new quote, and commit that one.",
                shown,
                error,
            )
        case Outcome.REPEATED:
            return Told(
                outcome,
                Tone.NEUTRAL,
                "info",
                "Sent only once",
                "This confirmation had been sent before, so nothing was sent again."
                + (f" The service says of the intent now: {shown.word}." if shown else ""),
                "The intent's page shows what became of it, and moves by itself.",
                shown,
                error,
            )
        case Outcome.NOT_SENT:
            why = failures.words(error).title if error else "The service could not be asked"
            return Told(
                outcome,
                Tone.ATTENTION,
                "triangle-alert",
                "Not sent",
                f"{why}. The intent was not sent, so it is not committed. {NOTHING_MOVED}",
                "Try again from the intent's page, as long as its quote is open.",
                shown,
                error,
            )
        case Outcome.REFUSED:
            return _refused(shown, error)


def _committed(
    shown: Shown | None, *, until: datetime | None, lost: bool = False, error: ServiceError | None = None
) -> Told:
    taken = (
        "The answer to the commit was lost, but the service was asked afterwards and says that it is committed."
        if lost
        else "The service has taken the intent exactly as it had quoted it."
    )
    return Told(
        Outcome.COMMITTED,
        Tone.GOOD,
        "check",
        "Committed",
        f"{taken} Its price is held and its deposit address is prepared. No money has moved by this.",
        "Execute it in time. After that, request a new quote.",
        shown,
        error,
        until,
    )


def _refused(shown: Shown | None, error: ServiceError | None) -> Told:
    if error is None or isinstance(error, errors.Invalid):
        what = "The service finds that the intent is not as it was quoted, or does not take it in this form."
        todo = "Its reason is below. Ask for a new quote, and commit that one."
    else:
        words = failures.words(error)
        what, todo = f"{words.title}.", words.todo
    return Told(
        Outcome.REFUSED,
        Tone.BAD,
        "circle-x",
        "Refused",
        f"{what} The intent was not committed. {NOTHING_MOVED}",
        todo,
        shown,
        error,
    )


def _moved_on(shown: Shown | None, error: ServiceError | None) -> Told:
    said = shown.word if shown else _state_in(error)
    now = f"Its state now is {said}." if said else "Which state it is in now could not be read."
    then = "The commit changed nothing." if error else "Nothing was sent."
    return Told(
        Outcome.MOVED_ON,
        Tone.NEUTRAL,
        "info",
        "Already moved on",
        f"Only a quoted intent can be committed, and this one is no longer that. {now} {then}",
        "Look at the intent's page before anything else is done. Do not pay again because of this message.",
        shown,
        error,
    )


def _unknown(shown: Shown | None, error: ServiceError | None) -> Told:
    if shown is None:
        after = "Asked for the intent afterwards, the service did not answer either."
    else:
        after = f"Asked afterwards, the service says of the intent: {shown.word}."
        if shown == statuses.INTENTS[IntentStatus.QUOTED]:
            after += " The commit may still be on its way."
    return Told(
        Outcome.UNKNOWN,
        Tone.ATTENTION,
        "triangle-alert",
        "We do not know whether it was committed",
        f"The intent was sent once, and no answer came that could be read. {after}",
        "It is not sent again by itself. Watch the intent's page: it shows the state as soon as the service tells it.",
        shown,
        error,
    )


def _state_in(error: ServiceError | None) -> str:
    """Return the status from an error's cause, such as `status=EXECUTING`."""
    _, found, rest = ((error.cause or "") if error else "").partition("status=")
    words = rest.split()
    return text.name(words[0].rstrip(".,;)")).shown if found and words else ""
