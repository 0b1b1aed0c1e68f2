"""Offset of the service's clock, estimated from the Date headers of its responses.

Used for countdowns only. Times that the service reports are shown unchanged.
"""

import statistics
from collections import deque
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

ANSWERS = 9  # number of samples for the median, because a response can be delayed or come from a proxy's cache
UNSEEN = timedelta(seconds=5)  # smaller offsets are noise: the header has whole seconds, and responses take time
BELIEVED = timedelta(days=2)  # ignore a larger offset: such a clock is misconfigured

_ahead: deque[float] = deque(maxlen=ANSWERS)


def heard(date: str | None, *, now: datetime | None = None) -> None:
    """Record the Date header of a response."""
    try:
        said = parsedate_to_datetime(date or "")
    except (ValueError, OverflowError):
        return
    said = said if said.tzinfo else said.replace(tzinfo=UTC)
    ahead = said - (now or datetime.now(UTC))
    if abs(ahead) <= BELIEVED:
        _ahead.append(ahead.total_seconds())


def ahead() -> timedelta:
    """Return how far the service's clock is ahead of ours, or zero if the difference is below the noise."""
    found = timedelta(seconds=round(statistics.median(_ahead))) if _ahead else timedelta()
    return found if abs(found) >= UNSEEN else timedelta()


def forget() -> None:
    _ahead.clear()
