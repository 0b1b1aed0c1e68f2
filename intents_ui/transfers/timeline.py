"""The steps of a transfer, worded in steps.toml: quoted, accepted, deposit, origin, destination, and a refund if there
is one. And the route: the places from the owner to the recipient, and where the funds are.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from intents_ui import tables
from intents_ui.formatting import hashes, text, times
from intents_ui.formatting.text import Sentence, capitalized, fill
from intents_ui.service.models import UNEXECUTED, IntentStatus, IntentTransaction
from intents_ui.service.outcome import DEAD, RUNNING, TRACES, UNDER_WAY, StepStatus, leg
from intents_ui.tokens import names, token_amounts
from intents_ui.tokens.token_amounts import Money
from intents_ui.transfers import placeholders, summary
from intents_ui.transfers.placeholders import ADDRESSES, Placeholders
from intents_ui.transfers.rules import Certainty
from intents_ui.transfers.summary import Summary
from intents_ui.transfers.transfer import Place, Transfer, derived


class Tense(StrEnum):
    PAST = "past"
    PRESENT = "present"
    FUTURE = "future"
    NEVER = "never"
    IMPLIED = "implied"  # implied by a later step
    REPORTED = "reported"  # done according to the status, not to the step
    UNKNOWN = "unknown"


type Sentences = Mapping[str, str]
# The sentences of each step by tense, and those of what is special about it.
_STEPS: Mapping[str, Sentences] = tables.read(__package__, "steps.toml")
DEPOSIT, SWAP, BRIDGE = _STEPS["deposit"], _STEPS["swap"], _STEPS["bridge"]
DELIVERY, RETURN, ATTESTATIONS = _STEPS["delivery"], _STEPS["refund"], _STEPS["attestations"]
UNCERTAIN = frozenset({StepStatus.RETRYING, StepStatus.STRANGE})


class StepDescriber(Placeholders):
    """The sentences of one transfer's steps."""

    def __getitem__(self, name: str) -> str:
        transfer = self.transfer
        match name:
            case "sent":
                return self._sum(transfer.requested, "the deposit")
            case "Sent":
                return capitalized(self["sent"])
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
            template = DEPOSIT["in_transit"]
        elif tense is Tense.PRESENT and reached is StepStatus.STRANGE:
            template = DEPOSIT[Tense.UNKNOWN]
        elif tense is Tense.PAST and not self.transfer.is_arrival_reported:
            template = DEPOSIT["amount_not_reported"]
        elif tense is Tense.NEVER:
            template = self._why_not_paid()
        return fill(template, self)

    def origin(self, tense: Tense) -> str:
        is_uncertain = tense is Tense.PRESENT and self.transfer.legs[1] in UNCERTAIN
        return fill((SWAP if self.transfer.is_same_chain else BRIDGE)["not_yet" if is_uncertain else tense], self)

    def destination(self, tense: Tense) -> str:
        """Return the destination's sentence. While it is on hold, the sentence says what it waits for."""
        reached, destination = self.transfer.legs[2], self.transfer.destination
        template = DELIVERY[tense]
        if tense is Tense.PRESENT and reached in UNCERTAIN:
            template = DELIVERY["not_yet"]
        elif tense is Tense.PRESENT and reached in (StepStatus.WAITING, StepStatus.ABSENT):
            template = ATTESTATIONS.get((destination and destination.context) or "", DELIVERY["on_hold"])
        elif tense is Tense.PAST and self.transfer.received.value is None:
            template = DELIVERY["amount_not_reported"]
        return fill(template, self)

    def refund(self, tense: Tense) -> str:
        return fill(RETURN[tense], self)

    def _why_not_paid(self) -> str:
        transfer = self.transfer
        if transfer.deposit_not_accepted:
            return DEPOSIT["not_accepted"]
        return DEPOSIT["not_confirmed" if transfer.steps.is_deposit_made or transfer.has_arrived else Tense.NEVER]

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


class StepState(StrEnum):
    DONE = "done"
    CURRENT = "current"
    FAILED = "failed"
    WAITING = "waiting"
    SKIPPED = "skipped"
    UNKNOWN = "unknown"


class Name(StrEnum):
    QUOTED = "quoted"
    ACCEPTED = "accepted"
    DEPOSIT = "deposit"
    ORIGIN = "origin"
    DESTINATION = "destination"
    REFUND = "refund"


@dataclass(frozen=True)
class Step:
    """A step. `took` is the time since the last step with a known time, for the current step until now.

    `expected_at` is in the future. `explanation` explains the `reason`, "" if unknown. `reason_is_old`: from an
    earlier attempt, while the step is being retried. `took_most`: the slowest of several completed steps, more than
    half of the total. `sentence` may be "".
    """

    name: Name
    state: StepState
    sentence: str
    at: datetime | None = None
    took: timedelta | None = None
    expected_at: datetime | None = None
    transaction: IntentTransaction | None = None
    reason: text.Text | None = None
    explanation: str = ""
    reason_is_old: bool = False
    took_most: bool = False

    @property
    def title(self) -> str:
        return self.name.value.capitalize()


@dataclass(frozen=True)
class Timeline:
    """`late`: past the estimate. `stalled`: no change for unusually long."""

    steps: tuple[Step, ...]
    elapsed: timedelta | None
    estimate: timedelta
    late: bool
    stalled: bool

    @property
    def share(self) -> int:
        """Return the elapsed time in percent of the estimate, for the width of a bar."""
        return 0 if self.elapsed is None else min(100, self.elapsed * 100 // self.estimate)

    @property
    def times_the_estimate(self) -> int:
        """Return the elapsed time as a multiple of the estimate, for texts where the bar is full."""
        return 0 if self.elapsed is None else self.elapsed // self.estimate


EXECUTION = frozenset({Name.DEPOSIT, Name.ORIGIN, Name.DESTINATION, Name.REFUND})
NO_TIME = timedelta()
AHEAD = frozenset({StepState.CURRENT, StepState.WAITING})
TENSES = {
    StepState.DONE: Tense.PAST,
    StepState.CURRENT: Tense.PRESENT,
    StepState.WAITING: Tense.FUTURE,
    StepState.FAILED: Tense.NEVER,
    StepState.SKIPPED: Tense.NEVER,
    StepState.UNKNOWN: Tense.UNKNOWN,
}


@derived
def of(transfer: Transfer) -> Timeline:
    """Return the timeline for any combination of states, with either object missing."""
    is_offer = transfer.status in UNEXECUTED and not transfer.steps.is_under_way
    price, until = "", transfer.expires_at
    if is_offer and until:
        valid = "Quote was valid until " if transfer.has_come(until) else "Quote valid until "
        price = Sentence(valid, times.utc(until, now=transfer.now), ".")
    elif is_offer:
        price = "Quote expiry not reported."
    quoted = Step(Name.QUOTED, StepState.DONE, price, transfer.quoted_at)
    steps = (quoted, _accepted(transfer, is_offer=is_offer), *_legs(transfer))
    elapsed = _elapsed(transfer, steps)
    estimate = transfer.estimate
    return Timeline(
        steps=_with_slowest(tuple(_with_durations(steps, now=transfer.now)), elapsed),
        elapsed=elapsed,
        estimate=estimate,
        late=elapsed is not None and elapsed >= estimate + transfer.grace,
        stalled=transfer.is_open and transfer.steps.has_any_step and transfer.has_come(transfer.stalled_at),
    )


def _accepted(transfer: Transfer, *, is_offer: bool) -> Step:
    expired = transfer.is_expired
    if is_offer and transfer.is_unread:
        return Step(Name.ACCEPTED, StepState.UNKNOWN, "Unknown whether the quote was accepted.")
    if is_offer and transfer.status == IntentStatus.QUOTED:
        state = StepState.SKIPPED if expired else StepState.CURRENT
        return Step(Name.ACCEPTED, state, "Not accepted in time." if expired else "Not accepted yet.")
    if is_offer:
        sentence = "Not started in time." if expired else "Not started yet."
        if transfer.execute_by and not expired:
            sentence = Sentence(sentence, " Valid until ", times.utc(transfer.execute_by, now=transfer.now), ".")
        return Step(Name.ACCEPTED, StepState.DONE, sentence, transfer.updated_at)
    if (
        transfer.steps.has_any_step
        or transfer.started_at
        or transfer.status in (IntentStatus.EXECUTING, IntentStatus.SUCCEEDED)
    ):
        return Step(Name.ACCEPTED, StepState.DONE, "Started.", transfer.started_at)
    return Step(Name.ACCEPTED, StepState.UNKNOWN, "Unknown whether the quote was accepted.")


def _legs(transfer: Transfer) -> Iterator[Step]:
    tell = StepDescriber(transfer)
    deposit, origin, destination = (_state(index, transfer) for index in range(3))
    yield _step(Name.DEPOSIT, deposit, transfer.deposit, tell.deposit(_tense(0, deposit, transfer)), transfer)
    yield _step(Name.ORIGIN, origin, transfer.origin, tell.origin(_tense(1, origin, transfer)), transfer)
    if transfer.destination or not transfer.is_same_chain:
        result = tell.destination(_tense(2, destination, transfer))
        step = _step(Name.DESTINATION, destination, transfer.destination, result, transfer)
        due_at = transfer.due_at
        is_ahead = destination in AHEAD and not transfer.has_come(due_at)
        yield replace(step, expected_at=due_at if is_ahead else None)
    yield from _refund(transfer, tell)


def _state(index: int, transfer: Transfer) -> StepState:
    """Return the state of a step. If it has no status, the steps before and after it decide."""
    reached, before = transfer.legs[index], transfer.legs[:index]
    is_broken = any(each in DEAD for each in before)
    match reached:
        case StepStatus.DONE:
            return StepState.DONE
        case StepStatus.REJECTED:
            return StepState.FAILED
        case StepStatus.GIVEN_UP:
            return StepState.SKIPPED if is_broken else StepState.FAILED
    if transfer.is_unread or transfer.lacks_its_receipt or _must_have_been(index, transfer):
        return StepState.UNKNOWN
    if transfer.is_over:
        return StepState.SKIPPED if _was_never_started(index, transfer) else StepState.UNKNOWN
    is_started = transfer.steps.is_under_way or transfer.status not in UNEXECUTED
    is_ready = before[-1] is StepStatus.DONE if before else is_started
    return StepState.CURRENT if reached in UNDER_WAY or (is_ready and not is_broken) else StepState.WAITING


def _must_have_been(index: int, transfer: Transfer) -> bool:
    """Return whether a later step implies that it is done, whatever its own status."""
    return transfer.has_arrived if index == 0 else any(each in TRACES for each in transfer.legs[index + 1 :])


def _was_never_started(index: int, transfer: Transfer) -> bool:
    came_back = index == 0 and transfer.status == IntentStatus.REFUNDED
    if transfer.status == IntentStatus.SUCCEEDED or came_back:
        return False
    reached = transfer.legs[index]
    # A deposit that was watched for and never came, although a later step may have begun since.
    return reached in (StepStatus.ABSENT, StepStatus.WAITING) or (index == 0 and reached is StepStatus.QUEUED)


def _tense(index: int, state: StepState, transfer: Transfer) -> Tense:
    """Return the state of a step without a status, from later steps or, if none contradicts it, from the transfer's
    status.
    """
    if state is not StepState.UNKNOWN or transfer.is_unread or transfer.is_missing:
        return TENSES[state]
    if _must_have_been(index, transfer):
        return Tense.IMPLIED
    is_reported = transfer.status == IntentStatus.SUCCEEDED and not DEAD & {*transfer.legs, transfer.returning}
    return Tense.REPORTED if is_reported else Tense.UNKNOWN


def _refund(transfer: Transfer, tell: StepDescriber) -> Iterator[Step]:
    reached = transfer.returning
    if transfer.refund is None or reached is StepStatus.ABSENT:
        if transfer.status == IntentStatus.REFUNDED:
            unread = "Unknown whether there is a refund transaction."
            sentence = unread if transfer.is_unread else "No separate refund transaction reported."
            yield Step(Name.REFUND, StepState.UNKNOWN, sentence)
        return
    # A refund continues after the transfer itself has ended.
    state = (
        StepState.CURRENT if reached in RUNNING else StepState.DONE if reached is StepStatus.DONE else StepState.FAILED
    )
    yield _step(Name.REFUND, state, transfer.refund, tell.refund(TENSES[state]), transfer)


def _step(
    name: Name, state: StepState, transaction: IntentTransaction | None, sentence: str, transfer: Transfer
) -> Step:
    # A step that finally succeeded may still have the reason of an earlier attempt.
    reason = transaction.status_reason if transaction and state is not StepState.DONE else None
    explanation = placeholders.reason_of_step(transaction, transfer) if reason else ""
    if state is StepState.SKIPPED and explanation:
        reason = None  # the step before it says what failed
    is_over = state in (StepState.DONE, StepState.FAILED)
    return Step(
        name,
        state,
        sentence,
        at=transfer.ended_at(transaction) if transaction and is_over else None,
        transaction=transaction,
        reason=text.reason(reason) if reason else None,
        explanation=explanation if reason else "",
        reason_is_old=bool(reason) and leg(transaction) is StepStatus.MOVING and state is StepState.CURRENT,
    )


def _with_durations(steps: tuple[Step, ...], *, now: datetime) -> Iterator[Step]:
    last = None
    for step in steps:
        end = now if step.state is StepState.CURRENT else step.at
        took = end - last if end and last else None
        yield replace(step, took=took if took and took >= timedelta() else None)
        last = step.at or last


def _with_slowest(steps: tuple[Step, ...], elapsed: timedelta | None) -> tuple[Step, ...]:
    """Return the steps, with a mark on one of several that took more than half of the time."""
    took = {step.name: step.took for step in steps if step.name in EXECUTION and step.took is not None and step.at}
    if elapsed is None or len(took) < 2:
        return steps
    return tuple(replace(step, took_most=took.get(step.name, NO_TIME) * 2 > elapsed) for step in steps)


def _elapsed(transfer: Transfer, steps: tuple[Step, ...]) -> timedelta | None:
    """Return the time from the start of the execution to its end. None without a deposit, from which the estimate
    counts, or if the clocks disagree.
    """
    if transfer.started_at is None or not (transfer.has_arrived or transfer.is_delivered):
        return None
    ends = [step.at for step in steps if step.at]
    end = transfer.now if transfer.is_open else transfer.finished_at or max(ends, default=None)
    return end - transfer.started_at if end and end >= transfer.started_at else None


class Reached(StrEnum):
    PASSED = "passed"
    HERE = "here"
    EXPECTED = "expected"
    AHEAD = "ahead"
    NEVER = "never"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class RouteStop:
    """A location. `note` below the title is the chain, that the funds are here, or that they never got here.

    If a transfer stopped on the way, it is the last known location, which the funds may have left since.
    """

    place: Place
    title: str
    reached: Reached
    note: str


ONE_CHAIN = (Place.OWNER, Place.DEPOSIT_ADDRESS, Place.RECIPIENT)
ONE_CHAIN_AND_DELIVERY = (Place.OWNER, Place.DEPOSIT_ADDRESS, Place.DELIVERY_ADDRESS, Place.RECIPIENT)
TWO_CHAINS = (Place.OWNER, Place.DEPOSIT_ADDRESS, Place.PROVIDER, Place.DELIVERY_ADDRESS, Place.RECIPIENT)
REFUND_PLACES = (Place.RETURNING, Place.RETURNED)


@derived
def stops(transfer: Transfer) -> tuple[RouteStop, ...]:
    """Return the stops. The location comes from the summary, so the diagram and the text can't differ.

    A refund adds a last stop.
    """
    told = summary.of(transfer)
    one_chain = ONE_CHAIN_AND_DELIVERY if transfer.destination else ONE_CHAIN
    places = one_chain if transfer.is_same_chain else TWO_CHAINS
    reached = {place: _reached(place, places, told) for place in places}
    if told.place in REFUND_PLACES:
        reached[told.place] = _here(told)
    return tuple(
        RouteStop(place, _stop_title(place, transfer), how, _stop_note(place, how, transfer))
        for place, how in reached.items()
    )


def _reached(place: Place, places: tuple[Place, ...], told: Summary) -> Reached:
    if place == told.place:
        return _here(told)
    before = told.place in places and places.index(place) < places.index(told.place)
    if before or _was_passed(place, told):
        return Reached.PASSED
    if told.transfer.is_unread or told.place is Place.UNKNOWN:
        return Reached.UNKNOWN
    return Reached.NEVER if told.transfer.is_over else Reached.AHEAD


def _here(told: Summary) -> Reached:
    """Return the mark. Only a confirmed location is shown as `here`."""
    if told.is_pending:
        return Reached.UNKNOWN
    return Reached.HERE if told.certainty is Certainty.CONFIRMED else Reached.EXPECTED


def _was_passed(place: Place, told: Summary) -> bool:
    """Return whether the funds were there and are known to have left."""
    transfer, is_back = told.transfer, told.place in REFUND_PLACES
    _, origin, destination = transfer.legs
    crossed = destination in TRACES
    began_on = transfer.chain_of(Place.RETURNED)
    is_from_afar = not transfer.is_same_chain and began_on is not None and began_on == transfer.destination_chain_id
    came_back_from_afar = is_back and is_from_afar
    match place:
        case Place.OWNER:
            return transfer.has_arrived
        case Place.DEPOSIT_ADDRESS:
            return is_back or crossed or origin is StepStatus.DONE
        case Place.PROVIDER:
            return crossed or came_back_from_afar or (is_back and origin is StepStatus.DONE)
        case Place.DELIVERY_ADDRESS:
            return (
                destination is StepStatus.DONE
                or came_back_from_afar
                or (is_back and destination is StepStatus.REJECTED)
            )
        case _:
            return False


def _stop_note(place: Place, reached: Reached, transfer: Transfer) -> str:
    match reached:
        case Reached.NEVER:
            return "Not reached"
        case Reached.HERE | Reached.EXPECTED if place is Place.RETURNING:
            return "Refunding"
        case Reached.HERE:
            return "Funds are here"
        case Reached.EXPECTED:
            return "Last known location" if place in ADDRESSES else "Should be here"
        case _:
            return "" if place is Place.PROVIDER else transfer.chain_name(transfer.chain_of(place))


def _stop_title(place: Place, transfer: Transfer) -> str:
    if place is Place.PROVIDER:
        return ", ".join(names.provider_labels(transfer.providers)) or "Route provider"
    if place in REFUND_PLACES:
        to = transfer.address_of(Place.RETURNED)
        is_to_owner = to is None or transfer.owner is None or to.lower() == transfer.owner.lower()
        return "Refund to owner" if is_to_owner else "Refund to another address"
    if place is Place.DELIVERY_ADDRESS:
        return "Destination intent address"
    return place.value.replace("-", " ").capitalize()
