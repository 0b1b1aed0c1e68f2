"""What the mirror knows and doesn't know: queries for pages. They never write.

`now` is by the service's clock (`service_now`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db.models import Case, Count, F, Max, Min, Q, Subquery, Sum, Value, When

from intents_ui.mirror.models import Audit, Lease, UnknownStatus, Window
from intents_ui.mirror.windows import DAY, HOUR, MINUTE, Condition
from intents_ui.mirror.writer import CALLS, state

SKEW = 2 * MINUTE  # how much the clock of the dashboard may be ahead of the service's
YOUNG = HOUR  # windows that ended since are still being read
FRESH = HOUR  # a window that isn't sealed was read since then
USUAL_LENGTH = HOUR  # in which nearly all transfers end that were created in a window
AUDITED_DAYS = 7
MOST_HOLES = 200
# As in `windows.Window.condition`.
CONDITION = Case(
    When(is_sealed=True, then=Value(Condition.SEALED)),
    When(failures__gt=0, then=Value(Condition.HOLE)),
    When(read_at=None, then=Value(Condition.DUE)),
    default=Value(Condition.OPEN),
)


@dataclass(frozen=True, slots=True)
class Hole:
    """A time of which the last read was incomplete."""

    start: datetime
    end: datetime
    reason: str
    failures: int


@dataclass(frozen=True, slots=True)
class DayCoverage:
    """A day of the ledger: its seconds in each condition, and its transfers."""

    day: date
    seconds: Mapping[Condition, int]
    transfers: int


@dataclass(frozen=True, slots=True)
class Audits:
    """Audits of the last seven days: windows that were read again, and those in which the copy was wrong."""

    windows: int
    differing: int
    last_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The state of the copy at a moment.

    `days` are in order. `holes` are the newest 200. `complete_since`: from then on, all windows are sealed, or are of
    the last hour and were read to their end. `lag`: how long the oldest due window has been waiting.
    `is_running`: a process holds the lease. `calls` are of the last hour.
    """

    days: Sequence[DayCoverage]
    holes: Sequence[Hole]
    complete_since: datetime | None
    lag: timedelta
    is_running: bool
    calls: int
    audits: Audits
    unknown_statuses: Mapping[str, datetime]

    @property
    def transfers(self) -> int:
        return sum(day.transfers for day in self.days)

    @property
    def seconds(self) -> Mapping[str, int]:
        """The seconds in each condition."""
        return {each.value: sum(day.seconds.get(each, 0) for day in self.days) for each in Condition}


@dataclass(frozen=True, slots=True)
class Completeness:
    """Whether all transfers that ended in a time are known and counted.

    `since`: from then on they are, or None if its end is lacking. `lacking`: the part of the time that is incomplete.
    """

    is_complete: bool
    since: datetime | None
    lacking: timedelta


@dataclass(frozen=True, slots=True)
class Gaps:
    """Times of ending that are incomplete at `at`, in order, as pairs of Unix seconds."""

    at: int
    times: Sequence[tuple[int, int]]

    def of(self, start: int, end: int) -> Completeness:
        """Return the completeness of the time between these, as far as it has passed."""
        end, lacking, since = min(end, self.at), 0, start
        for first, last in self.times:
            if first < end and last > start:
                lacking += min(last, end) - max(first, since)
                since = min(last, end)
        is_complete = lacking == 0 and start < end
        return Completeness(is_complete, None if lacking and since == end else _moment(since), timedelta(0, lacking))


@dataclass(frozen=True, slots=True)
class Progress:
    """How much of a time was read: the seconds that are sealed, of all that are not a hole, and the transfers."""

    sealed: int
    seconds: int
    transfers: int

    @property
    def is_over(self) -> bool:
        return self.sealed == self.seconds


def progress(*, since: int, until: int) -> Progress:
    """Return how much of the time between two Unix times was read."""
    length, done = Sum(F("end") - F("start")), Q(is_sealed=True)
    found = (
        Window.objects.filter(start__gte=since, end__lte=until)
        .exclude(is_sealed=False, failures__gt=0)
        .aggregate(sealed=Sum(F("end") - F("start"), filter=done), seconds=length, transfers=Sum("rows"))
    )
    return Progress(found["sealed"] or 0, found["seconds"] or 0, found["transfers"] or 0)


def current(*, now: datetime) -> Coverage:
    """Return the state of the copy."""
    at = int(now.timestamp())
    ledger = _ledger(at)
    days = _days(ledger)
    holes: Iterable[Window] = ()
    if any(Condition.HOLE in day.seconds for day in days):
        holes = Window.objects.filter(is_sealed=False, failures__gt=0).order_by("-start")[:MOST_HOLES]
    due = min((row["due"] for row in ledger if row["due"] is not None), default=None)
    lease = Lease.objects.first()
    return Coverage(
        days=days,
        holes=[Hole(_moment(each.start), _moment(each.end), each.reason, each.failures) for each in holes],
        complete_since=_complete_since(ledger, at),
        lag=timedelta(seconds=0 if due is None else at - due),
        is_running=lease is not None and lease.until + lease.ahead >= at * 1000,
        calls=_calls(at),
        audits=_audits(at),
        unknown_statuses={each.status: _moment(each.last_seen // 1000) for each in UnknownStatus.objects.all()},
    )


def service_now() -> datetime:
    """Return the time by the service's clock, which is that of all times in the copy. One query."""
    ahead = Lease.objects.values_list("ahead", flat=True).first() or 0
    return datetime.now(UTC) + timedelta(milliseconds=ahead)


def gaps(*, now: datetime) -> Gaps:
    """Return the times of ending that are incomplete. One query.

    They follow from windows that are neither sealed nor fresh.
    """
    at = int(now.timestamp())
    first = Subquery(Window.objects.order_by("start").values("start")[:1])
    windows = Window.objects.filter(is_sealed=False).values_list("start", "end", "read_at", "failures", first)
    return Gaps(at, _merged(_incomplete(windows, at)))


def _incomplete(rows: Iterable[tuple[int, int, int | None, int, int]], at: int) -> Iterator[tuple[int, int]]:
    beginning, end = at, 0
    for start, stop, read_at, failures, first in rows:
        beginning, end = first, max(end, stop)
        is_new = read_at is None and stop > at - MINUTE - SKEW
        if failures > 0 or (not is_new and (read_at is None or read_at < at - FRESH)):
            yield start, stop + USUAL_LENGTH
    yield 0, beginning + USUAL_LENGTH
    if end < at - SKEW:
        yield end, at


def _merged(times: Iterable[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sorted(times):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def _ledger(at: int) -> Sequence[Mapping[str, Any]]:
    """Return the sums of the windows by day and condition, in the order of the days.

    `incomplete` is the end of the newest window that isn't sealed, and isn't read as its young age requires.
    """
    lacks = Q(end__lte=at - YOUNG) | Q(failures__gt=0) | Q(read_at=None, end__lte=at - MINUTE)
    return list(
        Window.objects.annotate(day=F("start") / DAY, is_in=CONDITION)
        .values("day", "is_in")
        .annotate(
            seconds=Sum(F("end") - F("start")),
            transfers=Sum("rows"),
            first=Min("start"),
            due=Min("due", filter=Q(due__lte=at)),
            incomplete=Max("end", filter=Q(lacks, is_sealed=False)),
        )
        .order_by("day")
    )


def _days(ledger: Iterable[Mapping[str, Any]]) -> list[DayCoverage]:
    seconds: dict[int, dict[Condition, int]] = {}
    transfers: dict[int, int] = {}
    for row in ledger:
        seconds.setdefault(row["day"], {})[Condition(row["is_in"])] = row["seconds"]
        transfers[row["day"]] = transfers.get(row["day"], 0) + row["transfers"]
    return [DayCoverage(_moment(day * DAY).date(), seconds[day], transfers[day]) for day in seconds]


def _complete_since(ledger: Iterable[Mapping[str, Any]], at: int) -> datetime | None:
    incomplete = [row["incomplete"] for row in ledger if row["incomplete"] is not None]
    since = max(incomplete) if incomplete else min((row["first"] for row in ledger), default=None)
    return None if since is None or since > at - MINUTE else _moment(since)


def _calls(at: int) -> int:
    """Return the calls of the last hour: those of this hour, and a part of the one before."""
    counted, hour = state(CALLS, {}), at // HOUR
    this, before = (int(counted.get(str(each), 0)) for each in (hour, hour - 1))
    return this + before * (HOUR - at % HOUR) // HOUR


def _audits(at: int) -> Audits:
    found = Audit.objects.filter(at__gte=at - AUDITED_DAYS * DAY).aggregate(
        windows=Count("pk"), differing=Count("pk", filter=Q(differing__gt=0)), last=Max("at")
    )
    return Audits(found["windows"], found["differing"], None if found["last"] is None else _moment(found["last"]))


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
