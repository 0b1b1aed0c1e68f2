"""Deadlines, estimated durations, and the thresholds for late and stalled (docs/contract.md#durations)."""

from datetime import datetime, timedelta

from intents_ui.display.formatting import times
from intents_ui.display.tokens import providers
from intents_ui.display.transfers.transfer_data import Facts
from intents_ui.service.models import STOPPED, Intent, IntentStatus
from intents_ui.service.outcome import StepStatus, execute_by

# A refund or retry may follow a failure. Watch for this long after the last change.
SECOND_LOOK = timedelta(minutes=30)

ETHEREUM = 1
# The service's own client assumes these without an estimate, by the number of sides on Ethereum.
DEFAULTS = (timedelta(seconds=15), timedelta(seconds=45), timedelta(seconds=60))
USUAL = timedelta(minutes=15)
TIMES_THE_ESTIMATE = 3
# 20 seconds instead of an estimated 12 isn't late.
LEAST_GRACE = timedelta(seconds=60)
# An automatic refund arrives within this time, or not at all.
RETURN = timedelta(minutes=15)


def execute_until(intent: Intent, *, now: datetime) -> datetime | None:
    """Return the deadline of a committed intent, or of one that is committed now."""
    committed_at = intent.updated_at if intent.status == IntentStatus.COMMITTED else None
    return execute_by(IntentStatus.COMMITTED, expires_at=intent.expires_at, updated_at=committed_at or now)


def given_estimate(facts: Facts) -> timedelta | None:
    figure = facts.quote.estimated_duration
    return times.seconds(int(figure)) if figure is not None and figure > 0 else None


def estimate(facts: Facts) -> timedelta:
    sides = (facts.origin_chain_id, facts.destination_chain_id)
    return given_estimate(facts) or DEFAULTS[sides.count(ETHEREUM)]


def due_at(facts: Facts) -> datetime | None:
    """Return when the transfer is expected to be complete. None before it started, or beyond the calendar."""
    return times.after(facts.started_at, estimate(facts))


def grace(facts: Facts) -> timedelta:
    """Return by how much the estimate may be missed before the transfer counts as late."""
    return max(LEAST_GRACE, estimate(facts) / 2)


def late_at(facts: Facts) -> datetime | None:
    return times.after(due_at(facts), grace(facts))


def taken(facts: Facts) -> timedelta | None:
    """Return the time from the start to the reported end or, without one, to the last transaction."""
    last = facts.destination or (facts.origin if facts.is_same_chain else None)
    ended_at = facts.finished_at or (facts.mined_at(last) if last else None)
    if ended_at is None or facts.started_at is None or ended_at < facts.started_at:
        return None
    return ended_at - facts.started_at


def return_overdue_at(facts: Facts) -> datetime | None:
    """Return when a refund counts as overdue, so that waiting for it is no longer advised."""
    return times.after(facts.last_change, RETURN)


def escalates_at(facts: Facts, minutes: int) -> datetime | None:
    """Return when to contact support if nothing has changed for that many minutes."""
    return times.after(facts.last_change, timedelta(minutes=minutes)) if minutes else None


def allowance(facts: Facts) -> timedelta:
    """Return how long nothing may change before the transfer counts as stalled."""
    usual = max(USUAL, min(TIMES_THE_ESTIMATE * min(estimate(facts), timedelta(days=365)), timedelta(days=365)))
    slow = providers.slow_range(facts.providers)
    waiting = facts.legs[2] in (StepStatus.WAITING, StepStatus.ABSENT)
    return max(usual, slow) if slow and waiting else usual


def stalled_at(facts: Facts) -> datetime | None:
    return times.after(facts.last_change, allowance(facts))


def has_come(at: datetime | None, *, now: datetime) -> bool:
    """Return whether `at` has passed. Inclusive, so a page rendered exactly at `at` is up to date."""
    return at is not None and now >= at


def settled_at(facts: Facts) -> datetime | None:
    """Return when a failed transfer counts as settled, because no refund or retry followed; None for others."""
    if facts.status not in STOPPED or facts.last_change is None:
        return None
    return times.after(facts.last_change, SECOND_LOOK)
