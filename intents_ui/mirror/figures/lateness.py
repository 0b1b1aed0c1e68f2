"""Open transfers: queries for pages. They never write.

A transfer is late when it has been open for longer than 99 of 100 delivered transfers of its route, or its provider,
in the last seven days. Without enough of those, the rule of any page decides (`intents_ui/display`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.db.models import BigIntegerField, Case, Count, F, Q, Value, When
from django.db.models.functions import Coalesce

from intents_ui.mirror import coverage
from intents_ui.mirror.coverage import Completeness
from intents_ui.mirror.entry import HASH, RouteKey, TokenKey, moment, optional_moment, unpacked
from intents_ui.mirror.figures.scopes import Level, ScopeName, is_part, scopes_of, scopes_of_tokens
from intents_ui.mirror.models import Scope, Transfer
from intents_ui.mirror.windows import DAY
from intents_ui.service.wire.models import IntentStatus
from intents_ui.service.wire.outcome import TIME_TO_EXECUTE, Outcome, execute_by

USUAL = timedelta(minutes=15)  # as for any open transfer without an estimate
UNSEEN = timedelta(minutes=30)  # after the end of a quote, a transfer that isn't expired has a deposit
MOST_OPEN = 5_000  # the oldest
MOST_LATE = 500
MILLISECOND = timedelta(milliseconds=1)
OF_ROUTE = tuple(f"route__{name}" for name in RouteKey._fields)
OF_TOKENS = tuple(f"{side}_token__{name}" for side in ("origin", "destination") for name in TokenKey._fields)

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
        end = execute_by(status, expires_at=optional_moment(expires), updated_at=optional_moment(updated))
        if end is None or now < end + UNSEEN:
            return None
    since = moment(started or created)
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
        origin_token=None if address is None else TokenKey(chain, address, symbol),
        sent=None if sent is None else int(sent),
    )


@dataclass(frozen=True, slots=True)
class OpenCounts:
    """The open and the late transfers of each scope."""

    open: Counter[ScopeName] = field(default_factory=Counter)
    late: Counter[ScopeName] = field(default_factory=Counter)


def count_open(*, now: datetime, slow: Slow, of_tokens: bool = False) -> OpenCounts:
    """Count the transfers of `open_transfers`, and all that it leaves out because there are too many. One query.

    Those of tokens are counted with `of_tokens` only.
    """
    at = int(now.timestamp() * 1000)
    ended = at - UNSEEN // MILLISECOND
    # Those have no deposit yet, as far as is known.
    unseen = Q(status=IntentStatus.COMMITTED, updated__gt=ended - TIME_TO_EXECUTE // MILLISECOND) & (
        Q(expires=None) | Q(expires=0) | Q(expires__gt=ended)
    )
    by_limit = sorted(((length, name) for name, length in slow.items() if length > USUAL), reverse=True)
    rule = Case(
        *(When(is_part(ScopeName(Level.PROVIDER, name)), then=Value(each // MILLISECOND)) for each, name in by_limit),
        default=Value(USUAL // MILLISECOND),
        output_field=BigIntegerField(),
    )
    began = Coalesce("started", "created") / 1000 * 1000
    is_late = Q(limit__lt=Value(at, output_field=BigIntegerField()) - F("began"))
    rows = (
        Transfer.objects.filter(~unseen, outcome=Outcome.OPEN)
        .annotate(limit=Coalesce("route__scope__late_after", rule), began=began)
        .values_list(*OF_ROUTE, *(OF_TOKENS if of_tokens else ()))
        .annotate(count=Count("pk"), late=Count("pk", filter=is_late))
    )
    found = OpenCounts()
    for *keys, count, late in rows:
        tokens = (TokenKey(*keys[3:6]), TokenKey(*keys[6:])) if of_tokens else ()
        named = scopes_of_tokens(each for each in tokens if each.address)
        for scope in (*scopes_of(RouteKey(*keys[:3])), *named):
            found.open[scope] += count
            if late:
                found.late[scope] += late
    return found


def late_after() -> Mapping[RouteKey, timedelta]:
    """Return after how long a transfer is late, by route, where enough transfers were delivered. One query."""
    rows = Scope.objects.filter(level=Level.ROUTE, late_after__isnull=False)
    found = rows.values_list("providers", "origin_chain", "destination_chain", "late_after")
    return {RouteKey(*key): timedelta(milliseconds=length or 0) for *key, length in found}
