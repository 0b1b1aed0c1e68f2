"""Snapshots: tables of figures of a period until now, written by the leader and read by pages by their key."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from functools import cache, partial
from heapq import nsmallest
from typing import Any

from django.db import transaction
from django.db.models import Count, Min, Q

from intents_ui.mirror import coverage, lease
from intents_ui.mirror.entry import RouteKey
from intents_ui.mirror.figures import facts, statistics
from intents_ui.mirror.figures.facts import ALL, Span
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName, scopes_of
from intents_ui.mirror.figures.statistics import share
from intents_ui.mirror.models import USUAL, Day, Reason, Route, Token, Transfer, set_state
from intents_ui.mirror.windows import DAY, HOUR, MINUTE, utc
from intents_ui.service.outcome import Outcome

WORK_SHARE = 4  # seconds of other work for each second of this
LISTED = 50  # rows of a table, and reasons
ENOUGH_FOR_P95, ENOUGH_FOR_LATE = 100, 200
DEPOSIT = 0  # the first step, which is the owner's
LEAST_LATE = 5 * MINUTE * 1000  # milliseconds
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


@dataclass
class Sums:
    """Ended transfers: counts by outcome, durations by bucket, and the ended and the delivered ones by time.

    `in_time`: delivered before they were late. `to_blame`: refunded or failed after their deposit, so by their route.
    `causes`: failed steps and reasons of the others, not counted in each scope.
    """

    counts: Counter[str] = field(default_factory=Counter)
    durations: Counter[int] = field(default_factory=Counter)
    bars: dict[int, tuple[int, int]] = field(default_factory=dict)
    in_time: int = 0
    to_blame: int = 0
    causes: Counter[tuple[int | None, int | None]] = field(default_factory=Counter, compare=False)

    @property
    def ended(self) -> int:
        return self.counts.total()

    def add(self, outcome: str, failed_step: int | None, bucket: int | None, count: int, *, in_time: bool) -> None:
        self.counts[outcome] += count
        if bucket is not None:
            self.durations[bucket] += count
        if in_time:
            self.in_time += count
        elif outcome in (Outcome.REFUNDED, Outcome.FAILED) and failed_step != DEPOSIT:
            self.to_blame += count

    def add_bar(self, start: int, outcome: str, count: int) -> None:
        ended, delivered = self.bars.get(start, (0, 0))
        self.bars[start] = ended + count, delivered + (count if outcome == Outcome.DELIVERED else 0)

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

    def as_row(self, scope: ScopeName) -> tuple[Any, ...]:
        return scope, self.counts, [*self.durations.items()], [*self.bars.items()], self.in_time, self.to_blame


def sums_of_row(counts: Mapping[str, int], durations: Any, bars: Any, in_time: int, to_blame: int) -> Sums:
    """Return the sums of a row of a table, without its scope."""
    spans = {start: (ended, delivered) for start, (ended, delivered) in bars}
    return Sums(Counter(counts), Counter(dict(durations)), spans, in_time, to_blame)


type Past = dict[frozenset[int], Mapping[ScopeName, Sums]]  # sums by their days


class SnapshotWriter:
    """Writes facts of past days and snapshots, under one epoch of the lease. `now` is in Unix seconds.

    `slow` are the usual maximums of slow providers, which are the limits of routes without enough deliveries.
    """

    def __init__(self, epoch: int, slow: Slow | None = None) -> None:
        self._epoch = epoch
        self._slow = slow or {}
        self._due: dict[Period, int] = {}
        self._pending: list[Callable[[int], None]] = []  # periods, limits and days to write, the last first
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
            due = [period for period in reversed(Period) if now >= self._due.get(period, 0)]
            if not due:
                return False
            self._due |= {period: now + EVERY[period] for period in due}
            self._pending = [partial(self._write, period) for period in due]
            if now >= self._limits_due:
                self._limits_due = now + LIMITS_EVERY
                self._pending.append(self._set_limits)
            self._pending += [partial(self._write_day, day) for day in _unwritten_days(now)]
        with transaction.atomic():
            lease.fence(self._epoch)
            self._pending.pop()(now)
        return True

    def _write(self, period: Period, now: int) -> None:
        """Write a period's tables."""
        sums = sums_of(period, now, past=self._past)
        total = sums.get(EVERYTHING, Sums())
        gaps = coverage.gaps(now=utc(now))
        common = {
            "at": now,
            "is_complete": gaps.of(period.since(now), now).is_complete,
            "total": total.as_row(EVERYTHING),
            "owners": owners_of(period, now),
            "reasons": most_frequent(total.causes),
        }
        row = cache(lambda scope: sums[scope].as_row(scope))
        for level in TABLES:
            for order in Order:
                ranks = ((each.rank(order), scope) for scope, each in sums.items() if scope.level is level)
                rows = [row(scope) for _, scope in nsmallest(LISTED, (each for each in ranks if each[0] is not None))]
                set_state(table_name(period, level, order), common | {"rows": rows})

    def _set_limits(self, now: int) -> None:
        """Set after how long a transfer is late: by its route, else by the slowest of its providers, else by the rule.

        Durations of repaired transfers don't count. A route's limit is at most that of its providers, or four times its
        own median if that is more.
        """
        sums = sums_of(Period.WEEK, now)
        repaired = facts.ended(Period.WEEK.span(now)).filter(is_repaired=True, bucket__isnull=False)
        for *key, bucket in repaired.values_list(*(f"route__{name}" for name in RouteKey._fields), "bucket"):
            for scope in scopes_of(RouteKey(*key)):
                sums[scope].durations[bucket] -= 1
        limits = {}
        for scope, each in sums.items():
            if each.durations.total() >= ENOUGH_FOR_LATE:
                p99, p95 = (statistics.quantile(each.durations, percent) or 0 for percent in (99, 95))
                limits[scope] = max(LEAST_LATE, min(p99, 4 * p95))  # one of 100 may have been repaired
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
                route.late_after, route.late_by, route.late_bucket = limit, basis, statistics.bucket(limit)
                route.save()
        self._past.clear()

    def _write_day(self, day: int, _: int) -> None:
        facts.write_day(day)
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


def sums_of(period: Period, now: int, *, past: Past | None = None) -> Mapping[ScopeName, Sums]:
    """Return the sums of all scopes in which transfers ended. `past` keeps those of past days from call to call."""
    routes = {route.pk: route.key for route in Route.objects.all()}
    tokens = {token.pk: token.key for token in Token.objects.all()}

    @cache
    def scopes(route: int, *pair: int | None) -> Sequence[ScopeName]:
        found = scopes_of(routes[route], tuple(tokens[each] for each in pair if each is not None))
        return [each for each in found if each.level is not Level.PROVIDER_ON_CHAIN]

    def added(
        known: Mapping[ScopeName, Sums], days: Collection[int], spans: Sequence[Span]
    ) -> Mapping[ScopeName, Sums]:
        copies = {
            scope: Sums(**{name: copy(each) for name, each in vars(sums).items()}) for scope, sums in known.items()
        }
        found = defaultdict(Sums, copies)
        count = partial(facts.count, *facts.PAIR, parts=(days, spans), length=period.bar)
        columns = "outcome", "failed_step", "reason_id", "bucket", facts.IN_TIME
        for (*pair, outcome, step, reason, bucket, in_time), n in count(*columns).items():
            for scope in scopes(*pair):
                found[scope].add(outcome, step, bucket, n, in_time=in_time)
            if outcome != Outcome.DELIVERED:
                found[EVERYTHING].causes[step, reason] += n
        for (*pair, start, outcome), n in count("start", "outcome").items() if period is not Period.HOUR else ():
            for scope in scopes(*pair):
                found[scope].add_bar(start, outcome, n)
        return found

    counted, spans = facts.divided(period.span(now), period.bar)
    days, past = frozenset(counted), {} if past is None else past
    if days not in past:
        past[days] = added({}, days, ())
    return added(past[days], (), spans)


def owners_of(period: Period, now: int, where: Q = ALL) -> tuple[int, int] | None:
    """Return the owners whose transfers ended, and those of whom one wasn't delivered. None for long periods."""
    if period.bar == DAY:
        return None
    found = (
        facts.ended(period.span(now))
        .filter(where)
        .aggregate(
            owners=Count("owner", distinct=True),
            failed=Count("owner", distinct=True, filter=~Q(outcome=Outcome.DELIVERED)),
        )
    )
    return found["owners"], found["failed"]


def most_frequent(causes: Mapping[tuple[Any, ...], int]) -> list[tuple[int | None, str, str, int]]:
    """Return failed steps, reasons, examples and counts, the most frequent first."""
    first = sorted(causes.items(), key=lambda each: (-each[1], str(each[0])))[:LISTED]
    reasons = Reason.objects.in_bulk([reason for (_, reason), _ in first if reason is not None])
    named = (reasons.get(reason, Reason(text="", example="")) for (_, reason), _ in first)
    return [(step, reason.text, reason.example, n) for ((step, _), n), reason in zip(first, named, strict=True)]
