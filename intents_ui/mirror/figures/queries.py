"""What happened to many transfers: queries for pages. They never write. Open transfers: `lateness.py`.

A table is one row of JSON (`snapshots.py`). Figures of one scope are counted on request. Each figure says whether its
period is complete. An incomplete period has counts, but no rates.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import count
from typing import Any

from django.db.models import Count, F, Max, Min, Q
from django.db.models.functions import Coalesce

from intents_ui.mirror import coverage
from intents_ui.mirror.coverage import Completeness, Gaps
from intents_ui.mirror.entry import HASH, RouteKey, TokenKey, moment, optional_moment, unpacked
from intents_ui.mirror.figures import facts, statistics
from intents_ui.mirror.figures.facts import END, ENDED, Span, duration_of, end_of
from intents_ui.mirror.figures.lateness import OpenCounts, count_open
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName, is_part, scope_of_token
from intents_ui.mirror.figures.snapshots import ENOUGH_FOR_P95, LISTED, Order, Period, Sums, most_frequent, owners_of
from intents_ui.mirror.figures.statistics import Share, share
from intents_ui.mirror.models import Route, Snapshot, Token, Transfer
from intents_ui.mirror.windows import DAY, HOUR, MINUTE
from intents_ui.service.outcome import Outcome

FRESH = 5 * MINUTE  # a snapshot that is older isn't complete
MOST_LISTED = 100
MOST_HOURS = 14 * 24  # of the course of an incident
NOT_DELIVERED = ~Q(outcome=Outcome.DELIVERED)
# Rejected deposits and what owners abort are no failures of a route, and of unconfirmed ends nothing is known.
NOT_OF_A_ROUTE = Q(outcome__in=(Outcome.REJECTED, Outcome.ABORTED, Outcome.UNCONFIRMED)) | Q(failed_step=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodFigures:
    """Figures of transfers of a scope that had a deposit, in a period until `at`: a row of a table.

    `counts` are of those that ended, `durations` of the delivered ones, and `bars` the ended and the delivered ones of
    each hour or day. `open` and `late` are those that are open now, `late_since` the late ones that began in the
    period, which will take longer than all that were delivered. `in_time`: delivered before they were late.
    `to_blame`: refunded or failed by their route. `owners`: how many had transfers, and how many of these had one that
    wasn't delivered, if known.
    """

    scope: ScopeName
    period: Period
    since: datetime
    at: datetime
    completeness: Completeness
    counts: Mapping[Outcome, int]
    durations: Mapping[int, int]
    bars: Sequence[tuple[int, int]]
    in_time: int
    to_blame: int
    open: int
    late: int
    late_since: int
    owners: tuple[int, int] | None = None

    @property
    def ended(self) -> int:
        return sum(self.counts.values())

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
    def timed(self) -> int:
        """The number of durations."""
        return sum(self.durations.values())

    @property
    def decided(self) -> int:
        """The transfers that say something about their route: it delivered, failed, or is late."""
        return self.timed + self.to_blame + self.late_since

    @property
    def is_complete(self) -> bool:
        return self.completeness.is_complete

    @property
    def success(self) -> Share | None:
        """The share of the delivered ones. None if there are too few transfers, or if the time is incomplete."""
        return share(self.delivered, self.ended) if self.is_complete else None

    @property
    def on_time(self) -> Share | None:
        """The share of the decided transfers that was delivered in time. None as for `success`."""
        return share(self.in_time, self.decided) if self.is_complete else None

    @property
    def median(self) -> timedelta | None:
        return _quantile(self.durations, 50, longer=self.late_since) if self.is_complete else None

    @property
    def p95(self) -> timedelta | None:
        """Return None with too few durations. If so many are late that it isn't known yet, it is the longest one."""
        return _p95(self.durations, longer=self.late_since) if self.is_complete else None

    @property
    def is_p95_minimum(self) -> bool:
        """Whether p95 is that of a transfer which is late now."""
        return self.p95 is not None and _quantile(self.durations, 95, longer=self.late_since) is None

    def longer_than(self, elapsed: timedelta) -> int | None:
        """Return than how many of 100 delivered transfers this took longer. None with too few durations."""
        if self.timed < statistics.LEAST or not self.is_complete:
            return None
        return 100 * statistics.shorter(self.durations, elapsed // timedelta(milliseconds=1)) // self.timed


def _quantile(durations: Mapping[int, int], percent: int, *, longer: int = 0) -> timedelta | None:
    return _length(statistics.quantile(durations, percent, longer=longer))


def _p95(durations: Mapping[int, int], *, longer: int = 0) -> timedelta | None:
    if sum(durations.values()) < ENOUGH_FOR_P95:
        return None
    return _quantile(durations, 95, longer=longer) or _length(statistics.longest(durations))


@dataclass(frozen=True, slots=True)
class Bar:
    """The ended and the delivered transfers of an hour or a day. Durations are known only if it is complete."""

    start: datetime
    ended: int
    delivered: int
    is_complete: bool
    median: timedelta | None
    p95: timedelta | None

    @property
    def success(self) -> Share | None:
        """The share of the delivered ones. None if there are too few transfers, or if the time is incomplete."""
        return share(self.delivered, self.ended) if self.is_complete else None


@dataclass(frozen=True, slots=True)
class ReasonCount:
    """Transfers that were not delivered, by the step that failed (from 0 for the deposit) and why, without numbers."""

    step: int | None
    reason: str
    example: str
    count: int


@dataclass(frozen=True, slots=True)
class TokenCount:
    """Ended transfers from a token to another. `sent` is the amount of the delivered ones, in base units."""

    origin: TokenKey | None
    destination: TokenKey | None
    count: int
    sent: int


@dataclass(frozen=True, slots=True)
class EndedTransfer:
    """A transfer that ended. `duration` is from the start of its execution."""

    intent_id: str
    status: str
    outcome: Outcome
    route: RouteKey
    ended: datetime
    duration: timedelta | None
    step: int | None
    reason: str
    origin_token: TokenKey | None
    sent: int | None


@dataclass(frozen=True, slots=True)
class Report:
    """Transfers of a scope in a period, with its hours or days.

    `rows` are the routes, providers, chains or tokens of all, or the other routes between the same chains.
    """

    total: PeriodFigures
    series: Sequence[Bar]
    rows: Sequence[PeriodFigures]
    reasons: Sequence[ReasonCount]
    tokens: Sequence[TokenCount] = ()


@dataclass(frozen=True, slots=True)
class Course:
    """What ended of the transfers that began since a time. Times are of endings."""

    counts: Mapping[Outcome, int]
    reasons: Sequence[ReasonCount]
    first_failure: datetime | None
    last_failure: datetime | None
    last_delivery: datetime | None


def overview(
    period: Period,
    *,
    now: datetime,
    level: Level = Level.ROUTE,
    order: Order = Order.MOST_USED,
    still_open: OpenCounts | None = None,
) -> Report:
    """Return the figures of all, and of the first routes, providers, chains or tokens in this order.

    `still_open` are the counts of open transfers, if they are known. Then the figures are as of their time.
    """
    still_open = still_open or count_open(now=now)
    gaps = still_open.gaps
    stored = Snapshot.objects.filter(period=period, level=level, order=order).first()
    if stored is None:
        nothing = _figures(EVERYTHING, Sums(), period, still_open)
        return Report(replace(nothing, completeness=replace(nothing.completeness, is_complete=False)), (), (), ())
    table = json.loads(stored.document)
    completeness = gaps.of(table["since"], stored.at)
    is_complete = completeness.is_complete and table["is_complete"] and stored.at >= gaps.at - FRESH
    completeness = replace(completeness, is_complete=is_complete)
    total, *rows = (
        _period_figures(
            ScopeName(Level(name[0]), *name[1:]),
            period,
            since=table["since"],
            at=stored.at,
            counts=counts,
            durations=dict(durations),
            bars=[(ended, delivered) for ended, delivered in bars],
            completeness=completeness,
            still_open=still_open,
            in_time=in_time,
            to_blame=to_blame,
        )
        for name, counts, durations, bars, (in_time, to_blame) in (table["total"], *table["rows"])
    )
    total = replace(total, owners=table["owners"] and tuple(table["owners"]))
    since, length = table["since"], period.bar
    by_time = {
        start: Sums(Counter(delivered=delivered, failed=ended - delivered))
        for start, (ended, delivered) in zip(count(since // length * length, length), total.bars, strict=False)
    }
    reasons = [ReasonCount(*each) for each in table["reasons"]]
    return Report(total, _series(by_time, since, length, gaps) if by_time else (), rows, reasons)


def report(scope: ScopeName, period: Period, *, now: datetime, still_open: OpenCounts | None = None) -> Report:
    """Return the figures of one scope. `still_open` are the counts of open transfers, if known, and of their time."""
    still_open = still_open or count_open(now=now)
    gaps = still_open.gaps
    span = period.span(gaps.at)
    where, length = is_of(scope), DAY if period in (Period.MONTH, Period.QUARTER) else HOUR
    own, series, siblings = Sums(), defaultdict[int, Sums](Sums), _siblings(scope, period, span)
    columns = "start", "outcome", "failed_step", "reason_id", "bucket", facts.IN_TIME
    counts = facts.count(*columns, span=span, where=where, length=length)
    for (start, outcome, step, reason, bucket, in_time), n in counts.items():
        series[start].add(outcome, bucket, n)
        own.add(outcome, bucket, n)
        own.add_bar(start // period.bar * period.bar, outcome, n)
        own.judge(outcome, step, n, in_time=in_time)
        if outcome != Outcome.DELIVERED:
            own.causes[step, reason] += n
    pairs = facts.pairs(span=span, where=where)
    first = sorted(pairs.items(), key=lambda each: (-each[1][0], str(each[0])))[:LISTED]
    rows = Token.objects.filter(pk__in={each for pair, _ in first for each in pair if each is not None})
    tokens = {pk: TokenKey(*key) for pk, *key in rows.values_list("pk", *TokenKey._fields)}
    figures = replace(_figures(scope, own, period, still_open), owners=owners_of(period, gaps.at, where))
    others = (_figures(name, each, period, still_open) for name, each in siblings.items())
    return Report(
        total=figures,
        series=_series(series, span[0], length, gaps),
        reasons=[ReasonCount(*each) for each in most_frequent(own.causes)],
        tokens=[
            TokenCount(tokens.get(origin), tokens.get(destination), n, amount)
            for (origin, destination), (n, amount) in first
        ],
        rows=sorted(others, key=lambda each: -each.ended),
    )


def course(scope: ScopeName, *, since: datetime, until: datetime) -> Course:
    """Return what ended of the transfers that began since then, within two weeks, if it says anything of a route."""
    start = int(since.timestamp())
    end = min(int(until.timestamp()), start + MOST_HOURS * HOUR) // HOUR * HOUR + HOUR
    rows = facts.ended((start // HOUR * HOUR, end)).filter(is_of(scope)).exclude(NOT_OF_A_ROUTE)
    rows = rows.alias(began=Coalesce("started", "created")).filter(began__gte=start * 1000)
    counts = Counter(dict(rows.values_list("outcome").annotate(Count("pk"))))
    causes = rows.filter(NOT_DELIVERED).values_list("failed_step", "reason_id").annotate(n=Count("pk"))
    edges = rows.aggregate(
        first=Min(END, filter=NOT_DELIVERED),
        failure=Max(END, filter=NOT_DELIVERED),
        delivery=Max(END, filter=Q(outcome=Outcome.DELIVERED)),
    )
    return Course(
        counts={each: counts[each] for each in ENDED},
        reasons=[ReasonCount(*each) for each in most_frequent({(step, reason): n for step, reason, n in causes})],
        first_failure=optional_moment(edges["first"]),
        last_failure=optional_moment(edges["failure"]),
        last_delivery=optional_moment(edges["delivery"]),
    )


def is_known(scope: ScopeName) -> bool:
    """Return whether the copy has any transfer of this scope."""
    return bool(_token_ids(scope)) if scope.level is Level.TOKEN else Route.objects.filter(is_part(scope)).exists()


def performance(scope: ScopeName, *, period: Period = Period.WEEK, now: datetime) -> PeriodFigures:
    """Return the figures of one scope, without its open transfers and bars."""
    gaps, sums = coverage.gaps(now=now), Sums()
    for (outcome, bucket), n in facts.count("outcome", "bucket", span=period.span(gaps.at), where=is_of(scope)).items():
        sums.add(outcome, bucket, n)
    return replace(_figures(scope, sums, period, OpenCounts(gaps)), bars=())


def is_of(scope: ScopeName) -> Q:
    """Return the condition that a transfer or a fact is a part of a scope."""
    if scope.level is Level.SERVICE:
        return Q()
    if scope.level is not Level.TOKEN:
        return Q(route__in=list(Route.objects.filter(is_part(scope)).values_list("pk", flat=True)))
    chain = ScopeName(Level.CHAIN, origin_chain=scope.origin_chain)  # of a side of each of its transfers
    tokens = _token_ids(scope)
    return is_of(chain) & (Q(origin_token__in=tokens) | Q(destination_token__in=tokens))


def _token_ids(scope: ScopeName) -> list[int]:
    """Return the tokens of a scope: those that spell the same address."""
    rows = Token.objects.filter(chain=scope.origin_chain).values_list("pk", "address")
    return [pk for pk, address in rows if scope_of_token(scope.origin_chain, address) == scope]


def _siblings(scope: ScopeName, period: Period, span: Span) -> Mapping[ScopeName, Sums]:
    """Return the sums of the other routes between the chains of a route. Other scopes have none."""
    if scope.level is not Level.ROUTE:
        return {}
    routes = Route.objects.filter(origin_chain=scope.origin_chain, destination_chain=scope.destination_chain)
    rows = routes.values_list("pk", *RouteKey._fields)
    known = {pk: name for pk, *key in rows if (name := ScopeName(Level.ROUTE, *key)) != scope}
    others = Q(route__in=list(known))
    found = defaultdict[ScopeName, Sums](Sums)
    columns = "route_id", "start", "outcome", "failed_step", "bucket", facts.IN_TIME
    counts = facts.count(*columns, span=span, where=others, length=period.bar)
    for (route, start, outcome, step, bucket, in_time), n in counts.items():
        sums = found[known[route]]
        sums.add(outcome, bucket, n)
        sums.judge(outcome, step, n, in_time=in_time)
        sums.add_bar(start, outcome, n)
    return found


def _figures(scope: ScopeName, sums: Sums, period: Period, still_open: OpenCounts) -> PeriodFigures:
    gaps = still_open.gaps
    since = period.since(gaps.at)
    return _period_figures(
        scope,
        period,
        since=since,
        at=gaps.at,
        counts=sums.counts,
        durations=sums.durations,
        bars=sums.bars_of(period, gaps.at),
        completeness=gaps.of(since, gaps.at),
        still_open=still_open,
        in_time=sums.in_time,
        to_blame=sums.to_blame,
    )


def _period_figures(
    scope: ScopeName,
    period: Period,
    *,
    since: int,
    at: int,
    counts: Mapping[str, int],
    still_open: OpenCounts,
    **given: Any,
) -> PeriodFigures:
    now = still_open.of(scope)
    return PeriodFigures(
        scope=scope,
        period=period,
        since=_moment_of(since),
        at=_moment_of(at),
        counts={each: counts.get(each, 0) for each in ENDED},
        open=now.open,
        late=now.late,
        late_since=now.late_since[list(Period).index(period)],
        **given,
    )


def _series(found: Mapping[int, Sums], since: int, length: int, gaps: Gaps) -> Sequence[Bar]:
    """Return the figures of hours or days, in order. The first one begins at `since`."""
    bars = []
    for start in range(since // length * length, gaps.at + 1, length):
        sums, is_complete = found.get(start, Sums()), gaps.of(max(start, since), start + length).is_complete
        known = sums.durations if is_complete else {}
        begins, delivered = _moment_of(max(start, since)), sums.counts[Outcome.DELIVERED]
        bars.append(Bar(begins, sums.ended, delivered, is_complete, _quantile(known, 50), _p95(known)))
    return bars


class Sort(StrEnum):
    """Order of a list."""

    NEWEST = "newest"
    SLOWEST = "slowest"


def listed(
    scope: ScopeName, span: Span, *, outcomes: Sequence[Outcome] = ENDED, reason: str | None = None, sort: Sort
) -> tuple[Sequence[EndedTransfer], int]:
    """Return the first transfers that ended in a time, and the number of all. `reason`: one without numbers."""
    rows = facts.ended(span).filter(is_of(scope), outcome__in=outcomes)
    if reason is not None:
        rows = rows.filter(reason__text=reason) if reason else rows.filter(reason=None)
    order = END.desc() if sort is Sort.NEWEST else (F("ended") - F("started")).desc(nulls_last=True)
    first = rows.select_related("route", "reason", "origin_token").order_by(order, "-pk")[:MOST_LISTED]
    return [_ended_transfer(row) for row in first], rows.count()


def _ended_transfer(row: Transfer) -> EndedTransfer:
    token = row.origin_token
    return EndedTransfer(
        intent_id=unpacked(bytes(row.intent_id), HASH),
        status=row.status,
        outcome=Outcome(row.outcome),
        route=RouteKey(row.route.providers, row.route.origin_chain, row.route.destination_chain),
        ended=moment(end_of(row.ended, row.updated, row.created)),
        duration=_length(duration_of(row.started, row.ended)),
        step=row.failed_step,
        reason=row.reason.example if row.reason else "",
        origin_token=TokenKey(token.chain, token.address, token.symbol) if token else None,
        sent=None if row.sent is None else int(row.sent),
    )


def _length(milliseconds: int | None) -> timedelta | None:
    return None if milliseconds is None else timedelta(milliseconds=milliseconds)


def _moment_of(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
