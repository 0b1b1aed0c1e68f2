"""One sentence for each step of a transfer, in the tense of its state."""

from datetime import datetime
from enum import StrEnum

from intents_ui.display import hashes, names, providers, times, tokens
from intents_ui.display.facts import Facts, Money
from intents_ui.display.legs import UNDER_WAY, Leg, has_hash, is_made
from intents_ui.display.names import Names
from intents_ui.service.wire import TransactionStatus

ATTESTATIONS = {
    "CCTPV2_MESSAGE": "On hold: waiting for Circle to attest the burn on {origin}.",
    "LZ_COMPOSE": "On hold: waiting for LayerZero to carry the message from {origin}.",
    "LZ_RECEIVE": "On hold: waiting for LayerZero to carry the message from {origin}.",
    "HYPERLANE_PAY_FOR_GAS": "On hold: waiting for Hyperlane to carry the message from {origin}.",
}


class Tense(StrEnum):
    PAST = "past"
    PRESENT = "present"
    FUTURE = "future"
    NEVER = "never"
    IMPLIED = "implied"  # a later step could not have been without it
    REPORTED = "reported"  # the status says that it was done, the step itself does not
    UNKNOWN = "unknown"


DEPOSIT = {
    Tense.PAST: "{Sent} from the owner to the deposit address on {origin}.",
    Tense.PRESENT: "Waiting for {sent} at the deposit address on {origin}.",
    Tense.FUTURE: "{Sent} to be sent to the deposit address on {origin}.",
    Tense.NEVER: "{Sent} has not been seen at the deposit address on {origin}.",
    Tense.IMPLIED: "The payment came to {origin}, as a later step shows.",
    Tense.REPORTED: "Reported as paid on {origin}.",
    Tense.UNKNOWN: "Whether {sent} reached the deposit address on {origin} is not known.",
}
# Why a payment did not count: the chain refused it, a watched one was not enough, or it was never confirmed.
REVERTED = "The payment was rejected by the network on {origin}."
NOT_COUNTED = "The full {amount} was not counted at the deposit address on {origin}."
NOT_CONFIRMED = "{Sent} was not confirmed at the deposit address on {origin}."
ON_ITS_WAY = "{Sent} on its way to the deposit address on {origin}."
SWAP = {
    Tense.PAST: "Exchanged on {origin} through {provider}.",
    Tense.PRESENT: "Being exchanged on {origin} through {provider}.",
    Tense.FUTURE: "To be exchanged on {origin} through {provider}.",
    Tense.NEVER: "Not exchanged on {origin}.",
    Tense.IMPLIED: "Exchanged on {origin}, as a later step shows.",
    Tense.REPORTED: "Reported as exchanged on {origin}.",
    Tense.UNKNOWN: "Whether it was exchanged on {origin} is not known.",
}
BRIDGE = {
    Tense.PAST: "Sent from {origin} into {provider}.",
    Tense.PRESENT: "Being sent from {origin} into {provider}.",
    Tense.FUTURE: "To be sent from {origin} into {provider}.",
    Tense.NEVER: "Not sent from {origin}.",
    Tense.IMPLIED: "Sent from {origin}, as a later step shows.",
    Tense.REPORTED: "Reported as sent from {origin}.",
    Tense.UNKNOWN: "Whether it left {origin} is not known.",
}
DELIVERY = {
    Tense.PAST: "{received} delivered on {destination}.",
    Tense.PRESENT: "{expected} being delivered on {destination}.",
    Tense.FUTURE: "{expected} to be delivered on {destination}.",
    Tense.NEVER: "Not delivered on {destination}.",
    Tense.REPORTED: "Reported as delivered on {destination}.",
    Tense.UNKNOWN: "Whether it was delivered on {destination} is not known.",
}
AMOUNT_NOT_REPORTED = "Delivered on {destination}; the amount was not reported."
# While a step is tried again, or has a status that nobody knows, only this much is certain.
NOT_YET = {
    "swap": "Not exchanged yet on {origin}.",
    "bridge": "Not sent yet from {origin}.",
    "delivery": "Not delivered yet on {destination}.",
}
UNCERTAIN = frozenset({Leg.RETRYING, Leg.STRANGE})
RETURN = {
    Tense.PAST: "{refunded} returned to {to} on {refund}.",
    Tense.PRESENT: "{refunded} being returned to {to} on {refund}.",
    Tense.NEVER: "Not returned on {refund}.",
}


def price_held(until: datetime | None, *, now: datetime) -> str:
    if until is None:
        return "Until when the price is held was not given."
    return f"Price {'held' if now < until else 'was held'} until {times.utc(until, now=now)}."


def start_before(until: datetime | None, *, now: datetime) -> str:
    return f"To be started before {times.utc(until, now=now)}." if until else "Waiting to be started."


class Teller:
    """The sentences of one transfer."""

    def __init__(self, facts: Facts, *, using: Names) -> None:
        self._facts = facts
        self._using = using
        refund_chain = facts.refund.chain_id if facts.refund else None
        self._words = {
            "origin": self._chain(facts.origin_chain_id, "the origin chain"),
            "destination": self._chain(facts.destination_chain_id, "the destination chain"),
            "refund": self._chain(refund_chain, "a chain that was not named"),
            "provider": self._bridge(),
            "Sent": self._sum(facts.sent, "The payment"),
            "sent": self._sum(facts.sent, "the payment"),
            "amount": self._sum(facts.sent, "payment"),
            "received": self._sum(facts.received, ""),
            "expected": self._expected(),
            "refunded": self._sum(facts.refunded, "The money"),
            "to": self._refund_address(),
        }

    def deposit(self, tense: Tense) -> str:
        return self._deposit_template(tense).format_map(self._words)

    def origin(self, tense: Tense) -> str:
        if tense is Tense.PRESENT and self._facts.legs[1] in UNCERTAIN:
            return NOT_YET["swap" if self._facts.is_same_chain else "bridge"].format_map(self._words)
        return (SWAP if self._facts.is_same_chain else BRIDGE)[tense].format_map(self._words)

    def destination(self, tense: Tense) -> str:
        """While it is on hold, what it waits for is the news."""
        return self._destination_template(tense).format_map(self._words)

    def _deposit_template(self, tense: Tense) -> str:
        reached = self._facts.legs[0]
        if tense is Tense.PRESENT and reached in UNDER_WAY:
            return ON_ITS_WAY
        if tense is Tense.PRESENT and reached is Leg.STRANGE:
            return DEPOSIT[Tense.UNKNOWN]
        return self._why_not_paid(reached) if tense is Tense.NEVER else DEPOSIT[tense]

    def _why_not_paid(self, reached: Leg) -> str:
        deposit = self._facts.deposit
        if deposit is not None and deposit.status == TransactionStatus.REVERTED and has_hash(deposit):
            return REVERTED
        if reached is Leg.REJECTED and not is_made(deposit):
            return NOT_COUNTED
        was_seen = is_made(deposit) or self._facts.has_arrived
        return NOT_CONFIRMED if was_seen else DEPOSIT[Tense.NEVER]

    def _destination_template(self, tense: Tense) -> str:
        reached = self._facts.legs[2]
        if tense is Tense.PRESENT and reached in UNCERTAIN:
            return NOT_YET["delivery"]
        if tense is Tense.PRESENT and reached in (Leg.WAITING, Leg.ABSENT):
            context = self._facts.destination.context if self._facts.destination else None
            on_hold = "On hold: waiting for the money to come through {provider} to {destination}."
            return ATTESTATIONS.get(context or "", on_hold)
        if tense is Tense.PAST and self._facts.received.value is None:
            return AMOUNT_NOT_REPORTED
        return DELIVERY[tense]

    def _expected(self) -> str:
        """Before the delivery every sum is an estimate, also one that the receipt holds already."""
        for money in (self._facts.expected, self._facts.received):
            if money.value is not None:
                return f"About {self._sum(money, '')}"
        return "The money"

    def refund(self, tense: Tense) -> str:
        return RETURN[tense].format_map(self._words)

    def _bridge(self) -> str:
        """Of two providers the last is the bridge (domain.md 1.4)."""
        known = providers.labels(self._facts.providers)
        return known[-1] if known else "the route provider"

    def _refund_address(self) -> str:
        refund, owner = self._facts.refund, self._facts.owner
        if refund is None or refund.to_address is None:
            return "an address that was not named"
        if owner and refund.to_address.lower() == owner.lower():
            return "the owner"
        return hashes.short_address(refund.to_address)

    def _sum(self, money: Money, unknown: str) -> str:
        return unknown if money.value is None else str(tokens.amount(money, using=self._using))

    def _chain(self, chain_id: int | None, unknown: str) -> str:
        return names.chain(chain_id, info=self._using.chain(chain_id), unknown=unknown)
