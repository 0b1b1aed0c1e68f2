"""Counts of ended transfers, grouped by columns. Past days are counted from `DayFact`, all other times from the rows.

A change of a transfer deletes the mark of its day (`forget_days`), in the same transaction, so that its rows are
counted until the leader has written the day's facts again.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Case, Count, F, Q, QuerySet, Sum, When
from django.db.models.functions import Coalesce, Greatest

from intents_ui.mirror.models import Day, DayFact, Transfer, write
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
KEY = (*PAIR, "outcome", "failed_step", "reason_id", "bucket")
ALL = Q()
IN_TIME = Case(When(bucket__lte=F("route__late_bucket"), then=True), default=False)  # delivered before it was late

type Span = tuple[int, int]  # Unix seconds: from when on, and before when


def count(
    *columns: str | Case, parts: tuple[Collection[int], Sequence[Span]], where: Q = ALL, length: int = DAY
) -> Counter[tuple[Any, ...]]:
    """Count by these columns the transfers that ended on days that have facts and in other times (`divided`).

    A column can be `start`, that of the hour or day (`length`). `where` is a condition on columns that facts have, too.
    """
    days, spans = parts
    of_days = DayFact.objects.filter(where, day__in=days).annotate(start=F("day"))
    found = Counter({tuple(key): total for *key, total in of_days.values_list(*columns).annotate(total=Sum("n"))})
    for each in spans:
        rows = ended(each).filter(where).annotate(start=F("hour") - F("hour") % length)
        found.update({tuple(key): total for *key, total in rows.values_list(*columns).annotate(total=Count("*"))})
    return found


def pairs(*, span: Span, where: Q = ALL) -> Mapping[tuple[int | None, int | None], tuple[int, int]]:
    """Return how many transfers ended and what the delivered ones sent, in base units, by the tokens of both sides."""
    counts, amounts, tokens = Counter[tuple[Any, ...]](), Counter[tuple[Any, ...]](), PAIR[1:]
    days, spans = divided(span)
    of_days = DayFact.objects.filter(where, day__in=days, pair__isnull=False)
    for *pair, n, amount in of_days.values_list(*tokens, "pair", "sent"):
        counts[tuple(pair)] += n
        amounts[tuple(pair)] += int(amount)
    for each in spans:
        rows = ended(each).filter(where)
        for *pair, n in rows.values_list(*tokens).annotate(n=Count("*")):
            counts[tuple(pair)] += n
        for *pair, amount in rows.filter(outcome=Outcome.DELIVERED, sent__isnull=False).values_list(*tokens, "sent"):
            amounts[tuple(pair)] += int(amount)
    return {(origin, destination): (n, amounts[origin, destination]) for (origin, destination), n in counts.items()}


def ended(span: Span) -> QuerySet[Transfer]:
    since, until = span
    hour = since // HOUR * HOUR
    rows = Transfer.objects.filter(hour__gte=hour, hour__lt=until)
    # The end is in no index, so it is looked at in the first hour only.
    return rows.alias(end=END).filter(Q(hour__gt=hour) | Q(end__gte=since * 1000)) if since > hour else rows


def forget_days(hours: Iterable[int]) -> None:
    """Let the days of these hours be counted from their rows, within a transaction that changes rows."""
    Day.objects.filter(start__in={hour // DAY * DAY for hour in hours}).delete()


def expire(until: int) -> None:
    """Delete the facts of the days before this time, within a transaction."""
    Day.objects.filter(start__lt=until - DAY).delete()
    DayFact.objects.filter(day__lt=until - DAY)._raw_delete("default")


def write_day(day: int) -> None:
    """Write the facts of a day, within a transaction."""
    totals, of_pairs, amounts = Counter[tuple[Any, ...]](), Counter[tuple[Any, ...]](), Counter[tuple[Any, ...]]()
    for *columns, amount in ended((day, day + DAY)).values_list(*KEY, "sent").iterator():
        key = tuple(columns)
        totals[key] += 1
        of_pairs[key[:3]] += 1
        if key[KEY.index("outcome")] == Outcome.DELIVERED:
            amounts[key[:3]] += int(amount or 0)
    DayFact.objects.filter(day=day)._raw_delete("default")
    rows = []
    for key, n in totals.items():
        # An amount is text, which databases can't add up.
        sent = str(amounts[key[:3]]) if key[:3] in of_pairs else None
        row = dict(zip(KEY, key, strict=True))
        rows.append({"day": day, **row, "n": n, "pair": of_pairs.pop(key[:3], None), "sent": sent})
    write(DayFact, rows)
    Day.objects.get_or_create(start=day)


def divided(span: Span, length: int = DAY) -> tuple[Sequence[int], Sequence[Span]]:
    """Return the days of a time that have facts, and the rest of it, which is all of it if hours are counted."""
    if length == HOUR:
        return (), [span]
    since, until = span
    known = Day.objects.filter(start__gte=since, start__lte=until - DAY).order_by("start")
    days, spans, start = list(known.values_list("start", flat=True)), list[Span](), since
    for day in [*days, until]:
        if start < day:
            spans.append((start, day))
        start = day + DAY
    return days, spans
