"""Result labels, rows and the one-line summary of the comparison between quote and result."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from intents_ui.display.formatting import times
from intents_ui.display.formatting.sentences import Sentence
from intents_ui.display.formatting.text import UNKNOWN
from intents_ui.display.quotes.outcome import Course, QuoteOutcome
from intents_ui.display.tokens import token_amounts
from intents_ui.display.tokens.names import Names
from intents_ui.display.transfers import timing
from intents_ui.display.transfers.statuses import RUNNING, StatusLabel, StepStatus, Tone
from intents_ui.service.models import IntentStatus


class Result(StrEnum):
    AS_QUOTED = "as-quoted"
    WITHIN_LIMIT = "within-limit"
    BELOW_MINIMUM = "below-minimum"
    OVER_LIMIT = "over-limit"
    MISMATCH = "mismatch"
    WITHIN_ESTIMATE = "within-estimate"
    OVER_ESTIMATE = "over-estimate"
    LATE = "late"
    ON_TRACK = "on-track"
    DELAYED = "delayed"
    PENDING = "pending"
    UNKNOWN = "unknown"
    NO_DEPOSIT = "no-deposit"
    NOT_DELIVERED = "not-delivered"
    REFUNDED = "refunded"
    REFUNDING = "refunding"
    REFUND_UNCONFIRMED = "refund-unconfirmed"
    REFUND_FAILED = "refund-failed"


SHOWN = {
    Result.AS_QUOTED: StatusLabel("As quoted", Tone.GOOD, "check", "At least the quoted amount."),
    Result.WITHIN_LIMIT: StatusLabel("Within limit", Tone.GOOD, "check", "Less than quoted, within the agreed limit."),
    Result.BELOW_MINIMUM: StatusLabel("Below minimum", Tone.BAD, "x", "Less than the minimum received."),
    Result.OVER_LIMIT: StatusLabel("Over limit", Tone.BAD, "x", "More than the quote allows."),
    Result.MISMATCH: StatusLabel("Different token", Tone.ATTENTION, "triangle-alert", "Not the quoted token."),
    Result.WITHIN_ESTIMATE: StatusLabel("Within estimate", Tone.GOOD, "check", "No longer than estimated."),
    Result.OVER_ESTIMATE: StatusLabel("Over estimate", Tone.NEUTRAL, "clock", "A little longer than estimated."),
    Result.LATE: StatusLabel("Delivered late", Tone.ATTENTION, "clock", "Delivered much later than estimated."),
    Result.ON_TRACK: StatusLabel("On track", Tone.PROGRESS, "hourglass", "No deviation from the quote so far."),
    Result.DELAYED: StatusLabel("Delayed", Tone.ATTENTION, "clock", "Taking much longer than estimated."),
    Result.PENDING: StatusLabel("Pending", Tone.NEUTRAL, "hourglass", "Too early to compare."),
    Result.UNKNOWN: StatusLabel("Unknown", Tone.NEUTRAL, "circle-dashed", "Not enough data."),
    Result.NO_DEPOSIT: StatusLabel("No deposit", Tone.NEUTRAL, "clock", "No deposit has been seen."),
    Result.NOT_DELIVERED: StatusLabel("Not delivered", Tone.NEUTRAL, "circle-slash", "The recipient received nothing."),
    Result.REFUNDED: StatusLabel("Refunded", Tone.NEUTRAL, "undo-2", "The refund to the owner is confirmed."),
    Result.REFUNDING: StatusLabel("Refund in progress", Tone.PROGRESS, "hourglass", "The refund is not confirmed yet."),
    Result.REFUND_UNCONFIRMED: StatusLabel(
        "Not confirmed", Tone.ATTENTION, "triangle-alert", "Not confirmed to have reached the owner."
    ),
    Result.REFUND_FAILED: StatusLabel("Refund failed", Tone.BAD, "x", "The refund transaction failed."),
}


@dataclass(frozen=True)
class ComparisonRow:
    """A quoted figure and its actual value, with every digit.

    `since`: the actual value is the time elapsed since then, still counting.
    """

    label: str
    result: Result
    quoted: str = UNKNOWN
    limit: str = ""
    actual: str = UNKNOWN
    difference: str = ""
    since: datetime | None = None

    @property
    def shown(self) -> StatusLabel:
        return SHOWN[self.result]


NO_DEPOSIT = "No deposit has been seen."
CONFLICTING = "Conflicting data: status and steps disagree"
CONFLICTING_BALANCES = "Conflicting data: balances and steps disagree"
NOT_CONFIRMED = "Delivery not confirmed"


def line(
    outcome: QuoteOutcome, duration: ComparisonRow, others: Sequence[ComparisonRow], *, now: datetime, using: Names
) -> str:
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


def doubt(outcome: QuoteOutcome) -> str:
    """Return why it isn't known whether the transfer was delivered."""
    if not outcome.is_conflicting:
        return NOT_CONFIRMED
    return CONFLICTING_BALANCES if outcome.is_conflict_of_balances else CONFLICTING


def _quoted(outcome: QuoteOutcome, *, using: Names) -> str:
    """Return `Quoted at least 4,973.37 USDC`."""
    for word, money in (
        ("exactly" if outcome.is_exact_output else "at least", outcome.least),
        ("about", outcome.quoted),
    ):
        if money.value is not None:
            return f"Quoted {word} {token_amounts.amount(money, using=using)}"
    return "No amount quoted"


def _line_of_open(outcome: QuoteOutcome, duration: ComparisonRow, *, now: datetime, using: Names) -> str:
    if duration.result in (Result.OVER_ESTIMATE, Result.DELAYED):
        due = Sentence("Expected by ", times.utc_minute(timing.due_at(outcome.facts), now=now))
        return due if duration.result is Result.DELAYED else Sentence(due, ", slightly behind schedule")
    if outcome.has_broken_step:
        return "A step failed, outcome pending"
    quoted = _quoted(outcome, using=using)
    return f"{quoted} · estimate {times.duration(outcome.estimate)}" if outcome.estimate else quoted


def _line_of_delivered(outcome: QuoteOutcome, others: Sequence[ComparisonRow], *, using: Names) -> str:
    if outcome.arrived.value is None:
        return "Delivered amount not reported"
    if outcome.is_another_token:
        return f"Received {token_amounts.amount(outcome.arrived, using=using)}, different token from the quote"
    over = [f"{row.label}: {row.difference}" for row in others if row.result is Result.OVER_LIMIT]
    return " · ".join(filter(None, (_received_line(outcome, using=using), *over, _time(outcome))))


def _received_line(outcome: QuoteOutcome, *, using: Names) -> str:
    """Return the amount and its difference from the quote or, if too low, from the minimum."""
    arrived, quoted, least = outcome.arrived, outcome.quoted, outcome.least
    if arrived.value is not None and least.value is not None and arrived.value < least.value:
        than = "quoted" if outcome.is_exact_output else "the minimum"
        return f"Received {token_amounts.compared_shortly(arrived, least, than=than, using=using)}"
    if quoted.value is None or arrived.value == quoted.value:
        as_quoted = "" if quoted.value is None else " as quoted"
        return f"Received {token_amounts.amount(arrived, using=using)}{as_quoted}"
    return f"Received {token_amounts.compared_shortly(arrived, quoted, than='quoted', using=using)}"


def _time(outcome: QuoteOutcome) -> str:
    """Return `18 s (estimate 12 s)`."""
    if outcome.taken is None:
        return ""
    taken = times.duration(outcome.taken)
    return f"{taken} (estimate {times.duration(outcome.estimate)})" if outcome.estimate else taken


def _line_of_undelivered(outcome: QuoteOutcome, *, using: Names) -> str:
    """Return the details that follow "Not delivered"."""
    facts = outcome.facts
    if facts.returning is StepStatus.ABSENT:
        if facts.status == IntentStatus.REFUNDED:
            return "Reported as refunded"
        return _quoted(outcome, using=using)
    if facts.returning in RUNNING:
        return "Refund in progress"
    if facts.returning is not StepStatus.DONE:
        return "Refund failed"
    if not outcome.came_back_to_owner:
        return "Refund to the owner not confirmed"
    return _refunded_line(outcome, using=using)


def _refunded_line(outcome: QuoteOutcome, *, using: Names) -> str:
    refunded, (whole, than) = outcome.facts.refunded, outcome.returned_of
    if refunded.value is None:
        return "Not delivered, refunded"
    if whole is None or whole.value is None:
        return f"Refunded {token_amounts.amount(refunded, using=using)}"
    return f"Refunded {token_amounts.compared_shortly(refunded, whole, than=than, using=using)}"
