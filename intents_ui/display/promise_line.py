"""The one line of the answer that stands beside the verdict: what was promised and what came, as short as can be."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from intents_ui.display import patience, times, tokens
from intents_ui.display.facts import Money
from intents_ui.display.legs import RUNNING, Leg
from intents_ui.display.names import Names
from intents_ui.display.outcomes import Course, Outcome
from intents_ui.display.verdicts import LATE, Row, Verdict
from intents_ui.service.wire import IntentStatus


def line(outcome: Outcome, duration: Row, others: Sequence[Row], *, now: datetime, using: Names) -> str:
    promised = _phrase(outcome, using=using)
    match outcome.course:
        case Course.OPEN:
            return _line_of_open(outcome, duration, promised, now=now)
        case Course.DELIVERED:
            return _line_of_delivered(outcome, duration, others, promised, using=using)
        case Course.NOT_DELIVERED:
            return _line_of_undelivered(outcome, promised, using=using)
        case Course.LAPSED:
            return "No payment was seen, so nothing was due."
        case Course.DISPUTED:
            return f"{promised}; the service and its steps disagree"
        case Course.UNREAD:
            return promised


def _phrase(outcome: Outcome, *, using: Names) -> str:
    """`at least 4,973.37 USDC`, as short as in the rest of the answer."""
    for word, money in (
        ("exactly" if outcome.is_exact_output else "at least", outcome.least),
        ("about", outcome.quoted),
    ):
        if money.value is not None:
            return f"{word} {tokens.amount(money, using=using)}"
    return "no amount was given"


def _line_of_open(outcome: Outcome, duration: Row, promised: str, *, now: datetime) -> str:
    if duration.verdict is Verdict.NOT_KEPT:
        late = "" if duration.shown is LATE else ", not late yet"
        return f"{promised}, due by {times.utc_minute(patience.due_at(outcome.facts), now=now)}{late}"
    if outcome.has_broken_step:
        return f"{promised}; a step did not work, the outcome is open"
    return f"{promised} within {times.duration(outcome.estimate)}" if outcome.estimate else promised


def _line_of_delivered(outcome: Outcome, duration: Row, others: Sequence[Row], promised: str, *, using: Names) -> str:
    if outcome.arrived.value is None:
        return f"{promised}; how much came was not reported"
    came = str(tokens.amount(outcome.arrived, using=using))
    broken = next((row for row in others if row.verdict is Verdict.NOT_KEPT), None)
    if outcome.is_another_token:
        return f"{came}, another token than was promised"
    if broken:
        return f"{came}; {broken.label[0].lower()}{broken.label[1:]} {broken.difference}"
    taken = f"in {duration.actual}" if duration.verdict is Verdict.KEPT else ""
    late = duration.difference if duration.verdict is Verdict.NOT_KEPT else ""
    return ", ".join(filter(None, (came, _shortly(outcome, using=using), taken or late)))


def _shortly(outcome: Outcome, *, using: Names) -> str:
    """How much less or more than quoted; below the minimum, how much below it."""
    arrived, quoted, least = outcome.arrived.value, outcome.quoted.value, outcome.least.value
    if arrived is None:
        return ""
    if least is not None and arrived < least and not outcome.is_exact_output:
        return f"{_short(outcome.least, least - arrived, using)} below the minimum"
    than = "promised" if outcome.is_exact_output else "quoted"
    if quoted is None or arrived == quoted:
        return f"as {than}" if quoted is not None else ""
    return (
        f"{_short(outcome.quoted, abs(arrived - quoted), using)} {'more' if arrived > quoted else 'less'} than {than}"
    )


def _line_of_undelivered(outcome: Outcome, promised: str, *, using: Names) -> str:
    facts = outcome.facts
    other, than = outcome.returned_of
    if facts.returning is Leg.DONE and not outcome.came_back_to_owner:
        return f"{promised}; a return is reported, not to the owner"
    if facts.returning is Leg.DONE and facts.refunded.value is not None:
        came = f"{tokens.amount(facts.refunded, using=using)} came back"
        if other is None or other.value is None:
            return came
        apart = other.value - facts.refunded.value
        words = f"{_short(other, abs(apart), using)} {'less' if apart > 0 else 'more'} than" if apart else "as much as"
        return f"{came}, {words} {than}"
    if facts.returning in RUNNING:
        return f"{promised}; the money is on its way back"
    if facts.returning is not Leg.ABSENT and facts.returning is not Leg.DONE:
        return f"{promised}; nothing arrived, and the return failed"
    is_back = facts.returning is Leg.DONE or facts.status == IntentStatus.REFUNDED
    return f"{promised}; {'it was returned instead' if is_back else 'nothing arrived'}"


def _short(money: Money, value: int, using: Names) -> str:
    """Without its unit, which stands beside it already."""
    return tokens.amount(replace(money, value=value), using=using).short
