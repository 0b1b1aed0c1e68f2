"""How an old answer tells the page that it is old.

Only answers are told that were served because the service failed. One that is renewed behind the reader's back within
its bounds (faults.md 8.6) is as good as a new one.
"""

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime

from intents_ui.service.errors import ServiceError


@dataclass(frozen=True, slots=True)
class OldAnswer:
    """`learned_at` in UTC; `error`: why there is no newer one; `again_in`: seconds until the service is asked again.

    `has_balances`: a list of transfers that was requested for its balances."""

    operation: str
    learned_at: datetime
    error: ServiceError
    again_in: float | None = None
    has_balances: bool = False


_told: ContextVar[list[OldAnswer] | None] = ContextVar("old_answers", default=None)


@contextlib.contextmanager
def collecting() -> Iterator[list[OldAnswer]]:
    """Around the making of a page: what it is shown that is old, in threads too that have its context (`together`)."""
    old_answers: list[OldAnswer] = []
    token = _told.set(old_answers)
    try:
        yield old_answers
    finally:
        _told.reset(token)


def told() -> Sequence[OldAnswer]:
    """So far, and as it goes on."""
    old_answers = _told.get()
    return () if old_answers is None else old_answers


def tell(old: OldAnswer) -> None:
    told = _told.get()
    if told is not None:
        told.append(old)
