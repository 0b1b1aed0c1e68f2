"""The steps of a transfer: quoted, committed, deposit, origin, destination, and a refund if there is one."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from intents_ui.display import patience, sentences, statuses, text
from intents_ui.display.facts import Facts
from intents_ui.display.legs import DEAD, RUNNING, UNDER_WAY, Leg, leg
from intents_ui.display.names import NO_NAMES, Names
from intents_ui.display.sentences import Tense
from intents_ui.service.wire import Intent, IntentReceipt, IntentStatus, IntentTransaction


class State(StrEnum):
    DONE = "done"
    CURRENT = "current"
    FAILED = "failed"
    WAITING = "waiting"
    SKIPPED = "skipped"
    UNKNOWN = "unknown"


class Name(StrEnum):
    QUOTED = "quoted"
    COMMITTED = "committed"
    DEPOSIT = "deposit"
    ORIGIN = "origin"
    DESTINATION = "destination"
    REFUND = "refund"


@dataclass(frozen=True)
class Step:
    """`took` is the time since the last step whose moment is known; of a current step, so far."""

    name: Name
    state: State
    sentence: str
    at: datetime | None = None
    took: timedelta | None = None
    expected_at: datetime | None = None
    transaction: IntentTransaction | None = None
    reason: text.Text | None = None

    @property
    def title(self) -> str:
        return self.name.value.capitalize()


@dataclass(frozen=True)
class Timeline:
    """`late` is past the estimate, `stalled` unusual (domain.md 1.3): nothing has changed for too long."""

    steps: tuple[Step, ...]
    elapsed: timedelta | None
    estimate: timedelta
    estimate_is_given: bool
    due_at: datetime | None
    late: bool
    stalled: bool
    finished: bool

    @property
    def share(self) -> int:
        """Of the estimate, in percent, for the width of a bar."""
        return 0 if self.elapsed is None else min(100, self.elapsed * 100 // self.estimate)


TENSES = {
    State.DONE: Tense.PAST,
    State.CURRENT: Tense.PRESENT,
    State.WAITING: Tense.FUTURE,
    State.FAILED: Tense.NEVER,
    State.SKIPPED: Tense.NEVER,
    State.UNKNOWN: Tense.UNKNOWN,
}


def timeline(
    intent: Intent | None, receipt: IntentReceipt | None, *, now: datetime, using: Names = NO_NAMES
) -> Timeline:
    """For any combination of states, with either object missing."""
    facts = Facts.of(intent, receipt)
    expired = _is_expired(facts, now=now)
    steps = (_quoted(facts, now=now), _committed(facts, now=now), *_legs(facts, expired=expired, using=using))
    is_open = statuses.is_open(facts.status)
    elapsed = _elapsed(facts, steps, now=now)
    estimate = patience.estimate(facts)
    return Timeline(
        steps=tuple(_with_durations(steps, now=now)),
        elapsed=elapsed,
        estimate=estimate,
        estimate_is_given=patience.given_estimate(facts) is not None,
        due_at=patience.due_at(facts),
        late=elapsed is not None and elapsed > estimate,
        stalled=is_open and facts.has_moved and patience.is_stalled(facts, now=now),
        finished=not is_open,
    )


def _is_expired(facts: Facts, *, now: datetime) -> bool:
    """An offer that was used has no expiry any more, whatever the status says (domain.md 7, row 51)."""
    expired = statuses.is_expired(facts.status, now=now, expires_at=facts.expires_at, updated_at=facts.updated_at)
    return expired and not facts.has_moved


def _quoted(facts: Facts, *, now: datetime) -> Step:
    sentence = sentences.price_held(facts.expires_at, now=now)
    return Step(Name.QUOTED, State.DONE, sentence, facts.quoted_at)


def _committed(facts: Facts, *, now: datetime) -> Step:
    expired = _is_expired(facts, now=now)
    end = statuses.execute_by(facts.status, expires_at=facts.expires_at, updated_at=facts.updated_at)
    if facts.status == IntentStatus.QUOTED and not facts.has_moved:
        state = State.SKIPPED if expired else State.CURRENT
        return Step(Name.COMMITTED, state, "Not accepted in time." if expired else "Waiting to be accepted.")
    if facts.status == IntentStatus.COMMITTED and not facts.has_moved:
        sentence = "Not started in time." if expired else sentences.start_before(end, now=now)
        return Step(Name.COMMITTED, State.DONE, sentence, facts.updated_at)
    if facts.has_moved or facts.started_at or facts.status in (IntentStatus.EXECUTING, IntentStatus.SUCCEEDED):
        return Step(Name.COMMITTED, State.DONE, "Accepted and started.", facts.started_at)
    return Step(Name.COMMITTED, State.UNKNOWN, "Whether it was accepted is not known.")


def _legs(facts: Facts, *, expired: bool, using: Names) -> Iterator[Step]:
    tell = sentences.Teller(facts, using=using)
    deposit, origin, destination = facts.legs
    over = expired or not statuses.is_open(facts.status)
    started = facts.has_moved or facts.status not in (IntentStatus.QUOTED, IntentStatus.COMMITTED)
    states = {
        Name.DEPOSIT: _state(deposit, facts, over=over, ready=started, broken=False),
        Name.ORIGIN: _state(origin, facts, over=over, ready=deposit is Leg.DONE, broken=deposit in DEAD),
        Name.DESTINATION: _state(
            destination, facts, over=over, ready=origin is Leg.DONE, broken=deposit in DEAD or origin in DEAD
        ),
    }
    yield _step(Name.DEPOSIT, states, facts.deposit, tell.deposit(TENSES[states[Name.DEPOSIT]]))
    yield _step(Name.ORIGIN, states, facts.origin, tell.origin(TENSES[states[Name.ORIGIN]]))
    if facts.destination or not facts.is_same_chain:
        told = tell.destination(TENSES[states[Name.DESTINATION]])
        step = _step(Name.DESTINATION, states, facts.destination, told)
        open_step = step.state in (State.CURRENT, State.WAITING)
        yield replace(step, expected_at=patience.due_at(facts) if open_step else None)
    yield from _refund(facts, tell)


def _state(reached: Leg, facts: Facts, *, over: bool, ready: bool, broken: bool) -> State:
    """`over`: nothing more will happen; `ready`: the step before is done; `broken`: an earlier one will never be."""
    match reached:
        case Leg.DONE:
            return State.DONE
        case Leg.REJECTED:
            return State.FAILED
        case Leg.GIVEN_UP:
            return State.SKIPPED if broken else State.FAILED
    if over:
        never = reached in (Leg.ABSENT, Leg.WAITING) and facts.status != IntentStatus.SUCCEEDED
        return State.SKIPPED if never else State.UNKNOWN
    return State.CURRENT if reached in UNDER_WAY or (ready and not broken) else State.WAITING


def _refund(facts: Facts, tell: sentences.Teller) -> Iterator[Step]:
    reached = leg(facts.refund)
    if facts.refund is None or reached is Leg.ABSENT:
        if facts.status == IntentStatus.REFUNDED:
            yield Step(Name.REFUND, State.UNKNOWN, "No separate return transaction was reported.")
        return
    # A refund goes on after the transfer itself has ended.
    state = State.CURRENT if reached in RUNNING else State.DONE if reached is Leg.DONE else State.FAILED
    yield _step(Name.REFUND, {Name.REFUND: state}, facts.refund, tell.refund(TENSES[state]))


def _step(name: Name, states: dict[Name, State], transaction: IntentTransaction | None, sentence: str) -> Step:
    state = states[name]
    # A step that worked in the end may still carry the reason of an earlier attempt.
    reason = transaction.status_reason if transaction and state is not State.DONE else None
    return Step(
        name,
        state,
        sentence,
        at=_at(transaction, state),
        transaction=transaction,
        reason=text.reason(reason) if reason else None,
    )


def _at(transaction: IntentTransaction | None, state: State) -> datetime | None:
    if transaction is None or state not in (State.DONE, State.FAILED):
        return None
    return transaction.txn_mined_at or transaction.updated_at


def _with_durations(steps: tuple[Step, ...], *, now: datetime) -> Iterator[Step]:
    last = None
    for step in steps:
        end = now if step.state is State.CURRENT else step.at
        took = end - last if end and last else None
        yield replace(step, took=took if took and took >= timedelta() else None)
        last = step.at or last


def _elapsed(facts: Facts, steps: tuple[Step, ...], *, now: datetime) -> timedelta | None:
    """From the start of execution to its end; clocks that disagree make it unknown."""
    if facts.started_at is None:
        return None
    ends = [step.at for step in steps if step.at]
    end = now if statuses.is_open(facts.status) else facts.finished_at or max(ends, default=None)
    return end - facts.started_at if end and end >= facts.started_at else None
