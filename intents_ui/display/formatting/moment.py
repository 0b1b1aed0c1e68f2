"""A time that knows how long what was derived from it stays true.

Pages reuse what they said about a transfer. Most of it depends on the clock, but changes at known times only: an age of
`7 min` once a minute, `Late` once.
"""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any, Self

TICK = timedelta(microseconds=1)
BEGINNING = datetime.min.replace(tzinfo=UTC)
END = datetime.max.replace(tzinfo=UTC)


class Moment(datetime):
    """The current time, for deriving something from it, with the period in which the result is the same.

    A comparison with another time shortens the period to the times with the same result. Other uses depend on the exact
    time, so they reduce the period to it, except where they say with `hold` how long their result stays true.

    Within its period, a moment can be moved to a later or earlier time: what was derived from it before is still true,
    and what is derived afterwards is as of the new time. Thread-safe.
    """

    _lock: threading.Lock
    _now: datetime
    _since: datetime
    _until: datetime

    @classmethod
    def of(cls, now: datetime) -> Self:
        """Return a moment at a time with a time zone, and without any limit."""
        moment = cls.combine(now.date(), now.timetz())
        moment._lock = threading.Lock()
        moment._now, moment._since, moment._until = now, BEGINNING, END
        return moment

    def covers(self, now: datetime) -> bool:
        """Return whether everything derived from this moment is true at `now`."""
        return self._since <= now < self._until

    def move_to(self, now: datetime) -> None:
        """Derive things as of `now` from here on. What was derived before has to be true then (`covers`)."""
        self._now = now

    @property
    def unheld(self) -> datetime:
        """The exact time, for a result of which `hold` is told how long it stays true."""
        return self._now

    def hold(self, since: datetime, until: datetime) -> None:
        """Shorten the period to that from `since` until before `until`."""
        if since > self._since or until < self._until:
            with self._lock:
                self._since, self._until = max(self._since, since), min(self._until, until)

    @property
    def exact(self) -> datetime:
        """The exact time, which reduces the period to it."""
        now = self._now
        self.hold(now, now + TICK)
        return now

    def _has_come(self, at: datetime) -> bool:
        if self._now >= at:
            if at > self._since:
                self.hold(at, END)
            return True
        if at < self._until:
            self.hold(BEGINNING, at)
        return False

    def _has_passed(self, at: datetime) -> bool:
        return self._has_come(at + TICK) if at < END else self._now > at

    def __ge__(self, other: Any) -> bool:
        return self._has_come(other)

    def __lt__(self, other: Any) -> bool:
        return not self._has_come(other)

    def __gt__(self, other: Any) -> bool:
        return self._has_passed(other)

    def __le__(self, other: Any) -> bool:
        return not self._has_passed(other)

    def __eq__(self, other: object) -> bool:
        return self is other or self.exact == other

    def __hash__(self) -> int:
        return hash(self.exact)

    def __sub__(self, other: Any) -> Any:
        return self.exact - (other.exact if isinstance(other, Moment) else other)

    def __rsub__(self, other: datetime) -> timedelta:
        return other - self.exact


def _for_the_exact_time(name: str) -> Any:
    """Return a datetime's property or method with this name, as one of a moment."""
    if not callable(getattr(datetime, name)):
        return property(lambda moment: getattr(moment.exact, name))
    return lambda moment, *args, **named: getattr(moment.exact, name)(*args, **named)


# Everything else that a datetime tells about its time. The others are of its time zone, or make a datetime.
for _name in (
    *("year", "month", "day", "hour", "minute", "second", "microsecond", "fold", "weekday", "isoweekday", "toordinal"),
    *("date", "time", "timetz", "timestamp", "astimezone", "replace", "timetuple", "utctimetuple", "isocalendar"),
    *("isoformat", "strftime", "ctime", "__add__", "__radd__", "__format__", "__str__", "__repr__", "__reduce__"),
    *("__reduce_ex__", "__replace__"),
):
    setattr(Moment, _name, _for_the_exact_time(_name))
