"""What happened to many transfers, and what is open: queries for pages. They never write.

Figures are those of the last snapshots (`snapshots.py`). Each says whether its period is complete. An incomplete period
has counts, but no rates. An open transfer is late when it has been open for longer than the limit of its route.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Any

from django.db.models import Count, F, Max, Min, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from intents_ui.mirror import coverage
from intents_ui.mirror.coverage import Gaps
from intents_ui.mirror.entry import DEPOSIT, RouteKey, TokenKey, optional_moment
from intents_ui.mirror.figures import snapshots, statistics
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName, scope_of_token, scopes_of
from intents_ui.mirror.figures.snapshots import Bar, Cause, Order, Period, Span, Sums, ended, most_frequent
from intents_ui.mirror.figures.statistics import BUCKETS, Share, share
from intents_ui.mirror.models import ENDED, SLOW_BUCKET, WITHOUT_DURATION, Reason, Route, Snapshot, Token, Transfer
from intents_ui.mirror.windows import DAY, HOUR, MINUTE, utc
from intents_ui.service.models import IntentStatus
from intents_ui.service.outcome import TIME_TO_EXECUTE, Outcome

FRESH = 5 * MINUTE  # a snapshot that is older isn't complete
MAX_LISTED, LISTED_WITH = 100, ("route", "reason", "origin_token")
SLOWEST = range(SLOW_BUCKET + 40, SLOW_BUCKET - 1, -10)  # ever shorter durations, among which the slowest are
UNSEEN = timedelta(minutes=30)  # after the end of a quote, a transfer that isn't expired has a deposit
MILLISECOND = timedelta(milliseconds=1)
BEGAN = Coalesce("started", "created") / 1000 * 1000
MAX_HOURS = 14 * 24  # of the course of an incident
ALL = Q()
NOTHING: Bar = 0, 0, None, None
# The step that failed (from 0 for the deposit), the reason without numbers, an example of it, and how many failed so.
type FailureCount = tuple[int | None, str, str, int]
# The tokens of both sides, how many ended, and what the delivered ones sent, in base units.
type TokenCount = tuple[TokenKey | None, TokenKey | None, int, int]
EACH_ROUTE = Q(route__in=Route.objects.values("pk"))  # all transfers, found by indexes that begin with the route


@dataclass(frozen=True)
class OpenCounts:
    """The numbers of open transfers by what they are a part of: `open`, `late`, and the late ones of each period.

    `gaps` are those of the same moment: figures beside these counts are complete by them.
    """

    gaps: Gaps
    counts: Mapping[ScopeName, Counter[str]] = field(default_factory=dict)

    def of(self, scope: ScopeName) -> Counter[str]:
        return self.counts.get(scope) or Counter()


@dataclass(kw_only=True)
class PeriodFigures(Sums):
    """Figures of transfers of a scope that had a deposit, in a period until `at`.

    `lacking`: how much of it is incomplete. `open` and `late` are those that are open now, `late_since` the late ones
    that began in the period, which will take longer than all that were delivered.
    """

    scope: ScopeName
    period: Period
    since: datetime
    at: datetime
    is_complete: bool
    lacking: timedelta
    open: int = 0
    late: int = 0
    late_since: int = 0

    @property
    def delivered(self) -> int:
        return self.counts[Outcome.DELIVERED]

    @property
    def failed(self) -> int:
        """The transfers that were not delivered."""
        return self.ended - self.delivered

    @property
    def funded(self) -> int:
        return self.ended + self.open

    @property
    def decided(self) -> int:
        """The transfers that say something about their route: it delivered, failed, or is late."""
        return self.timed + self.to_blame + self.late_since

    @property
    def success(self) -> Share | None:
        """The share of the delivered ones. None if there are too few transfers, or if the time is incomplete."""
        return share(self.delivered, self.ended) if self.is_complete else None

    @cached_property
    def on_time(self) -> Share | None:
        """The share of the decided transfers that was delivered in time. None as for `success`."""
        return share(self.in_time, self.decided) if self.is_complete else None

    @cached_property
    def median(self) -> timedelta | None:
        return self._quantile(50)

    @cached_property
    def p95(self) -> timedelta | None:
        """Return None with too few durations. If so many are late that it isn't known yet, it is the longest one."""
        if not self.is_complete or self.timed < snapshots.ENOUGH_FOR_P95:
            return None
        return self._quantile(95) or timedelta(milliseconds=statistics.middle(max(self.durations)))

    @cached_property
    def is_p95_minimum(self) -> bool:
        """Whether p95 is that of a transfer which is late now."""
        return self.p95 is not None and self._quantile(95) is None

    @property
    def trend(self) -> list[tuple[int, int]]:
        """The ended and the delivered ones of each hour or day. An hour has none."""
        return [bar[:2] for _, bar in self.drawn(self.period.bar, until=int(self.at.timestamp()))]

    def drawn(self, length: int, *, until: int) -> list[tuple[int, Bar]]:
        """Return the bars of each hour or day with their beginnings. An hour has none."""
        bars, first = self.bars.get(length, {}), int(self.since.timestamp()) // length * length
        starts = range(first, until + 1, length) if self.period is not Period.HOUR else ()
        return [(start, bars.get(start, NOTHING)) for start in starts]

    def longer_than(self, elapsed: timedelta) -> int | None:
        """Return than how many of 100 delivered transfers this took longer. None with too few durations."""
        if self.timed < statistics.LEAST or not self.is_complete:
            return None
        return 100 * statistics.shorter(self.durations, elapsed // timedelta(milliseconds=1)) // self.timed

    def _quantile(self, percent: int) -> timedelta | None:
        found = statistics.quantile(self.durations, percent, longer=self.late_since) if self.is_complete else None
        return None if found is None else timedelta(milliseconds=found)


@dataclass(frozen=True)
class BarFigures:
    """What ended in an hour or on a day, from `since` on. Incomplete ones have neither rates nor durations."""

    since: datetime
    is_complete: bool
    ended: int
    delivered: int
    median: timedelta | None
    p95: timedelta | None

    @property
    def success(self) -> Share | None:
        return share(self.delivered, self.ended) if self.is_complete else None


@dataclass(frozen=True)
class Report:
    """Transfers of a scope in a period, with its hours or days.

    `rows` are the routes, providers, chains or tokens of all, or the other routes between the same chains.
    """

    total: PeriodFigures
    series: Sequence[BarFigures] = ()
    rows: Sequence[PeriodFigures] = ()
    reasons: Sequence[FailureCount] = ()
    tokens: Sequence[TokenCount] = ()


@dataclass(frozen=True)
class Course:
    """What ended of the transfers that began since a time. Times are of endings."""

    counts: Counter[str]
    reasons: Sequence[FailureCount]
    first_failure: datetime | None
    last_failure: datetime | None
    last_delivery: datetime | None

    @property
    def ended(self) -> int:
        return self.counts.total()

    @property
    def failed(self) -> int:
        """The transfers that were not delivered."""
        return self.ended - self.counts[Outcome.DELIVERED]


class Age(StrEnum):
    """For how long late transfers have been open."""

    DAY = "day"  # at most
    OLDER = "older"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class LateTransfers:
    """Transfers with a deposit that have been open at a time for longer than their limits, worst first.

    `count` is the number of all, `counts` those of each age.
    """

    transfers: Sequence[Transfer]
    count: int
    counts: Mapping[Age, int]
    at: datetime
    is_complete: bool


def overview(
    period: Period, still_open: OpenCounts, *, level: Level = Level.ROUTE, order: Order = Order.MOST_USED
) -> Report:
    """Return the figures of all, and of the first routes, providers, chains or tokens in this order.

    Like all figures, they are those of the last snapshot.
    """
    ranked = Snapshot.objects.filter(period=period, level=level, **{f"{order}__isnull": False}).order_by(order, "scope")
    names = map(json.loads, ranked.values_list("scope", flat=True)[: snapshots.LISTED])
    scopes = [ScopeName(Level(name[0]), *name[1:]) for name in names]
    total, *rows = _figures(period, [EVERYTHING, *scopes], still_open)
    return Report(total, _series(total, still_open, length=period.bar), rows, _reasons(total.causes))


def report(scope: ScopeName, period: Period, still_open: OpenCounts) -> Report:
    """Return the figures of one scope. For a route, the rows are other routes between its chains."""
    siblings = []
    if scope.level is Level.ROUTE:
        chains = {"origin_chain": scope.origin_chain, "destination_chain": scope.destination_chain}
        siblings = [ScopeName(Level.ROUTE, *each.key) for each in Route.objects.filter(**chains)]
    total, *others = _figures(period, [*dict.fromkeys([scope, *siblings])], still_open)
    known = {token for pair in total.pairs for token in pair[:2] if token is not None}
    tokens: dict[int | None, TokenKey] = {each.pk: each.key for each in Token.objects.filter(pk__in=known)}
    return Report(
        total=total,
        series=_series(total, still_open, length=period.step),
        rows=sorted((each for each in others if each.ended), key=lambda each: -each.ended),
        reasons=_reasons(total.causes),
        tokens=[(tokens.get(first), tokens.get(other), n, sent) for first, other, n, sent in total.pairs],
    )


def performance(scope: ScopeName, *, period: Period = Period.WEEK, now: datetime) -> PeriodFigures:
    """Return the figures of one scope, without its open transfers."""
    return _figures(period, [scope], OpenCounts(coverage.gaps(now=now)))[0]


def _figures(period: Period, scopes: Sequence[ScopeName], still_open: OpenCounts) -> Sequence[PeriodFigures]:
    """Return the figures of scopes until the time of the last snapshots.

    They can be complete if the snapshots are, and aren't too old. A scope without a snapshot has no ended transfers.
    """
    rows = Snapshot.objects.filter(period=period, scope__in={each.text for each in (EVERYTHING, *scopes)})
    found: dict[str, list[Any]] = {
        name: values for name, *values in rows.values_list("scope", "at", "is_complete", "sums")
    }
    gaps = still_open.gaps
    at, was_complete, *_ = found.get(EVERYTHING.text, (gaps.at, False))
    nothing = {"owners": (0, 0) if found and period.bar == HOUR else None}
    since = period.since(at)
    is_complete = was_complete and at >= gaps.at - FRESH and gaps.has_all(since, at)
    return [
        PeriodFigures(
            **(vars(snapshots.SUMS.validate_json(found[scope.text][2])) if scope.text in found else nothing),
            scope=scope,
            period=period,
            since=utc(since),
            at=utc(at),
            is_complete=is_complete,
            lacking=gaps.within(since, at),
            open=counts["open"],
            late=counts["late"],
            late_since=counts[period],
        )
        for scope, counts in ((each, still_open.of(each)) for each in scopes)
    ]


def course(scope: ScopeName, *, since: datetime, until: datetime) -> Course:
    """Return what ended of the transfers that began since then, within two weeks.

    Rejected deposits and what owners abort are no failures of a route, and of unconfirmed ends nothing is known.
    """
    start = int(since.timestamp())
    end = min(int(until.timestamp()), start + MAX_HOURS * HOUR) // HOUR * HOUR + HOUR
    rows = ended((start // HOUR * HOUR, end)).filter(is_of(scope)).exclude(failed_step=DEPOSIT)
    begun = rows.alias(began=Coalesce("started", "created")).filter(began__gte=start * 1000)
    failed = begun.filter(WITHOUT_DURATION, outcome__in=(Outcome.REFUNDED, Outcome.FAILED))
    groups = failed.values("outcome", "failed_step", "reason_id").annotate(
        n=Count("*"), first=Min("end"), last=Max("end")
    )
    # An index has what is counted by route.
    delivered = begun.filter(EACH_ROUTE, outcome=Outcome.DELIVERED).aggregate(n=Count("*"), last=Max("end"))
    counts, causes = Counter[str]({Outcome.DELIVERED: delivered["n"]}), Counter[Cause]()
    for each in groups:
        counts[each["outcome"]] += each["n"]
        causes[each["failed_step"], each["reason_id"]] += each["n"]
    return Course(
        counts=counts,
        reasons=_reasons(causes),
        first_failure=optional_moment(min((each["first"] for each in groups), default=None)),
        last_failure=optional_moment(max((each["last"] for each in groups), default=None)),
        last_delivery=optional_moment(delivered["last"]),
    )


def is_known(scope: ScopeName) -> bool:
    return bool(_token_ids(scope) if scope.level is Level.TOKEN else _route_ids(scope))


def is_of(scope: ScopeName) -> Q:
    """Return the condition that a transfer or a fact is a part of a scope."""
    if scope.level is Level.SERVICE:
        return Q()
    if scope.level is not Level.TOKEN:
        return Q(route__in=_route_ids(scope))
    chain = ScopeName(Level.CHAIN, origin_chain=scope.origin_chain)  # of a side of each of its transfers
    tokens = _token_ids(scope)
    return is_of(chain) & (Q(origin_token__in=tokens) | Q(destination_token__in=tokens))


def _route_ids(scope: ScopeName) -> list[int]:
    rows = Route.objects.values_list("pk", *RouteKey._fields)
    return [pk for pk, *key in rows if scope in scopes_of(RouteKey(*key))]


def _token_ids(scope: ScopeName) -> list[int]:
    """Return the tokens of a scope: those that spell the same address."""
    rows = Token.objects.filter(chain=scope.origin_chain).values_list("pk", "address")
    return [pk for pk, address in rows if scope_of_token(scope.origin_chain, address) == scope]


def _reasons(causes: Mapping[Cause, int]) -> list[FailureCount]:
    first = most_frequent(causes)
    known = Reason.objects.in_bulk({reason for (_, reason), _ in first} - {None})
    texts = {pk: (each.text, each.example) for pk, each in known.items()}
    return [(step, *texts.get(reason or 0, ("", "")), n) for (step, reason), n in first]


def _series(total: PeriodFigures, still_open: OpenCounts, *, length: int) -> Sequence[BarFigures]:
    """Return hours or days, in order. The first one begins with the period."""
    gaps, found, since = still_open.gaps, list[BarFigures](), int(total.since.timestamp())
    for start, (count, delivered, *durations) in total.drawn(length, until=gaps.at):
        first = max(start, since)
        is_complete = gaps.has_all(first, start + length)
        median, p95 = (each * MILLISECOND if each is not None and is_complete else None for each in durations)
        found.append(BarFigures(utc(first), is_complete, count, delivered, median, p95))
    return found


class Sort(StrEnum):
    NEWEST = "newest"
    SLOWEST = "slowest"


def listed(
    scope: ScopeName, span: Span, *, outcomes: Sequence[Outcome] = ENDED, reason: str | None = None, sort: Sort
) -> tuple[Sequence[Transfer], int]:
    """Return the first transfers that ended in a time, and the number of all. `reason`: one without numbers."""
    of_scope, has_delivered = is_of(scope), Outcome.DELIVERED in outcomes
    matching = of_scope & Q(outcome__in=outcomes)
    if not has_delivered:
        matching &= WITHOUT_DURATION
    if reason is not None:
        matching &= Q(reason__text=reason) if reason else Q(reason=None)
    # A million take a tenth of a second: an index has what is counted by route.
    count = ended(span).filter(matching, EACH_ROUTE if has_delivered else ALL).count()
    if sort is Sort.SLOWEST:
        return _slowest(ended(span).filter(matching), has_delivered=has_delivered), count
    first, (since, until) = list[Transfer](), span
    for length in (HOUR, DAY, until - since):  # the newest are probably of the last hour
        rows = ended((max(since, until - length), until)).filter(matching).select_related(*LISTED_WITH)
        # By a sum, databases don't look at all transfers in the order of their end for those of a rare token.
        end = F("end") if scope.level is Level.SERVICE else F("end") + 0
        first = list(rows.order_by(end.desc(), "-pk")[:MAX_LISTED])
        if len(first) == min(count, MAX_LISTED):
            break
    return first, count


def _slowest(rows: QuerySet[Transfer], *, has_delivered: bool) -> Sequence[Transfer]:
    """Return those that took longest. An index has the slow ones by their routes and ranges of buckets."""
    duration = F("ended") - F("started")
    slowest = rows.select_related(*LISTED_WITH).order_by(duration.desc(nulls_last=True), "-pk")
    first, delivered = list(slowest.filter(WITHOUT_DURATION)[:MAX_LISTED]), list[Transfer]()
    for least in (*SLOWEST, 0) if has_delivered else ():
        if len(delivered) < MAX_LISTED:
            of_index = Q(bucket__gte=SLOW_BUCKET) if least else ALL
            delivered = list(slowest.filter(EACH_ROUTE, of_index, bucket__range=(least, BUCKETS))[:MAX_LISTED])
    return sorted([*first, *delivered], key=lambda each: each.duration or timedelta(-1), reverse=True)[:MAX_LISTED]


def late(*, now: datetime, where: Q = ALL, age: Age = Age.ANY, most: int = MAX_LISTED) -> LateTransfers:
    """Return the transfers that are late, worst first, at `most` so many."""
    seconds = int(now.timestamp())
    at, lately = seconds * 1000, Q(began__gt=(seconds - DAY) * 1000)
    rows = with_deposit(at).filter(where).filter(began__lt=at - F("route__late_after"))
    found = rows.aggregate(all=Count("*"), lately=Count(Value(1), filter=lately))
    counts = {Age.DAY: found["lately"], Age.OLDER: found["all"] - found["lately"], Age.ANY: found["all"]}
    of_age = rows.filter({Age.DAY: lately, Age.OLDER: ~lately, Age.ANY: ALL}[age])
    worst = of_age.order_by(((at - F("began")) * 1000 / F("route__late_after")).desc(), "pk")
    # A transfer that is open for long may have been created at any time.
    is_complete = coverage.gaps(now=now).has_all(seconds - DAY, seconds)
    first = list(worst.select_related("route", "origin_token")[:most])
    return LateTransfers(first, counts[age], counts, now, is_complete)


def with_deposit(at: int) -> QuerySet[Any]:
    """Return the open transfers that have a deposit, as far as is known, with the time when they `began`."""
    ended = at - UNSEEN // MILLISECOND
    is_over = Q(expires__gt=0, expires__lte=ended) | Q(updated__lte=ended - TIME_TO_EXECUTE // MILLISECOND)
    still_open = Transfer.objects.filter(outcome=Outcome.OPEN, unlisted_since=None)
    return still_open.filter(~Q(status=IntentStatus.COMMITTED) | is_over).annotate(began=BEGAN)


def count_open(*, now: datetime) -> OpenCounts:
    at, gaps = int(now.timestamp()), coverage.gaps(now=now)  # before the counts, so that these have all that is known
    rows = list(with_deposit(at * 1000).values_list(*snapshots.PAIR, "began"))  # an index has them
    routes = Route.objects.in_bulk({route for route, *_ in rows})
    tokens = Token.objects.in_bulk({token for _, *pair, _ in rows for token in pair if token is not None})
    groups = Counter[tuple[Any, ...]]()
    for route, *pair, began in rows:
        is_late = began < at * 1000 - routes[route].late_after
        since = [each.value for each in Period if is_late and began >= each.since(at) * 1000]
        groups[route, *pair, ("open", "late", *since) if is_late else ("open",)] += 1
    found = defaultdict[ScopeName, Counter[str]](Counter)
    for (route, *sides, names), n in groups.items():
        for scope in scopes_of(routes[route].key, tuple(tokens[each].key for each in sides if each is not None)):
            for name in names:
                found[scope][name] += n
    return OpenCounts(gaps, found)
