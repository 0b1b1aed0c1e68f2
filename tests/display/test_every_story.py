"""Every state of an intent, its steps, its return, its balances and its clock has an answer that denies none of them.

A step's states are taken by what the story makes of them (`legs.Leg`): the transactions of this test refuse to be asked
for their status by anything but `legs.leg`, so two states that are one `Leg` cannot be told apart.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from itertools import product

from intents_ui.display import story, turns
from intents_ui.display.explanations import EXPLANATIONS, Who
from intents_ui.display.legs import LEGS, Leg, leg
from intents_ui.display.locator import Check
from intents_ui.display.places import Place
from intents_ui.display.statuses import Tone
from intents_ui.display.story import Story
from intents_ui.service.wire import (
    BalanceGroup,
    Intent,
    IntentReceipt,
    IntentStatus,
    IntentTransaction,
    TokenBalance,
    TransactionStatus,
)
from tests.display.builders import ARBITRUM, BASE, NOW, TXN_HASH, USDC, USDC_ON_BASE, before, intent, receipt, summary

UNKNOWN = "HALTED"
# Of no kind that is checked by a sum: that takes longer than the rest of a story.
OWNER = "owner-of-this-transfer"
STRANGE = "QUEUED"
STATUSES = (*IntentStatus, UNKNOWN)
# One of each `Leg`.
STATES = (None, "ON_HOLD", "PENDING", "MINING", "ERRORED", STRANGE, "SUCCEEDED", "FAILED", "ABORTED")
# A payment that is only watched for has no hash; what was reported has one.
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
    return self.__dict__["status"]


class Transaction(IntentTransaction):
    pass


Transaction.status = property(status_of)


ADDRESSES = {ARBITRUM: "0x0d", BASE: "0x0e"}


def balance(chain_id: int) -> tuple[BalanceGroup, ...]:
    """Too much for a remainder."""
    address = USDC if chain_id == ARBITRUM else USDC_ON_BASE
    token = TokenBalance(balance=79_712_345, contract_address=address)
    return (BalanceGroup(chain_id=chain_id, intent_address=ADDRESSES[chain_id], tokens=(token,)),)


# Nobody looked; nothing is there; some is at the deposit address; some is at the delivery address.
UNCHECKED, NONE, AT_HOME, ABROAD = (None, ()), (False, ()), (True, balance(ARBITRUM)), (True, balance(BASE))
BALANCES = {False: (UNCHECKED, NONE, AT_HOME, ABROAD), True: (UNCHECKED, NONE, AT_HOME)}
TRACES = frozenset({"MINING", "ERRORED", "SUCCEEDED", "FAILED"})
DEAD = frozenset({"FAILED", "ABORTED", "REVERTED", "watched FAILED", "watched ABORTED"})
OPEN = frozenset({"ON_HOLD", "PENDING", "MINING", "ERRORED", STRANGE})
STOPPED = frozenset({"FAILED", "ABORTED", "INVALID"})

# Rows that no state decides: the provider, the recipient, an amount, whose wallet it is, or that nothing could be read.
BY_OTHER_FACTS = {
    "executing.crossing_slow",
    "succeeded.payment",
    "succeeded.amount_unknown",
    "refunded.elsewhere",
    "receipt.unread",
    "receipt.missing",
    "notfound",
    "stale",
}


def test_each_kind_of_state_is_there():
    assert set(LEGS) == set(TransactionStatus)
    assert {leg(Transaction(status=state)) for state in STATES} == set(Leg)


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
        """By a step, or by the status where no step denies it."""
        return self.destination == "SUCCEEDED" or self.is_exchanged or self.status == "SUCCEEDED"

    @property
    def is_exchanged(self) -> bool:
        """On one chain, by the only step that there is; one can be confirmed and have returned the money inside it."""
        is_last = self.same_chain and self.destination is None and self.origin == "SUCCEEDED"
        return is_last and self.refund is None and self.status not in STOPPED | {"REFUNDED"}

    @property
    def is_open(self) -> bool:
        """The last step of which something is known has not ended, or the return has not."""
        steps = (self.destination, self.origin, self.deposit and self.deposit.removeprefix(WATCHED))
        return next((step for step in steps if step), None) in OPEN or self.refund == "MINING"

    def left(self) -> frozenset[str]:
        """The places where the money is no more, as a later step shows."""
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


def cases(*, same_chain: bool) -> Iterator[tuple[Case, IntentReceipt]]:
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
    for status, deposit, origin, destination, back in product(STATUSES, DEPOSITS, STATES, last, REFUNDS):
        far = not same_chain and (origin == "SUCCEEDED" or destination is not None)
        steps = {
            "status": status,
            "deposit_transaction": made[deposit],
            "origin_transaction": made[origin],
            "destination_transaction": made[destination],
            "refund_transaction": returned(back, BASE if far else ARBITRUM),
        }
        yield Case(status, deposit, origin, destination, back, same_chain), usual.model_copy(update=steps)


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


def test_every_combination_has_an_answer_that_denies_none_of_its_facts():
    of_intent = intent(
        None,
        owner_address=OWNER,
        origin_intent_address=ADDRESSES[ARBITRUM],
        destination_intent_address=ADDRESSES[BASE],
        expires_at=EXPIRES_AT,
    )
    chosen = set()
    for same_chain in (False, True):
        for case, of_receipt in cases(same_chain=same_chain):
            left = case.left()
            for (held, balances), now in product(BALANCES[same_chain], times(of_intent, of_receipt)):
                told = story.story(of_intent, of_receipt, now=now, has_balance=held, balances=balances, checked_at=now)
                chosen.add((case.status, told.key))
                problem = quarrel(told, case, left, held, balances, now)
                assert not problem, f"{case} {held} {balances and balances[0].chain_id} {now}: {told.key}: {problem}"
    listed = {(status, key) for key, row in EXPLANATIONS.items() for status in row.statuses}
    assert {pair for pair in chosen if pair[0] != UNKNOWN} == {pair for pair in listed if pair[1] not in BY_OTHER_FACTS}
    assert {key for status, key in chosen if status == UNKNOWN} == {"unknown.status"}


def times(of_intent: Intent, of_receipt: IntentReceipt) -> list[datetime]:
    """Those at which the clock alone can have changed something since the one before (held by test_scenes.py)."""
    found = [IN_TIME]
    for later in TIMES[1:]:
        changes = story.changes_at(of_intent, of_receipt, now=found[-1])
        if changes and changes <= later:
            found.append(later)
    return found


def quarrel(told: Story, case: Case, left: frozenset[str], held: bool | None, balances, now: datetime) -> str:
    """What the answer says that its facts deny; empty if nothing."""
    words = wording(told.headline, told.sentence, told.where, told.next)
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
        ("whose turn it is differs from what to do", not words.asks[told.who]),
        ("nobody is named", not turns.whose(told)),
        ("no warning not to pay again", not words.warns and not is_settled(told, case)),
        ("asks to pay what was paid", told.who is Who.PAYER and (case.is_paid or held is True)),
        ("asks to pay too late", told.who is Who.PAYER and now >= EXPIRES_AT),
        ("a deadline that is over", told.deadline is not None and told.deadline <= now),
        ("does not say that the sources differ", not words.says_they_differ and is_contradictory(case)),
        ("does not say what the chains hold", (held is not None) != bool(told.located.finding)),
        ("agrees with an empty address", held is False and is_by_steps_at_an_address(told, case)),
        ("agrees with money that had left", at in left and told.located.check is Check.AGREES and at is not None),
        ("a balance that is not there", held is False and words.waits_there and case.deposit != "SUCCEEDED"),
        ("explained under another status", told.status != (None if case.status == UNKNOWN else case.status)),
    )
    return ", ".join(rule for rule, broken in rules if broken)


HELD_AT = {ARBITRUM: Place.DEPOSIT_ADDRESS, BASE: Place.DELIVERY_ADDRESS}
CLAIMS = {
    "In your own wallet": Place.OWNER,
    "At the deposit address": Place.DEPOSIT_ADDRESS,
    "Inside the bridge": Place.PROVIDER,
    "At the delivery address": Place.DELIVERY_ADDRESS,
    "With the recipient": Place.RECIPIENT,
    "In the recipient wallet": Place.RECIPIENT,
    "On its way back": Place.RETURNING,
    "In the owner wallet": Place.RETURNED,
}
ASKS = {
    Who.NOBODY: r"^(Nothing|Wait)\b",
    Who.PAYER: r"^(Accept|Confirm)\b",
    Who.OWNER: r"owner wallet",
    Who.SUPPORT: r"support\b",
}


@dataclass(frozen=True, slots=True)
class Wording:
    has_gap: bool
    names_chain: bool
    blames_origin: bool
    blames_destination: bool
    denies_payment: bool
    blames_return: bool
    claims: Place | None
    is_done: bool
    asks: dict[Who, bool]
    warns: bool
    says_they_differ: bool
    waits_there: bool


@cache
def wording(headline: str, sentence: str, where: str, next_: str) -> Wording:
    told = f"{headline} {sentence}"
    everything = f"{told} {where} {next_}"
    is_doubtful = where.startswith("Inside the bridge") and "not known" in where
    return Wording(
        has_gap=bool(re.search(r"[{}—]", everything)),
        names_chain=bool(re.search(r"Chain \d", where)),
        blames_origin=bool(re.search(r"[Ff]irst step (\w+ )*(failed|did not work)|at the first step", told)),
        blames_destination=bool(re.search(r"[Ll]ast step (on [\w ]+ )?(failed|was not completed)", told)),
        denies_payment=bool(re.search(r"never arrived|[Nn]o payment|not counted|before a payment was", told)),
        blames_return=bool(re.search(r"return\w* (that )?(failed|did not work)|return is reported as failed", told)),
        claims=None
        if is_doubtful
        else next((place for words, place in CLAIMS.items() if where.startswith(words)), None),
        is_done=bool(re.match(r"(Done|Paid)\b(?!, but not started)", headline)),
        asks={who: bool(re.search(pattern, next_)) for who, pattern in ASKS.items()},
        warns=bool(re.search("(pay|send) again", next_)),
        says_they_differ=bool(re.search("match|[Rr]eport|fault|both|without a separate", told)),
        waits_there="Only the owner wallet can move it" in where,
    )


def is_silent_on_return(case: Case, told: Story) -> bool:
    is_told = "return" in f"{told.headline} {told.sentence}"
    return case.refund == "FAILED" and case.status != UNKNOWN and told.key != "succeeded.contradiction" and not is_told


def is_settled(told: Story, case: Case) -> bool:
    """Nothing is open, and the money is where somebody can see it; or it never moved."""
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


def is_by_steps_at_an_address(told: Story, case: Case) -> bool:
    is_there = told.place in (Place.DEPOSIT_ADDRESS, Place.DELIVERY_ADDRESS)
    return is_there and told.located.check is Check.AGREES
