"""Circuit breakers: reject calls while the service is unavailable, rate limited or unauthorized.

While a breaker is open it rejects calls. After its timeout it lets single probes through (half-open), which close it or
open it again.
"""

import logging
from collections import Counter, deque
from collections.abc import Callable, Mapping
from random import SystemRandom

from intents_ui.service.counters import Counters, Event
from intents_ui.service.errors import Reason, ServiceError, Unreachable
from intents_ui.service.wire.results import Line

FEWEST_CALLS = 10  # minimum sample for a failure rate
FAILED_SHARE = 0.5
SLOW_SHARE = 0.8
PROBES = 2  # successful probes in a row that close a breaker
RECENT_SECONDS = 10

log = logging.getLogger(__name__)


class SlidingWindow:
    """Sliding-window counter of the last RECENT_SECONDS. Not thread-safe: callers hold a lock."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seconds: deque[tuple[int, Counter[str]]] = deque()

    def add(self, what: str) -> None:
        second = int(self._clock())
        if not self._seconds or self._seconds[-1][0] != second:
            self._seconds.append((second, Counter()))
        self._seconds[-1][1][what] += 1

    def count(self, what: str) -> int:
        oldest = int(self._clock()) - RECENT_SECONDS
        while self._seconds and self._seconds[0][0] <= oldest:
            self._seconds.popleft()
        return sum(counts[what] for _, counts in self._seconds)

    def clear(self) -> None:
        self._seconds.clear()


# No exponential backoff: pages should recover within 6 s of the service and live pages within 5 s, and a probe every
# few seconds is negligible load.
OPEN_SECONDS: Mapping[Line, float] = {Line.READ: 5.0, Line.LIVE: 4.0, Line.WRITE: 5.0}


class Gate:
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

    def __init__(self, line: Line, clock: Callable[[], float], *, seconds: float, tally: Counters) -> None:
        self.door = Gate(clock, probes=PROBES)
        self._line = line
        self._seconds = seconds
        self._tally = tally
        self._recent = SlidingWindow(clock)

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
        self.door.shut(error, self._seconds * SystemRandom().uniform(0.8, 1.0))

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
