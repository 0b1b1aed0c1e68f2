"""Health of the service, as its responses show it: breakers, maintenance mode and the offset of its clock.

Pages and live updates share what each call learns. Processes don't share this state through Redis, because each one
learns it with a call or two.
"""

import logging
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from random import SystemRandom
from types import TracebackType

from intents_ui.service.counters import Counters, Event
from intents_ui.service.error_mapping import LONGEST_PAUSE_SECONDS
from intents_ui.service.errors import (
    PAUSED,
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
from intents_ui.service.resilience.circuit_breaker import OPEN_SECONDS, Breaker, Gate
from intents_ui.service.wire.results import Line, ServiceState, ServiceStatus

SLOW_SECONDS = 4.0
DENIALS = 3  # authorization errors in a row before we assume that our key was rejected
LATCH_SECONDS = 30.0
LATELY = 50  # responses for the median

GARBLED = frozenset({Flaw.NOT_JSON, Flaw.WRONG_SHAPE, Flaw.CONTENT_TYPE, Flaw.ENCODING, Flaw.REDIRECT})
# Outages that the service reports itself.
SAID = frozenset({2002, 9000})
GEOBLOCKED = 1006
PAUSED_SECONDS = 30.0

# Samples for the median clock offset, because a response can be delayed or come from a proxy's cache.
CLOCK_SAMPLES = 9
CLOCK_NOISE = timedelta(seconds=5)  # smaller offsets: the header has whole seconds, and responses take time
BELIEVED = timedelta(days=2)  # ignore a larger offset: such a clock is misconfigured

log = logging.getLogger(__name__)


class ClockOffset:
    """Offset of the service's clock, estimated from the Date headers of its responses. Thread-safe.

    Used for countdowns only. Times that the service reports are shown unchanged.
    """

    def __init__(self) -> None:
        self._samples: deque[float] = deque(maxlen=CLOCK_SAMPLES)

    def learn(self, date: str | None, *, now: datetime | None = None) -> None:
        """Record the Date header of a response."""
        try:
            said = parsedate_to_datetime(date or "")
        except (ValueError, OverflowError):
            return
        said = said if said.tzinfo else said.replace(tzinfo=UTC)
        ahead = said - (now or datetime.now(UTC))
        if abs(ahead) <= BELIEVED:
            self._samples.append(ahead.total_seconds())

    def ahead(self) -> timedelta:
        """Return how far the service's clock is ahead of ours, or zero if the difference is below the noise."""
        samples = list(self._samples)
        found = timedelta(seconds=round(statistics.median(samples))) if samples else timedelta()
        return found if abs(found) >= CLOCK_NOISE else timedelta()


class Maintenance:
    """Whether the service last responded that it is switched off (IntentsDisabled).

    Pages keep sending requests, so the flag follows the service. Without requests it expires after PAUSED_SECONDS.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until = float("-inf")

    @property
    def is_on(self) -> bool:
        return self._clock() < self._until

    def learn(self, code: int | None) -> None:
        """Record a response's error code, or None for a success."""
        if code == PAUSED:
            self._until = self._clock() + PAUSED_SECONDS
        elif code is None:
            self._until = float("-inf")


class Health:
    """Thread-safe."""

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        tally: Counters | None = None,
        open_seconds: Mapping[Line, float] = OPEN_SECONDS,
        told: Callable[[str, BaseException | None, float], None] = lambda operation, error, seconds: None,
    ) -> None:
        """`told` is called after each attempt with the operation, its exception if any, and its duration in seconds."""
        self.told = told
        self.tally = tally or Counters()
        self.clock = clock
        self.clock_offset = ClockOffset()
        self.maintenance = Maintenance(clock)
        self._lock = threading.Lock()
        self._learned = threading.Condition(self._lock)
        self._rate_limit = Gate(clock, probes=1)
        self._authorization = Gate(clock, probes=1)
        self._denials = 0
        self._answered_at: float | None = None
        self._failed_at: float | None = None
        self._troubled_since: float | None = None
        self._durations: deque[float] = deque(maxlen=LATELY)
        self._breakers = {
            line: Breaker(line, clock, seconds=seconds, tally=self.tally) for line, seconds in open_seconds.items()
        }

    def standing(self) -> ServiceStatus:
        """Return the current health, without a request."""
        with self._lock:
            now = self.clock()
            answered, failed, since = (
                None if at is None else now - at for at in (self._answered_at, self._failed_at, self._troubled_since)
            )
            return ServiceStatus(
                state=self._state(),
                answered=answered,
                failed=failed,
                in_trouble=since,
                typical=statistics.median(self._durations) if self._durations else None,
                breakers={line: breaker.door.error is not None for line, breaker in self._breakers.items()},
            )

    def _state(self) -> ServiceState:
        if self._authorization.error:
            return ServiceState.UNAUTHORIZED
        if self._rate_limit.opens_in() is not None:
            return ServiceState.RATE_LIMITED
        if self._troubled_since is not None:
            return ServiceState.DEGRADED
        return ServiceState.UNKNOWN if self._answered_at is None else ServiceState.UP

    def refusal(self, operation: str, line: Line | None) -> ServiceError | None:
        """Return the error with which a call would be rejected now. None during a probe, which may open the gate."""
        with self._lock:
            if any(door.is_tried for door in self._gates(line)):
                return None
            return self._refusal(operation, line, held=False)

    def asking(self, operation: str, group: Group, line: Line | None, *, patience: float = 0.0) -> "TrackedCall":
        """Return a context manager for one attempt of a call.

        Entering it raises the error with which a gate rejects the call. With `line` None no breaker applies. `patience`
        is the number of seconds to wait for another call's probe.
        """
        return TrackedCall(self, operation, group, line, patience)

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

    def _gates(self, line: Line | None) -> list[Gate]:
        breaker = [self._breakers[line].door] if line else []
        return [self._rate_limit, self._authorization, *breaker]

    def enter(self, asking: "TrackedCall") -> frozenset[Gate]:
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

    def learn(self, asking: "TrackedCall", error: BaseException | None, *, seconds: float) -> None:
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

    def _learn_rate_limit(self, asking: "TrackedCall", error: ServiceError | None) -> None:
        if self._rate_limit in asking.tries:
            self._rate_limit.leave(answered=not isinstance(error, TooBusy))
        if isinstance(error, TooBusy):
            jitter = SystemRandom().uniform(1.0, 1.1)
            error.retry_after = min(error.retry_after * jitter, LONGEST_PAUSE_SECONDS)
            self._rate_limit.shut(error, error.retry_after)

    def _learn_authorization(self, asking: "TrackedCall", error: ServiceError | None) -> None:
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

    def _learn_breaker(self, asking: "TrackedCall", error: ServiceError | None, *, seconds: float) -> None:
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

    def _learn_standing(self, asking: "TrackedCall", error: ServiceError | None, *, seconds: float) -> None:
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


class TrackedCall:
    """Context manager that reports an attempt's result to `Health`, whatever it is."""

    def __init__(self, health: Health, operation: str, group: Group, line: Line | None, patience: float) -> None:
        self.operation = operation
        self.group = group
        self.line = line
        self.patience = patience
        self.tries: frozenset[Gate] = frozenset()
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
