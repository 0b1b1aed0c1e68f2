"""Health of the service, as its responses show it: the circuit breaker, statistics, and Prometheus metrics of calls.

Pages, live updates and writes share what each call learns. Processes don't share it through Redis, because each one
learns it with a call or two. docs/operations.md describes each metric.
"""

import logging
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from random import SystemRandom
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics

from intents_ui.service import errors
from intents_ui.service.errors import PAUSED, Overloaded, Reason, ServiceError, TooBusy, Unreachable, Unreadable
from intents_ui.service.executor import resting
from intents_ui.service.operations import Kind, ServiceCall
from intents_ui.service.results import ServiceState, ServiceStatus

RECENT_SECONDS: Final = 10.0
MIN_CALLS: Final = 10  # minimum sample for a failure rate
FAILED_SHARE: Final = 0.5
# No exponential backoff: live pages should recover within 5 s of the service, and a probe every few seconds is
# negligible load.
OPEN_SECONDS: Final = 4.0
MAX_DENIALS: Final = 3  # authorization errors in a row before we assume that our key was rejected
DENIED_SECONDS: Final = 30.0
MAX_RETRIES: Final = 10  # of the last ten seconds
SAMPLE_SIZE: Final = 50  # responses for the median
PAUSED_SECONDS: Final = 30.0

GARBLED: Final = frozenset({Reason.NOT_JSON, Reason.WRONG_SHAPE, Reason.CONTENT_TYPE, Reason.ENCODING, Reason.REDIRECT})
NOT_SENT: Final = (errors.OutOfTime, Overloaded)
REPORTED_OUTAGES: Final = frozenset({2002, PAUSED})  # outages that the service reports itself

# Samples for the median clock offset, because a response can be delayed or come from a proxy's cache.
CLOCK_SAMPLES: Final = 9
CLOCK_NOISE: Final = timedelta(seconds=5)  # smaller offsets: the header has whole seconds, and responses take time
MAX_CLOCK_OFFSET: Final = timedelta(days=2)  # ignore a larger offset: such a clock is misconfigured

CALL_BUCKETS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 40)
OUTCOMES: Final[Mapping[type[BaseException], str]] = {
    errors.OutOfTime: "deadline_exceeded",
    Unreachable: "unreachable",
    Overloaded: "rejected",
    TooBusy: "rate_limited",
    errors.AccessDenied: "unauthorized",
    errors.Refused: "refused",
    Unreadable: "unreadable",
}

log = logging.getLogger(__name__)
disable_created_metrics()
registry = CollectorRegistry()


def counters(name: str, meaning: str, label: str, *values: str) -> Mapping[str, Counter]:
    """Return a counter for each value of a label. They start at 0, so that the first event is an increase."""
    counter = Counter(name, meaning, [label], registry=registry)
    return {value: counter.labels(value) for value in values}


call_seconds = Histogram(
    "intents_ui_upstream_seconds",
    "Duration of service calls, each attempt separately.",
    ["operation", "outcome"],
    buckets=CALL_BUCKETS,
    registry=registry,
)
short_circuited = Counter(
    "intents_ui_upstream_short_circuited",
    "Calls suppressed while the service is down or rate limits us.",
    registry=registry,
)
breaker_opened = Counter("intents_ui_breaker_opened", "Times that the circuit breaker opened.", registry=registry)
rejected = counters(
    "intents_ui_rejected", "Requests rejected because all slots were in use.", "stage", "ingress", "service"
)
retries = counters(
    "intents_ui_upstream_retries", "Calls worth a retry, sent or suppressed.", "outcome", "sent", "suppressed"
)
mismatched = counters(
    "intents_ui_upstream_mismatched",
    "Responses rejected, in whole or in part, because they belong to another request.",
    "reason",
    *("older", "other_entries", "other_intent", "other_filter"),
)


def read_http_date(text: str | None) -> datetime | None:
    try:
        at = parsedate_to_datetime(text or "")
    except (ValueError, OverflowError):
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


class Health:
    """Circuit breaker and statistics of all calls. Thread-safe.

    The breaker opens at a rate limit, when the access key is rejected three times in a row, and when at least half of
    the last ten seconds' calls failed. While it is open it rejects calls with the error that opened it. After a pause
    it lets one call through as a probe, which closes it or opens it again.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, open_seconds: float = OPEN_SECONDS) -> None:
        self.clock = clock
        self._open_seconds = open_seconds
        self._changed = threading.Condition()
        self._error: ServiceError | None = None  # why the breaker is open, None: it is closed
        self._until = 0.0
        self._is_probing = False
        self._denials = 0
        self._recent: deque[tuple[float, bool]] = deque()  # calls: when, and whether they failed
        self._retries: deque[float] = deque(maxlen=MAX_RETRIES)
        self._durations: deque[float] = deque(maxlen=SAMPLE_SIZE)
        self._clock_samples: deque[float] = deque(maxlen=CLOCK_SAMPLES)
        self._answered_at: float | None = None
        self._failed_at: float | None = None
        self._degraded_since: float | None = None
        self._paused_until = float("-inf")

    @property
    def is_paused(self) -> bool:
        """Whether the service last responded that it is switched off for maintenance (IntentsDisabled).

        Pages keep sending requests, so this follows the service. Without requests it expires.
        """
        return self.clock() < self._paused_until

    def learn_date(self, header: str | None) -> None:
        """Learn the time of the service's clock from the Date header of a response."""
        at = read_http_date(header)
        if at and abs(ahead := at - datetime.now(UTC)) <= MAX_CLOCK_OFFSET:
            self._clock_samples.append(ahead.total_seconds())

    def clock_ahead(self) -> timedelta:
        """Return how far the service's clock is ahead of ours, for countdowns, or zero if that is below the noise."""
        samples = list(self._clock_samples)
        found = timedelta(seconds=round(statistics.median(samples))) if samples else timedelta()
        return found if abs(found) >= CLOCK_NOISE else timedelta()

    def status(self) -> ServiceStatus:
        """Return the current health, without a request."""
        with self._changed:
            now, times = self.clock(), (self._answered_at, self._failed_at, self._degraded_since)
            answered, failed, degraded_for = (None if at is None else now - at for at in times)
            typical = statistics.median(self._durations) if self._durations else None
            state = ServiceState.UNKNOWN if answered is None else ServiceState.UP
            if self._denials >= MAX_DENIALS:
                state = ServiceState.UNAUTHORIZED
            elif isinstance(self._error, TooBusy) and now < self._until:
                state = ServiceState.RATE_LIMITED
            elif degraded_for is not None:
                state = ServiceState.DEGRADED
            return ServiceStatus(state, answered, failed, degraded_for, typical, is_open=self._error is not None)

    def rejection(self) -> ServiceError | None:
        """Return the error with which a call would be rejected now, or None. None while a call may probe."""
        with self._changed:
            return None if self._is_probing else self._rejection()

    def await_probe(self, seconds: float) -> None:
        """Wait while another call probes whether the service is back, because this one would be rejected meanwhile."""
        if self._is_probing:
            with resting(), self._changed:
                self._changed.wait_for(lambda: not self._is_probing, seconds)

    def may_retry(self) -> bool:
        """Take one retry from the budget, so that retries don't overload a failing service."""
        with self._changed:
            if self._rejection():
                return False
            is_used_up = len(self._retries) == MAX_RETRIES and self._retries[0] > self.clock() - RECENT_SECONDS
            if not is_used_up:
                self._retries.append(self.clock())
        retries["suppressed" if is_used_up else "sent"].inc()
        return not is_used_up

    @contextmanager
    def track(self, call: ServiceCall[Any], *, is_raw: bool = False) -> Iterator[None]:
        """Run one attempt of a call, and learn from its result.

        Raises the breaker's error instead while it is open. Raw calls are rejected during a rate limit only, because
        console users want the service's own response.
        """
        is_probe = self._enter(call, is_raw=is_raw)
        began, error = self.clock(), None
        try:
            yield
        except BaseException as raised:
            error = raised
            raise
        finally:
            seconds = self.clock() - began
            with self._changed:
                if is_probe:
                    self._is_probing = False
                    self._changed.notify_all()
                # Another exception, or one that was raised before a request was sent, says nothing about the service.
                if error is None or (isinstance(error, ServiceError) and not isinstance(error, NOT_SENT)):
                    self._learn(error, call.kind, seconds, is_probe=is_probe)
            _count(call.operation, error, seconds)

    def _enter(self, call: ServiceCall[Any], *, is_raw: bool) -> bool:
        """Return whether the call is a probe. Raises the error with which the call is rejected."""
        with self._changed:
            rejection = self._rejection(is_held=call.kind is Kind.WAIT)
            if rejection is None:
                self._is_probing = self._error is not None
                return self._is_probing
        if is_raw and not isinstance(rejection, TooBusy):
            return False
        short_circuited.inc()
        rejection.operation = call.operation
        raise rejection

    def _rejection(self, *, is_held: bool = False) -> ServiceError | None:
        """Long polls never probe, because they take too long to return a result."""
        left = self._until - self.clock()
        if self._error is None or (left <= 0 and not self._is_probing and not is_held):
            return None
        error = self._error.copied()
        error.operation = None  # of the call that opened the breaker
        error.again_in = left if left > 0 else self._open_seconds / 4
        if isinstance(error, TooBusy):
            error.retry_after = error.again_in
        return error

    def _learn(self, error: ServiceError | None, kind: Kind, seconds: float, *, is_probe: bool) -> None:
        now, is_failure = self.clock(), False
        if isinstance(error, Unreachable):
            # A long poll normally ends in silence, and an outage that the service reports is a valid response.
            is_failure = error.code not in REPORTED_OUTAGES and not (kind is Kind.WAIT and error.is_timeout)
        elif error:
            is_failure = error.reason in GARBLED
        if error is None or error.code == PAUSED:
            self._paused_until = now + PAUSED_SECONDS if error else float("-inf")
        if is_failure:
            self._failed_at = now
            self._degraded_since = now if self._degraded_since is None else self._degraded_since
        elif not isinstance(error, Unreachable):
            self._answered_at = now
            if kind not in (Kind.WAIT, Kind.WRITE):
                self._durations.append(seconds)
            # A response to a call from before the last failure doesn't show that the service has recovered.
            if self._error is None and (self._failed_at is None or now - seconds >= self._failed_at):
                self._degraded_since = None
        self._count_denials(error)
        if isinstance(error, TooBusy):
            error.retry_after = min(error.retry_after * SystemRandom().uniform(1.0, 1.1), errors.MAX_PAUSE_SECONDS)
            self._open(error, error.retry_after)
            return
        self._recent.append((now, is_failure))
        while self._recent[0][0] <= now - RECENT_SECONDS:
            self._recent.popleft()
        if error and error.is_key_rejected and self._denials >= MAX_DENIALS:
            self._open(error, DENIED_SECONDS)
        elif error and is_failure:
            failed = sum(has_failed for _, has_failed in self._recent)
            is_failing = len(self._recent) >= MIN_CALLS and failed >= len(self._recent) * FAILED_SHARE
            if is_probe or (self._error is None and is_failing):
                self._open(error, self._open_seconds * SystemRandom().uniform(0.8, 1.0))
        elif is_probe:
            self._error = self._degraded_since = None
            self._recent.clear()
            log.warning("Circuit breaker closed for the service")

    def _count_denials(self, error: ServiceError | None) -> None:
        if error and error.is_key_rejected:
            self._denials += 1
            if self._denials == MAX_DENIALS:
                log.error("Service rejected the access key; retrying every %g s: %s", DENIED_SECONDS, error)
        elif not isinstance(error, Unreachable | Unreadable | TooBusy):
            if self._denials >= MAX_DENIALS:
                log.warning("Service accepts the access key again")
            self._denials = 0

    def _open(self, error: ServiceError, seconds: float) -> None:
        if self._error is None:
            breaker_opened.inc()
            log.warning("Circuit breaker opened for the service: %s", error)
        self._error, self._until = error, self.clock() + seconds


def _count(operation: str, error: BaseException | None, seconds: float) -> None:
    """Count one attempt of a call, with its exception if any."""
    outcome = "answered"
    if error:
        outcome = next((outcome for kind, outcome in OUTCOMES.items() if isinstance(error, kind)), "canceled")
    call_seconds.labels(operation, outcome).observe(seconds)
    if isinstance(error, Overloaded):
        rejected["service"].inc()
    if isinstance(error, Unreadable) and error.reason in (Reason.OTHER_INTENT, Reason.OTHER_FILTER):
        mismatched[error.reason.name.lower()].inc()
