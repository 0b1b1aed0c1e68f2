"""Ended transfers, added up by their route and tokens. Of past days there are facts, all other times are rows.

A change of a transfer deletes the mark of its day (`forget_days`), in the same transaction, so that its rows are
counted until the leader has written the day's facts again.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import F, Min, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Greatest

from intents_ui.mirror.models import Day, DayBar, DayFact, Transfer, write
from intents_ui.mirror.windows import DAY, HOUR
from intents_ui.service.outcome import Outcome

# Of transfers that had a deposit. All others are open, or not counted.
ENDED = (
    Outcome.DELIVERED,
    Outcome.REFUNDED,
    Outcome.FAILED,
    Outcome.ABORTED,
    Outcome.REJECTED,
    Outcome.UNCONFIRMED,
)
# Not delivered, as far as is known.
FAILED = tuple(each for each in ENDED if each not in (Outcome.DELIVERED, Outcome.UNCONFIRMED))
END = Greatest(Coalesce("ended", "updated"), F("created"))  # as `Transfer.ended_at`
PAIR = ("route_id", "origin_token_id", "destination_token_id")
GROUP = ("outcome", "failed_step", "reason_id", "bucket")
KEY = (*PAIR, *GROUP)

HOURS_SHOWN = 9 * DAY  # the longest period that a page shows by the hour, and the days on which it begins and ends

type Span = tuple[int, int]  # Unix seconds: from when on, and before when
type Pair = tuple[int, int | None, int | None]
type Group = tuple[str, int | None, int | None, int | None]


@dataclass(slots=True)
class Ended:
    """What ended of a route and its tokens: how many of each group, and what the delivered ones sent, in base units.

    If it was read from rows, there are the numbers of each hour by bucket, or by outcome without a duration, and the
    owners, with those of whom one wasn't delivered.
    """

    groups: Counter[Group] = field(default_factory=Counter)
    sent: int = 0
    hours: dict[int, Counter[int | str]] = field(default_factory=dict)
    owners: set[bytes] = field(default_factory=set)
    unserved: set[bytes] = field(default_factory=set)


def of_rows(span: Span) -> Mapping[Pair, Ended]:
    """Add up the rows that ended in a time."""
    found = defaultdict[Pair, Ended](Ended)
    rows = ended(span).values_list(*PAIR, *GROUP, "hour", "sent", "owner")
    for route, origin, destination, outcome, step, reason, bucket, hour, sent, owner in rows.iterator():
        own = found[route, origin, destination]
        own.groups[outcome, step, reason, bucket] += 1
        if hour not in own.hours:
            own.hours[hour] = Counter()
        own.hours[hour][outcome if bucket is None else bucket] += 1
        if outcome == Outcome.DELIVERED:
            own.sent += int(sent or 0)
        if owner is not None:
            own.owners.add(bytes(owner))
            if outcome != Outcome.DELIVERED:
                own.unserved.add(bytes(owner))
    return found


def of_days(days: Sequence[int]) -> Mapping[Pair, Ended]:
    """Add up the facts of these days."""
    found, facts = defaultdict[Pair, Ended](Ended), DayFact.objects.filter(day__in=days)
    for *key, n in facts.values_list(*KEY).annotate(total=Sum("n")):
        found[tuple(key[:3])].groups[tuple(key[3:])] = n
    for *pair, sent in facts.filter(sent__isnull=False).values_list(*PAIR, "sent"):
        found[tuple(pair)].sent += int(sent)
    return found


def ended(span: Span) -> QuerySet[Transfer]:
    since, until = span
    hour = since // HOUR * HOUR
    rows = Transfer.objects.filter(hour__gte=hour, hour__lt=until)
    # The end is in no index, so it is looked at in the first hour only.
    return rows.alias(end=END).filter(Q(hour__gt=hour) | Q(end__gte=since * 1000)) if since > hour else rows


def forget_days(hours: Iterable[int]) -> None:
    """Let the days of these hours be counted from their rows, within a transaction that changes rows."""
    Day.objects.filter(start__in={hour // DAY * DAY for hour in hours}).delete()


def expire(until: int, *, now: int) -> None:
    """Delete the facts of the days before this time, and the hours of days that no chart shows by the hour."""
    DayBar.objects.filter(day__lt=now - HOURS_SHOWN).exclude(hours="").update(hours="")
    Day.objects.filter(start__lt=until - DAY).delete()
    for model in (DayFact, DayBar):
        model.objects.filter(day__lt=until - DAY)._raw_delete("default")


def write_day(day: int, found: Mapping[Pair, Ended]) -> None:
    """Write the facts of a day, within a transaction."""
    rows = []
    for pair, each in found.items():
        # An amount is text, which databases can't add up. One fact of each pair has it.
        sent: str | None = str(each.sent)
        for group, n in each.groups.items():
            rows.append({"day": day, **dict(zip(KEY, (*pair, *group), strict=True)), "n": n, "sent": sent})
            sent = None
    DayFact.objects.filter(day=day)._raw_delete("default")
    write(DayFact, rows)
    Day.objects.get_or_create(start=day)


def divided(span: Span) -> tuple[Sequence[int], Sequence[Span]]:
    """Return the days of a time that have facts, and the rest of it, divided by days."""
    since, until = span
    known = {*Day.objects.filter(start__gte=since, start__lte=until - DAY).values_list("start", flat=True)}
    first = Transfer.objects.aggregate(first=Min("hour"))["first"]
    since = until if first is None else max(since, first)
    days = range(since // DAY * DAY, until, DAY)
    return sorted(known), [(max(day, since), min(day + DAY, until)) for day in days if day not in known]
