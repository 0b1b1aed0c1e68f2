"""Which row of explanations.json tells the story of a transfer (domain.md section 6, the order given there).

Two principles fill the gaps of that table: the furthest step that left a trace outranks the status and the steps
before it, and a row that needs a balance is chosen only when the balance is known.
"""

from dataclasses import dataclass
from datetime import datetime

from intents_ui.display import patience, providers
from intents_ui.display.facts import Facts
from intents_ui.display.legs import DEAD, RUNNING, UNDER_WAY, Leg, is_made
from intents_ui.service.wire import IntentStatus

OFFERS = frozenset({IntentStatus.QUOTED, IntentStatus.COMMITTED})
STOPPED = frozenset({IntentStatus.FAILED, IntentStatus.ABORTED, IntentStatus.INVALID})


@dataclass(frozen=True)
class Situation:
    """The facts at one moment. `has_balance` None means that nobody looked."""

    facts: Facts
    now: datetime
    has_balance: bool | None = None
    balance_chain_id: int | None = None

    @property
    def paid(self) -> bool:
        """There is reason to believe that a payment was made."""
        deposit = self.facts.legs[0]
        return deposit is Leg.DONE or (is_made(self.facts.deposit) and deposit not in DEAD)

    @property
    def was_not_counted(self) -> bool:
        """A watched payment that "FAILED" was not rejected by the chain: it came late, was too small, or never came."""
        return self.facts.legs[0] is Leg.REJECTED and not is_made(self.facts.deposit)

    @property
    def holds_abroad(self) -> bool:
        """The balance is on the destination side."""
        if self.balance_chain_id is None:
            return not self.facts.is_same_chain and self.facts.legs[1] is Leg.DONE
        return self.balance_chain_id != self.facts.origin_chain_id

    @property
    def is_return_overdue(self) -> bool:
        return patience.has_come(patience.return_overdue_at(self.facts), now=self.now)

    @property
    def refund_reached_the_owner(self) -> bool:
        """Only such a return is to be trusted (domain.md 1.5)."""
        refund, facts = self.facts.refund, self.facts
        if refund is None or facts.returning is not Leg.DONE or refund.to_address is None or facts.owner is None:
            return False
        on_a_known_chain = refund.chain_id in {facts.origin_chain_id, facts.destination_chain_id} - {None}
        return on_a_known_chain and refund.to_address.lower() == facts.owner.lower()


def key(situation: Situation) -> str:
    facts = situation.facts
    if facts.is_unread:
        return "receipt.unread"
    if facts.status is None or facts.status not in IntentStatus:
        return "unknown.status"
    # There is a moment between the start and the receipt: a transfer that runs may be without one.
    if facts.lacks_its_receipt and facts.status != IntentStatus.EXECUTING and not situation.has_balance:
        return "receipt.missing"
    if facts.status == IntentStatus.REFUNDED:
        return _refunded(situation)
    if facts.status == IntentStatus.SUCCEEDED:
        return _succeeded(situation)
    return _returning(situation) or _by_status(facts.status, situation)


def _by_status(status: str, situation: Situation) -> str:
    if status in STOPPED:
        return _stopped(status, situation)
    if status in OFFERS and not situation.facts.is_under_way:
        return _offer(status, situation)
    return _executing(situation)


def _returning(situation: Situation) -> str | None:
    returning = situation.facts.returning
    if returning in RUNNING:
        return "executing.refunding_overdue" if situation.is_return_overdue else "executing.refunding"
    if returning is Leg.DONE:
        return "reported.returned" if situation.refund_reached_the_owner else "refunded.unconfirmed"
    return "failed.refund_failed" if returning in DEAD else None


def _offer(status: str, situation: Situation) -> str:
    name = "quoted" if status == IntentStatus.QUOTED else "committed"
    if situation.has_balance or situation.paid:
        return f"{name}.funded"
    if situation.facts.is_expired(now=situation.now):
        return "quoted.expired" if name == "quoted" else "committed.overdue"
    return f"{name}.open"


def _executing(situation: Situation) -> str:
    facts, now = situation.facts, situation.now
    _, origin, destination = facts.legs
    if facts.is_delivered:
        return "executing.finalising"
    stalled = patience.has_come(patience.stalled_at(facts), now=now)
    if any(each in DEAD for each in facts.legs):
        return "executing.stalled" if stalled else "executing.step_failed"
    if _waits_for_payment(facts):
        return _waiting_for_payment(situation)
    if stalled:
        return "executing.stalled"
    if Leg.RETRYING in facts.legs:
        return "executing.retrying"
    if facts.destination and (destination in (Leg.MOVING, Leg.QUEUED) or facts.is_same_chain):
        return "executing.destination_running" if origin is Leg.DONE or destination is Leg.MOVING else _before(facts)
    return _crossing(facts, now=now) if origin is Leg.DONE else _before(facts)


def _before(facts: Facts) -> str:
    """The origin step is not done: is it running, or is the deposit still being confirmed?"""
    deposit, origin, _ = facts.legs
    if deposit is Leg.DONE or origin in UNDER_WAY:
        return "executing.origin_running"
    return "executing.no_details" if deposit is Leg.STRANGE else "executing.deposit_confirming"


def _waits_for_payment(facts: Facts) -> bool:
    deposit, origin, destination = facts.legs
    idle = (Leg.ABSENT, Leg.WAITING, Leg.QUEUED, Leg.STRANGE)
    return deposit in (Leg.ABSENT, Leg.WAITING, Leg.QUEUED) and origin in idle and destination in idle


def _waiting_for_payment(situation: Situation) -> str:
    if situation.has_balance:
        return "executing.underpaid"
    return "executing.wait_deposit" if situation.facts.deposit else "executing.no_details"


def _crossing(facts: Facts, *, now: datetime) -> str:
    if not patience.has_come(patience.late_at(facts), now=now):
        return "executing.crossing"
    return "executing.crossing_slow" if providers.slow_range(facts.providers) else "executing.crossing_late"


def _succeeded(situation: Situation) -> str:
    facts = situation.facts
    if any(each in DEAD for each in (*facts.legs, facts.returning)):
        return "succeeded.contradiction"
    if facts.returning is Leg.DONE or facts.returning in RUNNING:
        return "succeeded.returned"
    if situation.has_balance:
        return "succeeded.leftover"
    if facts.pays_somebody_else:
        return "succeeded.payment"
    if facts.received.value is None:
        return "succeeded.amount_unknown"
    return "succeeded.same_chain" if facts.is_same_chain else "succeeded.cross_chain"


def _stopped(status: str, situation: Situation) -> str:
    """FAILED, ABORTED and INVALID, by the furthest step that left a trace."""
    facts, failed = situation.facts, status == IntentStatus.FAILED
    _, origin, destination = facts.legs
    if destination is Leg.DONE:
        return "failed.delivered" if failed else "stopped.delivered"
    if situation.has_balance:
        return _with_balance(status, situation)
    if destination is Leg.REJECTED:
        if situation.is_return_overdue:
            return "stopped.last_step_overdue"
        return "failed.destination_pending_refund" if failed else "stopped.last_step"
    if origin is Leg.DONE or destination in UNDER_WAY:
        no_trace = "failed.no_trace" if failed else "stopped.no_trace"
        return no_trace if facts.is_same_chain else "stopped.midway"
    if failed:
        return _failed_before_crossing(situation)
    if origin is Leg.REJECTED:
        return "stopped.origin"
    return _aborted(situation) if status == IntentStatus.ABORTED else _invalid(situation)


def _with_balance(status: str, situation: Situation) -> str:
    if status != IntentStatus.FAILED:
        return "aborted.recoverable" if status == IntentStatus.ABORTED else "invalid.with_payment"
    return "failed.destination_recoverable" if situation.holds_abroad else "failed.origin_recoverable"


def _failed_before_crossing(situation: Situation) -> str:
    deposit, origin, _ = situation.facts.legs
    if origin is Leg.REJECTED or (deposit is Leg.DONE and origin is Leg.GIVEN_UP):
        return "failed.origin_overdue" if situation.is_return_overdue else "failed.origin_pending_refund"
    if situation.was_not_counted and situation.has_balance is None:
        return "failed.deposit_not_counted"
    return "failed.deposit" if deposit in DEAD else "failed.no_trace"


def _aborted(situation: Situation) -> str:
    if not situation.paid and not (situation.was_not_counted and situation.has_balance is None):
        return "aborted.nothing_moved"
    return "aborted.deposit_seen" if situation.has_balance is False else "aborted.after_payment"


def _invalid(situation: Situation) -> str:
    uncounted = situation.was_not_counted and situation.has_balance is None
    traces = situation.paid or uncounted or is_made(situation.facts.deposit)
    return "invalid.with_payment" if traces else "invalid.nothing_moved"


def _refunded(situation: Situation) -> str:
    facts, refund = situation.facts, situation.facts.refund
    if refund is None or facts.returning is Leg.ABSENT:
        return "refunded.no_tx"
    if not situation.refund_reached_the_owner:
        return "refunded.unconfirmed"
    return "refunded.origin" if refund.chain_id == facts.origin_chain_id else "refunded.destination"
