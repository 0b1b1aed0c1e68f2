"""One sentence for each step of a transfer, in the tense of its state."""

from datetime import datetime
from enum import StrEnum

from intents_ui.display.formatting import hashes, times
from intents_ui.display.formatting.sentences import Sentence, capitalized, fill
from intents_ui.display.summary.placeholders import Placeholders
from intents_ui.display.tokens import token_amounts
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.service.models import TransactionStatus
from intents_ui.service.outcome import UNDER_WAY, StepStatus, has_hash

ATTESTATIONS = {
    "CCTPV2_MESSAGE": "Waiting for Circle attestation of the burn on {origin_chain}.",
    "LZ_COMPOSE": "Waiting for LayerZero to deliver the message from {origin_chain}.",
    "LZ_RECEIVE": "Waiting for LayerZero to deliver the message from {origin_chain}.",
    "HYPERLANE_PAY_FOR_GAS": "Waiting for Hyperlane to deliver the message from {origin_chain}.",
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
    Tense.PRESENT: "Waiting for {sent} at the deposit address on {origin_chain}.",
    Tense.FUTURE: "{Sent} expected at the deposit address on {origin_chain}.",
    Tense.NEVER: "No deposit{of_sent} seen on {origin_chain}.",
    Tense.IMPLIED: "Deposit on {origin_chain} (inferred from a later step).",
    Tense.REPORTED: "Reported as deposited on {origin_chain}.",
    Tense.UNKNOWN: "Deposit status on {origin_chain} unknown.",
}
DEPOSIT_NOT_REPORTED = "Received at the deposit address on {arrived_on}. Amount not reported."
# Why a deposit was not accepted: it reverted, a monitored one was too low, or it was never confirmed.
REVERTED = "Deposit reverted on {origin_chain}."
NOT_COUNTED = "The full {amount} was not received on {origin_chain}."
NOT_CONFIRMED = "Deposit{of_sent} not confirmed on {origin_chain}."
ON_ITS_WAY = "{Sent} in transit to the deposit address on {origin_chain}."
SWAP = {
    Tense.PAST: "Swapped on {origin_chain} via {provider}.",
    Tense.PRESENT: "Swapping on {origin_chain} via {provider}.",
    Tense.FUTURE: "Swap on {origin_chain} via {provider} pending.",
    Tense.NEVER: "Not swapped on {origin_chain}.",
    Tense.IMPLIED: "Swapped on {origin_chain} (inferred from a later step).",
    Tense.REPORTED: "Reported as swapped on {origin_chain}.",
    Tense.UNKNOWN: "Swap status on {origin_chain} unknown.",
}
BRIDGE = {
    Tense.PAST: "Sent from {origin_chain} to {provider}.",
    Tense.PRESENT: "Sending from {origin_chain} to {provider}.",
    Tense.FUTURE: "Not sent yet from {origin_chain} to {provider}.",
    Tense.NEVER: "Not sent from {origin_chain}.",
    Tense.IMPLIED: "Sent from {origin_chain} (inferred from a later step).",
    Tense.REPORTED: "Reported as sent from {origin_chain}.",
    Tense.UNKNOWN: "Unknown whether the funds left {origin_chain}.",
}
DELIVERY = {
    Tense.PAST: "{received} delivered on {destination_chain}.",
    Tense.PRESENT: "Delivering {about} on {destination_chain}.",
    Tense.FUTURE: "{About} expected on {destination_chain}.",
    Tense.NEVER: "Not delivered on {destination_chain}.",
    Tense.REPORTED: "Reported as delivered on {destination_chain}.",
    Tense.UNKNOWN: "Unknown whether the funds were delivered on {destination_chain}.",
}
AMOUNT_NOT_REPORTED = "Delivered on {destination_chain}. Amount not reported."
# While a step is retried, or has an unrecognized status, only this much is certain.
NOT_YET = {
    "swap": "Not swapped yet on {origin_chain}.",
    "bridge": "Not sent yet from {origin_chain}.",
    "delivery": "Not delivered yet on {destination_chain}.",
}
UNCERTAIN = frozenset({StepStatus.RETRYING, StepStatus.STRANGE})
RETURN = {
    Tense.PAST: "Refunded {refunded} to {refunded_to} on {refunded_on}.",
    Tense.PRESENT: "Refunding {refunded} to {refunded_to} on {refunded_on}.",
    Tense.NEVER: "Not refunded on {refunded_on}.",
}


def price_held(until: datetime | None, *, now: datetime) -> str:
    if until is None:
        return "Quote expiry not reported."
    return Sentence("Quote valid until " if now < until else "Quote was valid until ", times.utc(until, now=now), ".")


class StepDescriber(Placeholders):
    """The sentences of one transfer's steps."""

    def __getitem__(self, name: str) -> str:
        transfer = self.transfer
        match name:
            case "sent":
                return self._sum(transfer.requested, "the deposit")
            case "Sent":
                return capitalized(self["sent"])
            case "amount":
                return self._sum(transfer.requested, "deposit")
            case "of_sent":
                return fill(" of {sent}", self) if transfer.requested.value is not None else ""
            case "arrived":
                return self.amount(transfer.reported_deposit)
            case "arrived_on":
                return self.chain(transfer.reported_deposit.chain_id, "the origin chain")
            case "difference":
                return self._difference()
            case "about":
                # Before the delivery every amount is an estimate, even if the receipt has it.
                known = [money for money in (transfer.expected, transfer.received) if money.value is not None]
                return Sentence("about ", self.amount(known[0])) if known else "the funds"
            case "About":
                return capitalized(self["about"])
            case "refunded":
                return self._sum(transfer.refunded, "the funds")
            case "refunded_on":
                return transfer.chain_name(transfer.refund.chain_id if transfer.refund else None)
            case "refunded_to":
                return self._refund_address()
            case _:
                return super().__getitem__(name)

    def deposit(self, tense: Tense) -> str:
        """Return the deposit's sentence. If it was not accepted, the sentence says why."""
        reached = self.transfer.legs[0]
        template = DEPOSIT[tense]
        if tense is Tense.PRESENT and reached in UNDER_WAY:
            template = ON_ITS_WAY
        elif tense is Tense.PRESENT and reached is StepStatus.STRANGE:
            template = DEPOSIT[Tense.UNKNOWN]
        elif tense is Tense.PAST and not self.transfer.is_arrival_reported:
            template = DEPOSIT_NOT_REPORTED
        elif tense is Tense.NEVER:
            template = self._why_not_paid()
        return fill(template, self)

    def origin(self, tense: Tense) -> str:
        if tense is Tense.PRESENT and self.transfer.legs[1] in UNCERTAIN:
            return fill(NOT_YET["swap" if self.transfer.is_same_chain else "bridge"], self)
        return fill((SWAP if self.transfer.is_same_chain else BRIDGE)[tense], self)

    def destination(self, tense: Tense) -> str:
        """Return the destination's sentence. While it is on hold, the sentence says what it waits for."""
        reached, destination = self.transfer.legs[2], self.transfer.destination
        template = DELIVERY[tense]
        if tense is Tense.PRESENT and reached in UNCERTAIN:
            template = NOT_YET["delivery"]
        elif tense is Tense.PRESENT and reached in (StepStatus.WAITING, StepStatus.ABSENT):
            on_hold = "Waiting for {provider} to deliver on {destination_chain}."
            template = ATTESTATIONS.get((destination and destination.context) or "", on_hold)
        elif tense is Tense.PAST and self.transfer.received.value is None:
            template = AMOUNT_NOT_REPORTED
        return fill(template, self)

    def refund(self, tense: Tense) -> str:
        return fill(RETURN[tense], self)

    def _why_not_paid(self) -> str:
        transfer, deposit = self.transfer, self.transfer.deposit
        if deposit is not None and deposit.status == TransactionStatus.REVERTED and has_hash(deposit):
            return REVERTED
        if transfer.was_not_counted:
            return NOT_COUNTED
        return NOT_CONFIRMED if transfer.steps.is_deposit_made or transfer.has_arrived else DEPOSIT[Tense.NEVER]

    def _difference(self) -> str:
        """Return `, 3.00 USDC less than requested`, or "" if it is the requested amount or another token."""
        arrived, expected = self.transfer.reported_deposit, self.transfer.expected_deposit
        is_other = token_amounts.is_another_token(arrived, expected)
        if arrived.value is None or expected.value is None or is_other:
            return ""
        words = token_amounts.compared(arrived.value, expected.value, of=expected, than="requested")
        return Sentence(", ", words) if words else ""

    def _refund_address(self) -> str:
        refund, owner = self.transfer.refund, self.transfer.owner
        if refund is None or refund.to_address is None:
            return "an unknown address"
        if owner and refund.to_address.lower() == owner.lower():
            return "the owner"
        return hashes.short_address(refund.to_address)

    def _sum(self, money: Money, unknown: str) -> str:
        return unknown if money.value is None else money.amount.in_words
