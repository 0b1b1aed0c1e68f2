"""Was the promise kept: amount, time, slippage and fees as promised and as they came, with the exact difference."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal

from intents_ui.display import amounts, differences, names, patience, times
from intents_ui.display.facts import Facts, Money
from intents_ui.display.fees import EXACT, fees
from intents_ui.display.legs import RUNNING, Leg
from intents_ui.display.names import NO_NAMES, Names
from intents_ui.display.outcomes import Course, Outcome
from intents_ui.display.promise_line import line
from intents_ui.display.statuses import Shown
from intents_ui.display.text import UNKNOWN
from intents_ui.display.verdicts import (
    KEPT_BUT_LATE,
    LATE,
    LATE_SO_FAR,
    NOT_RETURNED,
    RETURNED,
    RETURNING,
    SHOWN,
    SLOWER,
    SLOWER_SO_FAR,
    UNCONFIRMED,
    Row,
    Verdict,
)
from intents_ui.service.wire import Intent, IntentReceipt, IntentStatus


@dataclass(frozen=True)
class Promise:
    """`shown` and `text` are the one line in the answer, with short amounts; `verdict` is what the rows come to."""

    verdict: Verdict
    shown: Shown
    text: str
    rows: tuple[Row, ...]


def promise(
    intent: Intent | None,
    receipt: IntentReceipt | None,
    *,
    now: datetime,
    unread: bool = False,
    using: Names = NO_NAMES,
) -> Promise:
    """For any combination of states, with either object missing; `unread`: a receipt of None could not be read."""
    outcome = Outcome.of(Facts.of(intent, receipt, unread=unread), now=now)
    received, duration = _received(outcome, using=using), _duration(outcome, now=now)
    more = (_paid(outcome, using=using), _slippage(outcome), _came_back(outcome, using=using))
    others = [row for row in (*more, _fees(outcome, using=using)) if row]
    verdict, shown = _verdict(outcome, received, duration, others)
    text = line(outcome, duration, others, now=now, using=using)
    return Promise(verdict, shown, text, (received, duration, *others))


def _verdict(outcome: Outcome, received: Row, duration: Row, others: Sequence[Row]) -> tuple[Verdict, Shown]:
    """The amount decides. One that came as promised, and late, was kept; that it was late is said with it."""
    if outcome.course is Course.OPEN:
        if duration.verdict is not Verdict.NOT_KEPT:
            return _so_far(outcome), SHOWN[_so_far(outcome)]
        return Verdict.NOT_KEPT, LATE_SO_FAR if duration.shown is LATE else SLOWER_SO_FAR
    verdict = received.verdict or Verdict.UNKNOWN
    if verdict is Verdict.KEPT and any(row.verdict is Verdict.NOT_KEPT for row in others):
        verdict = Verdict.NOT_KEPT
    return verdict, KEPT_BUT_LATE if verdict is Verdict.KEPT and duration.shown is LATE else SHOWN[verdict]


def _so_far(outcome: Outcome) -> Verdict:
    """Before the payment nothing is due, and after a step that did not work it is open what will come."""
    is_on_its_way = outcome.facts.has_arrived and not outcome.has_broken_step
    return Verdict.SO_FAR if is_on_its_way else Verdict.NOT_YET


def _received(outcome: Outcome, *, using: Names) -> Row:
    facts = outcome.facts
    chain = _chain(facts.destination_chain_id, "the destination chain", using)
    least = "exactly that" if outcome.is_exact_output else _exactly(outcome.least, using)
    row = _row(f"Received on {chain}", Verdict.UNKNOWN, promised=_exactly(outcome.quoted, using), least=least)
    match outcome.course:
        case Course.OPEN:
            return _judged(row, Verdict.NOT_YET, "nothing has been delivered yet")
        case Course.DELIVERED:
            return _delivered(row, outcome, using=using)
        case Course.NOT_DELIVERED:
            return replace(_judged(row, Verdict.NOT_KEPT, "nothing was delivered"), actual="nothing")
        case Course.LAPSED:
            return replace(_judged(row, Verdict.LAPSED, "no payment was seen"), actual="nothing")
        case Course.DISPUTED:
            return _judged(row, Verdict.UNKNOWN, "the service and its steps disagree on whether it was delivered")
        case Course.UNREAD:
            return _judged(row, Verdict.UNKNOWN, "the receipt could not be read, or there is none")


def _delivered(row: Row, outcome: Outcome, *, using: Names) -> Row:
    arrived, quoted, least = outcome.arrived.value, outcome.quoted.value, outcome.least.value
    if arrived is None:
        return _judged(row, Verdict.UNKNOWN, "how much was delivered was not reported")
    row = replace(row, actual=_exactly(outcome.arrived, using))
    if outcome.is_another_token:
        return _judged(row, Verdict.NOT_KEPT, "it is another token than was promised, so they are not compared")
    enough = quoted if least is None else least
    if enough is None:
        return _judged(row, Verdict.UNKNOWN, "what was promised was not given")
    words = ", ".join(filter(None, (_against_quoted(outcome, using=using), _against_least(outcome, using=using))))
    if arrived < enough and least is None:
        return _judged(row, Verdict.UNKNOWN, f"{words}; the minimum was not given")
    return _judged(row, Verdict.KEPT if arrived >= enough else Verdict.NOT_KEPT, words)


def _against_quoted(outcome: Outcome, *, using: Names) -> str:
    than = "promised" if outcome.is_exact_output else "quoted"
    return _compared(outcome.arrived.value, outcome.quoted, than, using) or f"as {than}"


def _against_least(outcome: Outcome, *, using: Names) -> str:
    if outcome.arrived.value is None or outcome.least.value is None or outcome.is_exact_output:
        return ""
    rest = outcome.arrived.value - outcome.least.value
    apart = _exactly(replace(outcome.least, value=abs(rest)), using)
    return f"{apart} {'above' if rest > 0 else 'below'} the minimum" if rest else "exactly the minimum"


def _duration(outcome: Outcome, *, now: datetime) -> Row:
    row = _row("Duration", Verdict.UNKNOWN, promised=times.duration(outcome.estimate))
    match outcome.course:
        case Course.OPEN:
            return _running(row, outcome, now=now)
        case Course.DELIVERED:
            return _taken(row, outcome)
        case Course.NOT_DELIVERED:
            return _judged(row, Verdict.NOT_KEPT, "nothing was delivered")
        case Course.LAPSED:
            return _judged(row, Verdict.LAPSED, "it counts from the payment on")
        case _:
            return row


def _running(row: Row, outcome: Outcome, *, now: datetime) -> Row:
    facts, due_at = outcome.facts, patience.due_at(outcome.facts)
    if outcome.estimate is None:
        return _judged(row, Verdict.UNKNOWN, "no duration was promised")
    if not facts.has_arrived:
        return _judged(row, Verdict.NOT_YET, "the payment is not confirmed yet")
    if due_at is None:
        return _judged(row, Verdict.NOT_YET, "when it began was not given")
    row, due = replace(row, since=facts.started_at), times.utc(due_at, now=now)
    if patience.has_come(due_at, now=now):
        is_late = patience.has_come(patience.late_at(facts), now=now)
        return _slower(row, f"longer than promised since {due}", is_late=is_late)
    return _judged(row, _so_far(outcome), f"due by {due}")


def _taken(row: Row, outcome: Outcome) -> Row:
    if outcome.taken is None:
        return _judged(row, Verdict.UNKNOWN, "when it began or ended was not reported")
    row = replace(row, actual=times.duration(outcome.taken))
    if outcome.estimate is None:
        return _judged(row, Verdict.UNKNOWN, "no duration was promised")
    over = outcome.taken - outcome.estimate
    if over > timedelta():
        is_late = over >= patience.grace(outcome.facts)
        return _slower(row, f"{times.duration(over)} longer than promised", is_late=is_late)
    return _judged(row, Verdict.KEPT, f"{times.duration(-over)} shorter than promised" if over else "as promised")


def _paid(outcome: Outcome, *, using: Names) -> Row | None:
    """What goes in is promised only where what comes out is fixed."""
    facts = outcome.facts
    if not outcome.is_exact_output or outcome.course not in (Course.OPEN, Course.DELIVERED):
        return None
    quoted, paid = replace(facts.sent, value=facts.quote.from_amount), outcome.deposited
    chain = _chain(facts.origin_chain_id, "the origin chain", using)
    row = _row(f"Paid on {chain}", Verdict.UNKNOWN, promised=_exactly(quoted, using))
    if facts.legs[0] is not Leg.DONE:
        is_open = outcome.course is Course.OPEN
        return _judged(row, Verdict.NOT_YET if is_open else Verdict.UNKNOWN, "the payment is not confirmed")
    if paid is None or paid.value is None or quoted.value is None:
        return _judged(row, Verdict.UNKNOWN, "what was paid, or what was asked for, was not given")
    row = replace(row, actual=_exactly(paid, using))
    verdict = Verdict.KEPT if paid.value <= quoted.value else Verdict.NOT_KEPT
    return _judged(row, verdict, _compared(paid.value, quoted, "quoted", using) or "as quoted")


def _slippage(outcome: Outcome) -> Row | None:
    """From the quoted amount out to the one that came; a tolerance is a fraction (domain.md 2.4)."""
    if outcome.tolerance is None or outcome.course not in (Course.OPEN, Course.DELIVERED):
        return None
    row = _row("Slippage", Verdict.UNKNOWN, promised="", least=f"at most {amounts.fraction(outcome.tolerance)}")
    if outcome.course is Course.OPEN:
        return _judged(row, Verdict.NOT_YET, "")
    arrived, quoted = outcome.arrived.value, outcome.quoted.value
    if arrived is None or not quoted or outcome.is_another_token:
        return _judged(row, Verdict.UNKNOWN, "it cannot be worked out from what was reported")
    slipped = EXACT.divide(Decimal(quoted - arrived), Decimal(quoted))
    # A product is exact where a quotient is rounded.
    is_within = EXACT.multiply(Decimal(quoted), outcome.tolerance) >= quoted - arrived
    points = amounts.fraction(EXACT.subtract(outcome.tolerance, slipped).copy_abs()).removesuffix("%")
    words = f"{points} percentage points {'to spare' if is_within else 'too much'}"
    came = amounts.fraction(slipped) if slipped >= 0 else f"{amounts.fraction(slipped.copy_abs())} better"
    return replace(_judged(row, Verdict.KEPT if is_within else Verdict.NOT_KEPT, words), actual=came)


def _came_back(outcome: Outcome, *, using: Names) -> Row | None:
    facts = outcome.facts
    if outcome.course is Course.UNREAD or not (facts.refund or facts.status == IntentStatus.REFUNDED):
        return None
    chain = _chain(facts.refund.chain_id if facts.refund else None, "", using)
    row = Row(f"Returned on {chain}" if chain else "Returned", SHOWN[Verdict.UNKNOWN], promised="")
    if facts.returning is Leg.ABSENT:
        return replace(row, difference="how much came back is not reported")
    money = _exactly(facts.refunded, using)
    if facts.returning is not Leg.DONE:
        shown = RETURNING if facts.returning in RUNNING else NOT_RETURNED
        return replace(row, shown=shown, actual="nothing yet", difference=f"{money} is to be returned")
    if not outcome.came_back_to_owner:
        words = "not to the owner, or on another chain than those of the transfer"
        return replace(row, shown=UNCONFIRMED, actual=money, difference=words)
    return replace(row, shown=RETURNED, actual=money, difference=_return_compared(outcome, using=using))


def _return_compared(outcome: Outcome, *, using: Names) -> str:
    whole, than = outcome.returned_of
    if whole is None or outcome.facts.refunded.value is None:
        return "not comparable: another token, or an amount that was not reported"
    return _compared(outcome.facts.refunded.value, whole, than, using) or f"as much as {than}"


def _fees(outcome: Outcome, *, using: Names) -> Row | None:
    quoted = fees(outcome.facts.intent, outcome.facts.receipt, using=using)
    if not quoted.is_stated:
        return None
    if outcome.course is Course.LAPSED:
        return _row("Fees", Verdict.LAPSED, promised=quoted.exact, difference="no payment was seen")
    return _row("Fees", Verdict.UNKNOWN, promised=quoted.exact, difference="what was taken is not reported")


def _compared(value: int | None, other: Money, than: str, using: Names) -> str:
    """ "" when they are equal, or one of them is not known."""
    if value is None or other.value is None:
        return ""
    return differences.compared(value, other.value, of=other, than=than, using=using)


def _row(label: str, verdict: Verdict, *, promised: str, least: str = "", difference: str = "") -> Row:
    return Row(label, SHOWN[verdict], verdict, promised, least, difference=difference)


def _judged(row: Row, verdict: Verdict, difference: str) -> Row:
    return replace(row, verdict=verdict, shown=SHOWN[verdict], difference=difference)


def _slower(row: Row, difference: str, *, is_late: bool) -> Row:
    return replace(_judged(row, Verdict.NOT_KEPT, difference), shown=LATE if is_late else SLOWER)


def _exactly(money: Money, using: Names) -> str:
    return UNKNOWN if money.value is None else differences.exactly(money, using=using)


def _chain(chain_id: int | None, unknown: str, using: Names) -> str:
    return names.chain(chain_id, info=using.chain(chain_id), unknown=unknown)
