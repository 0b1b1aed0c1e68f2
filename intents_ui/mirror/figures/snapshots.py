"""Snapshots: tables of figures of a period until now, written by the leader and read by pages by their key."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from itertools import chain
from typing import Any, NamedTuple

from django.db.models import QuerySet
from pydantic import TypeAdapter

from intents_ui.mirror import coverage, lease
from intents_ui.mirror.entry import DEPOSIT, RouteKey
from intents_ui.mirror.figures import statistics
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName, scopes_of
from intents_ui.mirror.figures.statistics import share
from intents_ui.mirror.models import USUAL, Route, Snapshot, Token, Transfer, write
from intents_ui.mirror.windows import DAY, HOUR, MINUTE, utc
from intents_ui.mirror.writer import Writer
from intents_ui.service.outcome import Outcome

LISTED = 50  # rows of a table, and reasons
ENOUGH_FOR_P95, ENOUGH_FOR_LATE = 100, 200
MIN_LATE = 5 * MINUTE * 1000  # milliseconds
LIMITED = (Level.ROUTE, Level.PROVIDER)
LIMITS_EVERY = HOUR  # because what is in time is counted by them
PAIR = ("route_id", "origin_token_id", "destination_token_id")
HOURS_SHOWN = 8 * DAY  # the longest period that a page shows by the hour, and the day on which it begins

type Span = tuple[int, int]  # Unix seconds: from when on, and before when
type Pair = tuple[int, int | None, int | None]
type Other = tuple[str, int | None, int | None]  # outcome, failed step, reason
type Cause = tuple[int | None, int | None]  # failed step, reason
type Slow = Mapping[str, timedelta]  # how long providers may take that are usually slow
# What ended in an hour or on a day: how many, and how many were delivered. Then their median and p95 in milliseconds,
# None with too few.
type Bar = tuple[int, int, int | None, int | None]


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
    MOST_USED = "used"
    WORST = "worst"  # of those that have a percentage, surely bad ones first
    SLOWEST = "slowest"


@dataclass(slots=True)
class Ended:
    """What ended of a route and its tokens.

    `durations` are the numbers of the delivered ones by bucket, `others` those of all without a duration. `sent` is
    what the delivered ones sent, in base units. `owners` have the numbers of their transfers that weren't delivered.
    """

    durations: dict[int, int] = field(default_factory=dict)
    others: dict[Other, int] = field(default_factory=dict)
    sent: int = 0
    owners: dict[bytes, int] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return sum(self.durations.values()) + sum(self.others.values())


type Found = Mapping[Pair, Ended]


def add(counts: dict[Any, int], more: Mapping[Any, int]) -> None:
    """Add counts. Those of a `Counter` take several times as long."""
    if counts:
        for key, n in more.items():
            counts[key] = counts.get(key, 0) + n
    else:
        counts.update(more)


def merged(several: Iterable[Found]) -> Found:
    found = defaultdict[Pair, Ended](Ended)
    for each in several:
        for pair, more in each.items():
            own = found[pair]
            add(own.durations, more.durations)
            add(own.others, more.others)
            add(own.owners, more.owners)
            own.sent += more.sent
    return found


def of_rows(span: Span) -> Mapping[int, Found]:
    """Add up the transfers that ended in a time, by the start of the hour in which they did."""
    hours = defaultdict[int, defaultdict[Pair, Ended]](lambda: defaultdict(Ended))
    rows = ended(span).values_list("end", *PAIR, "outcome", "failed_step", "reason_id", "bucket", "sent", "owner")
    for end, route, origin, destination, outcome, step, reason, bucket, sent, owner in rows.iterator():
        own = hours[end // (HOUR * 1000) * HOUR][route, origin, destination]
        is_delivered = outcome == Outcome.DELIVERED
        if bucket is None:
            add(own.others, {(outcome, step, reason): 1})
        else:
            own.durations[bucket] = own.durations.get(bucket, 0) + 1
        if is_delivered:
            own.sent += int(sent or 0)
        if owner is not None:
            add(own.owners, {bytes(owner): not is_delivered})
    return hours


def ended(span: Span) -> QuerySet[Transfer]:
    return Transfer.objects.filter(end__gte=span[0] * 1000, end__lt=span[1] * 1000)


@dataclass
class Sums:
    """What ended in a scope.

    `durations` are as in `Ended`, and so are `others`, with their numbers. `in_time`: delivered before they were late.
    `pairs`: the most frequent tokens of both sides, with their numbers and delivered amounts. `bars` are those of hours
    and days, by their length and beginnings. `owners`: how many had transfers, and how many of these had one that
    wasn't delivered. None of long periods.
    """

    durations: dict[int, int] = field(default_factory=dict)
    others: Sequence[tuple[str, int | None, int | None, int]] = ()
    in_time: int = 0
    bars: dict[int, dict[int, Bar]] = field(default_factory=dict)
    pairs: Sequence[tuple[int | None, int | None, int, int]] = ()
    owners: tuple[int, int] | None = None

    @property
    def ended(self) -> int:
        return self.timed + sum(n for *_, n in self.others)

    @property
    def timed(self) -> int:
        return sum(self.durations.values())

    @property
    def counts(self) -> Counter[str]:
        found = Counter[str]({Outcome.DELIVERED: self.timed} if self.durations else {})
        for outcome, _, _, n in self.others:
            found[outcome] += n
        return found

    @property
    def to_blame(self) -> int:
        """How many were refunded or failed after their deposit, so by their route."""
        blamed = (Outcome.REFUNDED, Outcome.FAILED)
        return sum(n for outcome, step, _, n in self.others if outcome in blamed and step != DEPOSIT)

    @property
    def causes(self) -> Counter[Cause]:
        """Failed steps and reasons of those that weren't delivered, with their numbers."""
        found = Counter[Cause]()
        for outcome, *cause, n in self.others:
            if outcome != Outcome.DELIVERED:
                found[cause[0], cause[1]] += n
        return found

    @property
    def ranks(self) -> dict[str, float | None]:
        """The places in tables by their order, the least first. None is not in it."""
        rate, median = share(self.in_time, self.timed + self.to_blame), statistics.quantile(self.durations, 50)
        return {
            Order.MOST_USED: -self.ended,
            Order.WORST: rate.high if rate else None,
            Order.SLOWEST: median and -median,
        }


SUMS = TypeAdapter(Sums)


class Part(NamedTuple):
    """What ended on a day or in a part of it, with the bars of each scope, by their lengths and beginnings."""

    found: Found
    bars: Mapping[tuple[int, int], Mapping[ScopeName, Bar]]


class Adder:
    """Adds up what ended in each scope, as of a time. Remembers past days until they are among those that `changed`."""

    def __init__(self, now: int = 0, changed: set[int] | None = None) -> None:
        self._changed = set[int]() if changed is None else changed
        self._scopes: dict[Pair, Sequence[ScopeName]] = {}
        self._past: dict[Span, Part] = {}
        self.begin(now)

    def begin(self, now: int) -> None:
        """Forget what may have changed until this time."""
        self.now = now
        self._present: dict[Span, Part] = {}
        while self._changed:
            day = self._changed.pop()
            self._past.pop((day, day + DAY), None)
        for (start, end), part in list(self._past.items()):
            has_hours = len(part.bars) > 1
            if start < Period.QUARTER.since(now) or (has_hours and start < now - HOURS_SHOWN):
                del self._past[start, end]
        self.read_names()

    def read_names(self) -> None:
        routes = list(Route.objects.all())
        self._routes = {route.pk: route.key for route in routes}
        self._late_buckets = {route.pk: statistics.bucket(route.late_after) for route in routes}  # the last in time
        self._tokens = {token.pk: token.key for token in Token.objects.all()}

    def of(self, period: Period) -> dict[ScopeName, Sums]:
        """Return the sums of all scopes in which transfers ended."""
        (since, until), is_long = period.span(self.now), period.bar == DAY
        days = range(since // DAY * DAY, until, DAY)
        parts = [self._part((max(day, since), min(day + DAY, until)), is_long=is_long) for day in days]
        whole = self.by_scope(merged(part.found for part in parts))
        sums = {scope: self._sums(found, has_owners=not is_long) for scope, found in whole.items()}
        for (length, at), bars in chain.from_iterable(part.bars.items() for part in parts):
            for scope, bar in bars.items() if length in (period.bar, period.step) else ():
                sums[scope].bars.setdefault(length, {})[at] = bar
        return sums

    def _part(self, span: Span, *, is_long: bool) -> Part:
        start, end = span
        is_past = is_long and end - start == DAY and end <= self.now
        known = self._past if is_past else self._present
        if span not in known:
            by_hour = of_rows(span)
            found = merged(by_hour.values())
            shown = {(DAY, start // DAY * DAY): found}
            if start >= self.now - HOURS_SHOWN:
                shown |= {(HOUR, hour): by_hour[hour] for hour in sorted(by_hour)}
            bars = {
                place: {scope: bar_of(of_scope.values()) for scope, of_scope in self.by_scope(each).items()}
                for place, each in shown.items()
            }
            for each in found.values() if is_past else ():
                each.owners = {}
            known[span] = Part(found, bars)
        return known[span]

    def _sums(self, found: Found, *, has_owners: bool) -> Sums:
        sums, others, owners = Sums(), dict[Other, int](), dict[bytes, int]()
        counts, sent = Counter[tuple[int | None, int | None]](), Counter[tuple[int | None, int | None]]()
        for (route, *pair), each in found.items():
            add(sums.durations, each.durations)
            add(others, each.others)
            add(owners, each.owners if has_owners else {})
            sums.in_time += sum(n for bucket, n in each.durations.items() if bucket <= self._late_buckets[route])
            counts[pair[0], pair[1]] += each.count
            sent[pair[0], pair[1]] += each.sent
        sums.others = [(*other, n) for other, n in others.items()]
        sums.pairs = [(*tokens, n, sent[tokens]) for tokens, n in most_frequent(counts)]
        sums.owners = (len(owners), sum(map(bool, owners.values()))) if has_owners else None
        return sums

    def by_scope(self, found: Found) -> Mapping[ScopeName, Found]:
        """Return the part of each scope."""
        parts = defaultdict[ScopeName, dict[Pair, Ended]](dict)
        for pair, each in found.items():
            if pair not in self._scopes:
                route, tokens = pair[0], [token for token in pair[1:] if token is not None]
                if route not in self._routes or not {*tokens} <= self._tokens.keys():
                    self.read_names()
                scopes = scopes_of(self._routes[route], tuple(self._tokens[token] for token in tokens))
                self._scopes[pair] = [scope for scope in scopes if scope.level is not Level.PROVIDER_ON_CHAIN]
            for scope in self._scopes[pair]:
                parts[scope][pair] = each
        return parts


def bar_of(found: Iterable[Ended]) -> Bar:
    durations, others = dict[int, int](), dict[Other, int]()
    for each in found:
        add(durations, each.durations)
        add(others, each.others)
    timed = sum(durations.values())
    delivered = timed + sum(n for (outcome, _, _), n in others.items() if outcome == Outcome.DELIVERED)
    p95 = statistics.quantile(durations, 95) if timed >= ENOUGH_FOR_P95 else None
    return timed + sum(others.values()), delivered, statistics.quantile(durations, 50), p95


class SnapshotWriter:
    """Writes snapshots, under the epoch of a writer of rows. `now` is in Unix seconds.

    All is added up before a transaction begins, because PostgreSQL ends idle ones. `slow` are the usual maximums of
    slow providers, which are the limits of routes without enough deliveries. `is_stopped` ends the work early.
    """

    def __init__(
        self, writer: Writer, slow: Slow | None = None, *, is_stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self._epoch = writer.epoch
        self._slow = slow or {}
        self._is_stopped = is_stopped
        self._adder = Adder(changed=writer.changed_days)
        self._due = dict.fromkeys(Period, 0)
        self._limits_due = 0

    def write_due(self, *, now: int) -> None:
        self.write([period for period, due in self._due.items() if now >= due], now=now)

    def write(self, periods: Sequence[Period] = tuple(Period), *, now: int) -> None:
        if not periods:
            return
        self._adder.begin(now)
        if now >= self._limits_due:
            self._limits_due = now + LIMITS_EVERY
            self._set_limits()
        gaps = coverage.gaps(now=utc(now))
        for period in periods:
            if self._is_stopped():
                return
            self._due[period] = now + EVERY[period]
            sums = {EVERYTHING: Sums(owners=(0, 0) if period.bar == HOUR else None)} | self._adder.of(period)
            is_complete = gaps.has_all(period.since(now), now)
            rows = [
                {
                    "period": period,
                    "at": now,
                    "is_complete": is_complete,
                    "scope": scope.text,
                    "level": scope.level,
                    **each.ranks,
                    "sums": SUMS.dump_json(each).decode(),
                }
                for scope, each in sums.items()
            ]
            with lease.transaction(self._epoch):
                Snapshot.objects.filter(period=period).delete()
                write(Snapshot, rows)

    def _set_limits(self) -> None:
        """Set after how long a transfer is late: by its route, else by the slowest of its providers, else by the rule.

        Durations of repaired transfers don't count. A route's limit is at most that of its providers, or four times its
        own median if that is more.
        """
        durations = {scope: each.durations for scope, each in self._adder.of(Period.WEEK).items()}
        repaired = ended(Period.WEEK.span(self._adder.now)).filter(is_repaired=True, bucket__isnull=False)
        for *key, bucket in repaired.values_list(*(f"route__{name}" for name in RouteKey._fields), "bucket"):
            for scope in durations.keys() & scopes_of(RouteKey(*key)):
                add(durations[scope], {bucket: -1})
        limits, changed = {}, list[Route]()
        for scope, of_scope in durations.items():
            if sum(of_scope.values()) >= ENOUGH_FOR_LATE:
                p99, p95 = (statistics.quantile(of_scope, percent) or 0 for percent in (99, 95))
                limits[scope] = max(MIN_LATE, min(p99, 4 * p95))  # one of 100 may have been repaired
        for route in Route.objects.all():
            own, *others = (limits.get(scope, 0) for scope in scopes_of(route.key) if scope.level in LIMITED)
            of_providers = max(others, default=0)
            if own and of_providers:
                median = statistics.quantile(durations[ScopeName(Level.ROUTE, *route.key)], 50) or 0
                own = min(own, max(of_providers, 4 * median))
            by_rule = max([USUAL, *(self._slow[each] for each in route.providers.split(";") if each in self._slow)])
            basis = Basis.ROUTE if own else Basis.PROVIDER if of_providers else Basis.RULE
            limit = own or of_providers or by_rule // timedelta(milliseconds=1)
            if (route.late_after, route.late_by) != (limit, basis):
                route.late_after, route.late_by = limit, basis
                changed.append(route)
        with lease.transaction(self._epoch):
            Route.objects.bulk_update(changed, ["late_after", "late_by"], batch_size=LISTED)
        self._adder.read_names()


def most_frequent[T](counts: Mapping[T, int]) -> list[tuple[T, int]]:
    """Return the first of these by their number."""
    return sorted(counts.items(), key=lambda each: (-each[1], str(each[0])))[:LISTED]
