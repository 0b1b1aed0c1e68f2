"""Snapshots: tables of figures of a period until now, written by the leader and read by pages by their key."""

import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from itertools import batched
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

WORK_SHARE = 4  # seconds of other work for each second of this
PART = 4 * HOUR  # of which rows are read at once
DAYS_AT_ONCE = 10  # whose facts are
LISTED = 50  # rows of a table, and reasons
ENOUGH_FOR_P95, ENOUGH_FOR_LATE = 100, 200
DEPOSIT = 0  # the first step, which is the owner's
MIN_LATE = 5 * MINUTE * 1000  # milliseconds
LIMITED = (Level.ROUTE, Level.PROVIDER)
LIMITS_EVERY = HOUR  # because what is in time is counted by them

type Tokens = tuple[int | None, int | None]
type Hours = Mapping[ScopeName, dict[int, Bar]]
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
    def of(cls, durations: Mapping[int, int], others: Mapping[Other, int]) -> Self:
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

    def add(self, tokens: Tokens, found: Ended, *, in_time: int) -> None:
        add(self.durations, found.durations)
        add(self.others, found.others)
        self.in_time += in_time
        self.pairs[tokens] = self.pairs.get(tokens, 0) + found.count
        self.sent[tokens] = self.sent.get(tokens, 0) + found.sent

    def as_row(self) -> dict[str, str]:
        """Return what tables show, and the details, which only the page of a scope shows."""
        without_reason = Counter[Other]()
        for (outcome, step, _), n in self.others.items():
            without_reason[outcome, step, None] += n
        rest, others = ([(*key, n) for key, n in each.items()] for each in (without_reason, self.others))
        pairs = [(*pair, n, str(self.sent[pair])) for pair, n in most_frequent(self.pairs)]
        return {
            "sums": to_json(([*self.durations.items()], rest, self.in_time, [*self.bars.items()])).decode(),
            "details": to_json((others, pairs, self.owners, [*self.hours.items()])).decode(),
        }

    @classmethod
    def of_row(cls, sums: str, details: str = "") -> Self:
        durations, rest, in_time, bars = from_json(sums)
        others, pairs, owners, hours = from_json(details) if details else (rest, (), None, ())
        return cls(
            durations=dict(durations),
            others={tuple(other): n for *other, n in others},
            in_time=in_time,
            bars=dict(bars),  # as lists, because the rows of a table have thousands of bars
            hours={start: Bar(*bar) for start, bar in hours},
            pairs={tuple(pair): n for *pair, n, _ in pairs},
            sent={tuple(pair): int(sent) for *pair, _, sent in pairs},
            owners=owners and tuple(owners),
        )


class Adder:
    """Adds up what ended in each scope, as of a time, and knows the sums of past days until they change."""

    def __init__(self, now: int = 0) -> None:
        self._scopes: dict[Pair, Sequence[ScopeName]] = {}
        self.forget_past()
        self.begin(now)

    def forget_past(self) -> None:
        self._past: dict[frozenset[int], Found] = {}
        self._bars = defaultdict[str, dict[int, Bar]](dict)  # of past days, by the texts of scopes
        self._days: set[int] = set()  # of these bars

    def begin(self, now: int) -> None:
        """Forget the rows of an earlier time."""
        self.now = now
        self._read_names()
        self._divided: dict[Period, tuple[Sequence[int], Sequence[Span]]] = {}
        self._parts: dict[Span, tuple[Found, Hours]] = {}

    def _read_names(self) -> None:
        routes = list(Route.objects.all())
        self._routes = {route.pk: route.key for route in routes}
        self._late_buckets = {route.pk: statistics.bucket(route.late_after) for route in routes}  # the last in time
        self._tokens = {token.pk: token.key for token in Token.objects.all()}

    def load(self, period: Period) -> Iterator[None]:
        """Read what is to be added up, a piece at a time. Between two pieces, the mirror may write."""
        if period not in self._divided:
            days, spans = facts.divided(period.span(self.now))
            if period.bar == HOUR:  # which facts don't have
                days, spans = [], [*((day, day + DAY) for day in days), *spans]
            self._divided[period] = days, spans
        days, spans = self._divided[period]
        if frozenset(days) not in self._past:
            found, changed = list[Found](), set[int]()
            for some in batched(days, DAYS_AT_ONCE):
                known = facts.of_days(some)
                found.append(facts.merged(known.values()))
                changed |= {*some} - known.keys()
                yield
            days, spans = sorted({*days} - changed), [*spans, *((day, day + DAY) for day in sorted(changed))]
            self._divided[period] = days, spans
            self._past[frozenset(days)] = facts.merged(found)
        for some in batched(sorted({*days} - self._days), DAYS_AT_ONCE):
            for day, scope, *bar in DayBar.objects.filter(day__in=some).values_list("day", "scope", *Bar._fields):
                self._bars[scope][day] = Bar(*bar)
            self._days.update(some)
            yield
        yield from self.load_rows(spans, by_hour=period.step == HOUR)

    def load_rows(self, spans: Iterable[Span], *, by_hour: bool) -> Iterator[None]:
        for part in parts(spans):
            if part not in self._parts or (by_hour and not self._parts[part][1]):
                rows, hours = facts.of_rows(part), defaultdict[ScopeName, dict[int, Bar]](dict)
                for hour, found in sorted(rows.items()) if by_hour else ():
                    for scope, bar in self.bars(found):
                        hours[scope][hour] = bar
                self._parts[part] = facts.merged(rows.values()), hours
            yield

    def of_rows(self, spans: Iterable[Span]) -> tuple[Found, Hours]:
        """Return what ended in times that were loaded, and the bars of their hours."""
        loaded, hours = [self._parts[part] for part in parts(spans)], defaultdict[ScopeName, dict[int, Bar]](dict)
        for _, bars in loaded:
            for scope, of_scope in bars.items():
                hours[scope] |= of_scope
        return facts.merged(found for found, _ in loaded), hours

    def of(self, period: Period) -> dict[ScopeName, Sums]:
        """Return the sums of all scopes in which transfers ended."""
        deque(self.load(period), maxlen=0)
        days, spans = self._divided[period]
        rows, hours = self.of_rows(spans)
        found = facts.merged([self._past[frozenset(days)], rows])
        sums = self.by_scope(found)
        if period.bar == HOUR:
            for scope, of_scope in sums.items():
                of_scope.bars = hours[scope]
            self._add_owners(sums, found)
            return sums
        for scope, of_scope in sums.items():
            known = self._bars[scope.text]
            of_scope.bars = {day: known[day] for day in days if day in known}
            of_scope.hours = hours[scope] if period.step == HOUR else {}
        for span in spans:
            for scope, bar in self.bars(self.of_rows([span])[0]):
                sums[scope].bars[span[0] // DAY * DAY] = bar
        return sums

    def _add_owners(self, sums: Mapping[ScopeName, Sums], found: Found) -> None:
        members = defaultdict[ScopeName, list[Ended]](list)
        for pair, each in found.items():
            for scope in self._of_pair(pair):
                members[scope].append(each)
        for scope, several in members.items():
            owners = set[bytes]().union(*(each.owners for each in several))
            sums[scope].owners = len(owners), len(set[bytes]().union(*(each.unserved for each in several)))

    def by_scope(self, found: Found) -> dict[ScopeName, Sums]:
        sums = defaultdict[ScopeName, Sums](Sums)
        for pair, each in found.items():
            scopes = self._of_pair(pair)
            in_time = sum(n for bucket, n in each.durations.items() if bucket <= self._late_buckets[pair[0]])
            for scope in scopes:
                sums[scope].add(pair[1:], each, in_time=in_time)
        return sums

    def bars(self, found: Found) -> Iterator[tuple[ScopeName, Bar]]:
        """Yield the bar of each scope, which takes less than its sums."""
        counts = defaultdict[ScopeName, tuple[dict[int, int], dict[Other, int]]](lambda: ({}, {}))
        for pair, each in found.items():
            for scope in self._of_pair(pair):
                durations, others = counts[scope]
                add(durations, each.durations)
                if each.others:
                    add(others, each.others)
        yield from ((scope, Bar.of(*several)) for scope, several in counts.items())

    def _of_pair(self, pair: Pair) -> Sequence[ScopeName]:
        if pair not in self._scopes:
            route, tokens = pair[0], [each for each in pair[1:] if each is not None]
            if route not in self._routes or not {*tokens} <= self._tokens.keys():
                self._read_names()
            found = scopes_of(self._routes[route], tuple(self._tokens[each] for each in tokens))
            self._scopes[pair] = [each for each in found if each.level is not Level.PROVIDER_ON_CHAIN]
        return self._scopes[pair]


def parts(spans: Iterable[Span]) -> Iterator[Span]:
    """Yield the parts of times whose rows are read at once."""
    for since, until in spans:
        for start in range(since // PART * PART, until, PART):
            yield max(start, since), min(start + PART, until)


class SnapshotWriter:
    """Writes facts of past days and snapshots, under one epoch of the lease. `now` is in Unix seconds.

    All is added up before a transaction begins, because PostgreSQL ends idle ones, and in small pieces, between which
    the mirror does other work. `slow` are the usual maximums of slow providers, which are the limits of routes without
    enough deliveries.
    """

    def __init__(self, epoch: int, slow: Slow | None = None) -> None:
        self._epoch = epoch
        self._slow = slow or {}
        self._adder = Adder()
        self._work: Iterator[None] | None = None
        self._due: dict[Period, int] = {}
        self._limits_due = self._now = 0
        self._rests_until = 0.0

    def turn(self, *, now: int) -> None:
        """Do one piece, if any is due and this isn't more than a fifth of the time."""
        began = time.monotonic()
        if began >= self._rests_until and self.step(now=now):
            ended = time.monotonic()
            self._rests_until = ended + WORK_SHARE * (ended - began)

    def finish(self, *, now: int, renew: Callable[[], object] = lambda: None) -> None:
        """Write all at once. `renew` is called after each piece, to keep the lease."""
        self._work, self._due, self._limits_due = None, {}, 0
        while self.step(now=now):
            renew()

    def step(self, *, now: int) -> bool:
        """Do one piece. Return whether any was due."""
        self._now = now
        if self._work is None:
            due = [period for period in Period if now >= self._due.get(period, 0)]
            if not due:
                return False
            self._work = self._pieces(due)
        if next(self._work, self) is self:
            self._work = None
        return True

    def write_day(self, day: int, now: int) -> None:
        """Write the facts and the bars of a day."""
        self._now = now
        deque(self._day(day), maxlen=0)

    def _pieces(self, due: Sequence[Period]) -> Iterator[None]:
        self._due |= {period: self._now + EVERY[period] for period in due}
        for day in list(_unwritten_days(self._now)):
            yield from self._day(day)
        if self._now >= self._limits_due:
            self._limits_due = self._now + LIMITS_EVERY
            yield from self._limits()
        self._adder.begin(self._now)
        now, gaps = self._now, coverage.gaps(now=utc(self._now))
        for period in due:
            yield from self._adder.load(period)
        for period in due:
            sums = {EVERYTHING: Sums(owners=(0, 0) if period.bar == HOUR else None)} | self._adder.of(period)
            yield
            self._write(period, sums, now, is_complete=gaps.of(period.since(now), now).is_complete)
            yield

    def _day(self, day: int) -> Iterator[None]:
        """Write the facts of a day, unless one of its transfers changes before they are."""
        with lease.transaction(self._epoch):
            Day.objects.update_or_create(start=day, defaults={"facts": ""})
        self._adder.begin(self._now)
        spans, has_hours = [(day, day + DAY)], day >= self._now - HOURS_SHOWN
        yield from self._adder.load_rows(spans, by_hour=has_hours)
        found, hours = self._adder.of_rows(spans)
        rows = [
            {
                "day": day,
                "scope": scope.text,
                **bar._asdict(),
                "hours": to_json([*hours[scope].items()]).decode() if has_hours else "",
            }
            for scope, bar in self._adder.bars(found)
        ]
        yield
        with lease.transaction(self._epoch):
            if Day.objects.filter(start=day).update(facts=facts.written(found)):
                DayBar.objects.filter(day=day)._raw_delete("default")
                write(DayBar, rows)
        self._adder.forget_past()

    def _write(self, period: Period, sums: Mapping[ScopeName, Sums], now: int, *, is_complete: bool) -> None:
        common = {"period": period, "at": now, "is_complete": is_complete}
        rows = [
            {
                **common,
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

    def _limits(self) -> Iterator[None]:
        """Set after how long a transfer is late: by its route, else by the slowest of its providers, else by the rule.

        Durations of repaired transfers don't count. A route's limit is at most that of its providers, or four times its
        own median if that is more.
        """
        self._adder.begin(self._now)
        yield from self._adder.load(Period.WEEK)
        sums = self._adder.of(Period.WEEK)
        repaired = facts.ended(Period.WEEK.span(self._adder.now)).filter(is_repaired=True, bucket__isnull=False)
        for *key, bucket in repaired.values_list(*(f"route__{name}" for name in RouteKey._fields), "bucket"):
            for scope in scopes_of(RouteKey(*key)):
                add(sums[scope].durations, {bucket: -1})
        yield
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
