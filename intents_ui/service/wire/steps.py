"""State of a transfer's transactions, reduced to the few that matter for the whole transfer."""

from collections.abc import Mapping
from enum import StrEnum

from intents_ui.service.models import TransactionStatus


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
# In progress, which implies that the leg before is complete.
UNDER_WAY = frozenset({StepStatus.MOVING, StepStatus.RETRYING})
RUNNING = UNDER_WAY | {StepStatus.WAITING, StepStatus.QUEUED, StepStatus.STRANGE}


def deposit_step(reached: StepStatus, *, is_made: bool) -> StepStatus:
    """Return the deposit's state. One that was made is in progress even before the service has seen it."""
    return StepStatus.MOVING if is_made and reached not in DEAD | UNDER_WAY | {StepStatus.DONE} else reached


def is_placeholder(txn_hash: str | None) -> bool:
    """Return whether it identifies no transaction: empty, all zeros, all f's, or ending in ten or more zeros."""
    if not txn_hash:
        return True
    digits = txn_hash.lower().removeprefix("0x")
    return digits.endswith("0" * 10) or not digits.strip("f")
