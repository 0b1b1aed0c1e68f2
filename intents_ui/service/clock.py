"""How far the service's clock is ahead of ours, by the Date of its answers: for what is counted down, and nothing else.

A moment that the service names stays as it names it.
"""

import statistics
from collections import deque
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

ANSWERS = 9  # of which the middle one is believed: some are late, and a cache may stand between
UNSEEN = timedelta(seconds=5)  # the header has whole seconds, and an answer takes its time
BELIEVED = timedelta(days=2)  # a clock that is farther off says nothing

_ahead: deque[float] = deque(maxlen=ANSWERS)


def heard(date: str | None, *, now: datetime | None = None) -> None:
    """The Date header that an answer came with."""
    try:
        said = parsedate_to_datetime(date or "")
    except (ValueError, OverflowError):
        return
    said = said if said.tzinfo else said.replace(tzinfo=UTC)
    ahead = said - (now or datetime.now(UTC))
    if abs(ahead) <= BELIEVED:
        _ahead.append(ahead.total_seconds())


def ahead() -> timedelta:
    """What is to be added to our clock's time; nothing while the two agree as well as can be told."""
    found = timedelta(seconds=round(statistics.median(_ahead))) if _ahead else timedelta()
    return found if abs(found) >= UNSEEN else timedelta()


def forget() -> None:
    _ahead.clear()
