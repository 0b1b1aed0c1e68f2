"""What was promised at the quote and what came of it, side by side, before it is judged.

Exact input promises a least amount out; exact output an exact amount out, for what was quoted to go in. What the
service did not say stays unknown: an amount in the summary counts only once it says that it was delivered
(domain.md 1.4).
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from intents_ui.display import differences, patience
from intents_ui.display.facts import Facts, Money, first
from intents_ui.display.legs import DEAD, Leg, is_made
from intents_ui.display.rules import STOPPED, Situation
from intents_ui.service.wire import IntentStatus

STOPPED_BEFORE_THE_END = frozenset({IntentStatus.ABORTED, IntentStatus.INVALID})
UNPAID = frozenset({Leg.ABSENT, Leg.WAITING, Leg.QUEUED, Leg.GIVEN_UP})
EXACT_OUTPUT = "EXACT_OUTPUT"


class Course(StrEnum):
    """How a transfer went, as far as its promise goes."""

    OPEN = "open"
    DELIVERED = "delivered"
    NOT_DELIVERED = "not-delivered"
    LAPSED = "lapsed"  # nobody paid, so nothing was due
    DISPUTED = "disputed"  # one source says that it was delivered, another denies it
    UNREAD = "unread"


@dataclass(frozen=True)
class Outcome:
    """`quoted` and `least` are amounts out, `least` what may be counted on; for exact output they are the same.

    `arrived` has no value unless it was delivered and the service says how much; `is_another_token`: it is not what was
    promised. `came_back_to_owner`: only such a return is to be trusted (domain.md 1.5). `estimate` and `taken`: the
    time promised, and the time from the start of the execution to its end."""

    facts: Facts
    course: Course
    is_exact_output: bool
    quoted: Money
    least: Money
    arrived: Money
    is_another_token: bool
    deposited: Money | None
    tolerance: Decimal | None
    estimate: timedelta | None
    taken: timedelta | None
    came_back_to_owner: bool

    @classmethod
    def of(cls, facts: Facts, *, now: datetime) -> "Outcome":
        found = course(facts, now=now)
        is_exact_output = first(facts.summary.trade_type, facts.request.trade_type) == EXACT_OUTPUT
        # A request names the side that it fixes; the other one is 0 or absent.
        asked = facts.request.destination_token_amount if is_exact_output else None
        quoted = asked or facts.quote.to_amount
        options, was_delivered = facts.request.options, found is Course.DELIVERED
        return cls(
            facts=facts,
            course=found,
            is_exact_output=is_exact_output,
            quoted=replace(facts.expected, value=quoted),
            least=replace(facts.expected, value=quoted if is_exact_output else facts.quote.to_amount_min),
            arrived=facts.received if was_delivered else replace(facts.received, value=None),
            is_another_token=was_delivered and _is_another_token(facts),
            deposited=_deposited(facts),
            tolerance=first(facts.quote.max_slippage, options.slippage_tolerance if options else None),
            estimate=patience.given_estimate(facts),
            taken=_time_taken(facts) if was_delivered else None,
            came_back_to_owner=Situation(facts, now).refund_reached_the_owner,
        )

    @property
    def has_broken_step(self) -> bool:
        return any(each in DEAD for each in self.facts.legs)

    @property
    def returned_of(self) -> tuple[Money | None, str]:
        """What the return is part of: what was paid or, on the other chain, what was to arrive (domain.md 1.5)."""
        for whole, words in ((self.deposited, "was paid"), (self.quoted, "was quoted to arrive")):
            if whole and whole.value is not None and differences.is_same_token(self.facts.refunded, whole):
                return whole, words
        return None, ""


def course(facts: Facts, *, now: datetime) -> Course:
    if facts.is_unread or (facts.lacks_its_receipt and facts.status != IntentStatus.EXECUTING):
        return Course.UNREAD
    if _is_disputed(facts):
        return Course.DISPUTED
    if facts.is_delivered:
        return Course.DELIVERED
    if _was_never_paid(facts) and (facts.is_expired(now=now) or facts.status in STOPPED_BEFORE_THE_END):
        return Course.LAPSED
    is_over = facts.status in STOPPED | {IntentStatus.REFUNDED} or facts.returning is not Leg.ABSENT
    return Course.NOT_DELIVERED if is_over else Course.OPEN


def _is_disputed(facts: Facts) -> bool:
    is_returned = facts.returning is not Leg.ABSENT or facts.status == IntentStatus.REFUNDED
    is_broken = any(each in DEAD for each in facts.legs)
    if facts.status == IntentStatus.SUCCEEDED:
        return is_returned or is_broken
    if facts.legs[2] is Leg.DONE and is_returned:
        return True
    return facts.is_delivered and (facts.status in STOPPED or is_broken)


def _was_never_paid(facts: Facts) -> bool:
    """As far as anybody says. A watched payment that "FAILED" may have come late or been too small."""
    return facts.legs[0] in UNPAID and not facts.has_arrived and not is_made(facts.deposit)


def _is_another_token(facts: Facts) -> bool:
    request = facts.request
    promised = Money(None, request.destination_chain_id, request.destination_token_address)
    return differences.is_another_token(promised, facts.received)


def _deposited(facts: Facts) -> Money | None:
    """What was paid, once that is confirmed, in the token that was asked for; else None."""
    deposit = facts.deposit
    if deposit is None or facts.legs[0] is not Leg.DONE or deposit.token_amount is None:
        return None
    paid = Money(deposit.token_amount, deposit.chain_id, deposit.token_address)
    return None if differences.is_another_token(paid, facts.sent) else replace(facts.sent, value=paid.value)


def _time_taken(facts: Facts) -> timedelta | None:
    """To the end as the service has it; as long as it has not written one, to the last transaction."""
    last = facts.destination or (facts.origin if facts.is_same_chain else None)
    ended = first(facts.finished_at, last.txn_mined_at if last else None)
    if ended is None or facts.started_at is None or ended < facts.started_at:
        return None
    return ended - facts.started_at
