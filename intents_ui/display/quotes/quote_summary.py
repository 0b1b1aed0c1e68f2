"""One-line summary of the comparison between quote and result, for the answer."""

from collections.abc import Sequence
from datetime import datetime

from intents_ui.display.formatting import times
from intents_ui.display.quotes.comparison_status import Result, Row
from intents_ui.display.quotes.outcome import Course, Outcome
from intents_ui.display.tokens import token_amounts
from intents_ui.display.tokens.names import Names
from intents_ui.display.transfers import differences, timing
from intents_ui.display.transfers.step_status import RUNNING, Leg
from intents_ui.service.wire.models import IntentStatus

NO_DEPOSIT = "No deposit has been seen."
CONFLICTING = "Conflicting data: status and steps disagree"
CONFLICTING_BALANCES = "Conflicting data: balances and steps disagree"
NOT_CONFIRMED = "Delivery not confirmed"


def line(outcome: Outcome, duration: Row, others: Sequence[Row], *, now: datetime, using: Names) -> str:
    match outcome.course:
        case Course.OPEN:
            return _line_of_open(outcome, duration, now=now, using=using)
        case Course.DELIVERED:
            return _line_of_delivered(outcome, others, using=using)
        case Course.NOT_DELIVERED:
            return _line_of_undelivered(outcome, using=using)
        case Course.LAPSED:
            return NO_DEPOSIT
        case Course.DISPUTED:
            return doubt(outcome)
        case Course.UNREAD:
            return _quoted(outcome, using=using)


def doubt(outcome: Outcome) -> str:
    """Return why it isn't known whether the transfer was delivered."""
    if not outcome.is_conflicting:
        return NOT_CONFIRMED
    return CONFLICTING_BALANCES if outcome.is_conflict_of_balances else CONFLICTING


def _quoted(outcome: Outcome, *, using: Names) -> str:
    """Return `Quoted at least 4,973.37 USDC`."""
    for word, money in (
        ("exactly" if outcome.is_exact_output else "at least", outcome.least),
        ("about", outcome.quoted),
    ):
        if money.value is not None:
            return f"Quoted {word} {token_amounts.amount(money, using=using)}"
    return "No amount quoted"


def _line_of_open(outcome: Outcome, duration: Row, *, now: datetime, using: Names) -> str:
    if duration.result in (Result.OVER_ESTIMATE, Result.DELAYED):
        due = f"Expected by {times.utc_minute(timing.due_at(outcome.facts), now=now)}"
        return due if duration.result is Result.DELAYED else f"{due}, slightly behind schedule"
    if outcome.has_broken_step:
        return "A step failed, outcome pending"
    quoted = _quoted(outcome, using=using)
    return f"{quoted} · estimate {times.duration(outcome.estimate)}" if outcome.estimate else quoted


def _line_of_delivered(outcome: Outcome, others: Sequence[Row], *, using: Names) -> str:
    if outcome.arrived.value is None:
        return "Delivered amount not reported"
    if outcome.is_another_token:
        return f"Received {token_amounts.amount(outcome.arrived, using=using)}, different token from the quote"
    over = [f"{row.label}: {row.difference}" for row in others if row.result is Result.OVER_LIMIT]
    return " · ".join(filter(None, (_received(outcome, using=using), *over, _time(outcome))))


def _received(outcome: Outcome, *, using: Names) -> str:
    """Return the amount and its difference from the quote or, if too low, from the minimum."""
    arrived, quoted, least = outcome.arrived, outcome.quoted, outcome.least
    if arrived.value is not None and least.value is not None and arrived.value < least.value:
        than = "quoted" if outcome.is_exact_output else "the minimum"
        return f"Received {differences.compared_shortly(arrived, least, than=than, using=using)}"
    if quoted.value is None or arrived.value == quoted.value:
        as_quoted = "" if quoted.value is None else " as quoted"
        return f"Received {token_amounts.amount(arrived, using=using)}{as_quoted}"
    return f"Received {differences.compared_shortly(arrived, quoted, than='quoted', using=using)}"


def _time(outcome: Outcome) -> str:
    """Return `18 s (estimate 12 s)`."""
    if outcome.taken is None:
        return ""
    taken = times.duration(outcome.taken)
    return f"{taken} (estimate {times.duration(outcome.estimate)})" if outcome.estimate else taken


def _line_of_undelivered(outcome: Outcome, *, using: Names) -> str:
    """Return the details that follow "Not delivered"."""
    facts = outcome.facts
    if facts.returning is Leg.ABSENT:
        if facts.status == IntentStatus.REFUNDED:
            return "Reported as refunded"
        return _quoted(outcome, using=using)
    if facts.returning in RUNNING:
        return "Refund in progress"
    if facts.returning is not Leg.DONE:
        return "Refund failed"
    if not outcome.came_back_to_owner:
        return "Refund to the owner not confirmed"
    return _refunded(outcome, using=using)


def _refunded(outcome: Outcome, *, using: Names) -> str:
    refunded, (whole, than) = outcome.facts.refunded, outcome.returned_of
    if refunded.value is None:
        return "Not delivered, refunded"
    if whole is None or whole.value is None:
        return f"Refunded {token_amounts.amount(refunded, using=using)}"
    return f"Refunded {differences.compared_shortly(refunded, whole, than=than, using=using)}"
