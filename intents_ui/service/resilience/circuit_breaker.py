"""Service health and circuit breakers: unavailable, rate limited or unauthorized.

Pages and live updates share what each call learns. While a breaker is open it rejects calls. After its timeout it lets
single probes through (half-open), which close it or open it again. Processes don't share this state through Redis,
because each one learns it with a call or two.
"""

import logging
import random
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum, auto
from types import TracebackType

from intents_ui.service.counters import Event, Tally
from intents_ui.service.error_mapping import LONGEST_PAUSE_SECONDS
from intents_ui.service.errors import (
    AccessDenied,
    Flaw,
    OutOfTime,
    Overloaded,
    Reason,
    ServiceError,
    TooBusy,
    Unreachable,
    Unreadable,
)
from intents_ui.service.operations.config import Group
from intents_ui.service.resilience.sliding_window import Recent

FEWEST_CALLS = 10  # minimum sample for a failure rate
FAILED_SHARE = 0.5
SLOW_SHARE = 0.8
SLOW_SECONDS = 4.0
PROBES = 2  # successful probes in a row that close a breaker
DENIALS = 3  # authorization errors in a row before we assume that our key was rejected
LATCH_SECONDS = 30.0
LATELY = 50  # responses for the median

GARBLED = frozenset({Flaw.NOT_JSON, Flaw.WRONG_SHAPE, Flaw.CONTENT_TYPE, Flaw.ENCODING, Flaw.REDIRECT})
# Outages that the service reports itself.
SAID = frozenset({2002, 9000})
GEOBLOCKED = 1006

log = logging.getLogger(__name__)


class Line(StrEnum):
    """Traffic classes, each with its own breaker."""

    READ = auto()
    LIVE = auto()
    WRITE = auto()


class State(StrEnum):
    """What the calls so far show about the service."""

    UNKNOWN = auto()  # no call yet
    UP = auto()
    DEGRADED = auto()  # the last call failed, or a breaker is open
    RATE_LIMITED = auto()  # it sent a Retry-After
    UNAUTHORIZED = auto()  # it rejects our key


@dataclass(frozen=True, slots=True)
class Standing:
    """Health of the service.

    Times are in seconds ago, None for "never" or "not now". `typical` is the median response time.
    """

    state: State
    answered: float | None
    failed: float | None
    in_trouble: float | None
    typical: float | None
    breakers: Mapping[Line, bool]  # whether each is open


# No exponential backoff: pages should recover within 6 s of the service and live pages within 5 s, and a probe every
# few seconds is negligible load.
OPEN_SECONDS: Mapping[Line, float] = {Line.READ: 5.0, Line.LIVE: 4.0, Line.WRITE: 5.0}


class Door:
    """Circuit breaker's gate. An error closes it for a time, and `probes` successful calls in a row open it again."""

    def __init__(self, clock: Callable[[], float], *, probes: int) -> None:
        self._clock = clock
        self._needed = probes
        self._until = 0.0
        self._seconds = 0.0
        self._answered = 0
        self.is_tried = False
        self.error: ServiceError | None = None  # None: calls may pass

    def shut(self, error: ServiceError, seconds: float) -> None:
        self.error, self._seconds, self._until = error, seconds, self._clock() + seconds
        self._answered = 0

    def opens_in(self, *, held: bool = False) -> float | None:
        """Return the seconds until the gate lets a call through, or None for now.

        Long polls never probe, because they take too long to return a result.
        """
        if self.error is None:
            return None
        left = self._until - self._clock()
        if left > 0:
            return left
        if self.is_tried or (held and not self._answered):
            return self._seconds / 5
        return None

    def enter(self, *, held: bool) -> bool:
        """Register a call and return whether it is a probe."""
        if self.error is None or held:
            return False
        self.is_tried = True
        return True

    def leave(self, *, answered: bool) -> bool:
        """Record a probe's result and return whether the gate is now open."""
        self.is_tried = False
        self._answered += answered
        if self._answered < self._needed:
            return False
        self.error = None
        return True


class Breaker:
    """Closes its gate if most calls of the last ten seconds failed, or nearly all were slow."""

    def __init__(self, line: Line, clock: Callable[[], float], *, seconds: float, tally: Tally) -> None:
        self.door = Door(clock, probes=PROBES)
        self._line = line
        self._seconds = seconds
        self._tally = tally
        self._recent = Recent(clock)

    def note(self, error: ServiceError | None, *, is_slow: bool) -> None:
        """Record a call that wasn't a probe."""
        self._recent.add("call")
        if error:
            self._recent.add("failed")
        elif is_slow:
            self._recent.add("slow")
        if (error or is_slow) and self.door.error is None:
            self._judge(error or Unreachable.because(Reason.TIMEOUT))

    def shut(self, error: ServiceError) -> None:
        self._recent.clear()
        self.door.shut(error, self._seconds * random.uniform(0.8, 1.0))  # noqa: S311 - jitter, not security

    def leave(self, *, answered: bool) -> None:
        if self.door.leave(answered=answered):
            self._recent.clear()
            log.warning("Circuit breaker closed for the service (%s)", self._line)

    def _judge(self, error: ServiceError) -> None:
        calls = self._recent.count("call")
        failed, slow = self._recent.count("failed"), self._recent.count("slow")
        if calls >= FEWEST_CALLS and (failed >= calls * FAILED_SHARE or slow >= calls * SLOW_SHARE):
            self.shut(error)
            self._tally.add(Event.OPENED)
            log.warning("Circuit breaker opened for the service (%s): %s", self._line, error)


class Health:
    """Thread-safe."""

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        tally: Tally | None = None,
        open_seconds: Mapping[Line, float] = OPEN_SECONDS,
        told: Callable[[str, BaseException | None, float], None] = lambda operation, error, seconds: None,
    ) -> None:
        """`told` is called after each attempt with the operation, its exception if any, and its duration in seconds."""
        self.told = told
        self.tally = tally or Tally()
        self.clock = clock
        self._lock = threading.Lock()
        self._learned = threading.Condition(self._lock)
        self._rate_limit = Door(clock, probes=1)
        self._authorization = Door(clock, probes=1)
        self._denials = 0
        self._answered_at: float | None = None
        self._failed_at: float | None = None
        self._troubled_since: float | None = None
        self._durations: deque[float] = deque(maxlen=LATELY)
        self._breakers = {
            line: Breaker(line, clock, seconds=seconds, tally=self.tally) for line, seconds in open_seconds.items()
        }

    @property
    def lets_us_in(self) -> bool:
        """Whether the service accepts our access key, as of the last call."""
        return self._authorization.error is None

    def standing(self) -> Standing:
        """Return the current health, without a request."""
        with self._lock:
            now = self.clock()
            answered, failed, since = (
                None if at is None else now - at for at in (self._answered_at, self._failed_at, self._troubled_since)
            )
            return Standing(
                state=self._state(),
                answered=answered,
                failed=failed,
                in_trouble=since,
                typical=statistics.median(self._durations) if self._durations else None,
                breakers={line: breaker.door.error is not None for line, breaker in self._breakers.items()},
            )

    def _state(self) -> State:
        if self._authorization.error:
            return State.UNAUTHORIZED
        if self._rate_limit.opens_in() is not None:
            return State.RATE_LIMITED
        if self._troubled_since is not None:
            return State.DEGRADED
        return State.UNKNOWN if self._answered_at is None else State.UP

    def refusal(self, operation: str, line: Line | None) -> ServiceError | None:
        """Return the error with which a call would be rejected now. None during a probe, which may open the gate."""
        with self._lock:
            if any(door.is_tried for door in self._gates(line)):
                return None
            return self._refusal(operation, line, held=False)

    def asking(self, operation: str, group: Group, line: Line | None, *, patience: float = 0.0) -> "Asking":
        """Return a context manager for one attempt of a call.

        Entering it raises the error with which a gate rejects the call. With `line` None no breaker applies. `patience`
        is the number of seconds to wait for another call's probe.
        """
        return Asking(self, operation, group, line, patience)

    def _refusal(self, operation: str, line: Line | None, *, held: bool) -> ServiceError | None:
        for door in self._gates(line):
            opens_in = door.opens_in(held=held)
            if opens_in is not None and door.error:
                error = door.error.again(operation)
                error.again_in = opens_in
                if isinstance(error, TooBusy):
                    error.retry_after = opens_in
                return error
        return None

    def _gates(self, line: Line | None) -> list[Door]:
        breaker = [self._breakers[line].door] if line else []
        return [self._rate_limit, self._authorization, *breaker]

    def enter(self, asking: "Asking") -> frozenset[Door]:
        """Return the gates for which this call is a probe."""
        held, until = asking.group is Group.WAIT, time.monotonic() + asking.patience
        with self._lock:
            refusal = self._refusal(asking.operation, asking.line, held=held)
            while refusal and any(door.is_tried for door in self._gates(asking.line)):
                left = until - time.monotonic()
                if left <= 0 or not self._learned.wait(left):
                    break
                refusal = self._refusal(asking.operation, asking.line, held=held)
            if refusal is None:
                self.tally.add(Event.CALL)
                return frozenset(door for door in self._gates(asking.line) if door.enter(held=held))
        self.tally.add(Event.HELD_BACK)
        raise refusal

    def learn(self, asking: "Asking", error: BaseException | None, *, seconds: float) -> None:
        with self._lock:
            self._learned.notify_all()
            if error is not None and (not isinstance(error, ServiceError) or isinstance(error, OutOfTime | Overloaded)):
                for door in asking.tries:  # the call says nothing about the service
                    door.leave(answered=False)
                if isinstance(error, Overloaded):
                    self.tally.add(Event.SHED)
                return
            if error is not None:
                self.tally.add(Event.FAILED)
            self._learn_rate_limit(asking, error)
            self._learn_authorization(asking, error)
            self._learn_breaker(asking, error, seconds=seconds)
            self._learn_standing(asking, error, seconds=seconds)

    def _learn_rate_limit(self, asking: "Asking", error: ServiceError | None) -> None:
        if self._rate_limit in asking.tries:
            self._rate_limit.leave(answered=not isinstance(error, TooBusy))
        if isinstance(error, TooBusy):
            jitter = random.uniform(1.0, 1.1)  # noqa: S311 - jitter, not security
            error.retry_after = min(error.retry_after * jitter, LONGEST_PAUSE_SECONDS)
            self._rate_limit.shut(error, error.retry_after)

    def _learn_authorization(self, asking: "Asking", error: ServiceError | None) -> None:
        denied = isinstance(error, AccessDenied) and error.code != GEOBLOCKED and error.status != 451
        says_nothing = isinstance(error, Unreachable | Unreadable | TooBusy)
        if self._authorization in asking.tries:
            self._authorization.leave(answered=not denied and not says_nothing)
        if denied and error:
            self._denials += 1
            if self._denials == DENIALS:
                log.error("Service rejected the access key; retrying every %g s: %s", LATCH_SECONDS, error)
            if self._denials >= DENIALS:
                self._authorization.shut(error, LATCH_SECONDS)
        elif not says_nothing:
            if self._denials >= DENIALS:
                log.warning("Service accepts the access key again")
            self._denials = 0

    def _learn_breaker(self, asking: "Asking", error: ServiceError | None, *, seconds: float) -> None:
        if asking.line is None:
            return
        breaker = self._breakers[asking.line]
        failure = error if error and _counts(error, asking.group) else None
        if breaker.door in asking.tries:
            # A rate-limited probe neither failed nor succeeded.
            breaker.leave(answered=failure is None and not isinstance(error, TooBusy))
            if failure:
                breaker.shut(failure)
        elif not isinstance(error, TooBusy) and not (error and error.again_in is not None):
            is_slow = seconds > SLOW_SECONDS and asking.group not in (Group.BALANCES, Group.WAIT, Group.WRITE)
            breaker.note(failure, is_slow=is_slow)

    def _learn_standing(self, asking: "Asking", error: ServiceError | None, *, seconds: float) -> None:
        now = self.clock()
        if error and _counts(error, asking.group):
            self._failed_at = now
            if self._troubled_since is None:
                self._troubled_since = now
        elif not isinstance(error, Unreachable):
            self._answered_at = now
            if asking.group not in (Group.WAIT, Group.WRITE):
                self._durations.append(seconds)
            if all(breaker.door.error is None for breaker in self._breakers.values()):
                self._troubled_since = None


class Asking:
    """Context manager that reports an attempt's result to `Health`, whatever it is."""

    def __init__(self, health: Health, operation: str, group: Group, line: Line | None, patience: float) -> None:
        self.operation = operation
        self.group = group
        self.line = line
        self.patience = patience
        self.tries: frozenset[Door] = frozenset()
        self._health = health
        self._began = 0.0

    def __enter__(self) -> None:
        self.tries = self._health.enter(self)
        self._began = self._health.clock()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        seconds = self._health.clock() - self._began
        self._health.learn(self, error, seconds=seconds)
        self._health.told(self.operation, error, seconds)


def _counts(error: ServiceError, group: Group) -> bool:
    """Return whether an error is a failure of the service or the network, and not a valid error response."""
    if isinstance(error, Unreachable):
        # A long poll normally ends in silence, and an idle connection that was closed says nothing about the service.
        is_silence = group is Group.WAIT and error.reason is Reason.TIMEOUT
        return error.code not in SAID and error.reason is not Reason.IDLE and not is_silence
    return isinstance(error, Unreadable) and error.flaw in GARBLED
