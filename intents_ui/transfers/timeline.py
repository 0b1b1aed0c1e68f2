"""The steps of a transfer, worded in steps.toml: quoted, accepted, deposit, origin, destination, and a refund if there
is one. And the route: the places from the owner to the recipient, and where the funds are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from intents_ui import tables
from intents_ui.formatting import text, times
from intents_ui.formatting.text import Sentence, fill
from intents_ui.service.models import UNEXECUTED, IntentStatus, IntentTransaction
from intents_ui.service.outcome import DEAD, RUNNING, TRACES, UNDER_WAY, StepStatus, leg
from intents_ui.tokens import names, token_amounts
from intents_ui.transfers import placeholders, summary
from intents_ui.transfers.placeholders import ADDRESSES, Placeholders
from intents_ui.transfers.rules import Certainty
from intents_ui.transfers.summary import Summary
from intents_ui.transfers.transfer import WAY, Place, Transfer, derived

# The sentences of each step by its state, and those of what is special about it.
SENTENCES: Mapping[str, Mapping[str, str]] = tables.read(__package__, "steps.toml")
NOT_STARTED = frozenset({StepStatus.ABSENT, StepStatus.WAITING})
UNCERTAIN = frozenset({StepStatus.RETRYING, StepStatus.STRANGE})


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
    """The steps, and the time that they took so far, None without a deposit or if the clocks disagree."""

    steps: tuple[Step, ...]
    elapsed: timedelta | None
    estimate: timedelta

    @property
    def share(self) -> int:
        """Return the elapsed time in percent of the estimate, for the width of a bar."""
        return 0 if self.elapsed is None else min(100, self.elapsed * 100 // self.estimate)

    @property
    def times_the_estimate(self) -> int:
        """Return the elapsed time as a multiple of the estimate, for texts where the bar is full."""
        return 0 if self.elapsed is None else self.elapsed // self.estimate


LEGS = (Name.DEPOSIT, Name.ORIGIN, Name.DESTINATION)
EXECUTION = frozenset({*LEGS, Name.REFUND})
NO_TIME = timedelta()
AHEAD = frozenset({StepState.CURRENT, StepState.WAITING})


@derived
def of(transfer: Transfer) -> Timeline:
    """Return the timeline for any combination of states, with either object missing."""
    steps = (*_before_execution(transfer), *_legs(transfer), *_refund(transfer))
    # The estimate counts from the deposit.
    elapsed = transfer.elapsed if transfer.has_arrived or transfer.is_delivered else None
    return Timeline(tuple(_with_durations(steps, elapsed, now=transfer.now)), elapsed, transfer.estimate)


def _before_execution(transfer: Transfer) -> Iterator[Step]:
    is_offer = transfer.status in UNEXECUTED and not transfer.steps.is_under_way
    price, until, expired = "", transfer.expires_at, transfer.is_expired
    if is_offer and until:
        valid = "Quote was valid until " if transfer.has_come(until) else "Quote valid until "
        price = Sentence(valid, times.utc(until, now=transfer.now), ".")
    elif is_offer:
        price = "Quote expiry not reported."
    yield Step(Name.QUOTED, StepState.DONE, price, transfer.quoted_at)
    is_started = transfer.steps.has_any_step or transfer.started_at
    if is_offer and not transfer.is_unread and transfer.status == IntentStatus.QUOTED:
        state = StepState.SKIPPED if expired else StepState.CURRENT
        yield Step(Name.ACCEPTED, state, "Not accepted in time." if expired else "Not accepted yet.")
    elif is_offer and not transfer.is_unread:
        sentence = "Not started in time." if expired else "Not started yet."
        if transfer.execute_by and not expired:
            sentence = Sentence(sentence, " Valid until ", times.utc(transfer.execute_by, now=transfer.now), ".")
        yield Step(Name.ACCEPTED, StepState.DONE, sentence, transfer.updated_at)
    elif not is_offer and (is_started or transfer.status in (IntentStatus.EXECUTING, IntentStatus.SUCCEEDED)):
        yield Step(Name.ACCEPTED, StepState.DONE, "Started.", transfer.started_at)
    else:
        yield Step(Name.ACCEPTED, StepState.UNKNOWN, "Unknown whether the quote was accepted.")


def _legs(transfer: Transfer) -> Iterator[Step]:
    for index, transaction in enumerate((transfer.deposit, transfer.origin, transfer.destination)):
        name, state = LEGS[index], _state(index, transfer)
        if name is Name.DESTINATION and transfer.is_same_chain and transaction is None:
            return
        step = _step(name, state, transaction, _sentence(name, _situation(index, state, transfer), transfer), transfer)
        is_ahead = name is Name.DESTINATION and state in AHEAD and not transfer.has_come(transfer.due_at)
        yield replace(step, expected_at=transfer.due_at) if is_ahead else step


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
        came_back = index == 0 and transfer.status == IntentStatus.REFUNDED
        # A deposit that was watched for and never came, although a later step may have begun since.
        never = NOT_STARTED | ({StepStatus.QUEUED} if index == 0 else set())
        is_skipped = reached in never and not came_back and transfer.status != IntentStatus.SUCCEEDED
        return StepState.SKIPPED if is_skipped else StepState.UNKNOWN
    is_started = transfer.steps.is_under_way or transfer.status not in UNEXECUTED
    is_ready = before[-1] is StepStatus.DONE if before else is_started
    return StepState.CURRENT if reached in UNDER_WAY or (is_ready and not is_broken) else StepState.WAITING


def _must_have_been(index: int, transfer: Transfer) -> bool:
    """Return whether a later step implies that it is done, whatever its own status."""
    return transfer.has_arrived if index == 0 else any(each in TRACES for each in transfer.legs[index + 1 :])


def _situation(index: int, state: StepState, transfer: Transfer) -> str:
    """Return what is said of a step: its state, or what later steps or the transfer's status say of one without."""
    if state in (StepState.FAILED, StepState.SKIPPED):
        return "never"
    if state is not StepState.UNKNOWN or transfer.is_unread or transfer.is_missing:
        return state
    if _must_have_been(index, transfer):
        return "implied"
    is_reported = transfer.status == IntentStatus.SUCCEEDED and not DEAD & {*transfer.legs, transfer.returning}
    return "reported" if is_reported else state


def _sentence(name: Name, situation: str, transfer: Transfer) -> str:
    """Return the sentence of a step. A delivery on hold says what it waits for, a rejected deposit why."""
    sentences = SENTENCES["swap" if name is Name.ORIGIN and transfer.is_same_chain else name]
    deposit, origin, destination = transfer.legs
    match name, situation:
        case Name.DEPOSIT, "current" if deposit in UNDER_WAY:
            situation = "in_transit"
        case Name.DEPOSIT, "current" if deposit is StepStatus.STRANGE:
            situation = "unknown"
        case Name.DEPOSIT, "done" if not transfer.is_arrival_reported:
            situation = "amount_not_reported"
        case Name.DEPOSIT, "never" if transfer.deposit_not_accepted:
            situation = "not_accepted"
        case Name.DEPOSIT, "never" if transfer.steps.is_deposit_made or transfer.has_arrived:
            situation = "not_confirmed"
        case Name.ORIGIN, "current" if origin in UNCERTAIN:
            situation = "not_yet"
        case Name.DESTINATION, "current" if destination in UNCERTAIN:
            situation = "not_yet"
        case Name.DESTINATION, "current" if destination in NOT_STARTED:
            context = transfer.destination.context if transfer.destination else None
            return fill(SENTENCES["attestations"].get(context or "", sentences["on_hold"]), Placeholders(transfer))
        case Name.DESTINATION, "done" if transfer.received.value is None:
            situation = "amount_not_reported"
    return fill(sentences[situation], Placeholders(transfer))


def _refund(transfer: Transfer) -> Iterator[Step]:
    reached = transfer.returning
    if transfer.refund is None or reached is StepStatus.ABSENT:
        if transfer.status == IntentStatus.REFUNDED:
            unread = "Unknown whether there is a refund transaction."
            sentence = unread if transfer.is_unread else "No separate refund transaction reported."
            yield Step(Name.REFUND, StepState.UNKNOWN, sentence)
        return
    # A refund continues after the transfer itself has ended.
    state = StepState.DONE if reached is StepStatus.DONE else StepState.FAILED
    state = StepState.CURRENT if reached in RUNNING else state
    situation = "never" if state is StepState.FAILED else state
    yield _step(Name.REFUND, state, transfer.refund, _sentence(Name.REFUND, situation, transfer), transfer)


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


def _with_durations(steps: tuple[Step, ...], elapsed: timedelta | None, *, now: datetime) -> Iterator[Step]:
    """Return the steps with their durations, and a mark on one of several that took more than half of the time."""
    last, took = None, list[timedelta | None]()
    for step in steps:
        end = now if step.state is StepState.CURRENT else step.at
        took.append(end - last if end and last and end >= last else None)
        last = step.at or last
    timed = [each if step.name in EXECUTION and step.at else None for step, each in zip(steps, took, strict=True)]
    is_one_of_several = elapsed is not None and sum(each is not None for each in timed) > 1
    half = elapsed / 2 if elapsed is not None and is_one_of_several else timedelta.max
    for step, each, completed in zip(steps, took, timed, strict=True):
        yield replace(step, took=each, took_most=(completed or NO_TIME) > half)


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


REFUND_PLACES = (Place.RETURNING, Place.RETURNED)


@derived
def stops(transfer: Transfer) -> tuple[RouteStop, ...]:
    """Return the stops, with the location of the summary. A refund adds a last stop."""
    told, left_out = summary.of(transfer), set[Place]()
    if transfer.is_same_chain:
        left_out = {Place.PROVIDER} if transfer.destination else {Place.PROVIDER, Place.DELIVERY_ADDRESS}
    places = [place for place in WAY if place not in left_out]
    reached = {place: _reached(place, places, told) for place in places}
    if told.place in REFUND_PLACES:
        reached[told.place] = _here(told)
    return tuple(
        RouteStop(place, _stop_title(place, transfer), how, _stop_note(place, how, transfer))
        for place, how in reached.items()
    )


def _reached(place: Place, places: Sequence[Place], told: Summary) -> Reached:
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
    was_delivered = destination is StepStatus.DONE or (is_back and destination is StepStatus.REJECTED)
    passed = {
        Place.OWNER: transfer.has_arrived,
        Place.DEPOSIT_ADDRESS: is_back or crossed or origin is StepStatus.DONE,
        Place.PROVIDER: crossed or came_back_from_afar or (is_back and origin is StepStatus.DONE),
        Place.DELIVERY_ADDRESS: was_delivered or came_back_from_afar,
    }
    return passed.get(place, False)


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
        is_other = token_amounts.is_other_address(transfer.address_of(Place.RETURNED), transfer.owner)
        return "Refund to another address" if is_other else "Refund to owner"
    if place is Place.DELIVERY_ADDRESS:
        return "Destination intent address"
    return place.value.replace("-", " ").capitalize()
