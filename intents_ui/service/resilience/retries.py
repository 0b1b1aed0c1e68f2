"""Retry policy: which calls to retry after a failure, how often and when.

Only reads are retried, only after transient failures, and within a budget of a tenth of all calls, so that retries
don't overload a service that is already failing.
"""

import threading
from collections.abc import Callable, Mapping
from random import SystemRandom

from intents_ui.service.errors import KNOWN, Flaw, OutOfTime, Reason, ServiceError, Unreachable, Unreadable
from intents_ui.service.operations.config import Group
from intents_ui.service.resilience.circuit_breaker import RECENT_SECONDS, SlidingWindow

SHARE = 0.1  # of all calls
LEAST = 1 * RECENT_SECONDS  # at least one retry per second
SHORTEST_ATTEMPT = 0.5  # share of the call's timeout: with less time left, a retry is unlikely to succeed
DEAD_CONNECTIONS = 3  # closed idle connections that one call may run into

# Attempts for a waiting page, then for a background refresh. Slow operations get one attempt: a second would use up
# the page's time.
ATTEMPTS: Mapping[Group, int] = {
    Group.REFERENCE: 2,
    Group.TOKENS: 2,
    Group.INTENT: 2,
    Group.HISTORY: 1,
    Group.BALANCES: 1,
    Group.SEARCH: 1,
    Group.WAIT: 1,
    Group.WRITE: 1,
}
ATTEMPTS_BEHIND = 2

CODES = frozenset({0, -6, -7, 1900, 2001, 9001})
CODES_BEHIND = frozenset({2002, 9000})  # outages too long for a page to wait out
NEVER_REACHED = frozenset({Reason.TLS})
GARBLED = frozenset({Flaw.NOT_JSON, Flaw.WRONG_SHAPE})


class Budget:
    """Retry budget. Thread-safe."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._lock = threading.Lock()
        self._recent = SlidingWindow(clock)

    def called(self) -> None:
        with self._lock:
            self._recent.add("call")

    def take(self) -> bool:
        """Take one retry from the budget. Return False if it is exhausted."""
        with self._lock:
            if self._recent.count("retry") >= max(LEAST, SHARE * self._recent.count("call")):
                return False
            self._recent.add("retry")
            return True


def attempts(group: Group, *, is_behind: bool) -> int:
    return ATTEMPTS_BEHIND if is_behind and group is not Group.WRITE else ATTEMPTS[group]


def may_pass(error: ServiceError, *, is_behind: bool) -> bool:
    """Return whether the failure is transient."""
    if isinstance(error, OutOfTime) or error.again_in is not None:
        return False
    if error.code in KNOWN:
        return error.code in CODES or (is_behind and error.code in CODES_BEHIND)
    if isinstance(error, Unreachable):
        return error.reason not in NEVER_REACHED
    return isinstance(error, Unreadable) and error.flaw in GARBLED


def pause(attempt: int, *, is_behind: bool) -> float:
    """Return the backoff in seconds, with full jitter so that calls that failed together don't retry together."""
    first, longest = (0.5, 30.0) if is_behind else (0.1, 1.0)
    return SystemRandom().uniform(0, min(longest, first * 2 ** (attempt - 1)))
