"""What the mirror knows and doesn't know: queries for pages. They never write.

`now` is by the service's clock (`service_now`).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta

from django.db.models import F, Q, Sum

from intents_ui.mirror.models import AUDITS, CALLS, STATUSES, Lease, Window, state
from intents_ui.mirror.windows import HOUR, MINUTE, Condition, utc

SKEW = 2 * MINUTE  # how much the clock of the dashboard may be ahead of the service's
FRESH = HOUR  # a window that isn't sealed was read since then
USUAL_LENGTH = HOUR  # in which nearly all transfers end that were created in a window
MAX_HOLES = 200
HOURS_SHOWN = 48
HOLES = Q(is_sealed=False, failures__gt=0)  # windows whose last read failed


@dataclass(frozen=True, slots=True)
class Hole:
    """A time of which the last reads were incomplete for the same reason."""

    start: datetime
    end: datetime
    reason: str
    failures: int


@dataclass(slots=True)
class DayCoverage:
    """A day of the ledger: how much of it is in each condition, and its transfers."""

    day: date
    lengths: dict[Condition, timedelta] = field(default_factory=lambda: defaultdict(timedelta))
    transfers: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The state of the copy at a moment.

    `days` are in order, and so are the last 48 `hours`: how much of each is in each condition. `holes` are the newest
    200. `complete_since`: all transfers are known that ended from then on, until `complete_until` or now. `lag`: how
    long the oldest due window has been waiting. `is_running`: a process holds the lease. `calls` are of the last hour.
    Of the windows that were `audited` in seven days, the copy was wrong in those that are `differing`.
    """

    at: datetime
    days: Sequence[DayCoverage]
    hours: Sequence[Mapping[str, timedelta]]
    holes: Sequence[Hole]
    complete_since: datetime | None
    complete_until: datetime | None
    lag: timedelta
    is_running: bool
    calls: int
    audited: int
    differing: int
    audited_at: datetime | None
    unknown_statuses: Mapping[str, datetime]

    @property
    def updated_at(self) -> datetime:
        """Until when everything that was due has been read."""
        return self.at - self.lag

    @property
    def transfers(self) -> int:
        return sum(day.transfers for day in self.days)

    @property
    def lengths(self) -> Mapping[Condition, timedelta]:
        return {each: sum((day.lengths.get(each, timedelta()) for day in self.days), timedelta()) for each in Condition}


@dataclass(frozen=True, slots=True)
class Gaps:
    """Times of ending that are incomplete at `at`, in order and apart, as pairs of Unix seconds."""

    at: int
    times: Sequence[tuple[int, int]]

    def within(self, start: int, end: int) -> timedelta:
        """Return how much is incomplete between two times, as far as it has passed."""
        found = (min(last, end, self.at) - max(first, start) for first, last in self.times)
        return timedelta(seconds=sum(each for each in found if each > 0))

    def has_all(self, start: int, end: int) -> bool:
        """Return whether all transfers are known that ended between two times, as far as it has passed."""
        return start < min(end, self.at) and not self.within(start, end)

    def last_complete(self) -> tuple[datetime | None, datetime | None]:
        """Return when the newest complete time began, and when it ended if it isn't complete now."""
        *earlier, (start, end) = self.times
        if end < self.at:
            return utc(end), None
        return (utc(earlier[-1][1]), utc(start)) if earlier else (None, None)


def progress(*, since: int, until: int) -> tuple[int, int, int]:
    """Return how much of a time was read: the seconds that are sealed, of all that are no hole, and the transfers."""
    length, windows = F("end") - F("start"), Window.objects.filter(start__gte=since, end__lte=until)
    found = windows.exclude(HOLES).aggregate(
        sealed=Sum(length, filter=Q(is_sealed=True)), seconds=Sum(length), transfers=Sum("rows")
    )
    return found["sealed"] or 0, found["seconds"] or 0, found["transfers"] or 0


def current(*, now: datetime) -> Coverage:
    at = due = int(now.timestamp())
    days, holes = dict[date, DayCoverage](), list[Hole]()
    first = at // HOUR * HOUR - (HOURS_SHOWN - 1) * HOUR
    hours = {start: defaultdict[str, timedelta](timedelta) for start in range(first, at + 1, HOUR)}
    for window in Window.objects.order_by("-start"):
        start, end, condition = utc(window.start), utc(window.end), window.condition
        of_day = days.setdefault(start.date(), DayCoverage(start.date()))
        of_day.transfers += window.rows
        of_day.lengths[condition] += end - start
        for hour in range(max(window.start // HOUR * HOUR, first), min(window.end, at), HOUR):
            seconds = min(window.end, hour + HOUR) - max(window.start, hour)
            hours[hour][condition] += timedelta(seconds=seconds)
        due = min(due, window.due)
        if condition is Condition.HOLE:
            hole, later = Hole(start, end, window.reason, window.failures), holes[-1:]
            if later and (hole.end, hole.reason) == (later[0].start, later[0].reason):
                holes[-1] = replace(hole, end=later[0].end, failures=max(hole.failures, later[0].failures))
            elif len(holes) < MAX_HOLES:
                holes.append(hole)
    lease = Lease.objects.first()
    calls, hour = state(CALLS, {}), at // HOUR
    complete_since, complete_until = gaps(now=now).last_complete()
    audits = state(AUDITS, [])
    return Coverage(
        at=now,
        days=[days[each] for each in sorted(days)],
        hours=[*hours.values()],
        holes=holes,
        complete_since=complete_since,
        complete_until=complete_until,
        lag=timedelta(seconds=at - due),
        is_running=lease is not None and lease.until + lease.ahead >= at * 1000,
        # Those of this hour, and a part of the one before.
        calls=calls.get(str(hour), 0) + calls.get(str(hour - 1), 0) * (HOUR - at % HOUR) // HOUR,
        audited=len(audits),
        differing=sum(differing > 0 for _, differing in audits),
        audited_at=utc(audits[-1][0]) if audits else None,
        unknown_statuses={status: utc(seen // 1000) for status, seen in sorted(state(STATUSES, {}).items())},
    )


def service_now() -> datetime:
    """Return the time by the service's clock, which is that of all times in the copy. One query."""
    ahead = Lease.objects.values_list("ahead", flat=True).first() or 0
    return datetime.now(UTC) + timedelta(milliseconds=ahead)


def gaps(*, now: datetime) -> Gaps:
    """Return the times of ending that are incomplete. Three queries.

    They follow from windows that are neither sealed nor fresh.
    """
    at, times, found = int(now.timestamp()), list[tuple[int, int]](), list[tuple[int, int]]()
    unsealed = Window.objects.filter(is_sealed=False).values_list("start", "end", "read_at", "failures")
    for start, end, read_at, failures in unsealed:
        is_new = read_at is None and end > at - MINUTE - SKEW
        if failures > 0 or (not is_new and (read_at is None or read_at < at - FRESH)):
            times.append((start, end + USUAL_LENGTH))
    first, last = Window.objects.first(), Window.objects.last()
    times.append((0, (first.start if first else at) + USUAL_LENGTH))
    if last and last.end < at - SKEW:
        times.append((last.end, at))
    for start, end in sorted(times):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return Gaps(at, found)
