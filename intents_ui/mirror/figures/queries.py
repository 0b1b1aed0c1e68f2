"""What happened to many transfers: queries for pages. They never write.

A page reads summaries, buckets of one scope, the ledger and the open transfers: at most six queries, none of them over
all transfers. Figures say for each time whether it is complete. Of an incomplete time there are counts, but no rates.
"""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from django.db.models import BigIntegerField, Case, Count, F, Max, Min, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce

from intents_ui.mirror import coverage
from intents_ui.mirror.coverage import Completeness, Gaps
from intents_ui.mirror.entry import HASH, RouteKey, unpacked
from intents_ui.mirror.figures import histogram, tally
from intents_ui.mirror.figures.rollups import ENOUGH_FOR_P95, LISTED, Period
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName, scopes_of
from intents_ui.mirror.figures.statistics import Share, share
from intents_ui.mirror.figures.tally import ENDED, FAILED, Tally
from intents_ui.mirror.models import Day, Figures, Hour, Reason, Scope, Summary, Token, Transfer
from intents_ui.mirror.windows import DAY, HOUR, MINUTE
from intents_ui.service.wire.models import IntentStatus
from intents_ui.service.wire.outcome import TIME_TO_EXECUTE, Outcome, execute_by

ENOUGH_FOR_P99 = 100  # with fewer, the nearest rank would be the maximum
MOST_ROWS = 50
MOST_OPEN = 5_000  # the oldest
MOST_LATE = 500
MOST_PAIRED = 500  # routes
MILLISECOND = timedelta(milliseconds=1)
SUMMED_WITHIN = MINUTE  # after a change. It takes longer during a backfill
MOST_HOURS = 14 * 24  # of the course of an incident
USUAL = timedelta(minutes=15)  # as for any open transfer without an estimate
UNSEEN = timedelta(minutes=30)  # after the end of a quote, a transfer that isn't expired has a deposit
MOST_LATE_SHARE = 50  # one of so many is late: p95 is a minimum

type Slow = Mapping[str, timedelta]  # how long providers may take that are usually slow


class Order(StrEnum):
    """Order of a table."""

    MOST_USED = "used"
    WORST = "worst"  # of those that have a percentage, surely bad ones first
    SLOWEST = "slowest"


ORDERS: Mapping[Order, str] = {Order.MOST_USED: "-ended", Order.WORST: "best", Order.SLOWEST: "-median"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Ended transfers of a time that had a deposit. `durations` are those of the delivered ones."""

    counts: Mapping[Outcome, int]
    durations: Mapping[int, int]
    completeness: Completeness

    @property
    def ended(self) -> int:
        return sum(self.counts.values())

    @property
    def delivered(self) -> int:
        return self.counts[Outcome.DELIVERED]

    @property
    def is_complete(self) -> bool:
        return self.completeness.is_complete

    @property
    def success(self) -> Share | None:
        """The success rate. None if there are too few transfers, or if the time is incomplete."""
        return share(self.delivered, self.ended) if self.is_complete else None

    @property
    def timed(self) -> int:
        """The number of durations."""
        return sum(self.durations.values())

    @property
    def median(self) -> timedelta | None:
        return self._quantile(50)

    @property
    def p95(self) -> timedelta | None:
        """Return None with too few durations."""
        return self._quantile(95) if self.timed >= ENOUGH_FOR_P95 else None

    @property
    def p99(self) -> timedelta | None:
        """Return None with too few durations."""
        return self._quantile(99) if self.timed >= ENOUGH_FOR_P99 else None

    def longer_than(self, elapsed: timedelta) -> int | None:
        """Return than how many of 100 delivered transfers this took longer. None with too few durations."""
        if self.timed < ENOUGH_FOR_P95 or not self.is_complete:
            return None
        return 100 * histogram.shorter(self.durations, elapsed // timedelta(milliseconds=1)) // self.timed

    def _quantile(self, percent: int) -> timedelta | None:
        found = histogram.quantile(self.durations, percent) if self.is_complete else None
        return None if found is None else timedelta(milliseconds=found)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodFigures(Counts):
    """Figures of a scope in a period until `at`, a row of a table.

    `owners` and `failed_owners` are the least numbers of different owners, and exact if they are few. `bars` are the
    ended and the delivered transfers of each hour or day. `open` and `late` are the transfers with a deposit that are
    open now.
    """

    scope: ScopeName
    period: Period
    since: datetime
    at: datetime
    owners: int
    failed_owners: int
    bars: Sequence[tuple[int, int]]
    open: int = 0
    late: int = 0

    @property
    def funded(self) -> int:
        return self.ended + self.open

    @property
    def is_p95_minimum(self) -> bool:
        """Whether so many transfers are late that p95 will be greater when they end."""
        return self.late * MOST_LATE_SHARE > self.ended + self.late


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFigures(Counts):
    """Figures of the routes between two chains. `owners` is the least number of different owners."""

    owners: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketFigures(Counts):
    """Figures of a scope in an hour or a day. `is_over`: it has passed. `owners` is the number of different owners."""

    owners: int
    start: datetime
    end: datetime
    is_over: bool


@dataclass(frozen=True, slots=True)
class ReasonCount:
    """Transfers that were not delivered, by the step that failed (from 0 for the deposit) and why, without numbers.

    `owners` is the least number of different owners, and exact if it is small.
    """

    step: int | None
    reason: str
    example: str
    count: int
    owners: int


class TokenName(NamedTuple):
    """A token on a chain."""

    chain: str
    address: str
    symbol: str


@dataclass(frozen=True, slots=True)
class TokenCount:
    """Ended transfers from a token to another. `sent` is the amount of the delivered ones, in base units."""

    origin: TokenName | None
    destination: TokenName | None
    count: int
    sent: int


@dataclass(frozen=True, slots=True)
class EndedTransfer:
    """A transfer that ended. `duration` is from the start of its execution."""

    intent_id: str
    status: str
    outcome: Outcome
    ended: datetime
    duration: timedelta | None
    step: int | None
    reason: str


class Basis(StrEnum):
    """What makes a transfer late: p99 of its route or its provider in seven days, or the rule without those."""

    ROUTE = "route"
    PROVIDER = "provider"
    RULE = "rule"


@dataclass(frozen=True, slots=True)
class OpenTransfer:
    """An open transfer with a deposit. It is late when it has been open for more than `limit`."""

    intent_id: str
    status: str
    route: RouteKey
    since: datetime
    elapsed: timedelta
    limit: timedelta
    basis: Basis
    origin_token: TokenName | None
    sent: int | None

    @property
    def is_late(self) -> bool:
        return self.elapsed > self.limit

    @property
    def factor(self) -> float:
        """How many times the limit it has been open."""
        return self.elapsed / self.limit


@dataclass(frozen=True, slots=True)
class Overview:
    """All transfers of a period, and the table of routes, providers or chains."""

    total: PeriodFigures
    rows: Sequence[PeriodFigures]
    reasons: Sequence[ReasonCount]


@dataclass(frozen=True, slots=True)
class ScopeReport:
    """Transfers of one scope in a period. `siblings` are other routes between the same chains."""

    figures: PeriodFigures
    series: Sequence[BucketFigures]
    reasons: Sequence[ReasonCount]
    tokens: Sequence[TokenCount]
    slowest: Sequence[EndedTransfer]
    failures: Sequence[EndedTransfer]
    siblings: Sequence[PeriodFigures]


@dataclass(frozen=True, slots=True)
class Course:
    """What ended in the hours of a time. `failed_owners` is exact if it is small. Times are of endings."""

    since: datetime
    counts: Mapping[Outcome, int]
    failed_owners: int
    reasons: Sequence[ReasonCount]
    first_failure: datetime | None
    last_failure: datetime | None
    last_delivery: datetime | None


@dataclass(frozen=True, slots=True)
class LateTransfers:
    """Late transfers, worst first. `count` is the number of all. `is_capped`: there may be more."""

    transfers: Sequence[OpenTransfer]
    count: int
    is_capped: bool
    completeness: Completeness


def overview(
    period: Period,
    *,
    now: datetime,
    level: Level = Level.ROUTE,
    order: Order = Order.MOST_USED,
    most: int = MOST_ROWS,
    slow: Slow | None = None,
) -> Overview:
    """Return the figures of all, and of the first routes, providers or chains in this order. Five queries."""
    gaps, still_open = coverage.gaps(now=now), _open_counts(now=now, slow=slow or {})
    column = ORDERS[order]
    total = _summaries(period).filter(scope__level=Level.SERVICE).first()
    ranked = _summaries(period).filter(level=level, **{f"{column.removeprefix('-')}__isnull": False}).defer("details")
    rows = ranked.order_by(column, "scope_id")[:most]
    return Overview(
        _figures(total, EVERYTHING, period, gaps, still_open),
        [_figures(each, _name(each), period, gaps, still_open) for each in rows],
        _reasons(tally.details(total.details), _Names.of(total, with_tokens=False)) if total else (),
    )


def report(scope: ScopeName, period: Period, *, now: datetime, slow: Slow | None = None) -> ScopeReport:
    """Return the figures of one scope. Six queries."""
    gaps, still_open = coverage.gaps(now=now), _open_counts(now=now, slow=slow or {})
    summaries = _summaries(period)
    if scope.level is Level.ROUTE:
        summaries = summaries.filter(
            scope__level=Level.ROUTE,
            scope__origin_chain=scope.origin_chain,
            scope__destination_chain=scope.destination_chain,
        )
    else:
        summaries = summaries.filter(**{f"scope__{name}": value for name, value in scope._asdict().items()})
    found = {_name(each): each for each in summaries}
    own = found.pop(scope, None)
    details = tally.details(own.details if own else "")
    names = _Names.of(own)
    ended = _ended({pk for _, pk in (*details.slowest, *details.failures)})
    siblings = [_figures(each, name, period, gaps, still_open) for name, each in found.items()]
    return ScopeReport(
        figures=_figures(own, scope, period, gaps, still_open),
        series=_series(scope, period, gaps),
        reasons=_reasons(details, names),
        tokens=[
            TokenCount(names.tokens.get(origin or 0), names.tokens.get(destination or 0), count, sent)
            for origin, destination, count, sent in details.tokens
        ],
        slowest=[ended[pk] for _, pk in details.slowest if pk in ended],
        failures=[ended[pk] for _, pk in details.failures if pk in ended],
        siblings=sorted(siblings, key=lambda each: -each.ended),
    )


def course(scope: ScopeName, *, since: datetime, until: datetime) -> Course:
    """Return what ended from the hour of `since` on, for two weeks at most. Three queries."""
    start = int(since.timestamp()) // HOUR * HOUR
    end = min(int(until.timestamp()), start + MOST_HOURS * HOUR)
    of_scope = {f"scope__{name}": value for name, value in scope._asdict().items()}
    hours = Hour.objects.filter(**of_scope, start__gte=start, start__lte=end).order_by("start")
    total, delivered, failed = Tally(), list[int](), list[int]()
    for hour, *columns in hours.values_list("start", *tally.COLUMNS):
        each = tally.load(columns)
        total.merge(each)
        delivered += [hour] if each.delivered else []
        failed += [hour] if each.failures else []
    stored = total.store(most=LISTED)
    edges = _edges(scope, first_failed=failed[:1], last_delivered=delivered[-1:], since=int(since.timestamp() * 1000))
    return Course(
        since=_seconds(start),
        counts=dict(zip(ENDED, total.counts, strict=True)),
        failed_owners=stored.failed_owners,
        reasons=_reasons(tally.details(stored.details), _Names.of_details(stored.details, with_tokens=False)),
        first_failure=_at(edges["first"]),
        last_failure=_at(max((end for end, _ in total.failures), default=None)),
        last_delivery=_at(edges["last"]),
    )


def _edges(
    scope: ScopeName, *, first_failed: Sequence[int], last_delivered: Sequence[int], since: int
) -> Mapping[str, int | None]:
    """Return when the first transfer failed in an hour, and when the last one was delivered in another."""
    rows = Transfer.objects.filter(_is_part(scope), hour__in={*first_failed, *last_delivered})
    at = Coalesce("ended", "updated")
    failed = Q(hour__in=first_failed, outcome__in=FAILED) & Q(ended__gte=since)
    found: Mapping[str, int | None] = rows.aggregate(
        first=Min(at, filter=failed),
        last=Max(at, filter=Q(hour__in=last_delivered, outcome=Outcome.DELIVERED)),
    )
    return found


def _is_part(scope: ScopeName) -> Q:
    """Return the condition that a transfer is a part of a scope."""
    match scope.level:
        case Level.ROUTE:
            return Q(**{f"route__{name}": value for name, value in zip(RouteKey._fields, scope[1:], strict=True)})
        case Level.PROVIDER:
            name = scope.providers
            first, last, inner = f"{name};", f";{name}", f";{name};"
            return (
                Q(route__providers=name)
                | Q(route__providers__startswith=first)
                | Q(route__providers__endswith=last)
                | Q(route__providers__contains=inner)
            )
        case Level.CHAIN:
            return Q(route__origin_chain=scope.origin_chain) | Q(route__destination_chain=scope.origin_chain)
    return Q()


def pairs(period: Period, *, now: datetime, most: int = MOST_PAIRED) -> Mapping[tuple[str, str], PairFigures]:
    """Return the figures of pairs of chains, from the most used routes. Two queries."""
    gaps = coverage.gaps(now=now)
    rows = Summary.objects.filter(period=period, level=Level.ROUTE).order_by("-ended").select_related("scope")[:most]
    together: dict[tuple[str, str], list[Summary]] = {}
    for row in rows:
        together.setdefault((row.scope.origin_chain, row.scope.destination_chain), []).append(row)
    return {pair: _pair(several, gaps) for pair, several in together.items()}


def _pair(rows: Sequence[Summary], gaps: Gaps) -> PairFigures:
    durations: histogram.Histogram = {}
    for row in rows:
        histogram.add(durations, histogram.decode(bytes(row.durations)))
    return PairFigures(
        counts={each: sum(getattr(row, each.value) for row in rows) for each in ENDED},
        durations=durations,
        completeness=_completeness(rows, gaps),
        owners=max(row.owners for row in rows),
    )


def late_after() -> Mapping[RouteKey, timedelta]:
    """Return after how long a transfer is late, by route, where enough transfers were delivered. One query."""
    rows = Scope.objects.filter(level=Level.ROUTE, late_after__isnull=False)
    found = rows.values_list("providers", "origin_chain", "destination_chain", "late_after")
    return {RouteKey(*key): timedelta(milliseconds=length or 0) for *key, length in found}


def is_known(scope: ScopeName) -> bool:
    """Return whether any transfer of this scope ever ended. One query."""
    return Scope.objects.filter(**scope._asdict()).exists()


def performance(scope: ScopeName, *, period: Period = Period.WEEK, now: datetime) -> PeriodFigures:
    """Return the figures of one scope, without its open transfers. Two queries."""
    own = _summaries(period).filter(**{f"scope__{name}": value for name, value in scope._asdict().items()}).first()
    return _figures(own, scope, period, coverage.gaps(now=now), _OpenCounts())


def late(*, now: datetime, most: int = MOST_LATE, slow: Slow | None = None) -> LateTransfers:
    """Return the transfers that are late, worst first. Two queries."""
    found = open_transfers(now=now, slow=slow)
    worst = sorted((each for each in found if each.is_late), key=lambda each: -each.factor)
    # A transfer that is open for long may have been created at any time.
    completeness = coverage.gaps(now=now).of(int(now.timestamp()) - DAY, int(now.timestamp()))
    return LateTransfers(worst[:most], len(worst), len(found) >= MOST_OPEN, completeness)


def open_transfers(*, now: datetime, slow: Slow | None = None) -> Sequence[OpenTransfer]:
    """Return the oldest open transfers with a deposit. One query.

    `slow` are the usual maximums of slow providers, for the rule of routes and providers without enough deliveries.
    """
    columns = (
        "intent_id", "status", "created", "started", "updated", "expires", "sent", "route__providers",
        "route__origin_chain", "route__destination_chain", "route__scope__late_after",
        "route__scope__is_late_by_provider", "origin_token__chain", "origin_token__address", "origin_token__symbol",
    )  # fmt: skip
    rows = Transfer.objects.filter(outcome=Outcome.OPEN).order_by("created").values_list(*columns)[:MOST_OPEN]
    found = (_open_transfer(row, now, slow or {}) for row in rows)
    return [each for each in found if each is not None]


def _open_transfer(row: Sequence[Any], now: datetime, slow: Slow) -> OpenTransfer | None:
    intent_id, status, created, started, updated, expires, sent, providers, origin, destination, *rest = row
    late_after, is_by_provider, chain, address, symbol = rest
    if status == IntentStatus.COMMITTED:
        end = execute_by(status, expires_at=_at(expires), updated_at=_at(updated))
        if end is None or now < end + UNSEEN:
            return None
    since = _moment(started or created)
    rule = max([USUAL, *(slow[each] for each in providers.split(";") if each in slow)])
    usual = rule if late_after is None else timedelta(milliseconds=late_after)
    basis = Basis.RULE if late_after is None else Basis.PROVIDER if is_by_provider else Basis.ROUTE
    return OpenTransfer(
        intent_id=unpacked(bytes(intent_id), HASH),
        status=status,
        route=RouteKey(providers, origin, destination),
        since=since,
        elapsed=now - since,
        limit=usual,
        basis=basis,
        origin_token=None if address is None else TokenName(chain, address, symbol),
        sent=None if sent is None else int(sent),
    )


@dataclass(frozen=True, slots=True)
class _OpenCounts:
    """The open and the late transfers of each scope."""

    open: Counter[ScopeName] = field(default_factory=Counter)
    late: Counter[ScopeName] = field(default_factory=Counter)


def _open_counts(*, now: datetime, slow: Slow) -> _OpenCounts:
    """Count the transfers of `open_transfers`, and all that it leaves out because there are too many. One query."""
    at = int(now.timestamp() * 1000)
    ended = at - UNSEEN // MILLISECOND
    # Those have no deposit yet, as far as is known.
    unseen = Q(status=IntentStatus.COMMITTED, updated__gt=ended - TIME_TO_EXECUTE // MILLISECOND) & (
        Q(expires=None) | Q(expires=0) | Q(expires__gt=ended)
    )
    by_limit = sorted(((length, name) for name, length in slow.items() if length > USUAL), reverse=True)
    rule = Case(
        *(When(_is_part(ScopeName(Level.PROVIDER, name)), then=Value(each // MILLISECOND)) for each, name in by_limit),
        default=Value(USUAL // MILLISECOND),
        output_field=BigIntegerField(),
    )
    began = Coalesce("started", "created") / 1000 * 1000
    is_late = Q(limit__lt=Value(at, output_field=BigIntegerField()) - F("began"))
    rows = (
        Transfer.objects.filter(~unseen, outcome=Outcome.OPEN)
        .annotate(limit=Coalesce("route__scope__late_after", rule), began=began)
        .values_list("route__providers", "route__origin_chain", "route__destination_chain")
        .annotate(count=Count("pk"), late=Count("pk", filter=is_late))
    )
    found = _OpenCounts()
    for *key, count, late in rows:
        for scope in scopes_of(RouteKey(*key)):
            found.open[scope] += count
            if late:
                found.late[scope] += late
    return found


@dataclass(frozen=True, slots=True)
class _Names:
    """The reasons and the tokens of a summary, by their primary keys."""

    reasons: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    tokens: Mapping[int, TokenName] = field(default_factory=dict)

    @classmethod
    def of(cls, row: Summary | None, *, with_tokens: bool = True) -> "_Names":
        return cls.of_details(row.details if row else "", with_tokens=with_tokens)

    @classmethod
    def of_details(cls, details: str, *, with_tokens: bool) -> "_Names":
        found = tally.details(details)
        reasons = {reason for _, reason, _, _ in found.reasons if reason is not None}
        tokens = {each for pair in found.tokens for each in pair[:2] if each is not None} if with_tokens else set()
        named = Reason.objects.filter(pk__in=reasons).values_list(Value("reason"), "pk", "text", "example", Value(""))
        if tokens:
            of_tokens = Token.objects.filter(pk__in=tokens)
            named = named.union(of_tokens.values_list(Value("token"), "pk", "chain", "address", "symbol"), all=True)
        rows = list(named) if reasons or tokens else []
        return cls(
            {pk: (text, example) for kind, pk, text, example, _ in rows if kind == "reason"},
            {pk: TokenName(*name) for kind, pk, *name in rows if kind == "token"},
        )


def _summaries(period: Period) -> QuerySet[Summary]:
    return Summary.objects.filter(period=period).select_related("scope")


def _name(row: Summary) -> ScopeName:
    level, *rest = (getattr(row.scope, name) for name in ScopeName._fields)
    return ScopeName(Level(level), *rest)


def _counts(row: Figures | None) -> Mapping[Outcome, int]:
    return {each: getattr(row, each.value, 0) for each in ENDED}


def _figures(
    row: Summary | None, scope: ScopeName, period: Period, gaps: Gaps, still_open: _OpenCounts
) -> PeriodFigures:
    """Return the figures of a row. Without one, nothing ended."""
    since = row.since if row else period.since(gaps.at)
    return PeriodFigures(
        scope=scope,
        period=period,
        since=_seconds(since),
        at=_seconds(row.at if row else gaps.at),
        counts=_counts(row),
        durations=dict(histogram.decode(bytes(row.durations))) if row else {},
        completeness=_completeness([row], gaps) if row else gaps.of(since, gaps.at),
        owners=row.owners if row else 0,
        failed_owners=row.failed_owners if row else 0,
        bars=[(ended, delivered) for ended, delivered in json.loads(row.bars)] if row else (),
        open=still_open.open[scope],
        late=still_open.late[scope],
    )


def _completeness(rows: Sequence[Summary], gaps: Gaps) -> Completeness:
    """Return the completeness of summaries. One that is behind its hours lacks what these have."""
    found = gaps.of(min(row.since for row in rows), max(row.at for row in rows))
    behind = gaps.at - SUMMED_WITHIN
    is_behind = any(row.scope.is_dirty and row.scope.summed_at < behind for row in rows if row.period != Period.HOUR)
    return replace(found, is_complete=False) if is_behind else found


def _series(scope: ScopeName, period: Period, gaps: Gaps) -> Sequence[BucketFigures]:
    """Return the hours of a period of up to a week, or the days of a longer one, in order."""
    is_long = period in (Period.MONTH, Period.QUARTER)
    table, length = (Day, DAY) if is_long else (Hour, HOUR)
    starts = range(period.since(gaps.at) // length * length, gaps.at + 1, length)
    of_scope = {f"scope__{name}": value for name, value in scope._asdict().items()}
    rows = table._default_manager.filter(**of_scope, start__gte=starts[0], start__lte=starts[-1])
    found = {each.start: each for each in rows.defer("details", "owner_hashes")}
    return [
        BucketFigures(
            start=_seconds(start),
            end=_seconds(start + length),
            is_over=start + length <= gaps.at,
            counts=_counts(found.get(start)),
            durations=dict(histogram.decode(bytes(found[start].durations))) if start in found else {},
            completeness=gaps.of(start, start + length),
            owners=found[start].owners if start in found else 0,
        )
        for start in starts
    ]


def _reasons(found: tally.Details, names: _Names) -> Sequence[ReasonCount]:
    return [
        ReasonCount(step, *names.reasons.get(reason or 0, ("", "")), count, owners)
        for step, reason, count, owners in found.reasons
    ]


def _ended(keys: Collection[int]) -> Mapping[int, EndedTransfer]:
    found = {}
    for row in Transfer.objects.filter(pk__in=keys).select_related("reason"):
        is_timed = row.started is not None and row.ended is not None and row.ended >= row.started
        found[row.pk] = EndedTransfer(
            intent_id=unpacked(bytes(row.intent_id), HASH),
            status=row.status,
            outcome=Outcome(row.outcome),
            ended=_moment(tally.end_of(row.ended, row.updated, row.created)),
            duration=timedelta(milliseconds=(row.ended or 0) - (row.started or 0)) if is_timed else None,
            step=row.failed_step,
            reason=row.reason.example if row.reason else "",
        )
    return found


def _at(milliseconds: int | None) -> datetime | None:
    return _moment(milliseconds) if milliseconds else None


def _moment(milliseconds: int) -> datetime:
    return _seconds(milliseconds // 1000)


def _seconds(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
