"""Which questions are asked again after a failure, how often and when (domain.md 2.6, faults.md 8.1, 8.4).

Only what changes nothing, only what may go better a moment later, and never so much that we make it worse: retries are
a tenth of all calls at the most, so a service that fails is not asked twice as often for it.
"""

import random
import threading
from collections.abc import Callable, Mapping

from intents_ui.service.config import Group
from intents_ui.service.errors import Flaw, OutOfTime, Reason, ServiceError, Unreachable, Unreadable
from intents_ui.service.recent import SECONDS, Recent
from intents_ui.service.refusals import KNOWN

SHARE = 0.1  # of the calls
LEAST = 1 * SECONDS  # one a second is always allowed
SHORTEST_ATTEMPT = 0.5  # of a call's total: with less time left a second attempt is not worth its trouble
DEAD_CONNECTIONS = 3  # that one question may meet

# For a reader who waits, and for what is renewed behind his back: where the answer takes long by nature, a second
# attempt would be the end of the page's time.
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
CODES_BEHIND = frozenset({2002, 9000})  # nothing that passes while a reader waits
NEVER_REACHED = frozenset({Reason.TLS})
GARBLED = frozenset({Flaw.NOT_JSON, Flaw.WRONG_SHAPE})


class Budget:
    """Safe for threads."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._lock = threading.Lock()
        self._recent = Recent(clock)

    def called(self) -> None:
        with self._lock:
            self._recent.add("call")

    def take(self) -> bool:
        """One more retry, if there may be one."""
        with self._lock:
            if self._recent.count("retry") >= max(LEAST, SHARE * self._recent.count("call")):
                return False
            self._recent.add("retry")
            return True


def attempts(group: Group, *, is_behind: bool) -> int:
    return ATTEMPTS_BEHIND if is_behind and group is not Group.WRITE else ATTEMPTS[group]


def may_pass(error: ServiceError, *, is_behind: bool) -> bool:
    """Whether the same question may be answered a moment later."""
    if isinstance(error, OutOfTime) or error.again_in is not None:
        return False
    if error.code in KNOWN:
        return error.code in CODES or (is_behind and error.code in CODES_BEHIND)
    if isinstance(error, Unreachable):
        return error.reason not in NEVER_REACHED
    return isinstance(error, Unreadable) and error.flaw in GARBLED


def pause(attempt: int, *, is_behind: bool) -> float:
    """Full jitter: readers whose questions failed together must not come back together."""
    first, longest = (0.5, 30.0) if is_behind else (0.1, 1.0)
    return random.uniform(0, min(longest, first * 2 ** (attempt - 1)))  # noqa: S311 - spreads, hides nothing
