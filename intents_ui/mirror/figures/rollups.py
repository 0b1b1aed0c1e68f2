"""Figures of hours, days and periods until now, counted from the rows.

A change of rows marks their hours (`mark`), in the same transaction. A marked hour is counted again as a whole, so it
makes no difference how often. Its day is merged from its hours, and periods from days. All is done by one process, in
short transactions between its reads.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.db import connection, models, transaction
from django.db.models import BooleanField, Count, ExpressionWrapper, Min, Q

from intents_ui.mirror import lease
from intents_ui.mirror.entry import RouteKey, TokenKey
from intents_ui.mirror.figures import histogram, tally
from intents_ui.mirror.figures.scopes import Level, ScopeName, scopes_of, scopes_of_tokens
from intents_ui.mirror.figures.statistics import share
from intents_ui.mirror.figures.tally import COLUMNS, KEPT_HASHES, Row, Stored, Tally
from intents_ui.mirror.models import Bucket, Day, DirtyHour, Hour, Route, Scope, State, Summary, Token, Transfer, Window
from intents_ui.mirror.windows import DAY, HOUR, MINUTE

HOURS_DAYS, DAYS_DAYS = 60, 400  # how long the figures of hours and days are kept
RECENT_EVERY = 10  # seconds between two counts of the newest hours
QUIET, LONGEST_WAIT = MINUTE, 10 * MINUTE  # of an older hour: how long it must not change, and waits at most
LAST_HOUR_EVERY = 30
SUMMARY_EVERY, BUSY_SUMMARY_EVERY = 20, 5 * MINUTE
BACKLOG = 24  # marked hours during a backfill
SCOPES, DAY_SCOPES = 20, 60  # of a transaction
LISTED = 50  # reasons and pairs of tokens of a summary
ROWS_AT_ONCE = 2000  # an hour may have hundreds of thousands
ENOUGH_FOR_P95, ENOUGH_FOR_LATE = 20, 200
LEAST_LATE = 5 * MINUTE * 1000  # milliseconds
MOST_KNOWN = 20_000  # scopes of routes, and of tokens, in memory
IDLE_SECONDS = 0.25  # between two looks
WORK_SHARE = 4  # seconds of other work for each second of this
VERSION, FORMAT = "rollups", 2  # raise the format with every change of what is counted

MARK = """
INSERT INTO mirror_dirtyhour (start, first, last, changes) VALUES (%s, %s, %s, %s)
ON CONFLICT (start) DO UPDATE SET last = excluded.last, changes = mirror_dirtyhour.changes + excluded.changes
"""
MARK_DAY = """
INSERT INTO mirror_day (scope_id, start, is_dirty, delivered, refunded, failed, aborted, rejected, unconfirmed, owners,
                        failed_owners, durations, details, owner_hashes)
VALUES (%s, %s, %s, 0, 0, 0, 0, 0, 0, 0, 0, %s, '', %s)
ON CONFLICT (scope_id, start) DO UPDATE SET is_dirty = excluded.is_dirty
"""
SET_SCOPE = """
UPDATE mirror_scope SET late_after = %s, is_late_by_provider = %s, summed_at = %s, is_dirty = %s
WHERE mirror_scope.id = %s
"""


class Period(StrEnum):
    """A time until now. The last hour is exact. A longer period begins with an hour or a day."""

    HOUR = "1h"
    DAY = "24h"
    WEEK = "7d"
    MONTH = "30d"
    QUARTER = "90d"

    def since(self, now: int) -> int:
        """Return when it begins. Times are Unix seconds."""
        if self is Period.HOUR:
            return now - HOUR
        if self is Period.DAY:
            return now // HOUR * HOUR - 23 * HOUR
        return now // DAY * DAY - (DAYS[self] - 1) * DAY


DAYS = {Period.WEEK: 7, Period.MONTH: 30, Period.QUARTER: 90}  # with today


class Mark(NamedTuple):
    """A marked hour, and when it was first and last changed since it was counted."""

    start: int
    first: int
    last: int


def mark(hours: Mapping[int, int], *, now: int) -> None:
    """Mark hours as changed, with the number of their rows that have changed. In the transaction of the change."""
    if hours:
        with connection.cursor() as cursor:
            cursor.executemany(MARK, [(start, now, now, changes) for start, changes in sorted(hours.items())])


def mark_all(*, now: int) -> None:
    """Mark all hours, and delete the figures that follow from them."""
    found = Transfer.objects.filter(hour__gte=0).values_list("hour").annotate(Count("pk"))
    DirtyHour.objects.all().delete()
    mark(dict(found), now=now - QUIET)
    Hour.objects.all()._raw_delete("default")
    Day.objects.filter(start__gte=_first_day())._raw_delete("default")
    Summary.objects.all()._raw_delete("default")
    Scope.objects.update(is_dirty=True, late_after=None)


def begin(*, now: int) -> None:
    """Count all again if the figures were counted in another way."""
    if State.objects.filter(name=VERSION, value=str(FORMAT)).exists():
        return
    mark_all(now=now)
    State.objects.update_or_create(name=VERSION, defaults={"value": str(FORMAT)})


def expire(*, now: int, days: int) -> None:
    """Delete the figures that are older than their retention, and the hashes of owners of older days than `days`."""
    Hour.objects.filter(start__lt=_first_hour(now)).delete()
    Day.objects.filter(start__lt=now - DAYS_DAYS * DAY).delete()
    Day.objects.filter(start__lt=now - (days + 1) * DAY).exclude(owner_hashes=b"").update(owner_hashes=b"")


class Rollups:
    """Counts what has changed, under one epoch of the lease. `now` is in Unix seconds by the service's clock."""

    def __init__(self, epoch: int) -> None:
        self._epoch = epoch
        self._scopes: dict[int, Sequence[int]] = {}  # of each route
        self._tokens: dict[int, int] = {}  # the scope of each token
        self._last_hour_due = 0
        self._rests_until = 0.0

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with transaction.atomic():
            lease.fence(self._epoch)
            yield

    def turn(self, *, now: int) -> None:
        """Do one piece of work, if any is due and this isn't more than a fifth of the time."""
        began = time.monotonic()
        if began >= self._rests_until:
            was_due = self.step(now=now)
            ended = time.monotonic()
            self._rests_until = ended + (WORK_SHARE * (ended - began) if was_due else IDLE_SECONDS)

    def finish(self, *, now: int) -> None:
        """Count all that has changed at once."""
        self._last_hour_due = 0
        while self.step(now=now, is_final=True):
            pass

    def rebuild(self, *, now: int) -> None:
        """Count all rows again, from the next turn on."""
        with self._transaction():
            mark_all(now=now)

    def step(self, *, now: int, is_final: bool = False) -> bool:
        """Do one piece of work. Return whether any was due. `is_final`: don't wait until nothing changes."""
        dirty = [Mark(*row) for row in DirtyHour.objects.order_by("-start").values_list(*Mark._fields)]
        due = next((each for each in dirty if is_final or _is_due(each, now)), None)
        if due is not None:
            self._count(due.start, now=now)
        elif now >= self._last_hour_due:
            self._last_hour_due = now + LAST_HOUR_EVERY
            self._count_last_hour(now=now)
        elif not self._merge_days({each.start // DAY * DAY for each in dirty}, now=now):
            every = 0 if is_final else BUSY_SUMMARY_EVERY if len(dirty) >= BACKLOG else SUMMARY_EVERY
            return self._summarize(now=now, every=every)
        return True

    # Hours, from the rows

    def _count(self, start: int, *, now: int) -> None:
        """Count an hour, or the whole day if its hours are no longer kept."""
        is_day = start < _first_hour(now)
        length = DAY if is_day else HOUR
        start = start // length * length
        marks = DirtyHour.objects.filter(start__gte=start, start__lt=start + length)
        if start < _first_row():
            # Its rows aren't all there any more.
            with self._transaction():
                marks.delete()
            return
        before = list(marks.values_list("start", "changes").order_by("start"))
        tallies = self._tallies(start, start + length)
        with self._transaction():
            if list(marks.values_list("start", "changes").order_by("start")) != before:
                return
            marks.delete()
            new = {scope: each.store(kept_hashes=KEPT_HASHES if is_day else None) for scope, each in tallies.items()}
            if is_day:
                self._note_dirty(_replace(Day, start, new, is_dirty=False))
                return
            changed = _replace(Hour, start, new)
            with connection.cursor() as cursor:
                day = start // DAY * DAY
                cursor.executemany(MARK_DAY, [(scope, day, True, b"", b"") for scope in sorted(changed)])

    def _tallies(self, start: int, end: int, *, since: int = 0) -> dict[int, Tally]:
        """Return the figures of each scope of the transfers that ended in these hours, not before `since`."""
        rows = (row for hour in range(start, end, HOUR) for row in _ended_in(hour) if row.end >= since * 1000)
        groups = tally.by_group(rows)
        tokens = {each for _, *pair in groups for each in pair if each is not None}
        return tally.by_scope(groups, self._scopes_of({route for route, *_ in groups}), self._scope_of_each(tokens))

    def _scopes_of(self, routes: Collection[int]) -> Mapping[int, Sequence[int]]:
        """Return the scopes of routes. Those that are missing are added."""
        missing = [route for route in routes if route not in self._scopes]
        if missing:
            if len(self._scopes) > MOST_KNOWN:
                self._scopes, missing = {}, list(routes)
            of = {each.pk: scopes_of(_key(each)) for each in Route.objects.filter(pk__in=missing)}
            with self._transaction():
                Scope.objects.bulk_create(
                    {name: _scope(name, route) for route, names in of.items() for name in names}.values(),
                    ignore_conflicts=True,
                )
            # Providers and chains are few.
            known_levels = (Level.PROVIDER, Level.CHAIN, Level.SERVICE)
            stored = Scope.objects.filter(Q(route__in=missing) | Q(level__in=known_levels)).values_list(
                "pk", *ScopeName._fields
            )
            known = {tuple(name): pk for pk, *name in stored}
            self._scopes.update({route: [known[name] for name in names] for route, names in of.items()})
        return self._scopes

    def _scope_of_each(self, tokens: Collection[int]) -> Mapping[int, int]:
        """Return the scope of each token. Those that are missing are added."""
        missing = [token for token in tokens if token not in self._tokens]
        if missing:
            if len(self._tokens) > MOST_KNOWN:
                self._tokens, missing = {}, list(tokens)
            rows = Token.objects.filter(pk__in=missing).values_list("pk", *TokenKey._fields)
            of = {pk: scopes_of_tokens([TokenKey(*key)])[0] for pk, *key in rows}
            with self._transaction():
                Scope.objects.bulk_create([_scope(name) for name in {*of.values()}], ignore_conflicts=True)
            stored = Scope.objects.filter(level=Level.TOKEN, token__in={name.token for name in of.values()})
            known = {(each.origin_chain, each.token): each.pk for each in stored}
            self._tokens.update({pk: known[name.origin_chain, name.token] for pk, name in of.items()})
        return self._tokens

    # Days, from hours

    def _merge_days(self, unsettled: Collection[int], *, now: int) -> bool:
        """Merge some dirty days. Return whether there were any.

        A past day waits for its hours, which are `unsettled` days.
        """
        today = now // DAY * DAY
        waiting = [day for day in unsettled if day < today - DAY]
        due = Day.objects.filter(is_dirty=True).exclude(start__in=waiting).order_by("-start")
        start = due.values_list("start", flat=True).first()
        if start is None:
            return False
        with self._transaction():
            scopes = list(due.filter(start=start).values_list("scope_id", flat=True)[:DAY_SCOPES])
            if start < _first_hour(now):
                # Its hours are no longer kept.
                Day.objects.filter(start=start, is_dirty=True).update(is_dirty=False)
                mark({start: 1}, now=now - QUIET)
                return True
            hours = Hour.objects.filter(scope_id__in=scopes, start__gte=start, start__lt=start + DAY)
            new = {scope: _merged(rows).store(kept_hashes=KEPT_HASHES) for scope, rows in _by_scope(hours)}
            _replace(Day, start, new, scopes=scopes, is_dirty=False)
            self._note_dirty(scopes)
        return True

    def _note_dirty(self, scopes: Collection[int]) -> None:
        Scope.objects.filter(pk__in=scopes, is_dirty=False).update(is_dirty=True)

    # Periods until now

    def _count_last_hour(self, *, now: int) -> None:
        period = Period.HOUR
        since = period.since(now)
        tallies = self._tallies(since // HOUR * HOUR, now // HOUR * HOUR + HOUR, since=since)
        with self._transaction():
            levels = dict(Scope.objects.filter(pk__in=tallies).values_list("pk", "level"))
            rows = [_summary(scope, levels[scope], period, each, now=now) for scope, each in tallies.items()]
            Summary.objects.filter(period=period)._raw_delete("default")
            _insert_summaries(rows)

    def _summarize(self, *, now: int, every: int) -> bool:
        """Count the summaries of some scopes. Return whether any were due."""
        due = Q(is_dirty=True, summed_at__lte=now - every) | Q(summed_at__lt=now // HOUR * HOUR)
        # A route may be late by its providers, which are few.
        found = Scope.objects.filter(due).order_by(
            ExpressionWrapper(Q(level__in=(Level.ROUTE, Level.TOKEN)), BooleanField()), "summed_at"
        )[:SCOPES]
        scopes = {each.pk: each for each in found}
        if not scopes:
            return False
        with self._transaction():
            hours = Hour.objects.filter(scope_id__in=scopes, start__gte=Period.DAY.since(now))
            days = Day.objects.filter(scope_id__in=scopes, start__gte=Period.QUARTER.since(now))
            lately, long = dict(_by_scope(hours)), dict(_by_scope(days))
            providers = dict(Scope.objects.filter(level=Level.PROVIDER).values_list("providers", "late_after"))
            rows: list[Mapping[str, Any]] = []
            for pk, scope in scopes.items():
                summed = list(_summaries(pk, scope.level, lately.get(pk, ()), long.get(pk, ()), now=now))
                rows += [each for each in summed if each["ended"]]
                _set_late(scope, next(each["p99"] for each in summed if each["period"] is Period.WEEK), providers)
                if scope.level == Level.PROVIDER:
                    providers[scope.providers] = scope.late_after
            Summary.objects.filter(scope_id__in=scopes).exclude(period=Period.HOUR)._raw_delete("default")
            _insert_summaries(rows)
            with connection.cursor() as cursor:
                cursor.executemany(
                    SET_SCOPE,
                    [(each.late_after, each.is_late_by_provider, now, False, pk) for pk, each in scopes.items()],
                )
        return True


def _ended_in(hour: int) -> Iterator[Row]:
    """Yield the transfers that ended in an hour, and hold some of them at a time."""
    last, count = 0, ROWS_AT_ONCE
    while count == ROWS_AT_ONCE:
        rows = Transfer.objects.filter(hour=hour, pk__gt=last).order_by("pk").values_list(*Row._fields)[:ROWS_AT_ONCE]
        count = 0
        for row in map(Row._make, rows):
            last, count = row.pk, count + 1
            yield row


def _key(route: Route) -> RouteKey:
    return RouteKey(route.providers, route.origin_chain, route.destination_chain)


def _scope(name: ScopeName, route: int | None = None) -> Scope:
    return Scope(**name._asdict(), route_id=route if name.level is Level.ROUTE else None)


def _set_late(scope: Scope, own: int | None, providers: Mapping[str, int | None]) -> None:
    """Set after how long a transfer is late: by its own route, else by the slowest of its providers."""
    own = None if own is None else max(LEAST_LATE, own)
    known = [each for each in map(providers.get, scope.providers.split(";")) if each is not None]
    scope.is_late_by_provider = own is None and scope.level == Level.ROUTE and bool(known)
    scope.late_after = max(known) if scope.is_late_by_provider else own


def _is_due(mark: Mark, now: int) -> bool:
    if mark.start >= now // HOUR * HOUR - HOUR:
        return mark.first <= now - RECENT_EVERY
    return mark.last <= now - QUIET or mark.first <= now - LONGEST_WAIT


def _first_hour(now: int) -> int:
    """Return from when on the figures of hours are kept."""
    return now // DAY * DAY - HOURS_DAYS * DAY


def _first_row() -> int:
    """Return from when on all rows are there, in Unix seconds."""
    found: int | None = Window.objects.aggregate(first=Min("start"))["first"]
    return found or 0


def _first_day() -> int:
    return -(-_first_row() // DAY) * DAY


def _replace[B: Bucket](
    table: type[B], start: int, new: Mapping[int, Stored], *, scopes: Collection[int] | None = None, **also: Any
) -> Collection[int]:
    """Let a bucket have these figures by scope, of all scopes or of some. Return the scopes that have changed."""
    rows = table._default_manager.filter(start=start)
    if scopes is not None:
        rows = rows.filter(scope_id__in=scopes)
    before = {scope: _plain(columns) for scope, *columns in rows.values_list("scope_id", *COLUMNS)}
    changed = sorted(scope for scope in new.keys() | before.keys() if new.get(scope) != before.get(scope))
    rows.filter(scope_id__in=[scope for scope in changed if scope in before])._raw_delete("default")
    kept = [(scope, start, *new[scope], *also.values()) for scope in changed if scope in new]
    _insert(table, ("scope_id", "start", *COLUMNS, *also), kept)
    if also:
        rows.update(**also)
    return changed


def _insert(table: type[models.Model], names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Insert rows with these columns. `bulk_create` takes several times as long."""
    if rows:
        quoted = ", ".join(map(connection.ops.quote_name, names))
        insert = f"INSERT INTO {table._meta.db_table} ({quoted}) VALUES ({', '.join(['%s'] * len(names))})"  # noqa: S608 - names of columns
        with connection.cursor() as cursor:
            cursor.executemany(insert, rows)


def _insert_summaries(rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        _insert(Summary, tuple(rows[0]), [tuple(each.values()) for each in rows])


def _plain(columns: Sequence[Any]) -> Stored:
    """Return the columns with bytes, which some databases return as another type."""
    row = Stored._make(columns)
    return row._replace(durations=bytes(row.durations), owner_hashes=bytes(row.owner_hashes))


def _by_scope(rows: models.QuerySet[Any]) -> Iterator[tuple[int, list[tuple[Any, ...]]]]:
    """Yield the rows of each scope, newest first: their start, then `COLUMNS`."""
    found = rows.order_by("scope_id", "-start").values_list("scope_id", "start", *COLUMNS)
    for scope, several in groupby(found, key=itemgetter(0)):
        yield scope, [row[1:] for row in several]


def _merged(rows: Sequence[tuple[Any, ...]]) -> Tally:
    found = Tally()
    for _, *columns in rows:
        found.merge(tally.load(columns))
    return found


def _summaries(
    scope: int, level: str, hours: Sequence[tuple[Any, ...]], days: Sequence[tuple[Any, ...]], *, now: int
) -> Iterator[dict[str, Any]]:
    """Yield the summaries of a scope from its hours and days, newest first."""
    bars = [(start, *columns[:6]) for start, *columns in hours]
    yield _summary(scope, level, Period.DAY, _merged(hours), now=now, bars=_bars(bars, Period.DAY, now))
    found, owners, failed_owners = Tally(), 0, 0
    rest = list(reversed(days))
    for period in DAYS:
        while rest and rest[-1][0] >= period.since(now):
            columns = rest.pop()[1:]
            found.merge(tally.load(columns))
            day = Stored(*columns)
            owners, failed_owners = max(owners, day.owners), max(failed_owners, day.failed_owners)
        bars = [(start, *columns[:6]) for start, *columns in days if start >= period.since(now)]
        row = _summary(scope, level, period, found, now=now, bars=_bars(bars, period, now))
        most = {"owners": max(row["owners"], owners), "failed_owners": max(row["failed_owners"], failed_owners)}
        yield row | most


def _bars(rows: Sequence[tuple[int, ...]], period: Period, now: int) -> str:
    length = HOUR if period is Period.DAY else DAY
    counts = {start: [sum(columns), columns[0]] for start, *columns in rows}
    every = range(period.since(now), now + 1, length)
    return str([counts.get(start, [0, 0]) for start in every]).replace(" ", "")


def _summary(scope: int, level: str, period: Period, found: Tally, *, now: int, bars: str = "[]") -> dict[str, Any]:
    """Return the columns of a summary."""
    columns = found.store(most=LISTED)._asdict()
    del columns["owner_hashes"]
    rate = share(found.delivered, found.ended)
    timed = sum(found.durations.values())
    return {
        "scope_id": scope,
        "level": level,
        "period": period,
        "since": period.since(now),
        "at": now,
        "ended": found.ended,
        "median": histogram.quantile(found.durations, 50),
        "p95": histogram.quantile(found.durations, 95) if timed >= ENOUGH_FOR_P95 else None,
        "p99": histogram.quantile(found.durations, 99) if timed >= ENOUGH_FOR_LATE else None,
        "best": rate.high if rate else None,
        "bars": bars,
        **columns,
    }
