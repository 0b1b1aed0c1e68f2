"""Rate limit on the service calls of tickets."""

import contextlib
from functools import partial

from intents_ui import wiring
from intents_ui.service.context import request_context
from intents_ui.web.rate_limiter import Limit, settle, spend

CALLS_PER_MINUTE = 2400  # for the tickets of one client
CALLS_OF_AN_IDENTIFIER = 6  # average service calls of a ticket with many misses


class Allowance:
    """A ticket's share of the rate limit on service calls, charged up front and corrected afterwards."""

    def __init__(self, identifiers: int) -> None:
        self._limit = Limit("calls", CALLS_PER_MINUTE, 60)
        self._origin = request_context.current()
        self._visitor = request_context.visitor()
        self._spent = min(identifiers * CALLS_OF_AN_IDENTIFIER, self._limit.most)
        self._is_settled = False

    def spend(self) -> int:
        """Charge the estimate. Return 0, or the seconds to wait if the rate limit is reached."""
        return spend(self._limit, self._visitor, self._spent) if self._visitor else 0

    def settle(self) -> None:
        """Correct the charge to the actual number of calls. Runs on a thread, because the counter may be remote."""
        if self._is_settled or self._origin is None or self._visitor is None:
            return
        self._is_settled = True
        correct = partial(settle, self._limit, self._visitor, spent=self._spent, cost=self._origin.calls)
        with contextlib.suppress(RuntimeError):  # the process is shutting down
            wiring.ticket_threads().submit(correct, None)


def too_many(wait: int) -> str:
    """Return the sentence about a rate limit that is reached for these seconds."""
    return (
        "Tickets from your IP address have reached the rate limit. Nothing was looked up. Try again in"
        f" {wait} {'second' if wait == 1 else 'seconds'}, or with fewer identifiers."
    )
