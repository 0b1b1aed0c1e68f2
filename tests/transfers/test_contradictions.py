"""Nothing that is said about one transfer contradicts anything else that is said about it.

The transfers are generated: every status, steps, refunds, balances and moments in combination. Each is built once, and
each rule compares two of its parts: headline, place, next step, actor, deadline, attention, route, timeline, reply,
escalation, deposit check and comparison with the quote.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import cache, cached_property

import pytest

from intents_ui.service.models import DepositTransaction, IntentProviderQuote
from intents_ui.service.outcome import StepStatus
from intents_ui.transfers import comparison, deposits, rules, statuses, timeline
from intents_ui.transfers import summary as summaries
from intents_ui.transfers.comparison import Result
from intents_ui.transfers.rules import Actor, Attention, Cause, Certainty, Help
from intents_ui.transfers.statuses import Tone
from intents_ui.transfers.timeline import REFUND_PLACES, Name, Reached, StepState
from intents_ui.transfers.transfer import UNCHECKED, Balances, Check, Place, Transfer
from intents_ui.web import customer_reply
from intents_ui.web.customer_reply import Escalation
from tests.tables import toml
from tests.transfers.builders import ARBITRUM, USDC, at, intent
from tests.transfers.states import steps_in_order
from tests.transfers.test_agreement import quarrel
from tests.transfers.test_customer_reply import plain, problems
from tests.transfers.test_every_state import ADDRESSES, BASE, EXPIRES_AT, OWNER, STATUSES, UNKNOWN, cases

PAUSED = "refund reverted: token paused"
QUOTE = IntentProviderQuote(
    from_amount=100_000_000, from_amount_min=99_000_000, to_amount=99_910_000, to_amount_min=99_000_000,
    estimated_duration=12,
)  # fmt: skip
INTENT = intent(
    None,
    owner_address=OWNER,
    origin_intent_address=ADDRESSES[ARBITRUM],
    destination_intent_address=ADDRESSES[BASE],
    expires_at=EXPIRES_AT,
    quote=QUOTE,
    deposit_transaction=DepositTransaction(
        to_address=ADDRESSES[ARBITRUM], token_address=USDC, amount=100_000_000, chain_id=ARBITRUM, decimals=6
    ),
)
# Of every third transfer the usual duration on its route is known.
LATE_ON_ITS_ROUTE = timedelta(minutes=30)
RECOVERY = Help(rules.RECOVER_IN_THE_APP)
AMOUNT_DELIVERED = re.compile(r"^\d.* delivered|^Received \d")
PATTERNS = {name: re.compile(pattern) for name, pattern in toml(__file__, "said").items()}


class Surfaces:
    """Everything that is said about one transfer."""

    def __init__(self, transfer: Transfer) -> None:
        self.transfer = transfer
        self.told = summaries.of(transfer)
        self.compared = comparison.of(transfer)
        self.reply = customer_reply.body(transfer)
        self.said = f"{self.told.headline}. {self.told.sentence} {self.told.location}"
        self.advice = " ".join((self.told.next_step, *(each.words for each in self.told.help)))
        self.checked = {row.label: row for row in deposits.DepositCheck(transfer).rows}
        self.steps = {step.name: step for step in timeline.of(transfer).steps}
        self.stops = {stop.place: stop.reached for stop in timeline.stops(transfer)}
        self.here = [place for place, reached in self.stops.items() if reached in (Reached.HERE, Reached.EXPECTED)]
        self.is_confirmed = self.told.certainty is Certainty.CONFIRMED

    def found(self, label: str) -> str:
        return self.checked[label].found if label in self.checked else ""

    @cached_property
    def escalation(self) -> str:
        return Escalation(self.transfer, "").written()

    def is_ahead(self, place: Place) -> bool:
        """Return whether the route says that the funds have not been at this place."""
        return self.stops.get(place) in (Reached.AHEAD, Reached.NEVER)

    @property
    def has_deposit(self) -> bool:
        """Return whether a step shows a deposit, confirmed or not."""
        return self.transfer.has_arrived or self.transfer.paid

    @property
    def is_waiting(self) -> bool:
        return "Waiting for" in self.steps[Name.DEPOSIT].sentence

    @property
    def is_open(self) -> bool:
        return statuses.is_open(self.transfer.status)

    @property
    def is_late(self) -> bool:
        return self.transfer.is_late or self.compared.result is Result.DELAYED

    @property
    def is_empty(self) -> bool:
        return self.transfer.has_balance is False


def surfaces(status: str) -> Iterator[tuple[str, Surfaces]]:
    """Yield each generated transfer of a status. The token of every second failed refund is paused."""
    number = 0
    for same_chain in (False, True):
        for case, made, (held, balances), now in cases(status, same_chain=same_chain, combine=steps_in_order):
            number += 1
            of_receipt = plain(made)
            if of_receipt.refund_transaction and case.refund == "FAILED" and number % 2:
                reason = {"status_reason": PAUSED, "token_address": USDC}
                paused = of_receipt.refund_transaction.model_copy(update=reason)
                of_receipt = of_receipt.model_copy(update={"refund_transaction": paused})
            found = UNCHECKED if held is None else Balances(Check.CHECKED, held, balances, now)
            transfer = at(INTENT, of_receipt, now=now).at(now, found)
            if number % 3 == 0:
                transfer = replace(transfer, late_after=LATE_ON_ITS_ROUTE)
            if number % 5 == 0 and of_receipt.summary:
                bare = of_receipt.summary.model_copy(update={"destination_token_amount": None})
                transfer = replace(transfer, receipt=of_receipt.model_copy(update={"summary": bare}))
            yield f"{case} {held} {now}", Surfaces(transfer)


@cache  # few sentences are said about many transfers
def matches(name: str, words: str) -> bool:
    return bool(PATTERNS[name].search(words))


def is_blocked(of: Surfaces) -> bool:
    return matches("no_recovery", of.told.next_step)


# By name, when a transfer breaks the rule.
RULES: dict[str, Callable[[Surfaces], bool]] = {
    # Advice and obstacle
    "recovery is advised where it isn't possible": lambda of: (
        is_blocked(of) and (matches("recover", of.told.next_step) or RECOVERY in of.told.help)
    ),
    "a failed refund is expected": lambda of: of.told.cause is Cause.REFUND_FAILED and matches("refund_comes", of.said),
    "a closed transfer goes on by itself": lambda of: not of.is_open and matches("automatic", of.advice),
    # Warning and order
    "a second deposit is warned of and ordered": lambda of: (
        of.told.row.warn_second_deposit and matches("pays", of.told.next_step)
    ),
    "a second deposit is warned of, and any deposit": lambda of: (
        of.told.row.warn_second_deposit and matches("sends_nothing", f"{of.advice} {of.reply}")
    ),
    "an overdue step is as usual": lambda of: (
        of.transfer.has_arrived
        and of.transfer.has_come(of.transfer.due_at)
        and matches("usual", f"{of.advice} {of.compared.text} {of.reply}")
    ),
    # Received and not found
    "a deposit was received and not found": lambda of: matches("received", of.said) and matches("no_deposit", of.said),
    "a confirmed deposit isn't found": lambda of: of.transfer.has_arrived and matches("no_deposit", of.said),
    # Actor and next step
    "nobody is to act, but someone is told to": lambda of: (
        of.told.who is Actor.NONE and not matches("waits", of.told.next_step)
    ),
    "someone is to act, but all are told to wait": lambda of: (
        of.told.who is not Actor.NONE and matches("waits", of.told.next_step)
    ),
    "the payer is to act, but isn't told to": lambda of: (
        of.told.who is Actor.PAYER and not matches("pays", of.told.next_step)
    ),
    "the owner is to act, but isn't told to": lambda of: (
        of.told.who is Actor.OWNER and not matches("owner_acts", of.told.next_step)
    ),
    "the owner is told to act, but another is to": lambda of: (
        of.told.who is not Actor.OWNER and matches("owner_acts", of.told.next_step)
    ),
    "support is to act, but isn't mentioned": lambda of: (
        of.told.who is Actor.SUPPORT and not matches("support", of.told.next_step)
    ),
    "support is asked now, but isn't to act": lambda of: (
        of.told.who is not Actor.SUPPORT and matches("now", of.told.next_step)
    ),
    # Attention
    "attention without anything to do": lambda of: of.told.attention is Attention.ACT and of.told.who is Actor.NONE,
    "attention without a cause": lambda of: (of.told.attention is Attention.NONE) != (of.told.cause is Cause.NONE),
    # Late and usual
    "late, and as usual": lambda of: of.is_late and matches("usual", f"{of.said} {of.advice}"),
    "late, without a time to wait for": lambda of: (
        of.is_late
        and matches("waits", of.told.next_step)
        and of.told.deadline is None
        and "UTC" not in of.told.next_step
    ),
    "a deadline that has passed": lambda of: of.told.deadline is not None and of.told.deadline <= of.transfer.now,
    # Empty addresses
    "funds are at an empty address": lambda of: of.is_empty and matches("at_an_address", of.told.location),
    "funds are recovered from an empty address": lambda of: (
        of.is_empty and (matches("recover", of.told.next_step) or RECOVERY in of.told.help)
    ),
    "the funds are confirmed at an empty address": lambda of: (
        of.is_empty and of.told.place in (Place.DEPOSIT_ADDRESS, Place.DELIVERY_ADDRESS) and of.is_confirmed
    ),
    "an amount at an empty address": lambda of: of.is_empty and matches("holds", of.said),
    # Once is enough
    "says twice that an address is empty": lambda of: (
        len(re.findall(r"\bempty\b", f"{of.told.sentence} {of.told.location} {of.told.finding}")) > 1
    ),
    "says the status twice, or not at all": lambda of: (
        of.transfer.status != UNKNOWN
        and (of.told.status.word.lower() in of.told.headline.lower())
        != (of.told.headline_with_status == of.told.headline)
    ),
    "the headline is the status, and another one": lambda of: (
        (of.told.status.word.lower() == of.told.headline.lower()) != (of.told.row_headline == "")
    ),
    "names the status in the headline and in the sentence": lambda of: (
        of.told.says_the_status and f"The status is {of.told.status.word}" in of.told.sentence
    ),
    "a balance confirms an amount that isn't named": lambda of: (
        of.told.is_confirmed_by_balance and of.told.amount not in of.told.location
    ),
    # Deposit check
    "check: an amount of a deposit that wasn't found": lambda of: (
        of.is_empty and matches("no_deposit", of.said) and matches("amount", of.found("Amount"))
    ),
    "check: nothing found of a deposit that was received": lambda of: (
        of.transfer.legs[0] is StepStatus.DONE and of.found("Amount") == "nothing"
    ),
    "check: confirmed, although not found": lambda of: (
        matches("no_deposit", of.said)
        and "Transaction" in of.checked
        and of.checked["Transaction"].state == "confirmed"
    ),
    # Comparison with the quote
    "comparison: on track, although late": lambda of: of.is_late and of.compared.result is Result.ON_TRACK,
    "comparison: delayed, although on time": lambda of: (
        of.compared.result is Result.DELAYED and matches("usual", of.told.next_step)
    ),
    "comparison: no deposit, although received": lambda of: (
        matches("received", of.said) and of.compared.result is Result.NO_DEPOSIT
    ),
    "comparison: nothing, although delivered": lambda of: (
        of.told.place is Place.RECIPIENT
        and of.compared.result in (Result.NOT_DELIVERED, Result.REFUNDED, Result.NO_DEPOSIT)
    ),
    "comparison: refunded, although the funds are elsewhere": lambda of: (
        of.compared.result is Result.REFUNDED and of.told.place is not Place.RETURNED
    ),
    "comparison: delayed, although the headline isn't": lambda of: (
        of.compared.result is Result.DELAYED and of.told.headline in (of.told.words["running"], "Bridging to Base")
    ),
    "comparison: green, although not confirmed": lambda of: (
        Tone.GOOD in (of.compared.shown.tone, *(row.shown.tone for row in of.compared.rows))
        and not (of.told.place is Place.RECIPIENT and of.is_confirmed)
    ),
    "comparison: a result, although sources conflict": lambda of: (
        of.told.certainty is Certainty.CONFLICTING
        and of.told.key != "refunded.elsewhere"
        and of.compared.result is not Result.UNKNOWN
    ),
    "comparison: on track, although over or not confirmed": lambda of: (
        of.compared.result is Result.ON_TRACK and (of.transfer.is_over or not of.is_confirmed)
    ),
    "comparison: no deposit, although the funds are on their way": lambda of: (
        of.compared.result is Result.NO_DEPOSIT and of.told.place not in (Place.OWNER, Place.UNKNOWN)
    ),
    "comparison: delivered or pending, although refunded": lambda of: (
        of.told.place in REFUND_PLACES
        and of.compared.result not in (Result.NOT_DELIVERED, Result.REFUNDED, Result.UNKNOWN)
    ),
    "an amount is delivered that wasn't reported": lambda of: (
        of.transfer.received.value is None
        and Name.DESTINATION in of.steps
        and any(AMOUNT_DELIVERED.search(said) for said in (of.steps[Name.DESTINATION].sentence, of.compared.text))
    ),
    # Route and timeline
    "route: the funds are in another place": lambda of: (
        of.here != ([] if of.told.place is Place.UNKNOWN or of.told.is_pending else [of.told.place])
    ),
    # Unless their balance is found behind the steps.
    "route: passed a place that comes after the funds": lambda of: (
        not of.transfer.has_balance
        and of.told.place not in (Place.UNKNOWN, *REFUND_PLACES)
        and Reached.PASSED in [*of.stops.values()][[*of.stops].index(of.told.place) :]
    ),
    "route: here, although not confirmed": lambda of: (
        (Reached.HERE in of.stops.values()) != (bool(of.here) and of.is_confirmed)
    ),
    "route: more is to come of what has ended": lambda of: Reached.AHEAD in of.stops.values() and of.transfer.is_over,
    "route: nothing is to come of what goes on": lambda of: (
        Reached.NEVER in of.stops.values() and not of.transfer.is_over
    ),
    "route: a place is ahead of the funds that were there": lambda of: (
        not of.transfer.has_balance
        and (
            (of.steps[Name.DEPOSIT].state is StepState.DONE and of.is_ahead(Place.DEPOSIT_ADDRESS))
            or (of.transfer.legs[1] is StepStatus.DONE and of.is_ahead(Place.PROVIDER))
            or (of.transfer.legs[2] is StepStatus.REJECTED and of.is_ahead(Place.DELIVERY_ADDRESS))
        )
    ),
    "route: refunded, although the funds never left the owner": lambda of: (
        of.told.place in REFUND_PLACES and of.stops[Place.OWNER] is not Reached.PASSED
    ),
    "green, although not confirmed": lambda of: (
        Tone.GOOD in (of.told.tone, of.told.status.tone) and not of.is_confirmed
    ),
    "timeline: unpaid, although the funds are at the deposit address": lambda of: (
        of.told.place is Place.DEPOSIT_ADDRESS
        and not of.transfer.has_balance
        and of.steps[Name.DEPOSIT].state not in (StepState.DONE, StepState.UNKNOWN)
        and not of.transfer.has_arrived
    ),
    "timeline: undelivered, although the funds are with the recipient": lambda of: (
        of.told.place is Place.RECIPIENT
        and Name.DESTINATION in of.steps
        and of.steps[Name.DESTINATION].state not in (StepState.DONE, StepState.UNKNOWN)
    ),
    "timeline: a step is done, although it isn't in the receipt, or isn't, although it is": lambda of: any(
        (of.steps[name].state is StepState.DONE) != (leg is StepStatus.DONE)
        for name, leg in zip((Name.DEPOSIT, Name.ORIGIN, Name.DESTINATION), of.transfer.legs, strict=True)
        if name in of.steps
    ),
    "timeline: a step is to come of what has ended": lambda of: (
        not of.is_open
        and any(
            step.state in (StepState.CURRENT, StepState.WAITING)
            for name, step in of.steps.items()
            if name != Name.REFUND
        )
    ),
    "timeline: no deposit, although it was made": lambda of: (
        of.has_deposit and "No deposit" in of.steps[Name.DEPOSIT].sentence
    ),
    "timeline: waits for a deposit that was made": lambda of: of.has_deposit and of.is_waiting,
    "timeline: doesn't wait for the deposit that is asked for": lambda of: (
        of.told.key == "executing.wait_deposit" and (of.has_deposit or not of.is_waiting)
    ),
    "timeline: expected in the past": lambda of: any(
        step.expected_at and step.expected_at <= of.transfer.now for step in of.steps.values()
    ),
    "outcome: another one than on the page": lambda of: of.transfer.has_balance is None and bool(quarrel(of.transfer)),
    # Reply
    "reply: not for customers": lambda of: bool(problems(of.transfer)),
    "reply: recovery where it isn't possible": lambda of: is_blocked(of) and matches("recover", of.reply),
    "reply: recovery from an empty address": lambda of: of.is_empty and matches("recover", of.reply),
    "reply: waits for a deposit that was received": lambda of: (
        of.transfer.has_arrived and "waiting for your deposit" in of.reply
    ),
    "reply: in progress, although it is over": lambda of: of.told.transfer.is_over and "is in progress" in of.reply,
    "reply: delivered, although the funds are elsewhere": lambda of: (
        "was delivered" in of.reply and of.told.place is not Place.RECIPIENT
    ),
    "reply: refunded, although the funds are elsewhere": lambda of: (
        "was refunded" in of.reply and of.told.place is not Place.RETURNED
    ),
    "reply: late, and as usual": lambda of: of.is_late and matches("usual", of.reply),
    "reply: a second deposit is warned of and ordered": lambda of: (
        of.told.row.warn_second_deposit and matches("pays", of.reply)
    ),
    # Escalation
    "escalation: sent, although no deposit was found": lambda of: (
        matches("no_deposit", of.said) and re.search(r"^Sent: ", of.escalation, re.MULTILINE) is not None
    ),
    "escalation: funds at an empty address": lambda of: (
        of.is_empty
        and re.search(r"^Where the funds are: At the (deposit|destination)", of.escalation, re.MULTILINE) is not None
    ),
}


@pytest.mark.parametrize("status", STATUSES)
def test_nothing_that_is_said_about_a_transfer_contradicts_the_rest(status: str) -> None:
    broken: dict[str, list[str]] = defaultdict(list)
    for name, of in surfaces(status):
        for rule, is_broken in RULES.items():
            if is_broken(of):
                broken[rule].append(f"{name}: {of.told.key}: {of.said} {of.advice}")
    assert not {rule: (len(found), found[0]) for rule, found in broken.items()}
