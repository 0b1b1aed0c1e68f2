"""Tracks which stale responses the current page shows.

Only responses served because the service failed count as stale. A response that is refreshed in the background within
its TTL doesn't.
"""

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime

from intents_ui.service.errors import ServiceError


@dataclass(frozen=True, slots=True)
class OldAnswer:
    """Stale response on a page.

    `learned_at` is in UTC, `error` is why there is no newer response, and `again_in` is the number of seconds until the
    next request. `has_balances` marks a list of transfers requested with balances.
    """

    operation: str
    learned_at: datetime
    error: ServiceError
    again_in: float | None = None
    has_balances: bool = False


_stale: ContextVar[list[OldAnswer] | None] = ContextVar("old_answers", default=None)


@contextlib.contextmanager
def collecting() -> Iterator[list[OldAnswer]]:
    """Collect the stale responses that the block uses, also in threads with a copy of its context (`concurrency`)."""
    old_answers: list[OldAnswer] = []
    token = _stale.set(old_answers)
    try:
        yield old_answers
    finally:
        _stale.reset(token)


def told() -> Sequence[OldAnswer]:
    """Return the list of stale responses, which grows while the block runs."""
    old_answers = _stale.get()
    return () if old_answers is None else old_answers


def tell(old: OldAnswer) -> None:
    stale = _stale.get()
    if stale is not None:
        stale.append(old)
