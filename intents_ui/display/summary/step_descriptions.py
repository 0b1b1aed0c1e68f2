"""One sentence for each step of a transfer, in the tense of its state."""

from datetime import datetime
from enum import StrEnum

from intents_ui.display.formatting import hashes, times
from intents_ui.display.formatting.sentences import Sentence, capitalized, fill
from intents_ui.display.tokens import providers, token_amounts
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.display.transfers.transfer import Transfer
from intents_ui.service.models import TransactionStatus
from intents_ui.service.outcome import UNDER_WAY, StepStatus, has_hash

ATTESTATIONS = {
    "CCTPV2_MESSAGE": "Waiting for Circle attestation of the burn on {origin}.",
    "LZ_COMPOSE": "Waiting for LayerZero to deliver the message from {origin}.",
    "LZ_RECEIVE": "Waiting for LayerZero to deliver the message from {origin}.",
    "HYPERLANE_PAY_FOR_GAS": "Waiting for Hyperlane to deliver the message from {origin}.",
}


class Tense(StrEnum):
    PAST = "past"
    PRESENT = "present"
    FUTURE = "future"
    NEVER = "never"
    IMPLIED = "implied"  # implied by a later step
    REPORTED = "reported"  # done according to the status, not to the step
    UNKNOWN = "unknown"


DEPOSIT = {
    Tense.PAST: "Received {arrived} at the deposit address on {arrived_on}{difference}.",
    Tense.PRESENT: "Waiting for {sent} at the deposit address on {origin}.",
    Tense.FUTURE: "{Sent} expected at the deposit address on {origin}.",
    Tense.NEVER: "No deposit{of_sent} seen on {origin}.",
    Tense.IMPLIED: "Deposit on {origin} (inferred from a later step).",
    Tense.REPORTED: "Reported as deposited on {origin}.",
    Tense.UNKNOWN: "Deposit status on {origin} unknown.",
}
DEPOSIT_NOT_REPORTED = "Received at the deposit address on {arrived_on}. Amount not reported."
# Why a deposit was not accepted: it reverted, a monitored one was too low, or it was never confirmed.
REVERTED = "Deposit reverted on {origin}."
NOT_COUNTED = "The full {amount} was not received on {origin}."
NOT_CONFIRMED = "Deposit{of_sent} not confirmed on {origin}."
ON_ITS_WAY = "{Sent} in transit to the deposit address on {origin}."
SWAP = {
    Tense.PAST: "Swapped on {origin} via {provider}.",
    Tense.PRESENT: "Swapping on {origin} via {provider}.",
    Tense.FUTURE: "Swap on {origin} via {provider} pending.",
    Tense.NEVER: "Not swapped on {origin}.",
    Tense.IMPLIED: "Swapped on {origin} (inferred from a later step).",
    Tense.REPORTED: "Reported as swapped on {origin}.",
    Tense.UNKNOWN: "Swap status on {origin} unknown.",
}
BRIDGE = {
    Tense.PAST: "Sent from {origin} to {provider}.",
    Tense.PRESENT: "Sending from {origin} to {provider}.",
    Tense.FUTURE: "Not sent yet from {origin} to {provider}.",
    Tense.NEVER: "Not sent from {origin}.",
    Tense.IMPLIED: "Sent from {origin} (inferred from a later step).",
    Tense.REPORTED: "Reported as sent from {origin}.",
    Tense.UNKNOWN: "Unknown whether the funds left {origin}.",
}
DELIVERY = {
    Tense.PAST: "{received} delivered on {destination}.",
    Tense.PRESENT: "Delivering {about} on {destination}.",
    Tense.FUTURE: "{About} expected on {destination}.",
    Tense.NEVER: "Not delivered on {destination}.",
    Tense.REPORTED: "Reported as delivered on {destination}.",
    Tense.UNKNOWN: "Unknown whether the funds were delivered on {destination}.",
}
AMOUNT_NOT_REPORTED = "Delivered on {destination}. Amount not reported."
# While a step is retried, or has an unrecognized status, only this much is certain.
NOT_YET = {
    "swap": "Not swapped yet on {origin}.",
    "bridge": "Not sent yet from {origin}.",
    "delivery": "Not delivered yet on {destination}.",
}
UNCERTAIN = frozenset({StepStatus.RETRYING, StepStatus.STRANGE})
RETURN = {
    Tense.PAST: "Refunded {refunded} to {to} on {refund}.",
    Tense.PRESENT: "Refunding {refunded} to {to} on {refund}.",
    Tense.NEVER: "Not refunded on {refund}.",
}


def price_held(until: datetime | None, *, now: datetime) -> str:
    if until is None:
        return "Quote expiry not reported."
    return Sentence("Quote valid until " if now < until else "Quote was valid until ", times.utc(until, now=now), ".")


class StepDescriber:
    """The sentences of one transfer."""

    def __init__(self, transfer: Transfer) -> None:
        self._transfer = transfer
        refund_chain = transfer.refund.chain_id if transfer.refund else None
        bridges = providers.labels(transfer.providers)
        about = self._about()
        self._words = {
            "origin": transfer.chain_name(transfer.origin_chain_id, unknown="the origin chain"),
            "destination": transfer.chain_name(transfer.destination_chain_id, unknown="the destination chain"),
            "refund": transfer.chain_name(refund_chain),
            "provider": bridges[-1] if bridges else "the route provider",  # of two, the last one
            "Sent": self._sum(transfer.requested, "The deposit"),
            "sent": self._sum(transfer.requested, "the deposit"),
            "amount": self._sum(transfer.requested, "deposit"),
            "of_sent": Sentence(" of ", self._sum(transfer.requested, ""))
            if transfer.requested.value is not None
            else "",
            "arrived": self._sum(transfer.reported_deposit, ""),
            "arrived_on": transfer.chain_name(transfer.reported_deposit.chain_id, unknown="the origin chain"),
            "difference": self._difference(),
            "received": self._sum(transfer.received, ""),
            "about": about,
            "About": capitalized(about),
            "refunded": self._sum(transfer.refunded, "the funds"),
            "to": self._refund_address(),
        }

    def deposit(self, tense: Tense) -> str:
        return fill(self._deposit_template(tense), self._words)

    def origin(self, tense: Tense) -> str:
        if tense is Tense.PRESENT and self._transfer.legs[1] in UNCERTAIN:
            return fill(NOT_YET["swap" if self._transfer.is_same_chain else "bridge"], self._words)
        return fill((SWAP if self._transfer.is_same_chain else BRIDGE)[tense], self._words)

    def destination(self, tense: Tense) -> str:
        """Return the destination's sentence. While it is on hold, the sentence says what it waits for."""
        return fill(self._destination_template(tense), self._words)

    def _deposit_template(self, tense: Tense) -> str:
        reached = self._transfer.legs[0]
        if tense is Tense.PRESENT and reached in UNDER_WAY:
            return ON_ITS_WAY
        if tense is Tense.PRESENT and reached is StepStatus.STRANGE:
            return DEPOSIT[Tense.UNKNOWN]
        if tense is Tense.PAST and not self._transfer.is_arrival_reported:
            return DEPOSIT_NOT_REPORTED
        return self._why_not_paid(reached) if tense is Tense.NEVER else DEPOSIT[tense]

    def _why_not_paid(self, reached: StepStatus) -> str:
        deposit = self._transfer.deposit
        if deposit is not None and deposit.status == TransactionStatus.REVERTED and has_hash(deposit):
            return REVERTED
        is_made = self._transfer.steps.is_deposit_made
        if reached is StepStatus.REJECTED and not is_made:
            return NOT_COUNTED
        was_seen = is_made or self._transfer.has_arrived
        return NOT_CONFIRMED if was_seen else DEPOSIT[Tense.NEVER]

    def _destination_template(self, tense: Tense) -> str:
        reached = self._transfer.legs[2]
        if tense is Tense.PRESENT and reached in UNCERTAIN:
            return NOT_YET["delivery"]
        if tense is Tense.PRESENT and reached in (StepStatus.WAITING, StepStatus.ABSENT):
            context = self._transfer.destination.context if self._transfer.destination else None
            on_hold = "Waiting for {provider} to deliver on {destination}."
            return ATTESTATIONS.get(context or "", on_hold)
        if tense is Tense.PAST and self._transfer.received.value is None:
            return AMOUNT_NOT_REPORTED
        return DELIVERY[tense]

    def _difference(self) -> str:
        """Return `, 3.00 USDC less than requested`, or "" if it is the requested amount or another token."""
        arrived, expected = self._transfer.reported_deposit, self._transfer.expected_deposit
        is_other = token_amounts.is_another_token(arrived, expected)
        if arrived.value is None or expected.value is None or is_other:
            return ""
        words = token_amounts.compared(arrived.value, expected.value, of=expected, than="requested")
        return Sentence(", ", words) if words else ""

    def _about(self) -> str:
        """Return an amount as an estimate: before the delivery every amount is one, even if the receipt has it."""
        for money in (self._transfer.expected, self._transfer.received):
            if money.value is not None:
                return Sentence("about ", self._sum(money, ""))
        return "the funds"

    def refund(self, tense: Tense) -> str:
        return fill(RETURN[tense], self._words)

    def _refund_address(self) -> str:
        refund, owner = self._transfer.refund, self._transfer.owner
        if refund is None or refund.to_address is None:
            return "an unknown address"
        if owner and refund.to_address.lower() == owner.lower():
            return "the owner"
        return hashes.short_address(refund.to_address)

    def _sum(self, money: Money, unknown: str) -> str:
        return unknown if money.value is None else money.amount.in_words
