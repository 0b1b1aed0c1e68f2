"""Format times and durations. Pages show relative and absolute time together, always with the zone."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from intents_ui.formatting.text import UNKNOWN

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
UNITS = ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (SECOND, "s"))
# Tolerated clock difference between the service and this server.
SKEW = timedelta(minutes=2)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Time(str):
    """A time in words, and the time `at` that it is. `is_rough`: only to the minute."""

    at: datetime
    is_rough: bool

    def __new__(cls, words: str, at: datetime, *, is_rough: bool = False) -> "Time":
        made = super().__new__(cls, words)
        made.at, made.is_rough = at, is_rough
        return made


def ago(at: datetime | None, *, now: datetime) -> str:
    """Return `42 s ago`, `7 min ago`, `3 h ago`, or `in 3 h` for a future time."""
    if at is None:
        return UNKNOWN
    passed = now - at
    if -SKEW <= passed < SECOND:
        return "just now"
    # In its largest unit, rounded down.
    length = next(f"{abs(passed) // unit} {word}" for unit, word in UNITS if abs(passed) >= unit)
    return f"{length} ago" if passed > timedelta() else f"in {length}"


def duration(length: timedelta | None) -> str:
    """Return `42 s`, `7 min 12 s`, `19 min`, `2 h 5 min`, `3 d 4 h`. Negative (clock skew) is unknown."""
    if length is None or length < timedelta():
        return UNKNOWN
    if length < SECOND:
        return "<1 s" if length else "0 s"
    for (unit, word), (smaller, smaller_word) in pairwise(UNITS):
        if length >= unit:
            rest = length % unit // smaller
            return f"{length // unit} {word} {rest} {smaller_word}" if rest else f"{length // unit} {word}"
    return f"{length // SECOND} s"


def utc(at: datetime | None, *, now: datetime) -> str:
    """Return `14:03:11 UTC`, with the date unless it's today in UTC."""
    return UNKNOWN if at is None else Time(_utc(at, now=now, time="%H:%M:%S"), at)


def utc_minute(at: datetime | None, *, now: datetime) -> str:
    """Return `14:16 UTC`, for approximate times."""
    return UNKNOWN if at is None else Time(_utc(at, now=now, time="%H:%M"), at, is_rough=True)


def dated(at: datetime | None) -> str:
    """Return `2026-11-21 14:03:11 UTC`, for text read on another day."""
    if at is None:
        return UNKNOWN
    return Time(f"{at.astimezone(UTC).isoformat(' ', 'seconds').removesuffix('+00:00')} UTC", at)


def iso(at: datetime | None) -> str:
    """Return `2026-11-21T14:03:11Z`, or "" without a time."""
    return "" if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def seconds(count: int | None) -> timedelta | None:
    """Convert whole seconds of the API; None if out of range."""
    if count is None or not 0 <= count <= timedelta.max // SECOND:
        return None
    return timedelta(seconds=count)


def since_1970(count: int | None) -> datetime | None:
    """Convert Unix seconds; None if out of range."""
    try:
        return None if count is None else EPOCH + timedelta(seconds=count)
    except OverflowError:
        return None


def after(moment: datetime | None, length: timedelta) -> datetime | None:
    """Return the later time; None if out of range."""
    try:
        return moment + length if moment else None
    except OverflowError:
        return None


def _utc(at: datetime, *, now: datetime, time: str) -> str:
    at = at.astimezone(UTC)
    # strftime pads no year below 1000; isoformat does.
    date = "" if at.date() == now.astimezone(UTC).date() else f"{at.date().isoformat()} "
    return f"{date}{at.strftime(time)} UTC"
