"""State of each transaction of a transfer, reduced to the few that matter for its summary."""

from collections.abc import Mapping
from enum import StrEnum

from intents_ui.display.formatting import hashes
from intents_ui.service.wire.models import IntentTransaction, TransactionStatus


class Leg(StrEnum):
    ABSENT = "absent"  # no transaction, or no status yet
    WAITING = "waiting"  # for the previous step, the bridge or the deposit
    QUEUED = "queued"  # ready to run
    MOVING = "moving"
    RETRYING = "retrying"
    STRANGE = "strange"  # an unrecognized status, not final
    DONE = "done"
    REJECTED = "rejected"  # on the chain, reverted
    GIVEN_UP = "given-up"  # never on the chain


LEGS: Mapping[str, Leg] = {
    TransactionStatus.UNKNOWN: Leg.ABSENT,
    TransactionStatus.ON_HOLD: Leg.WAITING,
    TransactionStatus.PENDING: Leg.QUEUED,
    TransactionStatus.RELAYING: Leg.MOVING,
    TransactionStatus.RELAYED: Leg.MOVING,
    TransactionStatus.SENT: Leg.MOVING,
    TransactionStatus.MINING: Leg.MOVING,
    TransactionStatus.ERRORED: Leg.RETRYING,
    TransactionStatus.SUCCEEDED: Leg.DONE,
    TransactionStatus.FAILED: Leg.REJECTED,
    TransactionStatus.REVERTED: Leg.REJECTED,
    TransactionStatus.ABORTED: Leg.GIVEN_UP,
}
DEAD = frozenset({Leg.REJECTED, Leg.GIVEN_UP})
# In progress, which implies that the leg before is complete.
UNDER_WAY = frozenset({Leg.MOVING, Leg.RETRYING})
RUNNING = UNDER_WAY | {Leg.WAITING, Leg.QUEUED, Leg.STRANGE}


def leg(transaction: IntentTransaction | None) -> Leg:
    status = transaction.status if transaction else None
    return Leg.ABSENT if status is None else LEGS.get(status, Leg.STRANGE)


def deposit_leg(deposit: IntentTransaction | None) -> Leg:
    """Return the deposit's state. One that was made is in progress even before the service has seen it."""
    reached = leg(deposit)
    return Leg.MOVING if reached not in DEAD | UNDER_WAY | {Leg.DONE} and is_made(deposit) else reached


def is_made(deposit: IntentTransaction | None) -> bool:
    """Return whether the owner made the deposit: it has a real hash, or was signed for the relayer to send."""
    entry = deposit.deposit_intent_entry if deposit else None
    is_signed = bool(deposit and deposit.meta_txn_id) or bool(entry and entry.intent_signature)
    return is_signed or has_hash(deposit)


def has_hash(transaction: IntentTransaction | None) -> bool:
    """Return whether it has a real hash. A deposit that the service watches for has a placeholder."""
    return transaction is not None and not hashes.is_placeholder(transaction.txn_hash)
