"""Open transfers: queries for pages. They never write.

A transfer is late when it has been open for longer than 99 of 100 delivered transfers of its route, or its provider,
in the last seven days, or than four times their 95th percentile, if that is less. Without enough of those, the rule of
any page decides (`intents_ui/display`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from operator import add
from typing import Any, NamedTuple

from django.db import connection

from intents_ui.mirror import coverage
from intents_ui.mirror.coverage import Completeness
from intents_ui.mirror.entry import HASH, RouteKey, TokenKey, moment, optional_moment, unpacked
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName, scopes_of, scopes_of_tokens
from intents_ui.mirror.figures.snapshots import Period
from intents_ui.mirror.models import Route, Transfer
from intents_ui.mirror.windows import DAY
from intents_ui.service.models import IntentStatus
from intents_ui.service.wire.outcome import TIME_TO_EXECUTE, Outcome, execute_by

USUAL = timedelta(minutes=15)  # as for any open transfer without an estimate
UNSEEN = timedelta(minutes=30)  # after the end of a quote, a transfer that isn't expired has a deposit
MOST_OPEN = 5_000  # the oldest
MOST_LATE = 500
MILLISECOND = timedelta(milliseconds=1)
BEGAN = "COALESCE(transfer.started, transfer.created) / 1000 * 1000"
PERIODS = tuple(Period)
# The place of the first period in which a transfer began.
CASES = " ".join(f"WHEN {BEGAN} >= %s THEN {place}" for place, _ in enumerate(PERIODS))
BEGAN_IN = f"CASE {CASES} ELSE {len(PERIODS)} END"
LATE_BY_RULE = f", COUNT(*) FILTER (WHERE {BEGAN} < %s)"
# An index has all that is counted, in the order of the groups. Names are read afterwards, once for each group.
COUNT_OPEN = f"""
SELECT route.providers, route.origin_chain, route.destination_chain, origin.chain, origin.address, origin.symbol,
       destination.chain, destination.address, destination.symbol, counted.*
FROM (
  SELECT transfer.route_id, transfer.origin_token_id, transfer.destination_token_id,
         {BEGAN_IN} AS began_in, MAX(of.late_after), COUNT(*),
         COUNT(*) FILTER (WHERE {BEGAN} + of.late_after < %s){{by_rule}}
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

type Slow = Mapping[str, timedelta]  # how long providers may take that are usually slow


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
    origin_token: TokenKey | None
    sent: int | None

    @property
    def is_late(self) -> bool:
        return self.elapsed > self.limit

    @property
    def factor(self) -> float:
        """How many times the limit it has been open."""
        return self.elapsed / self.limit


@dataclass(frozen=True, slots=True)
class LateTransfers:
    """Late transfers, worst first. `count` is the number of all. `is_capped`: there may be more."""

    transfers: Sequence[OpenTransfer]
    count: int
    is_capped: bool
    completeness: Completeness


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
        "route__origin_chain", "route__destination_chain", "route__late_after",
        "route__is_late_by_provider", "origin_token__chain", "origin_token__address", "origin_token__symbol",
    )  # fmt: skip
    rows = (
        Transfer.objects.filter(outcome=Outcome.OPEN, unlisted_since=None)
        .order_by("created")
        .values_list(*columns)[:MOST_OPEN]
    )
    found = (_open_transfer(row, now, slow or {}) for row in rows)
    return [each for each in found if each is not None]


def _open_transfer(row: Sequence[Any], now: datetime, slow: Slow) -> OpenTransfer | None:
    intent_id, status, created, started, updated, expires, sent, providers, origin, destination, *rest = row
    late_after, is_by_provider, chain, address, symbol = rest
    if status == IntentStatus.COMMITTED:
        end = execute_by(status, expires_at=optional_moment(expires), updated_at=optional_moment(updated))
        if end is None or now < end + UNSEEN:
            return None
    since = moment(started or created)
    usual = rule(providers, slow) if late_after is None else timedelta(milliseconds=late_after)
    basis = Basis.RULE if late_after is None else Basis.PROVIDER if is_by_provider else Basis.ROUTE
    return OpenTransfer(
        intent_id=unpacked(bytes(intent_id), HASH),
        status=status,
        route=RouteKey(providers, origin, destination),
        since=since,
        elapsed=now - since,
        limit=usual,
        basis=basis,
        origin_token=None if address is None else TokenKey(chain, address, symbol),
        sent=None if sent is None else int(sent),
    )


def rule(providers: str, slow: Slow) -> timedelta:
    """Return after how long a transfer over these providers is late, without enough deliveries."""
    return max([USUAL, *(slow[each] for each in providers.split(";") if each in slow)])


type Names = tuple[str, ...]


class OpenCount(NamedTuple):
    """Open transfers, the late ones among them, and those of these that began in each period."""

    open: int = 0
    late: int = 0
    late_since: tuple[int, ...] = (0,) * len(PERIODS)


@dataclass(frozen=True)
class OpenCounts:
    """The open and the late transfers by the names of their routes, and by those of both tokens."""

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


def count_open(*, now: datetime, slow: Slow | None = None) -> OpenCounts:
    """Count the transfers of `open_transfers`, and all that it leaves out because there are too many. One query."""
    slow = slow or {}
    at = int(now.timestamp() * 1000)
    ended = at - UNSEEN // MILLISECOND
    rules = sorted({rule(providers, slow) for providers in ("", *slow)})
    began = [at - rule // MILLISECOND for rule in rules]
    # Those have no deposit yet, as far as is known.
    unseen = IntentStatus.COMMITTED, ended - TIME_TO_EXECUTE // MILLISECOND, ended
    since = [period.since(at // 1000) * 1000 for period in PERIODS]
    with connection.cursor() as cursor:
        cursor.execute(COUNT_OPEN.format(by_rule=LATE_BY_RULE * len(rules)), [*since, at, *began, *unseen])
        rows = cursor.fetchall()
    routes: dict[Names, OpenCount] = {}
    tokens: dict[Names, OpenCount] = {}
    for row in rows:
        began_in, late_after, total, late, *late_by_rule = row[12:]
        if late_after is None:
            late = late_by_rule[rules.index(rule(row[0], slow))]
        late_since = tuple(late if began_in <= place else 0 for place, _ in enumerate(PERIODS))
        count = OpenCount(total, late, late_since)
        _add(routes, row[:3], count)
        _add(tokens, row[3:9], count)
    return OpenCounts(routes, tokens)


def late_after(slow: Slow) -> Mapping[RouteKey, timedelta]:
    """Return after how long a transfer is late, by route. One query."""
    found = Route.objects.values_list(*RouteKey._fields, "late_after")
    return {
        RouteKey(*key): rule(key[0], slow) if length is None else timedelta(milliseconds=length)
        for *key, length in found
    }
