"""Rows of messages.toml, each with the messages for one situation, and the rules that choose a transfer's row.

The first match wins. Three principles decide where rows overlap. The furthest step with a trace outranks the status
and earlier steps. A row that needs a balance is chosen only if the balance is known. If a balance is further along
than the steps, the steps lag behind. If it is further back, the sources conflict, and the row says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pydantic.dataclasses import dataclass as validated

from intents_ui import tables
from intents_ui.service.models import STOPPED, UNEXECUTED, IntentStatus
from intents_ui.service.outcome import DEAD, RUNNING, UNDER_WAY, StepStatus
from intents_ui.tokens import names
from intents_ui.transfers.deposits import DepositCheck
from intents_ui.transfers.statuses import Tone
from intents_ui.transfers.transfer import Place, Transfer, derived, is_further

RECOVER = "Recover funds"
SUPPORT = "Contact support"
RECOVER_IN_THE_APP = "Recovery: in the app that started the transfer."
SUPPORT_OF_THE_APP = "Support: in the app that started the transfer."
BOTH_IN_THE_APP = "Recovery and support: in the app that started the transfer."
SCAM_WARNING = "Support never asks for a recovery phrase or a wallet connection."


class HelpKind(StrEnum):
    RECOVERY = "recovery"  # a page on which the owner recovers funds
    SUPPORT = "support"


@dataclass(frozen=True)
class Help:
    """A link, or without a `url` a sentence."""

    words: str
    url: str | None = None

    @property
    def written(self) -> str:
        """As text: `Recover funds: https://…`, `Contact support: help@app.example`, or the sentence."""
        return f"{self.words}: {self.address}" if self.url else self.words

    @property
    def address(self) -> str:
        return (self.url or "").removeprefix("mailto:")


IDLE = frozenset({StepStatus.ABSENT, StepStatus.WAITING, StepStatus.QUEUED})


@derived
def key(transfer: Transfer) -> str:
    if transfer.is_unread:
        return "receipt.unread"
    if transfer.status is None or transfer.status not in IntentStatus:
        return "unknown.status"
    # The receipt is created shortly after the start, so a transfer in progress may have none.
    if transfer.lacks_its_receipt and transfer.status != IntentStatus.EXECUTING and not transfer.has_balance:
        return "receipt.missing"
    if transfer.status == IntentStatus.REFUNDED:
        return _refunded(transfer)
    if transfer.status == IntentStatus.SUCCEEDED:
        return _succeeded(transfer)
    if transfer.returning is not StepStatus.ABSENT:
        return _returning(transfer)
    if transfer.status in STOPPED:
        return _stopped(transfer.status, transfer)
    is_offer = transfer.status in UNEXECUTED and not transfer.steps.is_under_way
    return _offer(transfer.status, transfer) if is_offer else _executing(transfer)


def _returning(transfer: Transfer) -> str:
    if transfer.legs[2] is StepStatus.DONE:
        return "reported.return_failed" if transfer.returning in DEAD else "reported.both"
    if transfer.returning in DEAD:
        return "failed.refund_gone" if transfer.has_balance is False else "failed.refund_failed"
    if transfer.returning in RUNNING:
        return "executing.refunding_overdue" if transfer.is_return_overdue else "executing.refunding"
    return "reported.returned" if transfer.refund_reached_the_owner else "refunded.elsewhere"


def _offer(status: str, transfer: Transfer) -> str:
    if transfer.has_balance is False and transfer.paid:
        return "offer.emptied"
    if transfer.has_balance or transfer.paid:
        if transfer.is_expired:
            return "offer.funded_late"
        return "offer.mismatch" if DepositCheck(transfer).mismatch else f"{status.lower()}.funded"
    if transfer.is_expired:
        return "quoted.expired" if status == IntentStatus.QUOTED else "committed.overdue"
    return f"{status.lower()}.open"


def _executing(transfer: Transfer) -> str:
    has_dead_step = transfer.steps.has_dead_step
    if transfer.is_delivered:
        if transfer.has_balance and not has_dead_step:
            return "reported.undelivered" if transfer.holds_the_delivery else "executing.leftover"
        return "executing.delivered_fault" if has_dead_step else "executing.finalising"
    if transfer.has_balance and not transfer.has_arrived and not has_dead_step:
        # Funds at an intent address without a confirmed deposit.
        if not DepositCheck(transfer).right or DepositCheck(transfer).lacking:
            return "executing.underpaid"
        return "executing.stalled" if transfer.is_stalled else "executing.uncounted"
    deposit, *later = transfer.legs
    # No deposit was made, and no later step implies one.
    is_unpaid = deposit in IDLE and IDLE | {StepStatus.STRANGE} >= {*later}
    if is_unpaid and transfer.deposit is not None and transfer.has_come(transfer.expires_at):
        return "executing.wait_deposit_late"
    if transfer.is_stalled:
        return "executing.stalled"
    if is_unpaid:
        return "executing.no_details" if transfer.deposit is None else "executing.wait_deposit"
    if has_dead_step:
        return "executing.step_failed"
    if StepStatus.RETRYING in transfer.legs:
        return "executing.retrying"
    # The steps succeed so far, so the place of the funds decides.
    if transfer.reached is not transfer.place_by_steps:
        return "executing.arrived"
    if deposit is StepStatus.STRANGE and transfer.reached is Place.OWNER:
        return "executing.no_details"
    if transfer.has_come(transfer.late_at):
        is_slow = transfer.reached is Place.PROVIDER and names.slow_range(transfer.providers)
        return "executing.crossing_slow" if is_slow else "executing.late"
    return ON_TIME[transfer.reached]


ON_TIME = {
    Place.OWNER: "executing.deposit_confirming",
    Place.DEPOSIT_ADDRESS: "executing.origin_running",
    Place.PROVIDER: "executing.crossing",
    Place.DELIVERY_ADDRESS: "executing.destination_running",
}


def _succeeded(transfer: Transfer) -> str:
    if transfer.steps.has_dead_step:
        return "succeeded.contradiction"
    if transfer.returning is not StepStatus.ABSENT:
        return "reported.return_failed" if transfer.returning in DEAD else "succeeded.returned"
    if transfer.has_balance:
        is_doubtful = transfer.steps.ends_open or transfer.is_missing or transfer.holds_the_delivery
        return "reported.undelivered" if is_doubtful else "succeeded.leftover"
    if transfer.steps.ends_open:
        return "succeeded.unconfirmed"
    if transfer.pays_another_wallet:
        return "succeeded.payment"
    if transfer.received.value is None:
        return "succeeded.amount_unknown"
    return "succeeded.same_chain" if transfer.is_same_chain else "succeeded.cross_chain"


def _stopped(status: str, transfer: Transfer) -> str:
    """Return the row for FAILED, ABORTED and INVALID, by the last recorded step."""
    failed, aborted = status == IntentStatus.FAILED, status == IntentStatus.ABORTED
    is_empty, emptied = transfer.has_balance is False, "aborted.deposit_seen" if aborted else "stopped.emptied"
    deposit, origin, destination = transfer.legs
    if destination is StepStatus.DONE:
        if transfer.has_balance and transfer.holds_the_delivery:
            return "reported.undelivered"
        return "failed.delivered" if failed else "stopped.delivered"
    if transfer.has_balance:
        return _with_balance(status, transfer)
    if destination is StepStatus.REJECTED:
        if is_empty:
            return emptied
        if transfer.is_return_overdue:
            return "stopped.last_step_overdue"
        return "failed.destination_pending_refund" if failed else "stopped.last_step"
    if origin is StepStatus.DONE or destination in UNDER_WAY:
        return "stopped.no_trace" if transfer.is_same_chain else "stopped.midway"
    if origin is StepStatus.REJECTED or (failed and deposit is StepStatus.DONE and origin is StepStatus.GIVEN_UP):
        if is_empty or not failed:
            return emptied if is_empty else "stopped.origin"
        return "failed.origin_overdue" if transfer.is_return_overdue else "failed.origin_pending_refund"
    # Without balances, a deposit that was reported and not accepted may be at the address.
    may_be_there = transfer.deposit_not_accepted and transfer.has_balance is None
    if transfer.has_arrived:
        if is_empty:
            return emptied
        return "invalid.with_payment" if not (failed or aborted) else f"{status.lower()}.after_payment"
    if failed:
        is_dead = "failed.deposit" if deposit in DEAD else "failed.no_trace"
        return "failed.deposit_not_counted" if may_be_there else is_dead
    if aborted:
        is_reported = may_be_there or (transfer.paid and transfer.has_balance is None)
        return "aborted.payment_reported" if is_reported else "aborted.nothing_moved"
    if is_empty and transfer.steps.is_deposit_made:
        return "invalid.not_found"
    return "invalid.with_payment" if transfer.steps.is_deposit_made or may_be_there else "invalid.nothing_moved"


def _with_balance(status: str, transfer: Transfer) -> str:
    # Funds that, by the steps, have left the address. On a single chain they stay there.
    if not transfer.is_same_chain and is_further(transfer.place_by_steps, transfer.held_at):
        return "stopped.balance_elsewhere"
    if status == IntentStatus.INVALID:
        return "invalid.recoverable"
    is_abroad = transfer.held_at is Place.DELIVERY_ADDRESS and not transfer.is_same_chain
    if not (transfer.has_arrived or transfer.is_missing or is_abroad):
        return "stopped.uncounted"
    if status == IntentStatus.ABORTED:
        return "aborted.recoverable"
    return "failed.destination_recoverable" if is_abroad else "failed.origin_recoverable"


def _refunded(transfer: Transfer) -> str:
    refund = transfer.refund
    if transfer.legs[2] is StepStatus.DONE:
        return "reported.return_failed" if transfer.returning in DEAD else "reported.both"
    if refund is None or transfer.returning is StepStatus.ABSENT:
        return "refunded.held" if transfer.has_balance else "refunded.no_tx"
    if transfer.returning is not StepStatus.DONE:
        if transfer.returning not in DEAD:
            return "refunded.unconfirmed"
        return "failed.refund_gone" if transfer.has_balance is False else "refunded.failed"
    if not transfer.refund_reached_the_owner:
        return "refunded.elsewhere"
    if transfer.has_balance:
        return "refunded.leftover"
    return "refunded.origin" if refund.chain_id == transfer.origin_chain_id else "refunded.destination"


SECOND_DEPOSIT = "Do not deposit again for this transfer."


class Actor(StrEnum):
    """Who acts next, in the words of the API."""

    NONE = "nobody"
    PAYER = "payer"
    OWNER = "owner"
    SUPPORT = "support"


class Certainty(StrEnum):
    """How certain the location of the funds is."""

    CONFIRMED = "confirmed"
    LIKELY = "likely"
    UNKNOWN = "unknown"
    CONFLICTING = "conflicting"  # two sources conflict


class Attention(StrEnum):
    """What a support team should do about a transfer: nothing, watch it, or act."""

    NONE = "none"
    WATCH = "watch"
    ACT = "act"


class Cause(StrEnum):
    """Why a transfer needs attention."""

    NONE = ""
    CHECK = "check"  # the location of the funds must be checked
    CONFLICT = "conflict"  # the status conflicts with its steps or with the chains
    DEPOSIT = "deposit"  # the deposit is missing, unconfirmed or was not accepted
    FAILED = "failed"
    LATE = "late"
    RECOVERABLE = "recoverable"
    REFUND = "refund"  # a refund is expected or in progress
    REFUND_FAILED = "refund-failed"
    UNKNOWN = "unknown"


class Delivery(StrEnum):
    """What is known of the delivery, for the comparison with the quote."""

    OPEN = "open"
    DELIVERED = "delivered"
    NOT_DELIVERED = "not-delivered"
    NO_DEPOSIT = "no-deposit"
    UNCONFIRMED = "unconfirmed"  # sources conflict, or none confirms it
    UNKNOWN = "unknown"


@validated(frozen=True)
class Message:
    """A row. `statuses` are those in which it can apply. `when` describes its condition for readers of the file.
    `reply` is what support writes to the owner, for rows of transfers.

    `title` is the headline of a group of transfers, without what differs between them, and empty if nothing does.
    `help` is what the next step leads to: a page to recover funds, or support. `place` is a `Place`, or one that
    depends on the transfer: `last-confirmed`, `balance` or `refund`. `deadline` is the time of the transfer that is
    awaited. `comparison` is what the quoted amounts and times are compared with. `warn_second_deposit`: a second
    deposit is plausible and harmful, so `SECOND_DEPOSIT` is shown with the row. `minutes` without a change after which
    `{escalation}` says to contact support, 0 without it. `stem` is the beginning of the headline that balances can't
    change, empty if they change none of it. `says` is the word of a status that the headline contains.
    """

    key: str
    statuses: tuple[IntentStatus, ...]
    when: str
    headline: str
    sentence: str
    where: str
    next: str
    tone: Tone
    place: str
    certainty: Certainty
    reply: str = ""
    who: Actor = Actor.NONE
    comparison: Delivery = Delivery.OPEN
    help: tuple[HelpKind, ...] = ()
    deadline: str = ""
    warn_second_deposit: bool = True
    attention: Attention = Attention.NONE
    cause: Cause = Cause.NONE
    title: str = ""
    stem: str = ""
    says: str = ""
    minutes: int = 0


MESSAGES: Mapping[str, Message] = {
    key: Message(key, **written) for key, written in tables.read(__package__, "messages.toml").items()
}
