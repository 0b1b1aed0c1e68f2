"""What happened to many transfers: queries for pages. They never write. Open transfers: `lateness.py`.

A page reads summaries, buckets of one scope, the ledger and the open transfers: at most six queries, none of them over
all transfers. Figures say for each time whether it is complete. Of an incomplete time there are counts, but no rates.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from django.db.models import Max, Min, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from intents_ui.mirror import coverage
from intents_ui.mirror.coverage import Completeness, Gaps
from intents_ui.mirror.entry import HASH, TokenKey, moment, optional_moment, unpacked
from intents_ui.mirror.figures import histogram, tally
from intents_ui.mirror.figures.lateness import OpenCounts, count_open
from intents_ui.mirror.figures.rollups import ENOUGH_FOR_P95, LISTED, Period
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName, is_part
from intents_ui.mirror.figures.statistics import Share, share
from intents_ui.mirror.figures.tally import ENDED, FAILED, Tally
from intents_ui.mirror.models import Day, Figures, Hour, Reason, Scope, Summary, Token, Transfer
from intents_ui.mirror.windows import DAY, HOUR, MINUTE
from intents_ui.service.wire.outcome import Outcome

MOST_ROWS = 50
SUMMED_WITHIN = MINUTE  # after a change. It takes longer during a backfill
MOST_HOURS = 14 * 24  # of the course of an incident
MOST_LATE_SHARE = 50  # one of so many is late: p95 is a minimum


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

    `bars` are the ended and the delivered transfers of each hour or day. `open` and `late` are the transfers with a
    deposit that are open now.
    """

    scope: ScopeName
    period: Period
    since: datetime
    at: datetime
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
class BucketFigures(Counts):
    """Figures of a scope in an hour or a day. `is_over`: it has passed."""

    start: datetime
    end: datetime
    is_over: bool


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
    ended: datetime
    duration: timedelta | None
    step: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Overview:
    """All transfers of a period, and the table of routes, providers, chains or tokens."""

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


def overview(
    period: Period,
    *,
    now: datetime,
    level: Level = Level.ROUTE,
    order: Order = Order.MOST_USED,
    most: int = MOST_ROWS,
    still_open: OpenCounts | None = None,
) -> Overview:
    """Return the figures of all, and of the first routes, providers, chains or tokens in this order. Five queries.

    `still_open` are the counts of open transfers, if they are known.
    """
    gaps, still_open = coverage.gaps(now=now), still_open or count_open(now=now)
    column = ORDERS[order]
    total = _summaries(period).filter(scope__level=Level.SERVICE).first()
    ranked = _summaries(period).filter(level=level, **{f"{column.removeprefix('-')}__isnull": False}).defer("details")
    rows = ranked.order_by(column, "scope_id")[:most]
    return Overview(
        _figures(total, EVERYTHING, period, gaps, still_open),
        [_figures(each, _name(each), period, gaps, still_open) for each in rows],
        _reasons(tally.details(total.details), _Names.of(total, with_tokens=False)) if total else (),
    )


def report(scope: ScopeName, period: Period, *, now: datetime, still_open: OpenCounts | None = None) -> ScopeReport:
    """Return the figures of one scope. `still_open` are the counts of open transfers, if known. Six queries."""
    gaps, still_open = coverage.gaps(now=now), still_open or count_open(now=now)
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
        since=_moment_of(start),
        counts=dict(zip(ENDED, total.counts, strict=True)),
        failed_owners=stored.failed_owners,
        reasons=_reasons(tally.details(stored.details), _Names.of_details(stored.details, with_tokens=False)),
        first_failure=optional_moment(edges["first"]),
        last_failure=optional_moment(max((end for end, _ in total.failures), default=None)),
        last_delivery=optional_moment(edges["last"]),
    )


def _edges(
    scope: ScopeName, *, first_failed: Sequence[int], last_delivered: Sequence[int], since: int
) -> Mapping[str, int | None]:
    """Return when the first transfer failed in an hour, and when the last one was delivered in another."""
    rows = Transfer.objects.filter(is_part(scope), hour__in={*first_failed, *last_delivered})
    at = Coalesce("ended", "updated")
    failed = Q(hour__in=first_failed, outcome__in=FAILED) & Q(ended__gte=since)
    found: Mapping[str, int | None] = rows.aggregate(
        first=Min(at, filter=failed),
        last=Max(at, filter=Q(hour__in=last_delivered, outcome=Outcome.DELIVERED)),
    )
    return found


def is_known(scope: ScopeName) -> bool:
    """Return whether any transfer of this scope ever ended. One query."""
    return Scope.objects.filter(**scope._asdict()).exists()


def performance(scope: ScopeName, *, period: Period = Period.WEEK, now: datetime) -> PeriodFigures:
    """Return the figures of one scope, without its open transfers. Two queries."""
    own = _summaries(period).filter(**{f"scope__{name}": value for name, value in scope._asdict().items()}).first()
    return _figures(own, scope, period, coverage.gaps(now=now), OpenCounts())


@dataclass(frozen=True, slots=True)
class _Names:
    """The reasons and the tokens of a summary, by their primary keys."""

    reasons: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    tokens: Mapping[int, TokenKey] = field(default_factory=dict)

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
            {pk: TokenKey(*name) for kind, pk, *name in rows if kind == "token"},
        )


def _summaries(period: Period) -> QuerySet[Summary]:
    return Summary.objects.filter(period=period).select_related("scope")


def _name(row: Summary) -> ScopeName:
    level, *rest = (getattr(row.scope, name) for name in ScopeName._fields)
    return ScopeName(Level(level), *rest)


def _counts(row: Figures | None) -> Mapping[Outcome, int]:
    return {each: getattr(row, each.value, 0) for each in ENDED}


def _figures(
    row: Summary | None, scope: ScopeName, period: Period, gaps: Gaps, still_open: OpenCounts
) -> PeriodFigures:
    """Return the figures of a row. Without one, nothing ended."""
    since = row.since if row else period.since(gaps.at)
    count = still_open.of(scope)
    return PeriodFigures(
        scope=scope,
        period=period,
        since=_moment_of(since),
        at=_moment_of(row.at if row else gaps.at),
        counts=_counts(row),
        durations=dict(histogram.decode(bytes(row.durations))) if row else {},
        completeness=_completeness(row, gaps) if row else gaps.of(since, gaps.at),
        bars=[(ended, delivered) for ended, delivered in json.loads(row.bars)] if row else (),
        open=count.open,
        late=count.late,
    )


def _completeness(row: Summary, gaps: Gaps) -> Completeness:
    """Return the completeness of a summary. One that is behind its hours lacks what these have."""
    found = gaps.of(row.since, row.at)
    is_behind = row.period != Period.HOUR and row.scope.is_dirty and row.scope.summed_at < gaps.at - SUMMED_WITHIN
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
            start=_moment_of(start),
            end=_moment_of(start + length),
            is_over=start + length <= gaps.at,
            counts=_counts(found.get(start)),
            durations=dict(histogram.decode(bytes(found[start].durations))) if start in found else {},
            completeness=gaps.of(start, start + length),
        )
        for start in starts
    ]


def _reasons(found: tally.Details, names: _Names) -> Sequence[ReasonCount]:
    return [
        ReasonCount(step, *names.reasons.get(reason or 0, ("", "")), count) for step, reason, count, _ in found.reasons
    ]


def _ended(keys: Collection[int]) -> Mapping[int, EndedTransfer]:
    found = {}
    for row in Transfer.objects.filter(pk__in=keys).select_related("reason"):
        is_timed = row.started is not None and row.ended is not None and row.ended >= row.started
        found[row.pk] = EndedTransfer(
            intent_id=unpacked(bytes(row.intent_id), HASH),
            status=row.status,
            outcome=Outcome(row.outcome),
            ended=moment(tally.end_of(row.ended, row.updated, row.created)),
            duration=timedelta(milliseconds=(row.ended or 0) - (row.started or 0)) if is_timed else None,
            step=row.failed_step,
            reason=row.reason.example if row.reason else "",
        )
    return found


def _moment_of(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
