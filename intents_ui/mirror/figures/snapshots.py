"""Snapshots: tables of figures of a period until now, written by the leader and read by pages by their key."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from functools import cache, partial
from heapq import nsmallest
from typing import Any, NamedTuple, Self

from django.db.models import Min
from pydantic_core import to_json

from intents_ui.mirror import coverage, lease
from intents_ui.mirror.entry import RouteKey
from intents_ui.mirror.figures import facts, statistics
from intents_ui.mirror.figures.facts import Span
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName, scopes_of
from intents_ui.mirror.figures.statistics import share
from intents_ui.mirror.models import USUAL, Day, DayBar, Route, Snapshot, Token, Transfer, set_state, write
from intents_ui.mirror.windows import DAY, HOUR, MINUTE, utc
from intents_ui.service.outcome import Outcome

WORK_SHARE = 4  # seconds of other work for each second of this
LISTED = 50  # rows of a table, and reasons
ENOUGH_FOR_P95, ENOUGH_FOR_LATE = 100, 200
DEPOSIT = 0  # the first step, which is the owner's
MIN_LATE = 5 * MINUTE * 1000  # milliseconds
TABLES = (Level.ROUTE, Level.PROVIDER, Level.CHAIN, Level.TOKEN)
LIMITED = (Level.ROUTE, Level.PROVIDER)
LIMITS_EVERY = HOUR  # because what is in time is counted by them

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
    def of(cls, ended: int, delivered: int, durations: Mapping[int, int]) -> Self:
        has_p95 = sum(durations.values()) >= ENOUGH_FOR_P95
        p95 = statistics.quantile(durations, 95) if has_p95 else None
        return cls(ended, delivered, statistics.quantile(durations, 50), p95)


@dataclass
class Sums:
    """Ended transfers: counts by outcome, durations by bucket, and the ended and the delivered ones by time.

    `in_time`: delivered before they were late. `to_blame`: refunded or failed after their deposit, so by their route.
    """

    counts: Counter[str] = field(default_factory=Counter)
    durations: Counter[int] = field(default_factory=Counter)
    bars: dict[int, tuple[int, int]] = field(default_factory=dict)
    in_time: int = 0
    to_blame: int = 0

    @property
    def ended(self) -> int:
        return self.counts.total()

    @property
    def bar(self) -> Bar:
        return Bar.of(self.ended, self.counts[Outcome.DELIVERED], self.durations)

    def rank(self, order: Order) -> float | None:
        """Return the place in a table in this order, the least first. None is not in it."""
        match order:
            case Order.MOST_USED:
                return -self.ended
            case Order.WORST:
                rate = share(self.in_time, self.durations.total() + self.to_blame)
                return None if rate is None else rate.high
            case Order.SLOWEST:
                median = statistics.quantile(self.durations, 50)
                return None if median is None else -median

    def as_row(self) -> tuple[Any, ...]:
        return self.counts, [*self.durations.items()], [*self.bars.items()], self.in_time, self.to_blame

    @classmethod
    def of_row(cls, counts: Mapping[str, int], durations: Any, bars: Any, in_time: int, to_blame: int) -> Self:
        return cls(Counter(counts), Counter(dict(durations)), {start: tuple(n) for start, n in bars}, in_time, to_blame)


@dataclass
class ScopeSums(Sums):
    """What ended in a scope, with what its page shows.

    `causes`: failed steps and reasons of the others than the delivered ones. `pairs` and `sent`: numbers and delivered
    amounts by the tokens of both sides. `hours` and `days`: bars of what was counted from rows. `owners`: how many had
    transfers, and how many of these had one that wasn't delivered. None of long periods.
    """

    causes: Counter[tuple[int | None, int | None]] = field(default_factory=Counter)
    pairs: Counter[tuple[int | None, int | None]] = field(default_factory=Counter)
    sent: Counter[tuple[int | None, int | None]] = field(default_factory=Counter)
    hours: dict[int, Bar] = field(default_factory=dict)
    days: dict[int, Bar] = field(default_factory=dict)
    owners: tuple[int, int] | None = None

    @classmethod
    def of(cls, pair: facts.Pair, found: facts.Ended, *, late_bucket: int) -> Self:
        """Return the sums of a route and its tokens. A longer duration than the bucket isn't in time."""
        sums, tokens = cls(), pair[1:]
        for (outcome, step, reason, bucket), n in found.groups.items():
            sums.counts[outcome] += n
            if outcome != Outcome.DELIVERED:
                sums.causes[step, reason] += n
            if bucket is not None:
                sums.durations[bucket] += n
            if bucket is not None and bucket <= late_bucket:
                sums.in_time += n
            elif outcome in (Outcome.REFUNDED, Outcome.FAILED) and step != DEPOSIT:
                sums.to_blame += n
        sums.pairs[tokens], sums.sent[tokens] = sums.ended, found.sent
        return sums

    def add(self, other: "ScopeSums") -> None:
        self.in_time += other.in_time
        self.to_blame += other.to_blame
        for counts, more in (
            (self.counts, other.counts),
            (self.durations, other.durations),
            (self.causes, other.causes),
            (self.pairs, other.pairs),
            (self.sent, other.sent),
        ):
            _add(counts, more)
        self.bars |= other.bars  # both have bars of other times
        self.hours |= other.hours
        self.days |= other.days

    def as_details(self, period: Period) -> dict[str, Any]:
        return {
            "causes": [(*cause, n) for cause, n in most_frequent(self.causes)],
            "pairs": [(*pair, n, str(self.sent[pair])) for pair, n in most_frequent(self.pairs)],
            "owners": self.owners or ((0, 0) if period.bar == HOUR else None),
            "bars": [(start, *bar) for start, bar in self.bars_of(period.step).items()],
        }

    def bars_of(self, length: int) -> Mapping[int, Bar]:
        return self.hours if length == HOUR else self.days


def _add(counts: dict[Any, int], more: Mapping[Any, int]) -> None:
    """Add counts. `Counter.update` takes twice as long."""
    if counts:
        for key, n in more.items():
            counts[key] = counts.get(key, 0) + n
    else:
        dict.update(counts, more)


type Past = dict[frozenset[int], Mapping[ScopeName, ScopeSums]]  # sums by their days


class Adder:
    """Adds up what ended in each scope, as of `now`. `past` has the sums of past days, from time to time."""

    def __init__(self, now: int, past: Past | None = None) -> None:
        self.now = now
        self.past: Past = {} if past is None else past
        routes = list(Route.objects.all())
        self._routes = {route.pk: route.key for route in routes}
        self._late_buckets = {route.pk: statistics.bucket(route.late_after) for route in routes}  # the last in time
        self._tokens = {token.pk: token.key for token in Token.objects.all()}
        self._scopes: dict[facts.Pair, Sequence[ScopeName]] = {}
        self.rows = cache(facts.of_rows)
        self._parts: dict[tuple[Span, bool], Mapping[ScopeName, ScopeSums]] = {}

    def of(self, period: Period) -> dict[ScopeName, ScopeSums]:
        """Return the sums of all scopes in which transfers ended."""
        days, spans = facts.divided(period.span(self.now))
        if period.bar == HOUR:  # which facts don't have
            days, spans = [], [*((day, day + DAY) for day in days), *spans]
        found = defaultdict[ScopeName, ScopeSums](ScopeSums)
        parts = (self.of_rows(span, by_hour=period.step == HOUR or self.now < span[1]) for span in spans)
        for part in (self.of_days(days), *parts):
            for scope, sums in part.items():
                found[scope].add(sums)
        for sums in found.values():
            sums.bars |= {start: bar[:2] for start, bar in sums.bars_of(period.bar).items()}
        if period.bar == HOUR:
            self._add_owners(found, spans)
        return found

    def _by_scope(self, found: Mapping[facts.Pair, facts.Ended]) -> dict[ScopeName, ScopeSums]:
        sums = defaultdict[ScopeName, ScopeSums](ScopeSums)
        for pair, each in found.items():
            own = ScopeSums.of(pair, each, late_bucket=self._late_buckets[pair[0]])
            for scope in self._of_pair(pair):
                sums[scope].add(own)
        return sums

    def of_rows(self, span: Span, *, by_hour: bool = True) -> Mapping[ScopeName, ScopeSums]:
        """Return the sums of a part of a day, from rows, with its bar, and those of its hours if wanted."""
        if (span, by_hour) in self._parts:
            return self._parts[span, by_hour]
        found = self.rows(span)
        self._parts[span, by_hour] = sums = self._by_scope(found)
        for of_scope in sums.values():
            of_scope.days[span[0] // DAY * DAY] = of_scope.bar
        for hour in sorted({hour for each in found.values() for hour in each.hours}) if by_hour else ():
            of_hour = defaultdict[ScopeName, dict[int | str, int]](dict)
            for pair, each in found.items():
                for scope in self._of_pair(pair) if hour in each.hours else ():
                    _add(of_hour[scope], each.hours[hour])
            for scope, counts in of_hour.items():
                durations = {bucket: n for bucket, n in counts.items() if isinstance(bucket, int)}
                delivered = sum(durations.values()) + counts.get(Outcome.DELIVERED, 0)
                sums[scope].hours[hour] = Bar.of(sum(counts.values()), delivered, durations)
        return sums

    def _add_owners(self, sums: Mapping[ScopeName, ScopeSums], spans: Sequence[Span]) -> None:
        members = defaultdict[ScopeName, list[facts.Ended]](list)
        for pair, each in (item for span in spans for item in self.rows(span).items()):
            for scope in self._of_pair(pair):
                members[scope].append(each)
        for scope, several in members.items():
            owners = set[bytes]().union(*(each.owners for each in several))
            sums[scope].owners = len(owners), len(set[bytes]().union(*(each.unserved for each in several)))

    def of_days(self, days: Sequence[int]) -> Mapping[ScopeName, ScopeSums]:
        """Return the sums of past days, from facts."""
        if (key := frozenset(days)) in self.past:
            return self.past[key]
        self.past[key] = sums = self._by_scope(facts.of_days(days))
        named = {scope.text: scope for scope in sums}
        bars = DayBar.objects.filter(day__in=days).values_list("day", "scope", "ended", "delivered")
        for day, scope, ended, delivered in bars.iterator():
            sums[named[scope]].bars[day] = ended, delivered
        return sums

    def _of_pair(self, pair: facts.Pair) -> Sequence[ScopeName]:
        if pair not in self._scopes:
            route, *tokens = pair
            found = scopes_of(self._routes[route], tuple(self._tokens[each] for each in tokens if each is not None))
            self._scopes[pair] = [each for each in found if each.level is not Level.PROVIDER_ON_CHAIN]
        return self._scopes[pair]


class SnapshotWriter:
    """Writes facts of past days and snapshots, under one epoch of the lease. `now` is in Unix seconds.

    All is added up before a transaction begins, because PostgreSQL ends idle ones.
    `slow` are the usual maximums of slow providers, which are the limits of routes without enough deliveries.
    """

    def __init__(self, epoch: int, slow: Slow | None = None) -> None:
        self._epoch = epoch
        self._slow = slow or {}
        self._due: dict[Period, int] = {}
        self._pending: list[Callable[[int], None]] = []  # what to write, the last first
        self._rests_until = 0.0
        self._limits_due = 0
        self._past: Past = {}

    def turn(self, *, now: int) -> None:
        """Write one thing, if any is due and this isn't more than a fifth of the time."""
        began = time.monotonic()
        if began >= self._rests_until and self.step(now=now):
            ended = time.monotonic()
            self._rests_until = ended + WORK_SHARE * (ended - began)

    def finish(self, *, now: int, renew: Callable[[], object] = lambda: None) -> None:
        """Write all at once. `renew` is called after each piece, to keep the lease."""
        self._due, self._pending, self._limits_due = {}, [], 0
        while self.step(now=now):
            renew()

    def step(self, *, now: int) -> bool:
        """Write one day or period. Return whether any was due."""
        if not self._pending:
            due = [period for period in Period if now >= self._due.get(period, 0)]
            if not due:
                return False
            self._due |= {period: now + EVERY[period] for period in due}
            self._pending = [partial(self._write, due), *(partial(self._add_past, period) for period in due)]
            if now >= self._limits_due:
                self._limits_due = now + LIMITS_EVERY
                self._pending.append(self._set_limits)
            self._pending += [partial(self.write_day, day) for day in _unwritten_days(now)]
        self._pending.pop()(now)
        return True

    def _add_past(self, period: Period, now: int) -> None:
        """Add up the past days of a period, unless they are known, so that the snapshots take less at once."""
        days, _ = facts.divided(period.span(now))
        if period.bar == DAY:
            Adder(now, self._past).of_days(days)

    def _write(self, periods: Sequence[Period], now: int) -> None:
        """Write snapshots, which are of the same moment."""
        gaps, adder = coverage.gaps(now=utc(now)), Adder(now, self._past)
        for period in periods:
            sums = {EVERYTHING: ScopeSums()} | adder.of(period)
            common = {"period": period, "at": now, "is_complete": gaps.of(period.since(now), now).is_complete}
            rows = [
                common
                | {
                    "scope": scope.text,
                    "sums": to_json(each.as_row()).decode(),
                    "details": to_json(each.as_details(period)).decode(),
                }
                for scope, each in sums.items()
            ]
            tables = dict[str, list[ScopeName]]()
            for level in TABLES:
                for order in Order:
                    ranks = ((each.rank(order), scope) for scope, each in sums.items() if scope.level is level)
                    first = nsmallest(LISTED, (each for each in ranks if each[0] is not None))
                    tables[table_name(period, level, order)] = [scope for _, scope in first]
            with lease.transaction(self._epoch):
                Snapshot.objects.filter(period=period)._raw_delete("default")
                write(Snapshot, rows)
                for name, scopes in tables.items():
                    set_state(name, scopes)

    def _set_limits(self, now: int) -> None:
        """Set after how long a transfer is late: by its route, else by the slowest of its providers, else by the rule.

        Durations of repaired transfers don't count. A route's limit is at most that of its providers, or four times its
        own median if that is more.
        """
        sums = Adder(now).of(Period.WEEK)
        repaired = facts.ended(Period.WEEK.span(now)).filter(is_repaired=True, bucket__isnull=False)
        for *key, bucket in repaired.values_list(*(f"route__{name}" for name in RouteKey._fields), "bucket"):
            for scope in scopes_of(RouteKey(*key)):
                sums[scope].durations[bucket] -= 1
        limits, changed = {}, list[Route]()
        for scope, each in sums.items():
            if each.durations.total() >= ENOUGH_FOR_LATE:
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
        self._past.clear()

    def write_day(self, day: int, now: int) -> None:
        """Write the facts and the bars of a day."""
        adder, span, rows = Adder(now), (day, day + DAY), []
        for scope, sums in adder.of_rows(span).items():
            hours = to_json([(start, *bar) for start, bar in sums.hours.items()]).decode()
            rows.append({"day": day, "scope": scope.text, **sums.days[day]._asdict(), "hours": hours})
        with lease.transaction(self._epoch):
            DayBar.objects.filter(day=day)._raw_delete("default")
            write(DayBar, rows)
            facts.write_day(day, adder.rows(span))
        self._past.clear()


def _unwritten_days(now: int) -> Iterator[int]:
    """Yield the past days that have no facts and no window that is yet to be read, the oldest first."""
    first = Transfer.objects.aggregate(first=Min("hour"))["first"]
    if first is None:
        return
    known = {*Day.objects.values_list("start", flat=True)}
    lacking = {day for start, end in coverage.unread() for day in range(start // DAY * DAY, end, DAY)}
    # One that ended a moment ago still changes.
    last = (now - HOUR) // DAY * DAY
    yield from (day for day in range(first // DAY * DAY, last, DAY) if day not in known | lacking)


def table_name(period: Period, level: Level, order: Order) -> str:
    return f"figures {period} {level} {order}"


def most_frequent[T](counts: Mapping[T, int]) -> list[tuple[T, int]]:
    """Return the first of these by their number."""
    return sorted(counts.items(), key=lambda each: (-each[1], str(each[0])))[:LISTED]
