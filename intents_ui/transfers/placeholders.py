"""Words for one transfer: the values of the placeholders in rows of messages.toml, where the funds are, and why a step
failed, which reasons.json words. What a reply calls differently is in reasons_in_replies.json.

Untrusted text is already sanitized. Only known reasons are explained, each matched as a whole: a reason is free text,
and nothing else in it is interpreted.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, ClassVar

from intents_ui import tables
from intents_ui.formatting import hashes, text, times
from intents_ui.formatting.text import Name, Sentence, capitalized, fill, listed
from intents_ui.formatting.times import MINUTE
from intents_ui.service.models import IntentStatus, IntentTransaction
from intents_ui.service.outcome import DEAD, UNDER_WAY, StepStatus, leg
from intents_ui.tokens import names, token_amounts
from intents_ui.tokens.token_amounts import Money
from intents_ui.transfers import rules
from intents_ui.transfers.deposits import DepositCheck
from intents_ui.transfers.rules import MESSAGES
from intents_ui.transfers.transfer import ETHEREUM, Holding, Place, Transfer, is_further

ADDRESSES = (Place.DEPOSIT_ADDRESS, Place.DELIVERY_ADDRESS)
PHRASES: Mapping[str, Mapping[str, Any]] = tables.read(__package__, "phrases.toml")
NOT_REPORTED = "amount not reported"
# Placeholders for one fact: its kind, how to read it, and the words for an unknown one.
FACTS = {
    name: (kind, attrgetter(fact), unknown)
    for kind in ("chain", "time", "amount")
    for name, (fact, unknown) in PHRASES[kind].items()
}


@dataclass(frozen=True, eq=False)
class Placeholders:
    """Values for one transfer by name. Clauses that may be "" begin with a blank. With a capital, a value begins so."""

    transfer: Transfer
    # What is worded differently for customers.
    owners_wallet: ClassVar = "the owner's wallet"
    addresses: ClassVar = "address"

    def __getitem__(self, name: str) -> str:
        transfer = self.transfer
        if name in FACTS:
            kind, read, unknown = FACTS[name]
            filled: str = getattr(self, kind)(read(transfer), unknown)
            return filled
        match name:
            # Chains, addresses and wallets
            case "either_chain":
                one, both = "{origin_chain}", "{origin_chain} or {destination_chain}"
                return fill(one if transfer.is_same_chain else both, self)
            case "last_chain":
                return self["destination_chain" if self._last_address is Place.DELIVERY_ADDRESS else "origin_chain"]
            case "last_address":
                return self.address(self._last_address)
            case "balance_address":
                if transfer.has_balance and transfer.holdings:
                    return self.holder(transfer.holdings[0])
                is_only_paid = not transfer.has_balance and transfer.paid
                return self.address(Place.DEPOSIT_ADDRESS if is_only_paid else Place.UNKNOWN)
            case "provider":
                # Of two providers, the last is the bridge.
                known = names.provider_labels(transfer.providers)
                return Name(known[-1]) if known else "the route provider"
            case "refund_to":
                return self.refund_to(self.owners_wallet, "an unknown wallet")
            case "to":
                return hashes.in_sentence(transfer.recipient)
            # What happens, and where the funds are
            case "running":
                place = transfer.place_by_steps
                is_swap = place is Place.DEPOSIT_ADDRESS and transfer.is_same_chain
                return self.phrase("running", "swap" if is_swap else place)
            case "first_step":
                # An empty deposit address shows that the step runs before the step does.
                is_running = transfer.legs[1] in UNDER_WAY or transfer.has_balance is False
                return fill(f"The first step on {{origin_chain}} {'is running' if is_running else 'is next'}.", self)
            case "amount_there":
                return self.amount_at(transfer.reached, is_seen=True)
            case "last_confirmed_place":
                return self.phrase("last_confirmed_place", transfer.reached)
            case "held_place":
                holdings = transfer.holdings if transfer.has_balance else ()
                amount = (": ", self.sums(holdings[0])) if holdings else ()
                return Sentence("At the ", self["balance_address"], *amount, ".")
            case "refund_place":
                at = transfer.place_after_a_failed_refund
                if at is Place.UNKNOWN:
                    return fill("Unknown: possibly on {either_chain}.", self)
                return Sentence("At the ", self.address(at), self.amount_at(at, is_seen=True), ".")
            case "settled":
                # The headline without regard to balances.
                return fill(MESSAGES[rules.key(transfer.without_balances())].headline, self)
            case "deposit_problem":
                return _deposit_problem(DepositCheck(transfer))
            # Times
            case "expected_by":
                return self._expected_by()
            case "usual_time":
                return self._expected_by() if transfer.due_at else " This usually takes less than a minute."
            case "confirmation_time":
                return "a few minutes" if transfer.origin_chain_id == ETHEREUM else "a few seconds"
            case "slow_max":
                return times.duration(transfer.allowance)
            case "escalation":
                until, changed_at = transfer.escalates_at(MESSAGES[rules.key(transfer)].minutes), transfer.last_change
                if until is None or changed_at is None:
                    return "Wait. If nothing changes, contact support."
                if transfer.has_come(until):
                    return f"Contact support now. Nothing has changed for {_rounded(transfer.now - changed_at)}."
                return Sentence("Wait. If nothing has changed by ", self.time(until, ""), ", contact support.")
            case "age":
                return _rounded(transfer.now - transfer.last_change) if transfer.last_change else "a long time"
            # Amounts and tokens
            case "of_sent":
                return fill(" of {sent}", self) if transfer.requested.value is not None else ""
            case "difference":
                arrived, asked = transfer.reported_deposit, transfer.expected_deposit
                is_other = token_amounts.is_another_token(arrived, asked)
                words = "" if is_other else token_amounts.compared(arrived.value, asked, "requested")
                return Sentence(", ", words) if words else ""
            case "about":
                # Before the delivery every amount is an estimate, even if the receipt has it.
                about = transfer.expected.in_words("") or transfer.received.in_words("")
                return Sentence("about ", about) if about else "the funds"
            case "expected":
                expected = transfer.expected.in_words("")
                return Sentence(", but about ", expected, " was expected") if expected else ""
            case "refunded_to":
                return self.refund_to("the owner", "an unknown address")
            case "refund_token":
                token, instead = _token(transfer.refunded), self["instead"]
                return Sentence(" The refund is in ", token, instead, ".") if instead else ""
            case "instead":
                sent, refunded = transfer.sent, transfer.refunded
                if sent.token_address is None or refunded.token_address is None:
                    return ""
                # On another chain, the same token has another address.
                is_another = sent.chain_id != refunded.chain_id or token_amounts.is_another_token(sent, refunded)
                is_told = is_another and _token(sent) != _token(refunded)
                return Sentence(" instead of ", _token(sent)) if is_told else ""
            case "balance":
                return self.sums(transfer.holdings[0]) if transfer.holdings else "an unknown amount"
            case "symbol":
                return Name(transfer.received.called) if transfer.received.called else "the received token"
            # The status
            case "status_word":
                return transfer.shown_status.word
            case _ if name[0].isupper():
                return capitalized(self[name.lower()])
            case _:
                raise KeyError(name)

    # Parts of values

    def phrase(self, name: str, place: str) -> str:
        """Return the phrase of this name for a place, or for another place that it names."""
        phrases = PHRASES[name]
        return fill(phrases.get(place) or phrases["other"], self)

    def chain(self, chain_id: int | None, unknown: str) -> str:
        return unknown if chain_id is None else Name(self.transfer.chain_name(chain_id))

    def address(self, at: Place) -> str:
        return self.phrase(self.addresses, at)

    def holder(self, held: Holding) -> str:
        if held.at is not Place.UNKNOWN:
            return self.address(held.at)
        chain = self.chain(held.chain_id, "an unnamed chain")
        return Sentence("address ", hashes.in_sentence(held.address), " on ", chain)

    def time(self, at: datetime | None, unknown: str) -> str:
        """Return the time to the second: a deadline of 14:04:59 has not passed at 14:04."""
        return times.utc(at, now=self.transfer.now) if at else unknown

    def amount(self, money: Money, unknown: str) -> str:
        return money.in_words(unknown)

    def sums(self, held: Holding) -> str:
        return listed([money.in_words(NOT_REPORTED) for money in held.sums])

    def refund_to(self, owner: str, unknown: str) -> str:
        """Return the wallet that a refund went to, or the words for the owner's."""
        to = self.transfer.refund.to_address if self.transfer.refund else None
        if to is None:
            return unknown
        return owner if token_amounts.is_same_address(to, self.transfer.owner) else hashes.in_sentence(to)

    # Where the funds are

    def left(self, place: Place) -> str:
        """Return where funds are that are no longer at the last step's address."""
        if self.transfer.steps.has_dead_step:
            return Sentence("No longer at the ", self.address(place), ".")
        if place is Place.DEPOSIT_ADDRESS and not self.transfer.is_same_chain:
            return fill("Sent from {origin_chain}, not yet seen on {destination_chain}.", self)
        return fill("Sent to the recipient's wallet on {destination_chain}, not yet seen there.", self)

    def amount_at(self, place: Place, *, is_seen: bool = False) -> str:
        """Return the amount at a place: `99.50 USDC`, `about 99.50 USDC` if it is only expected, "" if unknown.

        `is_seen`: `: 99.50 USDC`, or "" if it is only expected.
        """
        money, is_estimate = _money(place, self.transfer)
        amount = money.in_words("") if money else ""
        if amount and is_seen:
            return "" if is_estimate else Sentence(": ", amount)
        return Sentence("about ", amount) if amount and is_estimate else amount

    def finding(self, place: Place) -> str:
        """Return the balances of the intent addresses, and what they mean for funds at this place by the steps."""
        transfer = self.transfer
        if transfer.has_balance is None:
            return ""
        by_steps, start = transfer.place_by_steps, transfer.start_of_the_return
        is_reported = transfer.status == IntentStatus.REFUNDED and transfer.returning is StepStatus.ABSENT
        if transfer.returning is StepStatus.DONE or is_reported:
            by_steps = Place.RETURNED
        elif start is not Place.UNKNOWN and (place is Place.RETURNING or transfer.returning in DEAD):
            by_steps = start  # funds being refunded may still be there
        has_steps = not (transfer.is_unread or transfer.lacks_its_receipt)
        is_at_address = has_steps and by_steps in ADDRESSES
        if not transfer.has_balance:
            if is_at_address and place is not Place.RETURNING:
                return Sentence("The ", self.address(by_steps), " is empty, so the funds have moved on.")
            return "The deposit address is empty." if transfer.is_same_chain else "Both intent addresses are empty."
        held = [Sentence(self.sums(each), " at the ", self.holder(each)) for each in transfer.holdings]
        unknown = Sentence("an unknown amount at the ", self.address(Place.UNKNOWN))
        found, at = Sentence("On-chain balances: ", listed(held or [unknown]), "."), transfer.held_at
        may_be_there = is_at_address and (at is Place.UNKNOWN or transfer.is_same_chain)
        is_ahead = by_steps is Place.OWNER or is_further(at, by_steps)
        if not has_steps or at is by_steps or may_be_there or is_ahead:
            return found
        return Sentence(found, " The recorded steps show the funds moved on from there.")

    @property
    def _last_address(self) -> Place:
        is_over_there = self.transfer.place_by_steps is Place.DELIVERY_ADDRESS and not self.transfer.is_same_chain
        return Place.DELIVERY_ADDRESS if is_over_there else Place.DEPOSIT_ADDRESS

    # Longer values

    def _expected_by(self) -> str:
        if self.transfer.is_listed:
            return ""
        if not self.transfer.has_come(self.transfer.due_at):
            return fill(" Expected by {eta}.", self)
        late_at = self.transfer.late_at
        is_ahead = late_at is not None and not self.transfer.has_come(late_at)
        until = (", but it can take until ", self.time(late_at, "")) if is_ahead else ()
        return Sentence(" It was expected by ", self["eta"], *until, ".")


def _deposit_problem(check: DepositCheck) -> str:
    """Return what is wrong with the deposit: `is 0.50 USDC below the minimum of 100.00 USDC`."""
    expected, late_by = check.expected, check.late_by
    match check.mismatch:
        case "chain":
            chain = check.transfer.chain_name(expected.chain_id, unknown="another chain")
            return Sentence("was expected on ", Name(chain))
        case "token":
            token = text.symbol(expected.symbol).shown if expected.symbol else "another token"
            address = "" if expected.is_coin else f" ({hashes.short_address(expected.token_address)})"
            return Sentence("was expected in ", Name(token), address)
        case "too little":
            # The token's warnings are beside the deposit.
            lacking, least = (
                replace(expected, value=value).amount.without_warning for value in (check.lacking, check.least)
            )
            return Sentence("is ", lacking, " below the minimum of ", least)
    if late_by and late_by > timedelta():
        return f"was confirmed {times.duration(late_by)} after the deadline"
    return "wasn't accepted" if check.transfer.is_over else "hasn't been accepted"


def _money(place: Place, transfer: Transfer) -> tuple[Money | None, bool]:
    """Return the amount at a place, and whether it is only an estimate."""
    _, origin, destination = transfer.legs
    if place in ADDRESSES and place is transfer.held_at:
        held = transfer.holdings[0].sums
        return held[0] if len(held) == 1 else None, False
    match place:
        case Place.OWNER:
            return transfer.requested, False
        case Place.DEPOSIT_ADDRESS:
            is_told = transfer.deposit is not None and transfer.deposit.token_amount is not None
            return transfer.reported_deposit if is_told else transfer.requested, not transfer.is_arrival_reported
        case Place.PROVIDER:
            # Between a swap and a bridge it is another token, in an unreported amount.
            is_known = len(transfer.providers) == 1 and origin is StepStatus.DONE
            return transfer.sent if is_known else None, True
        case Place.DELIVERY_ADDRESS:
            return transfer.expected, destination is not StepStatus.DONE
        case Place.RECIPIENT:
            is_reported = transfer.received.value is not None
            return transfer.received if is_reported else transfer.expected, not is_reported
        case Place.RETURNING | Place.RETURNED:
            return transfer.refunded, False
        case _:
            return None, False


def _token(money: Money) -> str:
    return Name(money.called or hashes.short_address(money.token_address))


def _rounded(age: timedelta) -> str:
    """Return a duration in whole minutes if it is some."""
    return times.duration(age // MINUTE * MINUTE if age >= MINUTE else age)


REASONS: Mapping[str, str] = tables.read(__package__, "reasons.json")
REASONS_IN_REPLIES: Mapping[str, str] = {**REASONS, **tables.read(__package__, "reasons_in_replies.json")}
PAUSED = ("token paused", "refund reverted: token paused")
CALL_FAILED = "TargetCallFailed"
# A uint256 has at most 78 digits.
UNDERFUNDED = re.compile(r"precondition not met: balance ([0-9]{1,78}) < ([0-9]{1,78})")
NOT_SENT = re.compile(r"aborted: not sent within (?:([0-9]{1,4})h)?(?:([0-9]{1,4})m)?(?:([0-9]{1,4})s)?")


def reason_of_step(transaction: IntentTransaction | None, transfer: Transfer, *, in_reply: bool = False) -> str:
    """Return why a step failed or waits, or "" for an unknown reason."""
    if transaction is None or not transaction.status_reason:
        return ""
    needed = _needed_by(transaction, transfer)
    return explain(transaction.status_reason, needed, in_reply=in_reply)


def reason_of_failure(transfer: Transfer) -> str:
    """Return why the refund or else the first step failed, or "" for an unknown reason."""
    steps = (transfer.refund, transfer.deposit, transfer.origin, transfer.destination)
    failed = (step for step in steps if step and step.status_reason == transfer.failure_reason)
    return reason_of_step(next(failed, None), transfer)


def reason_for_customer(transfer: Transfer) -> str:
    """Return why a transfer failed, in words for its owner, or "" if that is unknown."""
    steps = (transfer.deposit, transfer.origin, transfer.destination)
    failed = (each for each in steps if each and each.status_reason and leg(each) in DEAD)
    return reason_of_step(next(failed, None), transfer, in_reply=True)


def explain(reason: str, needed: Money, *, in_reply: bool = False) -> str:
    """Return the explanation of a reason. `needed` is the token that the step works with, on the step's chain."""
    reasons = REASONS_IN_REPLIES if in_reply else REASONS
    known = CALL_FAILED if reason.startswith(f"{CALL_FAILED}: ") else reason
    if known in reasons:
        return _worded(reasons[known], needed)
    if underfunded := UNDERFUNDED.fullmatch(reason):
        balance, least = int(underfunded[1]), int(underfunded[2])
        arrived, missing, required = (replace(needed, value=each).amount for each in (balance, least - balance, least))
        less, whole = missing.without_warning, required.without_warning
        words = Sentence(arrived.in_words, " arrived, ", less, " less than the ", whole, " that the step needs.")
        return words if balance < least else ""
    if not_sent := NOT_SENT.fullmatch(reason):
        hours, minutes, seconds = (int(figure or 0) for figure in not_sent.groups())
        length = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        opening = "One of its steps wasn't submitted" if in_reply else "Not sent"
        return f"{opening} within {times.duration(length)}." if length else ""
    return ""


def no_recovery(transfer: Transfer) -> str:
    """Return why the owner can't recover funds whose refund failed (their token is paused), otherwise ""."""
    refund = transfer.refund
    if refund is None or transfer.returning not in DEAD or refund.status_reason not in PAUSED:
        return ""
    return _worded("Recovery isn't possible while {token} is paused on {chain}.", _needed_by(refund, transfer))


def _worded(template: str, needed: Money) -> str:
    chain = names.of_chain(needed.chain_id, using=needed.names, unknown="its chain")
    return template.format(chain=chain, token=needed.called or "the token")


def _needed_by(transaction: IntentTransaction, transfer: Transfer) -> Money:
    condition = transaction.precondition
    if transaction is transfer.refund:
        return replace(transfer.refunded, value=None)
    if condition and condition.token_address and condition.chain_id is not None:
        return transfer.money(None, condition.chain_id, condition.token_address)
    return replace(transfer.expected if transaction is transfer.destination else transfer.requested, value=None)
