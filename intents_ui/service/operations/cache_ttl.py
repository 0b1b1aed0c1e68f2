"""Cache TTLs by kind of response."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum, auto
from typing import NamedTuple, Self

from intents_ui.service.wire.models import IntentStatus

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0


class CacheKind(StrEnum):
    """Kinds of responses that share a TTL."""

    CHAINS = auto()
    TOKENS = auto()
    TOKEN_SEARCH = auto()
    ROUTES = auto()
    NO_ROUTES = auto()
    MOVING = auto()  # an open intent or its receipt
    ENDED_LATELY = auto()  # SUCCEEDED or REFUNDED within the last hour
    ENDED = auto()
    STOPPED_LATELY = auto()  # FAILED, ABORTED or INVALID within the last half hour, so a refund may follow
    STOPPED = auto()
    HISTORY = auto()
    OLDER_HISTORY = auto()  # a page after the first
    BALANCES = auto()
    SEARCH = auto()
    NO_HITS = auto()
    UNKNOWN = auto()  # NotFound
    OFTEN_UNKNOWN = auto()  # NotFound several times
    INVALID = auto()  # InvalidArgument


class Lifetime(NamedTuple):
    """TTLs as ages in seconds: fresh, then stale-while-revalidate up to `renewed`, then stale-if-error up to `old`."""

    fresh: float
    renewed: float
    old: float

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse `2/10/86400`. Ages omitted at the end equal the last one given."""
        numbers = [float(each) for each in text.split("/")]
        ages = (numbers + numbers[-1:] * 2)[:3]
        if len(numbers) > 3 or ages != sorted(ages) or not 0 <= ages[0] <= ages[2] < float("inf"):
            raise ValueError("must be up to three ascending durations in seconds")
        return cls(*ages)

    def __str__(self) -> str:
        return "/".join(f"{age:.15g}" for age in self)


LIFETIMES: Mapping[CacheKind, Lifetime] = {
    CacheKind.CHAINS: Lifetime(HOUR, DAY, 7 * DAY),
    CacheKind.TOKENS: Lifetime(15 * MINUTE, 6 * HOUR, 7 * DAY),
    CacheKind.TOKEN_SEARCH: Lifetime(MINUTE, 5 * MINUTE, HOUR),
    CacheKind.ROUTES: Lifetime(MINUTE, 5 * MINUTE, HOUR),
    CacheKind.NO_ROUTES: Lifetime(30, 30, 30),  # short, so that a new route shows up soon
    CacheKind.MOVING: Lifetime(2, 10, DAY),
    CacheKind.ENDED_LATELY: Lifetime(10 * MINUTE, 7 * DAY, 30 * DAY),
    CacheKind.ENDED: Lifetime(DAY, 7 * DAY, 30 * DAY),
    CacheKind.STOPPED_LATELY: Lifetime(5, HOUR, 30 * DAY),
    CacheKind.STOPPED: Lifetime(10 * MINUTE, HOUR, 30 * DAY),
    CacheKind.HISTORY: Lifetime(2, MINUTE, HOUR),
    CacheKind.OLDER_HISTORY: Lifetime(10, MINUTE, HOUR),
    CacheKind.BALANCES: Lifetime(15, 15, 10 * MINUTE),  # amounts on screen must be current
    CacheKind.SEARCH: Lifetime(5, 30, 10 * MINUTE),
    CacheKind.NO_HITS: Lifetime(5, 30, 10 * MINUTE),
    CacheKind.UNKNOWN: Lifetime(3, 3, 3),
    CacheKind.OFTEN_UNKNOWN: Lifetime(30, 30, 30),
    CacheKind.INVALID: Lifetime(MINUTE, MINUTE, MINUTE),
}

ENDED = frozenset({IntentStatus.SUCCEEDED, IntentStatus.REFUNDED})
STOPPED = frozenset({IntentStatus.FAILED, IntentStatus.ABORTED, IntentStatus.INVALID})


def of_intent(status: str | None, updated_at: datetime | None) -> CacheKind:
    """Return the kind of an intent by its status. One with an unknown status may change at any moment."""
    age = datetime.now(UTC) - updated_at if updated_at else timedelta(0)
    if status in ENDED:
        return CacheKind.ENDED if age > timedelta(hours=1) else CacheKind.ENDED_LATELY
    if status in STOPPED:
        return CacheKind.STOPPED if age > timedelta(minutes=30) else CacheKind.STOPPED_LATELY
    return CacheKind.MOVING
