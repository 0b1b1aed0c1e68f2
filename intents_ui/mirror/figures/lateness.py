"""Open transfers: queries for pages. They never write.

A transfer is late when it has been open for longer than the limit of its route (`snapshots.py`).
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Case, Count, F, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce

from intents_ui.mirror import coverage
from intents_ui.mirror.coverage import Completeness, Gaps
from intents_ui.mirror.entry import RouteKey
from intents_ui.mirror.figures.facts import ALL, PAIR
from intents_ui.mirror.figures.scopes import ScopeName, scopes_of
from intents_ui.mirror.figures.snapshots import Period
from intents_ui.mirror.models import Route, Token, Transfer
from intents_ui.mirror.windows import DAY
from intents_ui.service.models import IntentStatus
from intents_ui.service.outcome import TIME_TO_EXECUTE, Outcome

UNSEEN = timedelta(minutes=30)  # after the end of a quote, a transfer that isn't expired has a deposit
MOST_LATE = 500
MILLISECOND = timedelta(milliseconds=1)
BEGAN = Coalesce("started", "created") / 1000 * 1000


@dataclass(frozen=True, slots=True)
class LateTransfers:
    """Transfers with a deposit that have been open at a time for longer than their limits, worst first.

    `count` is the number of all.
    """

    transfers: Sequence[Transfer]
    count: int
    at: datetime
    completeness: Completeness


def late(
    *, now: datetime, where: Q = ALL, age: tuple[timedelta, timedelta | None] = (timedelta(), None)
) -> LateTransfers:
    """Return the transfers that are late, worst first. `age`: how long they have been open, at least and at most."""
    at, (least, most) = int(now.timestamp()) * 1000, age
    rows = (
        with_deposit(at)
        .filter(where)
        .filter(began__lt=at - F("route__late_after"), began__lte=at - least // MILLISECOND)
    )
    if most is not None:
        rows = rows.filter(began__gt=at - most // MILLISECOND)
    worst = rows.order_by(((at - F("began")) * 1000 / F("route__late_after")).desc(), "pk")
    found = worst.select_related("route", "origin_token")[:MOST_LATE]
    # A transfer that is open for long may have been created at any time.
    completeness = coverage.gaps(now=now).of(int(now.timestamp()) - DAY, int(now.timestamp()))
    return LateTransfers(list(found), rows.count(), now, completeness)


def with_deposit(at: int) -> QuerySet[Any]:
    """Return the open transfers that have a deposit, as far as is known, with the time when they `began`."""
    ended = at - UNSEEN // MILLISECOND
    is_over = Q(expires__gt=0, expires__lte=ended) | Q(updated__lte=ended - TIME_TO_EXECUTE // MILLISECOND)
    still_open = Transfer.objects.filter(outcome=Outcome.OPEN, unlisted_since=None)
    return still_open.filter(~Q(status=IntentStatus.COMMITTED) | is_over).alias(began=BEGAN)


@dataclass(frozen=True)
class OpenCounts:
    """The numbers of open transfers by what they are a part of: `open`, `late`, and the late ones of each period.

    `gaps` are those of the same moment: figures beside these counts are complete by them.
    """

    gaps: Gaps
    counts: Mapping[ScopeName, Counter[str]] = field(default_factory=dict)

    def of(self, scope: ScopeName) -> Counter[str]:
        return self.counts.get(scope) or Counter()


def count_open(*, now: datetime) -> OpenCounts:
    """Count the open transfers with a deposit."""
    at = int(now.timestamp())
    gaps = coverage.gaps(now=now)  # before the counts, so that these have all that it says is known
    # The first period in which a transfer began. An index has all that is counted, in the order of the groups.
    began_in = Case(*(When(began__gte=each.since(at) * 1000, then=Value(each)) for each in Period), default=Value(""))
    is_late = Q(began__lt=at * 1000 - F("route__late_after"))
    groups = with_deposit(at * 1000).annotate(began_in=began_in).values_list(*PAIR, "began_in")
    routes = {each.pk: each.key for each in Route.objects.all()}
    tokens = {each.pk: each.key for each in Token.objects.all()}
    found = defaultdict[ScopeName, Counter[str]](Counter)
    for route, *pair, period, n, late in groups.annotate(n=Count("*"), late=Count(Value(1), filter=is_late)):
        since = [each for each in Period if period and each.since(at) <= Period(period).since(at)]
        counts = {"open": n, "late": late, **dict.fromkeys(since, late)}
        for scope in scopes_of(routes[route], tuple(tokens[each] for each in pair if each is not None)):
            found[scope].update(counts)
    return OpenCounts(gaps, found)


def late_after() -> Mapping[RouteKey, timedelta]:
    """Return after how long a transfer is late, by route. One query."""
    return {each.key: each.limit for each in Route.objects.all()}
