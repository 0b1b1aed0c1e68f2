"""Snapshots: tables of figures of a period until now, written by the leader and read by pages by their key."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple, Self

from django.db.models import Min
from pydantic_core import from_json, to_json

from intents_ui.mirror import coverage, lease
from intents_ui.mirror.entry import RouteKey
from intents_ui.mirror.figures import facts, statistics
from intents_ui.mirror.figures.facts import HOURS_SHOWN, Ended, Found, Other, Pair, Span, add
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName, scopes_of
from intents_ui.mirror.figures.statistics import share
from intents_ui.mirror.models import USUAL, Day, DayBar, Route, Snapshot, Token, Transfer, write
from intents_ui.mirror.windows import DAY, HOUR, MINUTE, utc
from intents_ui.service.outcome import Outcome

REST = 4  # seconds for each second of this work
LISTED = 50  # rows of a table, and reasons
ENOUGH_FOR_P95, ENOUGH_FOR_LATE = 100, 200
DEPOSIT = 0  # the first step, which is the owner's
MIN_LATE = 5 * MINUTE * 1000  # milliseconds
LIMITED = (Level.ROUTE, Level.PROVIDER)
LIMITS_EVERY = HOUR  # because what is in time is counted by them

type Tokens = tuple[int | None, int | None]
type Slow = Mapping[str, timedelta]  # how long providers may take that are usually slow


class Basis(StrEnum):
    """What makes a transfer late: the durations of its route or its provider in seven days, or the rule without."""

    ROUTE = "route"
    PROVIDER = "provider"
    RULE = "rule"


class Period(StrEnum):
    """A time until now."""

    HOUR = "1h"
    DAY = "24h"
    WEEK = "7d"
    MONTH = "30d"
    QUARTER = "90d"

    def since(self, now: int) -> int:
        """Return when it begins. Times are Unix seconds."""
        return now - HOURS[self] * HOUR

    def span(self, now: int) -> Span:
        """Return its beginning and the end of the present hour, after which nothing has ended."""
        return self.since(now), now // HOUR * HOUR + HOUR

    @property
    def bar(self) -> int:
        """The seconds of each of its bars. The first and the last one are parts of an hour or a day."""
        return HOUR if self in (Period.HOUR, Period.DAY) else DAY

    @property
    def step(self) -> int:
        """The seconds of each bar on the page of a scope, which is counted in more detail."""
        return HOUR if self is Period.WEEK else self.bar


HOURS = {Period.HOUR: 1, Period.DAY: 24, Period.WEEK: 7 * 24, Period.MONTH: 30 * 24, Period.QUARTER: 90 * 24}
# Seconds between two snapshots.
EVERY = {Period.HOUR: 30, Period.DAY: 30, Period.WEEK: 120, Period.MONTH: 240, Period.QUARTER: 240}


class Order(StrEnum):
    """Order of a table."""

    MOST_USED = "used"
    WORST = "worst"  # of those that have a percentage, surely bad ones first
    SLOWEST = "slowest"


class Bar(NamedTuple):
    """What ended in an hour or on a day. Durations are in milliseconds, None with too few."""

    ended: int = 0
    delivered: int = 0
    median: int | None = None
    p95: int | None = None

    @classmethod
    def of(cls, found: Found) -> Self:
        durations, others = dict[int, int](), dict[Other, int]()
        for each in found.values():
            add(durations, each.durations)
            add(others, each.others)
        timed = sum(durations.values())
        delivered = timed + sum(n for (outcome, _, _), n in others.items() if outcome == Outcome.DELIVERED)
        p95 = statistics.quantile(durations, 95) if timed >= ENOUGH_FOR_P95 else None
        return cls(timed + sum(others.values()), delivered, statistics.quantile(durations, 50), p95)


@dataclass
class Sums:
    """What ended in a scope.

    `durations` and `others` are as in `facts.Ended`. `in_time`: delivered before they were late. `pairs` and `sent`:
    numbers and delivered amounts by the tokens of both sides. `bars` are those of the period by their beginnings.
    `hours` are bars of the days that have no facts, of a period whose page shows hours instead. `owners`: how many had
    transfers, and how many of these had one that wasn't delivered. None of long periods.
    """

    durations: dict[int, int] = field(default_factory=dict)
    others: dict[Other, int] = field(default_factory=dict)
    in_time: int = 0
    bars: dict[int, Bar] = field(default_factory=dict)
    hours: dict[int, Bar] = field(default_factory=dict)
    pairs: dict[Tokens, int] = field(default_factory=dict)
    sent: dict[Tokens, int] = field(default_factory=dict)
    owners: tuple[int, int] | None = None

    @property
    def ended(self) -> int:
        return self.timed + sum(self.others.values())

    @property
    def timed(self) -> int:
        """The number of durations."""
        return sum(self.durations.values())

    @property
    def counts(self) -> Counter[str]:
        """The numbers by outcome."""
        found = Counter[str]({Outcome.DELIVERED: self.timed} if self.durations else {})
        for (outcome, _, _), n in self.others.items():
            found[outcome] += n
        return found

    @property
    def to_blame(self) -> int:
        """How many were refunded or failed after their deposit, so by their route."""
        blamed = (Outcome.REFUNDED, Outcome.FAILED)
        return sum(n for (outcome, step, _), n in self.others.items() if outcome in blamed and step != DEPOSIT)

    @property
    def causes(self) -> list[tuple[int | None, int | None, int]]:
        """Failed steps and reasons of those that weren't delivered, with their numbers, the most frequent first."""
        found = Counter[tuple[int | None, int | None]]()
        for (outcome, step, reason), n in self.others.items():
            if outcome != Outcome.DELIVERED:
                found[step, reason] += n
        return [(*cause, n) for cause, n in most_frequent(found)]

    def rank(self, order: Order) -> float | None:
        """Return the place in a table in this order, the least first. None is not in it."""
        match order:
            case Order.MOST_USED:
                return -self.ended
            case Order.WORST:
                rate = share(self.in_time, self.timed + self.to_blame)
                return None if rate is None else rate.high
            case Order.SLOWEST:
                median = statistics.quantile(self.durations, 50)
                return None if median is None else -median

    def as_row(self) -> dict[str, str]:
        """Return what tables show, and the details, which only the page of a scope shows."""
        others = [(*other, n) for other, n in self.others.items()]
        pairs = [(*pair, n, self.sent[pair]) for pair, n in most_frequent(self.pairs)]
        return {
            "sums": to_json(([*self.durations.items()], others, self.in_time, [*self.bars.items()])).decode(),
            "details": to_json((pairs, self.owners, [*self.hours.items()])).decode(),
        }

    @classmethod
    def of_row(cls, sums: str, details: str) -> Self:
        durations, others, in_time, bars = from_json(sums)
        pairs, owners, hours = from_json(details) if details else ((), None, ())
        return cls(
            durations=dict(durations),
            others={tuple(other): n for *other, n in others},
            in_time=in_time,
            bars=dict(bars),  # as lists, because the rows of a table have thousands of bars
            hours=dict(hours),
            pairs={tuple(pair): n for *pair, n, _ in pairs},
            sent={tuple(pair): sent for *pair, _, sent in pairs},
            owners=owners and tuple(owners),
        )


class Adder:
    """Adds up what ended in each scope, as of a time, and knows the sums of past days until they change."""

    def __init__(self, now: int = 0) -> None:
        self._scopes: dict[Pair, Sequence[ScopeName]] = {}
        self.forget_past()
        self.begin(now)

    def forget_past(self) -> None:
        # By the days, with their bars by the texts of scopes.
        self._past: dict[Sequence[int], tuple[Found, Mapping[str, dict[int, Bar]]]] = {}

    def begin(self, now: int) -> None:
        """Forget the rows of an earlier time."""
        self.now = now
        self._read_names()
        self._rows: dict[Span, Mapping[int, Found]] = {}

    def _read_names(self) -> None:
        routes = list(Route.objects.all())
        self._routes = {route.pk: route.key for route in routes}
        self._late_buckets = {route.pk: statistics.bucket(route.late_after) for route in routes}  # the last in time
        self._tokens = {token.pk: token.key for token in Token.objects.all()}

    def rows(self, span: Span) -> Mapping[int, Found]:
        """Return what ended in a time, by hour."""
        if span not in self._rows:
            self._rows[span] = facts.of_rows(span)
        return self._rows[span]

    def of(self, period: Period) -> dict[ScopeName, Sums]:
        """Return the sums of all scopes in which transfers ended."""
        is_long = period.bar == DAY
        days, spans = facts.divided(period.span(self.now), has_facts=is_long)
        if days not in self._past:
            read = facts.merged(facts.of_days(days)), _past_bars(days)
            if facts.divided(period.span(self.now), has_facts=is_long)[0] != days:
                return self.of(period)  # one of them changed meanwhile
            self._past[days] = read
        past, bars = self._past[days]
        rows = [self.rows(span) for span in spans]
        found = facts.merged([past, *(each for hours in rows for each in hours.values())])
        hours = self.hours(rows if period.step == HOUR else ())
        sums = {}
        for scope, of_scope in self.by_scope(found).items():
            each = sums[scope] = self._sums(of_scope, has_owners=not is_long)
            each.bars, each.hours = (bars.get(scope.text, {}).copy(), hours[scope]) if is_long else (hours[scope], {})
        for (start, _), of_day in zip(spans, rows, strict=True) if is_long else ():
            for scope, of_scope in self.by_scope(facts.merged(of_day.values())).items():
                sums[scope].bars[start // DAY * DAY] = Bar.of(of_scope)
        return sums

    def _sums(self, found: Found, *, has_owners: bool) -> Sums:
        sums = Sums()
        for (route, *tokens), each in found.items():
            pair, late = (tokens[0], tokens[1]), self._late_buckets[route]
            add(sums.durations, each.durations)
            add(sums.others, each.others)
            sums.in_time += sum(n for bucket, n in each.durations.items() if bucket <= late)
            sums.pairs[pair] = sums.pairs.get(pair, 0) + each.count
            sums.sent[pair] = sums.sent.get(pair, 0) + each.sent
        if has_owners:
            owners, unserved = zip(*((each.owners, each.unserved) for each in found.values()), strict=True)
            sums.owners = len(set().union(*owners)), len(set().union(*unserved))
        return sums

    def hours(self, rows: Iterable[Mapping[int, Found]]) -> Mapping[ScopeName, dict[int, Bar]]:
        """Return the bars of each hour of these rows."""
        hours = defaultdict[ScopeName, dict[int, Bar]](dict)
        for hour, found in sorted(item for each in rows for item in each.items()):
            for scope, of_scope in self.by_scope(found).items():
                hours[scope][hour] = Bar.of(of_scope)
        return hours

    def by_scope(self, found: Found) -> Mapping[ScopeName, Found]:
        """Return the part of each scope."""
        parts = defaultdict[ScopeName, dict[Pair, Ended]](dict)
        for pair, each in found.items():
            if pair not in self._scopes:
                route, tokens = pair[0], [token for token in pair[1:] if token is not None]
                if route not in self._routes or not {*tokens} <= self._tokens.keys():
                    self._read_names()
                scopes = scopes_of(self._routes[route], tuple(self._tokens[token] for token in tokens))
                self._scopes[pair] = [scope for scope in scopes if scope.level is not Level.PROVIDER_ON_CHAIN]
            for scope in self._scopes[pair]:
                parts[scope][pair] = each
        return parts


def _past_bars(days: Sequence[int]) -> Mapping[str, dict[int, Bar]]:
    bars = defaultdict[str, dict[int, Bar]](dict)
    for day, scope, *bar in DayBar.objects.filter(day__in=days).values_list("day", "scope", *Bar._fields):
        bars[scope][day] = Bar(*bar)
    return bars


class SnapshotWriter:
    """Writes facts of past days and snapshots, under one epoch of the lease. `now` is in Unix seconds.

    All is added up before a transaction begins, because PostgreSQL ends idle ones. `slow` are the usual maximums of
    slow providers, which are the limits of routes without enough deliveries. `is_stopped` ends the work early.
    """

    def __init__(self, epoch: int, slow: Slow | None = None, *, is_stopped: Callable[[], bool] = lambda: False) -> None:
        self._epoch = epoch
        self._slow = slow or {}
        self._is_stopped = is_stopped
        self._adder = Adder()
        self._due = dict.fromkeys(Period, 0)
        self._limits_due = 0
        self._rests_until = 0.0

    def write_due(self, *, now: int) -> None:
        """Write what is due, unless that took more than its share of the time."""
        began = time.monotonic()
        if began >= self._rests_until:
            self.write([period for period, due in self._due.items() if now >= due], now=now)
            ended = time.monotonic()
            self._rests_until = ended + REST * (ended - began)

    def write(self, periods: Sequence[Period] = tuple(Period), *, now: int) -> None:
        """Write the facts that are missing, and the snapshots of these periods."""
        if not periods:
            return
        for day in list(_unwritten_days(now)):
            if self._is_stopped():
                return
            self.write_day(day, now)
        if now >= self._limits_due:
            self._limits_due = now + LIMITS_EVERY
            self._set_limits(now)
        self._adder.begin(now)
        gaps = coverage.gaps(now=utc(now))
        for period in periods:
            self._due[period] = now + EVERY[period]
            sums = {EVERYTHING: Sums(owners=(0, 0) if period.bar == HOUR else None)} | self._adder.of(period)
            is_complete = gaps.of(period.since(now), now).is_complete
            rows = [
                {
                    "period": period,
                    "at": now,
                    "is_complete": is_complete,
                    "scope": scope.text,
                    "level": scope.level,
                    **{order.value: each.rank(order) for order in Order},
                    **each.as_row(),
                }
                for scope, each in sums.items()
            ]
            with lease.transaction(self._epoch):
                Snapshot.objects.filter(period=period)._raw_delete("default")
                write(Snapshot, rows)

    def write_day(self, day: int, now: int) -> None:
        """Write the facts of a day, unless one of its transfers changes before they are."""
        with lease.transaction(self._epoch):
            Day.objects.update_or_create(start=day, defaults={"facts": ""})
        self._adder.begin(now)
        by_hour, has_hours = self._adder.rows((day, day + DAY)), day >= now - HOURS_SHOWN
        found, hours = facts.merged(by_hour.values()), self._adder.hours([by_hour] if has_hours else ())
        rows = [
            {
                "day": day,
                "scope": scope.text,
                **Bar.of(of_scope)._asdict(),
                "hours": to_json([*hours[scope].items()]).decode() if has_hours else "",
            }
            for scope, of_scope in self._adder.by_scope(found).items()
        ]
        with lease.transaction(self._epoch):
            if Day.objects.filter(start=day).update(facts=facts.written(found)):
                DayBar.objects.filter(day=day)._raw_delete("default")
                write(DayBar, rows)
        self._adder.forget_past()

    def _set_limits(self, now: int) -> None:
        """Set after how long a transfer is late: by its route, else by the slowest of its providers, else by the rule.

        Durations of repaired transfers don't count. A route's limit is at most that of its providers, or four times its
        own median if that is more.
        """
        self._adder.begin(now)
        sums = self._adder.of(Period.WEEK)
        repaired = facts.ended(Period.WEEK.span(now)).filter(is_repaired=True, bucket__isnull=False)
        for *key, bucket in repaired.values_list(*(f"route__{name}" for name in RouteKey._fields), "bucket"):
            for scope in sums.keys() & scopes_of(RouteKey(*key)):
                add(sums[scope].durations, {bucket: -1})
        limits, changed = {}, list[Route]()
        for scope, each in sums.items():
            if each.timed >= ENOUGH_FOR_LATE:
                p99, p95 = (statistics.quantile(each.durations, percent) or 0 for percent in (99, 95))
                limits[scope] = max(MIN_LATE, min(p99, 4 * p95))  # one of 100 may have been repaired
        for route in Route.objects.all():
            own, *others = (limits.get(scope) for scope in scopes_of(route.key) if scope.level in LIMITED)
            of_providers = max((each for each in others if each is not None), default=None)
            if own and of_providers:
                median = statistics.quantile(sums[ScopeName(Level.ROUTE, *route.key)].durations, 50) or 0
                own = min(own, max(of_providers, 4 * median))
            by_rule = max([USUAL, *(self._slow[each] for each in route.providers.split(";") if each in self._slow)])
            basis = Basis.ROUTE if own else Basis.PROVIDER if of_providers else Basis.RULE
            limit = own or of_providers or by_rule // timedelta(milliseconds=1)
            if (route.late_after, route.late_by) != (limit, basis):
                route.late_after, route.late_by = limit, basis
                changed.append(route)
        with lease.transaction(self._epoch):
            Route.objects.bulk_update(changed, ["late_after", "late_by"], batch_size=LISTED)


def _unwritten_days(now: int) -> Iterator[int]:
    """Yield the past days that have no facts and no window that is yet to be read, the oldest first."""
    first = Transfer.objects.aggregate(first=Min("end"))["first"]
    if first is None:
        return
    known = {*Day.objects.exclude(facts="").values_list("start", flat=True)}
    lacking = {day for start, end in coverage.unread() for day in range(start // DAY * DAY, end, DAY)}
    # One that ended a moment ago still changes.
    last = (now - HOUR) // DAY * DAY
    yield from (day for day in range(first // 1000 // DAY * DAY, last, DAY) if day not in known | lacking)


def most_frequent[T](counts: Mapping[T, int]) -> list[tuple[T, int]]:
    """Return the first of these by their number."""
    return sorted(counts.items(), key=lambda each: (-each[1], str(each[0])))[:LISTED]
