"""Open transfers: queries for pages. They never write.

A transfer is late when it has been open for longer than the limit of its route (`snapshots.py`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import add
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import F, Q
from django.db.models.functions import Coalesce

from intents_ui.mirror import coverage
from intents_ui.mirror.coverage import Completeness, Gaps
from intents_ui.mirror.entry import HASH, RouteKey, TokenKey, moment, unpacked
from intents_ui.mirror.figures.facts import ALL
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName, scopes_of, scopes_of_tokens
from intents_ui.mirror.figures.snapshots import Basis, Period
from intents_ui.mirror.models import Route, Transfer
from intents_ui.mirror.windows import DAY
from intents_ui.service.models import IntentStatus
from intents_ui.service.outcome import TIME_TO_EXECUTE, Outcome

UNSEEN = timedelta(minutes=30)  # after the end of a quote, a transfer that isn't expired has a deposit
MOST_LATE = 500
MILLISECOND = timedelta(milliseconds=1)
BEGAN = "COALESCE(transfer.started, transfer.created) / 1000 * 1000"
PERIODS = tuple(Period)
# The place of the first period in which a transfer began.
CASES = " ".join(f"WHEN {BEGAN} >= %s THEN {place}" for place, _ in enumerate(PERIODS))
BEGAN_IN = f"CASE {CASES} ELSE {len(PERIODS)} END"
# An index has all that is counted, in the order of the groups. Names are read afterwards, once for each group.
COUNT_OPEN = f"""
SELECT route.providers, route.origin_chain, route.destination_chain, origin.chain, origin.address, origin.symbol,
       destination.chain, destination.address, destination.symbol, counted.began_in, counted.n, counted.late
FROM (
  SELECT transfer.route_id, transfer.origin_token_id, transfer.destination_token_id,
         {BEGAN_IN} AS began_in, COUNT(*) AS n, COUNT(*) FILTER (WHERE {BEGAN} + of.late_after < %s) AS late
  FROM mirror_transfer AS transfer JOIN mirror_route AS of ON of.id = transfer.route_id
  WHERE transfer.outcome = 'open' AND transfer.unlisted_since IS NULL AND NOT (
    transfer.status = %s AND transfer.updated > %s
    AND (transfer.expires IS NULL OR transfer.expires = 0 OR transfer.expires > %s))
  GROUP BY transfer.route_id, transfer.origin_token_id, transfer.destination_token_id, began_in
) AS counted
JOIN mirror_route AS route ON route.id = counted.route_id
LEFT JOIN mirror_token AS origin ON origin.id = counted.origin_token_id
LEFT JOIN mirror_token AS destination ON destination.id = counted.destination_token_id
"""  # noqa: S608 - only constants are inserted; values are parameters


@dataclass(frozen=True, slots=True)
class LateTransfer:
    """A transfer with a deposit that has been open for more than `limit`."""

    intent_id: str
    status: str
    route: RouteKey
    since: datetime
    elapsed: timedelta
    limit: timedelta
    basis: Basis
    origin_token: TokenKey | None
    sent: int | None

    @property
    def factor(self) -> float:
        """How many times the limit it has been open."""
        return self.elapsed / self.limit


@dataclass(frozen=True, slots=True)
class LateTransfers:
    """Late transfers, worst first. `count` is the number of all."""

    transfers: Sequence[LateTransfer]
    count: int
    completeness: Completeness


def late(
    *, now: datetime, where: Q = ALL, age: tuple[timedelta, timedelta | None] = (timedelta(), None)
) -> LateTransfers:
    """Return the transfers that are late, worst first. `age`: how long they have been open, at least and at most."""
    at, (least, most) = int(now.timestamp()) * 1000, age
    columns = (
        "intent_id", "status", "began", "sent", "route__late_after", "route__late_by",
        *(f"route__{name}" for name in RouteKey._fields), *(f"origin_token__{name}" for name in TokenKey._fields),
    )  # fmt: skip
    rows = Transfer.objects.annotate(began=Coalesce("started", "created") / 1000 * 1000).filter(
        where,
        _has_deposit(at),
        outcome=Outcome.OPEN,
        unlisted_since=None,
        began__lt=at - F("route__late_after"),
        began__lte=at - least // MILLISECOND,
    )
    if most is not None:
        rows = rows.filter(began__gt=at - most // MILLISECOND)
    worst = rows.annotate(factor=(at - F("began")) * 1000 / F("route__late_after")).order_by("-factor", "pk")
    found = worst.values_list(*columns)[:MOST_LATE]
    # A transfer that is open for long may have been created at any time.
    completeness = coverage.gaps(now=now).of(int(now.timestamp()) - DAY, int(now.timestamp()))
    return LateTransfers([_late_transfer(row, now) for row in found], rows.count(), completeness)


def _has_deposit(at: int) -> Q:
    """Return the condition that an open transfer has a deposit, as far as is known."""
    ended = at - UNSEEN // MILLISECOND
    is_over = Q(expires__gt=0, expires__lte=ended) | Q(updated__lte=ended - TIME_TO_EXECUTE // MILLISECOND)
    return ~Q(status=IntentStatus.COMMITTED) | is_over


def _late_transfer(row: Sequence[Any], now: datetime) -> LateTransfer:
    intent_id, status, began, sent, limit, basis, providers, origin, destination, chain, address, symbol = row
    return LateTransfer(
        intent_id=unpacked(bytes(intent_id), HASH),
        status=status,
        route=RouteKey(providers, origin, destination),
        since=moment(began),
        elapsed=now - moment(began),
        limit=timedelta(milliseconds=limit),
        basis=Basis(basis),
        origin_token=None if address is None else TokenKey(chain, address, symbol),
        sent=None if sent is None else int(sent),
    )


type Names = tuple[str, ...]


class OpenCount(NamedTuple):
    """Open transfers, the late ones among them, and those of these that began in each period."""

    open: int = 0
    late: int = 0
    late_since: tuple[int, ...] = (0,) * len(PERIODS)


@dataclass(frozen=True)
class OpenCounts:
    """The open and the late transfers by the names of their routes, and by those of both tokens.

    `gaps` are those of the same moment: figures beside these counts are complete by them.
    """

    gaps: Gaps
    routes: Mapping[Names, OpenCount] = field(default_factory=dict)
    tokens: Mapping[Names, OpenCount] = field(default_factory=dict)
    _levels: dict[Level, Mapping[ScopeName, OpenCount]] = field(default_factory=dict, init=False, repr=False)

    def of(self, scope: ScopeName) -> OpenCount:
        """Return how many open transfers are a part of this, and how many of them are late."""
        if scope.level not in self._levels:
            self._levels[scope.level] = self._of_level(scope.level)
        return self._levels[scope.level].get(scope, OpenCount())

    def _of_level(self, level: Level) -> Mapping[ScopeName, OpenCount]:
        found: dict[ScopeName, OpenCount] = {}
        for names, count in (self.tokens if level is Level.TOKEN else self.routes).items():
            for scope in _parts(level, names):
                _add(found, scope, count)
        return found


def _parts(level: Level, names: Names) -> Iterable[ScopeName]:
    """Return what a route, or a pair of tokens, is a part of at this level."""
    match level:
        case Level.ROUTE:
            return (ScopeName(level, *names),)
        case Level.SERVICE:
            return (EVERYTHING,)
        case Level.TOKEN:
            both = TokenKey(*names[:3]), TokenKey(*names[3:])
            return scopes_of_tokens(each for each in both if each.address)
        case _:
            return (each for each in scopes_of(RouteKey(*names)) if each.level is level)


def _add[K](sums: dict[K, OpenCount], key: K, count: OpenCount) -> None:
    known = sums.get(key)
    if known:
        late_since = tuple(map(add, known.late_since, count.late_since))
        count = OpenCount(known.open + count.open, known.late + count.late, late_since)
    sums[key] = count


def count_open(*, now: datetime) -> OpenCounts:
    """Count the open transfers with a deposit. Four queries."""
    at = int(now.timestamp()) * 1000
    ended = at - UNSEEN // MILLISECOND
    since = [period.since(at // 1000) * 1000 for period in PERIODS]
    given: list[int | str] = [*since, at, IntentStatus.COMMITTED, ended - TIME_TO_EXECUTE // MILLISECOND, ended]
    gaps = coverage.gaps(now=now)  # before the counts, so that these have all that it says is known
    with connection.cursor() as cursor:
        cursor.execute(COUNT_OPEN, given)
        rows = cursor.fetchall()
    routes: dict[Names, OpenCount] = {}
    tokens: dict[Names, OpenCount] = {}
    for *names, began_in, total, late in rows:
        late_since = tuple(late if began_in <= place else 0 for place, _ in enumerate(PERIODS))
        count = OpenCount(total, late, late_since)
        _add(routes, tuple(names[:3]), count)
        _add(tokens, tuple(names[3:]), count)
    return OpenCounts(gaps, routes, tokens)


def late_after() -> Mapping[RouteKey, timedelta]:
    """Return after how long a transfer is late, by route. One query."""
    found = Route.objects.values_list(*RouteKey._fields, "late_after")
    return {RouteKey(*key): timedelta(milliseconds=length) for *key, length in found}
