"""Quote vs. actual: amount, time, slippage and fees as quoted and as delivered, with the exact differences."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from intents_ui.display.formatting import amounts, times
from intents_ui.display.formatting.sentences import Sentence
from intents_ui.display.formatting.text import UNKNOWN
from intents_ui.display.quotes import fees
from intents_ui.display.quotes.fees import EXACT
from intents_ui.display.quotes.outcome import QuoteOutcome
from intents_ui.display.summary.rules import Delivery
from intents_ui.display.tokens import names, token_amounts
from intents_ui.display.tokens.names import Names
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.display.transfers import timing
from intents_ui.display.transfers.situation import Situation, derived
from intents_ui.display.transfers.statuses import StatusLabel, Tone
from intents_ui.service.models import IntentStatus
from intents_ui.service.outcome import RUNNING, StepStatus


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
    match outcome.delivery:
        case Delivery.OPEN:
            return _line_of_open(outcome, duration, now=now, using=using)
        case Delivery.DELIVERED:
            return _line_of_delivered(outcome, others, using=using)
        case Delivery.NOT_DELIVERED:
            return _line_of_undelivered(outcome, using=using)
        case Delivery.NO_DEPOSIT:
            return NO_DEPOSIT
        case Delivery.UNCONFIRMED:
            return doubt(outcome)
        case Delivery.UNKNOWN:
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
    if outcome.facts.steps.has_dead_step:
        return "A step failed, outcome pending"
    quoted = _quoted(outcome, using=using)
    return f"{quoted} · estimate {times.duration(outcome.estimate)}" if outcome.estimate else quoted


def _line_of_delivered(outcome: QuoteOutcome, others: Sequence[ComparisonRow], *, using: Names) -> str:
    if outcome.arrived.value is None:
        return "Delivered amount not reported"
    if outcome.is_another_token:
        return f"Received {token_amounts.amount(outcome.arrived, using=using)}, different token from the quote"
    over = [f"{row.label}: {row.difference}" for row in others if row.result is Result.OVER_LIMIT]
    taken = times.duration(outcome.taken) if outcome.taken is not None else ""
    taken += f" (estimate {times.duration(outcome.estimate)})" if taken and outcome.estimate else ""
    return " · ".join(filter(None, (_received_line(outcome, using=using), *over, taken)))


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
    refunded, (whole, than) = facts.refunded, outcome.returned_of
    if refunded.value is None:
        return "Not delivered, refunded"
    if whole is None or whole.value is None:
        return f"Refunded {token_amounts.amount(refunded, using=using)}"
    return f"Refunded {token_amounts.compared_shortly(refunded, whole, than=than, using=using)}"


NOT_REPORTED = "not reported"
ENOUGH = frozenset({Result.AS_QUOTED, Result.WITHIN_LIMIT})


@dataclass(frozen=True)
class Comparison:
    """`text` is the one line in the answer, with short amounts; `result` sums up the rows."""

    result: Result
    text: str
    rows: tuple[ComparisonRow, ...]

    @property
    def shown(self) -> StatusLabel:
        return SHOWN[self.result]


@derived
def of(situation: Situation) -> Comparison:
    """Return the comparison for any combination of states, with either object missing."""
    outcome, now, using = QuoteOutcome.of(situation), situation.now, situation.names
    received, duration = _received(outcome, using=using), _duration(outcome, now=now)
    more = (_deposited(outcome, using=using), _slippage(outcome), _refunded(outcome, using=using))
    others = [row for row in (*more, _fees(outcome, using=using)) if row]
    text = line(outcome, duration, others, now=now, using=using)
    return Comparison(_result(outcome, received, duration, others), text, (received, duration, *others))


def _result(
    outcome: QuoteOutcome, received: ComparisonRow, duration: ComparisonRow, others: Sequence[ComparisonRow]
) -> Result:
    """Return the overall result. The amount decides. A missed estimate counts only beyond its grace period."""
    results = {row.result for row in others}
    if outcome.delivery is Delivery.OPEN:
        # On track requires an estimate, and each step confirmed.
        is_unconfirmed = duration.result is Result.ON_TRACK and not outcome.is_confirmed
        is_measured = duration.result in (Result.ON_TRACK, Result.OVER_ESTIMATE, Result.DELAYED)
        return duration.result if is_measured and not is_unconfirmed else Result.PENDING
    if outcome.delivery is Delivery.NOT_DELIVERED and Result.REFUNDED in results:
        return Result.REFUNDED
    if received.result in ENOUGH and Result.OVER_LIMIT in results:
        return Result.OVER_LIMIT
    return Result.LATE if received.result in ENOUGH and duration.result is Result.LATE else received.result


def _received(outcome: QuoteOutcome, *, using: Names) -> ComparisonRow:
    facts = outcome.facts
    chain = names.of_chain(facts.destination_chain_id, using=using, unknown="the destination chain")
    least = "" if outcome.least.value is None else f"min. {_exactly(outcome.least, using)}"
    limit = "quoted amount" if outcome.is_exact_output else least
    row = ComparisonRow(f"Received on {chain}", Result.UNKNOWN, quoted=_exactly(outcome.quoted, using), limit=limit)
    match outcome.delivery:
        case Delivery.OPEN:
            return replace(row, result=Result.PENDING)
        case Delivery.DELIVERED:
            return _delivered(row, outcome, using=using)
        case Delivery.NOT_DELIVERED:
            return replace(row, result=Result.NOT_DELIVERED, actual="nothing")
        case Delivery.NO_DEPOSIT:
            return replace(row, result=Result.NO_DEPOSIT, actual="nothing")
        case Delivery.UNCONFIRMED:
            return replace(row, difference=doubt(outcome))
        case Delivery.UNKNOWN:
            return replace(row, difference="no receipt, or it couldn't be loaded")


def _delivered(row: ComparisonRow, outcome: QuoteOutcome, *, using: Names) -> ComparisonRow:
    arrived, quoted, least = outcome.arrived.value, outcome.quoted.value, outcome.least.value
    if arrived is None:
        return replace(row, difference="delivered amount not reported")
    row = replace(row, actual=_exactly(outcome.arrived, using))
    if outcome.is_another_token:
        difference = "different token from the quote, not comparable"
        return replace(row, result=Result.MISMATCH, difference=difference)
    if quoted is None and least is None:
        return replace(row, difference="no amount quoted")
    against_quoted = "" if quoted is None else _compared(arrived, outcome.quoted, "quoted", using) or "as quoted"
    words = (against_quoted, _against_least(outcome, using=using))
    return replace(row, result=_amount_result(arrived, quoted, least), difference=", ".join(filter(None, words)))


def _amount_result(arrived: int, quoted: int | None, least: int | None) -> Result:
    if least is not None and arrived < least:
        return Result.BELOW_MINIMUM
    if quoted is not None and arrived >= quoted:
        return Result.AS_QUOTED
    return Result.UNKNOWN if least is None else Result.WITHIN_LIMIT


def _against_least(outcome: QuoteOutcome, *, using: Names) -> str:
    if outcome.is_exact_output:
        return ""
    if outcome.arrived.value is None or outcome.least.value is None:
        return "no minimum reported"
    rest = outcome.arrived.value - outcome.least.value
    apart = _exactly(replace(outcome.least, value=abs(rest)), using)
    return f"{apart} {'above' if rest > 0 else 'below'} the minimum" if rest else "exactly the minimum"


def _duration(outcome: QuoteOutcome, *, now: datetime) -> ComparisonRow:
    quoted = f"est. {times.duration(outcome.estimate)}" if outcome.estimate else UNKNOWN
    row = ComparisonRow("Time", Result.UNKNOWN, quoted=quoted)
    match outcome.delivery:
        case Delivery.OPEN:
            return _running(row, outcome, now=now)
        case Delivery.DELIVERED:
            return _taken(row, outcome)
        case Delivery.NOT_DELIVERED:
            return replace(row, result=Result.NOT_DELIVERED)
        case Delivery.NO_DEPOSIT:
            return replace(row, result=Result.NO_DEPOSIT, difference="starts at deposit")
        case _:
            return row


def _running(row: ComparisonRow, outcome: QuoteOutcome, *, now: datetime) -> ComparisonRow:
    facts, due_at = outcome.facts, timing.due_at(outcome.facts)
    if outcome.estimate is None:
        return replace(row, difference="no estimate")
    if not facts.has_arrived:
        return replace(row, result=Result.PENDING, difference="deposit not confirmed yet")
    if due_at is None:
        return replace(row, result=Result.PENDING, difference="start time not reported")
    row = replace(row, since=facts.started_at)
    due = Sentence("expected by ", times.utc(due_at, now=now))
    if timing.has_come(due_at, now=now):
        is_late = timing.has_come(timing.late_at(facts), now=now)
        return replace(row, result=Result.DELAYED if is_late else Result.OVER_ESTIMATE, difference=due)
    result = Result.PENDING if outcome.facts.steps.has_dead_step else Result.ON_TRACK
    return replace(row, result=result, difference=due)


def _taken(row: ComparisonRow, outcome: QuoteOutcome) -> ComparisonRow:
    if outcome.taken is None:
        return replace(row, difference="start or end not reported")
    row = replace(row, actual=times.duration(outcome.taken))
    if outcome.estimate is None:
        return replace(row, difference="no estimate")
    over = outcome.taken - outcome.estimate
    if over > timedelta():
        is_late = over >= timing.grace(outcome.facts)
        difference = f"{times.duration(over)} over estimate"
        return replace(row, result=Result.LATE if is_late else Result.OVER_ESTIMATE, difference=difference)
    difference = f"{times.duration(-over)} under estimate" if over else "as estimated"
    return replace(row, result=Result.WITHIN_ESTIMATE, difference=difference)


def _deposited(outcome: QuoteOutcome, *, using: Names) -> ComparisonRow | None:
    """Return the row of the deposit, which only an exact-output quote limits."""
    facts = outcome.facts
    if not outcome.is_exact_output or outcome.delivery not in (Delivery.OPEN, Delivery.DELIVERED):
        return None
    quoted, deposited = replace(facts.requested, value=facts.quote.from_amount), outcome.deposited
    chain = names.of_chain(facts.origin_chain_id, using=using, unknown="the origin chain")
    row = ComparisonRow(f"Deposited on {chain}", Result.UNKNOWN, quoted=_exactly(quoted, using), limit="quoted amount")
    if facts.legs[0] is not StepStatus.DONE:
        result = Result.PENDING if outcome.delivery is Delivery.OPEN else Result.UNKNOWN
        return replace(row, result=result, difference="deposit not confirmed")
    if deposited is None or deposited.value is None or quoted.value is None:
        return replace(row, difference="deposited or quoted amount not reported")
    result = Result.AS_QUOTED if deposited.value <= quoted.value else Result.OVER_LIMIT
    difference = _compared(deposited.value, quoted, "quoted", using) or "as quoted"
    return replace(row, result=result, actual=_exactly(deposited, using), difference=difference)


def _slippage(outcome: QuoteOutcome) -> ComparisonRow | None:
    """Return the slippage from the quoted to the received amount. Its tolerance is a fraction of one."""
    if outcome.tolerance is None or outcome.delivery not in (Delivery.OPEN, Delivery.DELIVERED):
        return None
    row = ComparisonRow("Slippage", Result.UNKNOWN, quoted="", limit=f"max {amounts.fraction(outcome.tolerance)}")
    if outcome.delivery is Delivery.OPEN:
        return replace(row, result=Result.PENDING)
    arrived, quoted = outcome.arrived.value, outcome.quoted.value
    if arrived is None or not quoted or outcome.is_another_token:
        return replace(row, difference="not enough data")
    slipped = EXACT.divide(Decimal(quoted - arrived), Decimal(quoted))
    # A product is exact, a quotient is rounded.
    is_within = EXACT.multiply(Decimal(quoted), outcome.tolerance) >= quoted - arrived
    came = amounts.fraction(slipped) if slipped >= 0 else f"{amounts.fraction(slipped.copy_abs())} better"
    row = replace(row, result=Result.WITHIN_LIMIT if is_within else Result.OVER_LIMIT, actual=came)
    points = amounts.fraction(EXACT.subtract(slipped, outcome.tolerance)).removesuffix("%")
    return row if is_within else replace(row, difference=f"{points} percentage points over the limit")


def _refunded(outcome: QuoteOutcome, *, using: Names) -> ComparisonRow | None:
    facts = outcome.facts
    if outcome.delivery is Delivery.UNKNOWN or not (facts.refund or facts.status == IntentStatus.REFUNDED):
        return None
    chain = names.of_chain(facts.refund.chain_id if facts.refund else None, using=using, unknown="")
    row = ComparisonRow(f"Refunded on {chain}" if chain else "Refunded", Result.UNKNOWN, quoted="")
    if facts.returning is StepStatus.ABSENT:
        return replace(row, difference="refunded amount not reported")
    money = _exactly(facts.refunded, using)
    if facts.returning is not StepStatus.DONE:
        result = Result.REFUNDING if facts.returning in RUNNING else Result.REFUND_FAILED
        return replace(row, result=result, actual="nothing yet", difference=f"{money} to be refunded")
    row = replace(row, actual=money)
    if not outcome.came_back_to_owner:
        words = "not to the owner, or on a chain outside the route"
        return replace(row, result=Result.REFUND_UNCONFIRMED, difference=words)
    whole, than = outcome.returned_of
    if whole is None or facts.refunded.value is None:
        difference = "not comparable: different token, or amount not reported"
    else:
        difference = _compared(facts.refunded.value, whole, than, using) or f"as much as {than}"
    return replace(row, result=Result.REFUNDED, difference=difference)


def _fees(outcome: QuoteOutcome, *, using: Names) -> ComparisonRow | None:
    quoted = fees.of(outcome.situation)
    if not quoted.is_stated:
        return None
    result = Result.NO_DEPOSIT if outcome.delivery is Delivery.NO_DEPOSIT else Result.UNKNOWN
    return ComparisonRow(
        "Fees", result, quoted=quoted.exact, difference="" if outcome.delivery is Delivery.NO_DEPOSIT else NOT_REPORTED
    )


def _compared(value: int | None, other: Money, than: str, using: Names) -> str:
    """Return the difference in words, or "" if equal or unknown."""
    if value is None or other.value is None:
        return ""
    return token_amounts.compared(value, other.value, of=other, than=than, using=using)


def _exactly(money: Money, using: Names) -> str:
    return UNKNOWN if money.value is None else token_amounts.exactly(money, using=using)
