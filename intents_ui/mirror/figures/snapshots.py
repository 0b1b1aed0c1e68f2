"""Snapshots: tables of figures of a period until now, written by the leader and read by pages by their key."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache, partial
from heapq import nsmallest
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Min, Q

from intents_ui.mirror import coverage, lease
from intents_ui.mirror.entry import RouteKey, TokenKey
from intents_ui.mirror.figures import facts, statistics
from intents_ui.mirror.figures.facts import ALL, Span
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName, scopes_of, scopes_of_tokens
from intents_ui.mirror.figures.statistics import share
from intents_ui.mirror.models import USUAL, Day, Reason, Route, Snapshot, Token, Transfer, Window
from intents_ui.mirror.windows import DAY, HOUR, MINUTE
from intents_ui.service.outcome import Outcome

WORK_SHARE = 4  # seconds of other work for each second of this
LISTED = 50  # rows of a table, and reasons
ENOUGH_FOR_P95, ENOUGH_FOR_LATE = 100, 200
DEPOSIT = 0  # the first step, which is the owner's
LEAST_LATE = 5 * MINUTE * 1000  # milliseconds
TABLES = (Level.ROUTE, Level.PROVIDER, Level.CHAIN, Level.TOKEN)
LIMITED = (Level.ROUTE, Level.PROVIDER)
LIMITS_EVERY = HOUR  # because what is in time is counted by them
PARTS = ("route_id", "origin_token_id", "destination_token_id")
# `bulk_update` takes many times as long.
SET_LATE = "UPDATE mirror_route SET late_after = %s, late_by = %s, late_bucket = %s WHERE mirror_route.id = %s"

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


HOURS = {Period.HOUR: 1, Period.DAY: 24, Period.WEEK: 7 * 24, Period.MONTH: 30 * 24, Period.QUARTER: 90 * 24}
# Seconds between two snapshots.
EVERY = {Period.HOUR: 30, Period.DAY: 30, Period.WEEK: 120, Period.MONTH: 240, Period.QUARTER: 240}


class Order(StrEnum):
    """Order of a table."""

    MOST_USED = "used"
    WORST = "worst"  # of those that have a percentage, surely bad ones first
    SLOWEST = "slowest"


@dataclass(slots=True)
class Sums:
    """Ended transfers of a scope: counts by outcome, durations by bucket, and ended and delivered ones by time.

    `in_time`: delivered before they were late. `to_blame`: refunded or failed after their deposit, so by their route.
    `causes`: failed steps and reasons of the others, not counted in each scope.
    """

    counts: Counter[str] = field(default_factory=Counter)
    durations: Counter[int] = field(default_factory=Counter)
    bars: dict[int, list[int]] = field(default_factory=dict)
    in_time: int = 0
    to_blame: int = 0
    causes: Counter[tuple[int | None, int | None]] = field(default_factory=Counter)

    @property
    def ended(self) -> int:
        return self.counts.total()

    def add(self, outcome: str, bucket: int | None, count: int) -> None:
        self.counts[outcome] += count
        if bucket is not None:
            self.durations[bucket] += count

    def judge(self, outcome: str, failed_step: int | None, count: int, *, in_time: bool) -> None:
        """Count what says something about the route."""
        if in_time:
            self.in_time += count
        elif outcome in (Outcome.REFUNDED, Outcome.FAILED) and failed_step != DEPOSIT:
            self.to_blame += count

    def copy(self) -> "Sums":
        bars = {start: [*bar] for start, bar in self.bars.items()}
        return Sums(self.counts.copy(), self.durations.copy(), bars, self.in_time, self.to_blame, self.causes.copy())

    def add_bar(self, start: int, outcome: str, count: int) -> None:
        bar = self.bars.setdefault(start, [0, 0])
        bar[0] += count
        bar[1] += count if outcome == Outcome.DELIVERED else 0

    def bars_of(self, period: Period, now: int) -> list[tuple[int, int]]:
        """Return the ended and the delivered ones of each hour or day of a period. An hour has none."""
        if period is Period.HOUR:
            return []
        starts = range(period.since(now) // period.bar * period.bar, now + 1, period.bar)
        return [(ended, delivered) for ended, delivered in (self.bars.get(start, (0, 0)) for start in starts)]

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


type Folded = tuple[frozenset[int], dict[ScopeName, Sums]]  # days, and their sums


class SnapshotWriter:
    """Writes facts of past days and snapshots, under one epoch of the lease. `now` is in Unix seconds.

    `slow` are the usual maximums of slow providers, which are the limits of routes without enough deliveries.
    """

    def __init__(self, epoch: int, slow: Slow | None = None) -> None:
        self._epoch = epoch
        self._slow = slow or {}
        self._due: dict[Period, int] = {}
        self._pending: list[int | Period | None] = []  # days, limits and periods to write, the last first
        self._rests_until = 0.0
        self._folded: dict[Period, Folded] = {}
        self._limits_due = 0

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
            self._pending = [*due, *_unwritten_days(now)]
            if now >= self._limits_due:
                self._limits_due = now + LIMITS_EVERY
                self._pending.insert(len(due), None)
        with transaction.atomic():
            lease.fence(self._epoch)
            match self._pending.pop():
                case Period() as period:
                    self._write(period, now)
                case None:
                    _set_late(sums_of(Period.WEEK, now), now, self._slow)
                    self._folded.clear()
                case day:
                    facts.write_day(day)
                    self._folded.clear()
        return True

    def _write(self, period: Period, now: int) -> None:
        """Write a period's tables."""
        sums = sums_of(period, now, folded=self._folded)
        since = period.since(now)
        total = sums.get(EVERYTHING, Sums())
        common = {
            "since": since,
            "is_complete": coverage.gaps(now=datetime.fromtimestamp(now, UTC)).of(since, now).is_complete,
            "total": _row(EVERYTHING, total, period, now),
            "owners": owners_of(period, now),
            "reasons": most_frequent(total.causes),
        }
        Snapshot.objects.filter(period=period).delete()
        for level in TABLES:
            of_level = [(scope, each) for scope, each in sums.items() if scope.level is level]
            row = cache(lambda scope: _row(scope, sums[scope], period, now))
            for order in Order:
                ranked = [(rank, scope) for scope, each in of_level if (rank := each.rank(order)) is not None]
                rows = [row(scope) for _, scope in nsmallest(LISTED, ranked)]
                document = json.dumps(common | {"rows": rows}, separators=(",", ":"))
                Snapshot.objects.create(period=period, level=level, order=order, at=now, document=document)


def _unwritten_days(now: int) -> Iterator[int]:
    """Yield the past days that have no facts and no window that is yet to be read, the oldest first."""
    first = Transfer.objects.aggregate(first=Min("hour"))["first"]
    if first is None:
        return
    written = {*Day.objects.values_list("start", flat=True)}
    unread = Window.objects.filter(read_at=None).values_list("start", "end")
    lacking = {day for start, end in unread for day in range(start // DAY * DAY, end, DAY)}
    # One that ended a moment ago still changes.
    last = (now - HOUR) // DAY * DAY
    yield from (day for day in range(first // DAY * DAY, last, DAY) if day not in written | lacking)


def _row(scope: ScopeName, sums: Sums, period: Period, now: int) -> tuple[Any, ...]:
    judged = sums.in_time, sums.to_blame
    return scope, sums.counts, sorted(sums.durations.items()), sums.bars_of(period, now), judged


def sums_of(period: Period, now: int, *, folded: dict[Period, Folded] | None = None) -> Mapping[ScopeName, Sums]:
    """Return the sums of all scopes in which transfers ended. `folded` keeps those of past days from call to call.

    Those of a longer period begin with those of a shorter one.
    """
    fold = Fold(period)
    known, spans = facts.divided(period.span(now)) if period.bar == DAY else ((), [period.span(now)])
    days, folded = frozenset(known), {} if folded is None else folded
    parts = (each for each in folded.values() if each[0] <= days)
    known_days, past = max(parts, key=lambda each: len(each[0]), default=(frozenset(), {}))
    if known_days != days:
        past = copied(past)
        fold.add(past, partial(facts.count_days, days=days - known_days))
        folded[period] = days, past
    sums = copied(past)
    fold.add(sums, partial(facts.count_rows, spans=spans, length=period.bar))
    return sums


def copied(sums: Mapping[ScopeName, Sums]) -> dict[ScopeName, Sums]:
    return {scope: each.copy() for scope, each in sums.items()}


class Fold:
    """Adds what was counted by route and tokens to the sums of each scope."""

    def __init__(self, period: Period) -> None:
        self._has_bars = period is not Period.HOUR
        routes = Route.objects.values_list("pk", *RouteKey._fields)
        self._routes = {pk: scopes_of(RouteKey(*key)) for pk, *key in routes}
        self._tokens = {pk: TokenKey(*key) for pk, *key in Token.objects.values_list("pk", *TokenKey._fields)}
        self._known: dict[tuple[int | None, ...], Sequence[ScopeName]] = {}

    def add(self, sums: dict[ScopeName, Sums], count: Callable[..., Mapping[tuple[Any, ...], int]]) -> None:
        columns = *PARTS, "outcome", "failed_step", "reason_id", "bucket", facts.IN_TIME
        for (*of, outcome, step, reason, bucket, in_time), n in count(*columns).items():
            for scope in self._scopes(*of):
                found = sums.get(scope) or sums.setdefault(scope, Sums())
                found.add(outcome, bucket, n)
                found.judge(outcome, step, n, in_time=in_time)
            if outcome != Outcome.DELIVERED:
                sums[EVERYTHING].causes[step, reason] += n
        if self._has_bars:
            for (*of, start, outcome), n in count(*PARTS, "start", "outcome").items():
                for scope in self._scopes(*of):
                    sums[scope].add_bar(start, outcome, n)

    def _scopes(self, route: int, *pair: int | None) -> Sequence[ScopeName]:
        key = route, *pair
        if key not in self._known:
            tokens = scopes_of_tokens(self._tokens[each] for each in pair if each is not None)
            self._known[key] = *self._routes[route], *tokens
        return self._known[key]


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


def _set_late(sums: Mapping[ScopeName, Sums], now: int, slow: Slow) -> None:
    """Set after how long a transfer is late: by its own route, else by the slowest of its providers, else by the rule.

    Durations of repaired transfers don't count. A route's limit is at most that of its providers, or four times its own
    median if that is more.
    """
    repaired = facts.ended(Period.WEEK.span(now)).filter(is_repaired=True, bucket__isnull=False)
    for *key, bucket in repaired.values_list(*(f"route__{name}" for name in RouteKey._fields), "bucket"):
        for scope in scopes_of(RouteKey(*key)):
            sums[scope].durations[bucket] -= 1
    limits = {
        scope: max(LEAST_LATE, _usual_maximum(each.durations))
        for scope, each in sums.items()
        if each.durations.total() >= ENOUGH_FOR_LATE
    }
    changed = []
    for route in Route.objects.all():
        key = RouteKey(route.providers, route.origin_chain, route.destination_chain)
        own, *others = (limits.get(scope) for scope in scopes_of(key) if scope.level in LIMITED)
        of_providers = max((each for each in others if each is not None), default=None)
        if own and of_providers:
            median = statistics.quantile(sums[ScopeName(Level.ROUTE, *key)].durations, 50) or 0
            own = min(own, max(of_providers, 4 * median))
        by_rule = max([USUAL, *(slow[each] for each in route.providers.split(";") if each in slow)])
        basis = Basis.ROUTE if own else Basis.PROVIDER if of_providers else Basis.RULE
        new = own or of_providers or by_rule // timedelta(milliseconds=1), basis.value
        if (route.late_after, route.late_by) != new:
            changed.append((*new, statistics.bucket(new[0]), route.pk))
    if changed:
        with connection.cursor() as cursor:
            cursor.executemany(SET_LATE, changed)


def _usual_maximum(durations: Counter[int]) -> int:
    """Return p99, or four times p95 if that is less: one transfer of a hundred may have been repaired after hours."""
    return min(statistics.quantile(durations, 99) or 0, 4 * (statistics.quantile(durations, 95) or 0))
