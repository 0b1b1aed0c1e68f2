"""What became of a transfer: one word, by the same rules on every surface and in the mirror.

It follows from the status and the steps alone, without balances, quotes or names. Steps are the states of the
transactions, reduced to the few that matter for the whole transfer.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple, Self

from intents_ui.service.models import (
    FINAL,
    STEPS,
    STOPPED,
    UNEXECUTED,
    Intent,
    IntentReceipt,
    IntentStatus,
    IntentTransaction,
    TransactionStatus,
    is_placeholder,
)


class StepStatus(StrEnum):
    ABSENT = "absent"  # no transaction, or no status yet
    WAITING = "waiting"  # for the previous step, the bridge or the deposit
    QUEUED = "queued"  # ready to run
    MOVING = "moving"
    RETRYING = "retrying"
    STRANGE = "strange"  # an unrecognized status, not final
    DONE = "done"
    REJECTED = "rejected"  # on the chain, reverted
    GIVEN_UP = "given-up"  # never on the chain


LEGS: Mapping[str, StepStatus] = {
    TransactionStatus.UNKNOWN: StepStatus.ABSENT,
    TransactionStatus.ON_HOLD: StepStatus.WAITING,
    TransactionStatus.PENDING: StepStatus.QUEUED,
    TransactionStatus.RELAYING: StepStatus.MOVING,
    TransactionStatus.RELAYED: StepStatus.MOVING,
    TransactionStatus.SENT: StepStatus.MOVING,
    TransactionStatus.MINING: StepStatus.MOVING,
    TransactionStatus.ERRORED: StepStatus.RETRYING,
    TransactionStatus.SUCCEEDED: StepStatus.DONE,
    TransactionStatus.FAILED: StepStatus.REJECTED,
    TransactionStatus.REVERTED: StepStatus.REJECTED,
    TransactionStatus.ABORTED: StepStatus.GIVEN_UP,
}
DEAD = frozenset({StepStatus.REJECTED, StepStatus.GIVEN_UP})
REFUND = STEPS.index("refund")
# The reason of a step that was not run, because an earlier one failed.
ECHO = re.compile(r"aborted: (deposit|origin|destination)\b", re.IGNORECASE)
# In progress, which implies that the leg before is complete.
UNDER_WAY = frozenset({StepStatus.MOVING, StepStatus.RETRYING})
RUNNING = UNDER_WAY | {StepStatus.WAITING, StepStatus.QUEUED, StepStatus.STRANGE}


def has_hash(transaction: IntentTransaction | None) -> bool:
    """Return whether it has a real hash. A deposit that the service watches for has a placeholder."""
    return transaction is not None and not is_placeholder(transaction.txn_hash)


def is_made(deposit: IntentTransaction | None) -> bool:
    """Return whether the owner made the deposit: it has a real hash, or was signed for the relayer to send."""
    entry = deposit.deposit_intent_entry if deposit else None
    is_signed = bool(deposit and deposit.meta_txn_id) or bool(entry and entry.intent_signature)
    return is_signed or has_hash(deposit)


def leg(transaction: IntentTransaction | None) -> StepStatus:
    status = transaction.status if transaction else None
    return StepStatus.ABSENT if status is None else LEGS.get(status, StepStatus.STRANGE)


def failure(receipt: IntentReceipt) -> tuple[int | None, str | None]:
    """Return the position of the step that failed, and the reason.

    The reason is that of the failed refund, else of the first failed step that has one of its own. The step is the
    first failed one, unless the reason is the refund's.
    """
    sent = receipt.transactions.items()
    failed = {STEPS.index(step): each.status_reason for step, each in sent if leg(each) in DEAD}
    own = {place: reason for place, reason in failed.items() if reason and not ECHO.match(reason)}
    if REFUND in own:
        return REFUND, own[REFUND]
    return next(iter(failed), None), next(iter(own.values()), None)


# Raise it with every change of the rules. Rows with another version are judged again.
RULES = 2

TIME_TO_EXECUTE = timedelta(minutes=10)
REPORTED = FINAL - {IntentStatus.INVALID}
STARTED = UNDER_WAY | DEAD | {StepStatus.DONE}
# Of a step after the deposit: the funds were there.
TRACES = UNDER_WAY | {StepStatus.DONE, StepStatus.REJECTED}
CLOCK_SKEW = timedelta(minutes=5)  # of the service's clock ahead of ours


class Outcome(StrEnum):
    DELIVERED = "delivered"
    REFUNDED = "refunded"  # to the owner
    FAILED = "failed"
    ABORTED = "aborted"
    REJECTED = "rejected"  # INVALID, with a deposit
    UNCONFIRMED = "unconfirmed"  # reported as ended, but its steps say otherwise or nothing
    OPEN = "open"
    NO_DEPOSIT = "no_deposit"  # ended or expired, and nothing was deposited


OUTCOME_OF_STOPPED = {
    IntentStatus.FAILED: Outcome.FAILED,
    IntentStatus.ABORTED: Outcome.ABORTED,
    IntentStatus.INVALID: Outcome.REJECTED,
}


class StepStates(NamedTuple):
    """The states of a transfer's transactions."""

    deposit: StepStatus
    origin: StepStatus
    destination: StepStatus
    refund: StepStatus
    is_deposit_made: bool

    @classmethod
    def of(cls, receipt: IntentReceipt) -> Self:
        deposit, is_deposit_made = leg(receipt.deposit_transaction), is_made(receipt.deposit_transaction)
        if is_deposit_made and deposit not in DEAD | UNDER_WAY | {StepStatus.DONE}:
            deposit = StepStatus.MOVING  # even before the service has seen it
        origin, destination = leg(receipt.origin_transaction), leg(receipt.destination_transaction)
        return cls(deposit, origin, destination, leg(receipt.refund_transaction), is_deposit_made)

    @property
    def legs(self) -> tuple[StepStatus, StepStatus, StepStatus]:
        return self.deposit, self.origin, self.destination

    @property
    def is_returning(self) -> bool:
        return self.refund is not StepStatus.ABSENT

    @property
    def has_any_step(self) -> bool:
        return self.is_returning or any(each is not StepStatus.ABSENT for each in self.legs)

    @property
    def has_dead_step(self) -> bool:
        return not DEAD.isdisjoint(self.legs)

    @property
    def ends_open(self) -> bool:
        """Whether the last known step is still running."""
        return next((each for each in reversed(self.legs) if each is not StepStatus.ABSENT), StepStatus.DONE) in RUNNING

    @property
    def is_under_way(self) -> bool:
        """Whether the transactions are past quote and deposit, whatever the status."""
        is_started = self.origin in STARTED or self.destination in STARTED
        return self.deposit in UNDER_WAY | DEAD or is_started or self.is_returning

    @property
    def has_arrived(self) -> bool:
        """Whether the deposit is confirmed, or a later step implies it."""
        is_implied = self.origin in TRACES or self.destination in TRACES
        return self.deposit is StepStatus.DONE or is_implied or self.is_returning

    @property
    def may_be_paid(self) -> bool:
        """Whether there is a trace of a deposit, even of one that wasn't accepted."""
        # A watched deposit that "FAILED" was late or too small. One that was made and failed moved nothing.
        is_seen = self.is_deposit_made != (self.deposit is StepStatus.REJECTED)
        return self.has_arrived or (is_seen and self.deposit is not StepStatus.GIVEN_UP)


class Evidence(NamedTuple):
    """What an outcome follows from.

    `is_refund_plausible`: it went to the owner, on one of the transfer's chains. `is_expired`: the quote's time is
    over.
    """

    status: str | None
    steps: StepStates
    has_receipt: bool
    is_same_chain: bool
    is_refund_plausible: bool
    is_expired: bool


def outcome_of(found: Evidence) -> Outcome:
    status, steps = found.status, found.steps
    if status not in IntentStatus:
        return Outcome.OPEN
    if status in REPORTED and not found.has_receipt:
        return Outcome.UNCONFIRMED
    if status == IntentStatus.SUCCEEDED:
        is_contradicted = steps.has_dead_step or steps.is_returning or steps.ends_open
        return Outcome.UNCONFIRMED if is_contradicted else Outcome.DELIVERED
    if status == IntentStatus.REFUNDED or steps.is_returning:
        return _refunded(found)
    if status in STOPPED:
        return _stopped(steps, OUTCOME_OF_STOPPED[IntentStatus(status)])
    if status != IntentStatus.EXECUTING and not steps.is_under_way:
        return Outcome.NO_DEPOSIT if found.is_expired and not steps.may_be_paid else Outcome.OPEN
    is_exchanged = found.is_same_chain and steps.destination is StepStatus.ABSENT and steps.origin is StepStatus.DONE
    is_delivered = steps.destination is StepStatus.DONE or is_exchanged
    return Outcome.DELIVERED if is_delivered and not steps.has_dead_step else Outcome.OPEN


def _refunded(found: Evidence) -> Outcome:
    refund = found.steps.refund
    if found.steps.destination is StepStatus.DONE:
        return Outcome.UNCONFIRMED
    if refund is StepStatus.DONE:
        return Outcome.REFUNDED if found.is_refund_plausible else Outcome.UNCONFIRMED
    if found.status == IntentStatus.REFUNDED:
        return Outcome.REFUNDED if refund is StepStatus.ABSENT else Outcome.UNCONFIRMED
    return Outcome.FAILED if refund in DEAD or found.status in STOPPED else Outcome.OPEN


def _stopped(steps: StepStates, stopped: Outcome) -> Outcome:
    if steps.destination is StepStatus.DONE:
        return Outcome.UNCONFIRMED
    is_rejected_deposit = stopped is Outcome.REJECTED and steps.is_deposit_made
    return stopped if steps.may_be_paid or is_rejected_deposit else Outcome.NO_DEPOSIT


def execute_by(
    status: str | None, *, expires_at: datetime | None, updated_at: datetime | None = None
) -> datetime | None:
    """Return when the quote expires. The API doesn't report the commit time, so `updated_at` replaces it."""
    if status not in UNEXECUTED:
        return None
    executable_until = updated_at + TIME_TO_EXECUTE if updated_at and status == IntentStatus.COMMITTED else None
    return min((end for end in (expires_at, executable_until) if end), default=None)


def past(at: datetime | None, *, now: datetime) -> datetime | None:
    """Return when something happened. A time that is more than `CLOCK_SKEW` ahead of `now` is an error, so unknown."""
    return at if at and at <= now + CLOCK_SKEW else None


def is_older(found: Intent | IntentReceipt, *, than: Intent | IntentReceipt, now: datetime) -> bool:
    """Return whether an object has an older state than a known one of the same intent.

    Their update times decide, unless they are ahead of `now`: such a time would keep out all later updates. If the
    times decide nothing, a final status is never revoked.
    """
    known, received = (past(each.updated_at, now=now) for each in (than, found))
    if known and received and known != received:
        return received < known
    return than.status in FINAL and found.status not in FINAL
