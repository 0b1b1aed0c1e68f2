"""Every state of an intent, its steps, refund, balances and clock has a summary that contradicts none of them.

A step's states are grouped by `StepStatus`: the transactions of this test refuse to give their status to
anything but `outcome.leg`, so two states of one `StepStatus` can't be distinguished.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from intents_ui.service.models import (
    BalanceGroup,
    IntentReceipt,
    IntentStatus,
    IntentTransaction,
    TokenBalance,
    TransactionStatus,
)
from intents_ui.service.outcome import LEGS, StepStatus, leg
from intents_ui.tokens.names import NO_NAMES
from intents_ui.transfers import summary as summaries
from intents_ui.transfers.rules import MESSAGES, Actor, Certainty
from intents_ui.transfers.statuses import Tone
from intents_ui.transfers.summary import Summary
from intents_ui.transfers.transfer import Balances, Check, Place
from tests.transfers.builders import (
    ARBITRUM,
    BASE,
    NOW,
    TXN_HASH,
    USDC,
    USDC_ON_BASE,
    at,
    before,
    intent,
    receipt,
    summary,
)
from tests.transfers.states import combined, steps_in_order

type Held = tuple[bool | None, tuple[BalanceGroup, ...]]
type Combine = Callable[..., Iterable[tuple[Any, ...]]]

UNKNOWN = "HALTED"
# An address without a checksum, whose computation would take longer than the rest of a summary.
OWNER = "owner-of-this-transfer"
STRANGE = "QUEUED"
STATUSES = (*IntentStatus, UNKNOWN)
# One of each `StepStatus`.
STATES = (None, "ON_HOLD", "PENDING", "MINING", "ERRORED", STRANGE, "SUCCEEDED", "FAILED", "ABORTED")
# A watched deposit has no hash, a reported one has.
WATCHED = "watched "
DEPOSITS = (
    None,
    "watched ON_HOLD",
    "watched PENDING",
    "PENDING",
    "ERRORED",
    f"watched {STRANGE}",
    "SUCCEEDED",
    "watched FAILED",
    "REVERTED",
    "watched ABORTED",
)
ON_ONE_CHAIN = (None, "SUCCEEDED", "FAILED")
REFUNDS = (None, "MINING", "SUCCEEDED", "FAILED")
EXPIRES_AT = NOW + timedelta(minutes=3)
IN_TIME, EXPIRED, OVERDUE = NOW, NOW + timedelta(minutes=12), NOW + timedelta(hours=2)
TIMES = (IN_TIME, EXPIRED, OVERDUE)


def status_of(self: IntentTransaction) -> str | None:
    assert sys._getframe(1).f_code is leg.__code__, "a step's status is to be read by legs.leg alone"
    return self.__dict__["status"]  # parsed when the transaction was made


class Transaction(IntentTransaction):
    pass


Transaction.status = property(status_of)


ADDRESSES = {ARBITRUM: "0x0d", BASE: "0x0e"}


def balance(chain_id: int) -> tuple[BalanceGroup, ...]:
    """Return a balance too large for a remainder."""
    address = USDC if chain_id == ARBITRUM else USDC_ON_BASE
    token = TokenBalance(balance=79_712_345, contract_address=address)
    return (BalanceGroup(chain_id=chain_id, intent_address=ADDRESSES[chain_id], tokens=(token,)),)


# Unchecked, empty, at the deposit address, at the destination intent address.
UNCHECKED, NONE, AT_HOME, ABROAD = (None, ()), (False, ()), (True, balance(ARBITRUM)), (True, balance(BASE))
BALANCES = {False: (UNCHECKED, NONE, AT_HOME, ABROAD), True: (UNCHECKED, NONE, AT_HOME)}
TRACES = frozenset({"MINING", "ERRORED", "SUCCEEDED", "FAILED"})
DEAD = frozenset({"FAILED", "ABORTED", "REVERTED", "watched FAILED", "watched ABORTED"})
OPEN = frozenset({"ON_HOLD", "PENDING", "MINING", "ERRORED", STRANGE})
STOPPED = frozenset({"FAILED", "ABORTED", "INVALID"})

# Rows that depend on something else: provider, recipient, an amount, a wallet's owner, or unreadable data.
BY_OTHER_FACTS = {
    "offer.mismatch",
    "executing.crossing_slow",
    "succeeded.payment",
    "succeeded.amount_unknown",
    "refunded.elsewhere",
    "receipt.unread",
    "receipt.missing",
}


def test_each_kind_of_state_is_covered():
    assert set(LEGS) == set(TransactionStatus)
    assert {leg(Transaction(status=state)) for state in STATES} == set(StepStatus)


@dataclass(frozen=True, slots=True)
class Case:
    status: str
    deposit: str | None
    origin: str | None
    destination: str | None
    refund: str | None
    same_chain: bool

    @property
    def is_paid(self) -> bool:
        return self.deposit == "SUCCEEDED" or bool({self.origin, self.destination} & TRACES) or self.refund is not None

    @property
    def is_delivered(self) -> bool:
        """Return whether a step shows the delivery, or the status does and no step contradicts it."""
        return self.destination == "SUCCEEDED" or self.is_exchanged or self.status == "SUCCEEDED"

    @property
    def is_exchanged(self) -> bool:
        """Return whether the only step of a swap is confirmed. It can include a refund."""
        is_last = self.same_chain and self.destination is None and self.origin == "SUCCEEDED"
        return is_last and self.refund is None and self.status not in STOPPED | {"REFUNDED"}

    @property
    def is_open(self) -> bool:
        """Return whether the last known step or the refund is still running."""
        steps = (self.destination, self.origin, self.deposit and self.deposit.removeprefix(WATCHED))
        return next((step for step in steps if step), None) in OPEN or self.refund == "MINING"

    def left(self) -> frozenset[str]:
        """Return the locations that the funds have left, as a later step shows."""
        crossed = not self.same_chain and (self.origin == "SUCCEEDED" or self.destination in TRACES)
        places = {
            Place.OWNER: self.is_paid and self.refund != "SUCCEEDED",
            Place.DEPOSIT_ADDRESS: crossed
            or self.destination == "SUCCEEDED"
            or (self.is_exchanged and self.deposit not in DEAD),
            Place.PROVIDER: self.destination in ("MINING", "SUCCEEDED", "FAILED"),
            Place.DELIVERY_ADDRESS: self.destination == "SUCCEEDED",
        }
        is_back = self.refund == "SUCCEEDED" and self.status != UNKNOWN
        return frozenset(place for place, is_left in places.items() if is_left or is_back)


def cases(status: str, *, same_chain: bool, combine: Combine) -> Iterator[tuple[Case, IntentReceipt, Held, datetime]]:
    made = {state: made_of(state) for state in (*DEPOSITS, *STATES)}
    usual = receipt(
        None,
        owner_address=OWNER,
        destination_chain_id=ARBITRUM if same_chain else BASE,
        summary=summary(
            destination_token_amount=99_910_000,
            origin_token_amount=None,
            origin_token_metadata=None,
            destination_token_metadata=None,
            started_at=before(seconds=5),
        ),
    )
    last = ON_ONE_CHAIN if same_chain else STATES
    axes = (DEPOSITS, STATES, last, REFUNDS, BALANCES[same_chain], TIMES)
    for deposit, origin, destination, back, held, now in combine(*axes):
        far = not same_chain and (origin == "SUCCEEDED" or destination is not None)
        steps = {
            "status": status,
            "deposit_transaction": made[deposit],
            "origin_transaction": made[origin],
            "destination_transaction": made[destination],
            "refund_transaction": returned(back, BASE if far else ARBITRUM),
        }
        yield Case(status, deposit, origin, destination, back, same_chain), usual.model_copy(update=steps), held, now


def made_of(state: str | None) -> IntentTransaction | None:
    if state is None:
        return None
    txn_hash = "0x" + "0" * 64 if state.startswith(WATCHED) else TXN_HASH
    changed = before(seconds=20)
    return Transaction(status=state.removeprefix(WATCHED), chain_id=ARBITRUM, txn_hash=txn_hash, updated_at=changed)


@cache
def returned(state: str | None, chain_id: int) -> IntentTransaction | None:
    if state is None:
        return None
    return Transaction(
        status=state, chain_id=chain_id, txn_hash=TXN_HASH, to_address=OWNER, updated_at=before(seconds=20)
    )


@combined(steps_in_order)
@pytest.mark.parametrize("status", STATUSES)
def test_every_combination_has_a_summary_consistent_with_its_facts(status: str, combine: Combine) -> None:
    of_intent = intent(
        None,
        owner_address=OWNER,
        origin_intent_address=ADDRESSES[ARBITRUM],
        destination_intent_address=ADDRESSES[BASE],
        expires_at=EXPIRES_AT,
    )
    chosen = set()
    for same_chain in (False, True):
        for case, of_receipt, (held, balances), now in cases(status, same_chain=same_chain, combine=combine):
            bare = at(of_intent, of_receipt, names=NO_NAMES, now=now)
            unchecked = summaries.of(bare)
            looked = bare.at(now, Balances(Check.CHECKED, held, balances, now))
            result = unchecked if held is None else summaries.of(looked)
            chosen |= {unchecked.key, result.key}
            problem = quarrel(result, case, case.left(), held, balances, now) or flips(unchecked, result)
            assert not problem, f"{case} {held} {balances and balances[0].chain_id} {now}: {result.key}: {problem}"
    listed = {key for key, row in MESSAGES.items() if status in row.statuses} or {"unknown.status"}
    assert chosen == listed - BY_OTHER_FACTS


def quarrel(told: Summary, case: Case, left: frozenset[str], held: bool | None, balances, now: datetime) -> str:
    """Return what the summary says that its facts contradict, empty if nothing."""
    words = wording(told.headline, told.sentence, told.location, told.next_step)
    place, delivered = told.place, case.is_delivered
    at = HELD_AT[balances[0].chain_id] if balances else None
    rules = (
        ("a gap was not filled", words.has_gap),
        ("no chain is named where the money is", not words.names_chain),
        ("the first step failed, although it did not", words.blames_origin and case.origin == "SUCCEEDED"),
        ("the last step failed, although it did not", words.blames_destination and case.destination == "SUCCEEDED"),
        ("no payment, although it was made", words.denies_payment and case.is_paid and case.deposit not in DEAD),
        ("the return failed, although it did not", words.blames_return and case.refund != "FAILED"),
        ("a place that the money left", (place in left or words.claims in left) and place is not at),
        ("words and place differ", words.claims is not None and words.claims is not place),
        ("with the recipient, without a delivery", place is Place.RECIPIENT and not delivered),
        ("done, while something is open", words.is_done and (case.status != "SUCCEEDED" or case.is_open)),
        ("done, although a step failed", words.is_done and bool(DEAD & {case.deposit, case.origin, case.destination})),
        ("good, although it was not delivered", told.tone is Tone.GOOD and not delivered),
        ("good, while a return is reported", told.tone is Tone.GOOD and case.refund is not None),
        ("returned, without a return", place is Place.RETURNED and case.refund != "SUCCEEDED"),
        (
            "not returned, although it was",
            case.refund == "SUCCEEDED"
            and case.status not in ("SUCCEEDED", UNKNOWN)
            and case.destination != "SUCCEEDED"
            and place is not Place.RETURNED,
        ),
        ("nobody says that the return failed", is_silent_on_return(case, told)),
        ("no one is named", told.who is not Actor.NONE and not summaries.waiting_on(told)),
        (
            "no warning about a second deposit",
            not words.warns and not told.row.warn_second_deposit and not is_settled(told, case),
        ),
        ("asks to pay what was paid", told.who is Actor.PAYER and (case.is_paid or held is True)),
        ("asks to pay too late", told.who is Actor.PAYER and now >= EXPIRES_AT),
        ("does not say that the sources differ", not words.says_they_differ and is_contradictory(case)),
        ("does not say what the chains hold", (held is not None) != bool(told.finding)),
        ("agrees with an empty address", held is False and is_by_steps_at_an_address(told, case)),
        ("agrees with money that had left", at in left and agrees(told) and at is not None),
        ("a balance that is not there", held is False and words.waits_there and case.deposit != "SUCCEEDED"),
        ("explained under another status", told.explained != (None if case.status == UNKNOWN else case.status)),
    )
    return ", ".join(rule for rule, broken in rules if broken)


def flips(unchecked: Summary, told: Summary) -> str:
    """Return whether a headline without balances isn't the beginning of the one with them. Conflicts can't be
    foreseen.
    """
    is_kept = told.headline.startswith(unchecked.headline) or unchecked.headline == told.status.word
    return "" if is_kept or told.certainty is Certainty.CONFLICTING else f"{unchecked.headline!r} → {told.headline!r}"


HELD_AT = {ARBITRUM: Place.DEPOSIT_ADDRESS, BASE: Place.DELIVERY_ADDRESS}
# Only a refund names the amount in the owner's wallet.
CLAIMS = {
    r"In the owner's wallet on [^:]*: ": Place.RETURNED,
    r"In the owner's wallet": Place.OWNER,
    r"At the deposit address": Place.DEPOSIT_ADDRESS,
    r"In transit from": Place.PROVIDER,
    r"At the destination intent address": Place.DELIVERY_ADDRESS,
    r"In the recipient's wallet": Place.RECIPIENT,
    r"On the way back to": Place.RETURNING,
}


DONE = r"Swap complete|Delivered(, amount not reported|, with leftover funds)?|Paid"


@cache
def wording(headline: str, sentence: str, where: str, next_: str) -> SimpleNamespace:
    result = f"{headline} {sentence}"
    everything = f"{result} {where} {next_}"
    return SimpleNamespace(
        has_gap=bool(re.search(r"[{}—]", everything)),
        names_chain=bool(re.search(r"Chain \d", where)),
        blames_origin=bool(re.search(r"[Ff]irst step (\w+ )*failed|at the first step", result)),
        blames_destination=bool(re.search(r"[Ll]ast step (on [\w ]+ )?failed|at the last step", result)),
        denies_payment=bool(re.search(r"[Nn]o deposit|[Dd]eposit not accepted|before a deposit was", result)),
        blames_return=bool(
            re.search(r"[Rr]efund (transaction )?failed|failed refund|so did the automatic refund", result)
        ),
        claims=next((place for words, place in CLAIMS.items() if re.match(words, where)), None),
        is_done=bool(re.fullmatch(DONE, headline)),
        says_they_differ=bool(re.search("match|[Rr]eport|conflict|both|no separate", result)),
        waits_there="Only the owner's wallet can move them" in where,
        warns=bool(re.search("do not deposit again|[Dd]on't send anything to the (old )?deposit address", next_)),
    )


def is_silent_on_return(case: Case, told: Summary) -> bool:
    is_told = "refund" in f"{told.headline} {told.sentence}".lower()
    return case.refund == "FAILED" and case.status != UNKNOWN and told.key != "succeeded.contradiction" and not is_told


def is_settled(told: Summary, case: Case) -> bool:
    """Return whether nothing is open and the funds are at a verifiable location, or never moved."""
    is_seen = told.place in (Place.OWNER, Place.RECIPIENT, Place.RETURNED)
    is_offer = case.status in ("QUOTED", "COMMITTED") and told.place is Place.OWNER
    return is_seen and (is_offer or case.status in {*STOPPED, "SUCCEEDED", "REFUNDED"})


def is_contradictory(case: Case) -> bool:
    steps = {case.deposit, case.origin, case.destination}
    match case.status:
        case "SUCCEEDED":
            return bool(DEAD & steps) or case.is_open or case.refund is not None
        case "REFUNDED":
            return case.refund != "SUCCEEDED" or case.destination == "SUCCEEDED"
        case "FAILED" | "ABORTED" | "INVALID":
            return case.destination == "SUCCEEDED"
        case _:
            return case.destination == "SUCCEEDED" and (bool(DEAD & steps) or case.refund is not None)


def is_by_steps_at_an_address(told: Summary, case: Case) -> bool:
    is_there = told.place in (Place.DEPOSIT_ADDRESS, Place.DELIVERY_ADDRESS)
    return is_there and agrees(told)


def agrees(told: Summary) -> bool:
    """Return whether the balances don't contradict the steps, if both are known."""
    has_steps = not (told.transfer.is_unread or told.transfer.lacks_its_receipt)
    return has_steps and bool(told.finding) and "moved on" not in told.finding
