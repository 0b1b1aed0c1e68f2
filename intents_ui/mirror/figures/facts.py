"""Counts of ended transfers, grouped by columns. Past days are counted from `DayFact`, all other times from the rows.

A change of a transfer deletes the mark of its day (`forget_days`), in the same transaction, so that its rows are
counted until the leader has written the day's facts again.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.db import connection
from django.db.models import Case, Count, F, Q, QuerySet, Sum, When
from django.db.models.functions import Coalesce, Greatest

from intents_ui.mirror.figures import statistics
from intents_ui.mirror.models import Day, DayFact, Transfer
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
END = Greatest(Coalesce("ended", "updated"), F("created"))  # as `end_of`
KEY = ("route_id", "origin_token_id", "destination_token_id", "outcome", "failed_step", "reason_id", "bucket")
ALL = Q()
IN_TIME = Case(When(bucket__lte=F("route__late_bucket"), then=True), default=False)  # delivered before it was late
# `bulk_create` takes several times as long.
INSERT = f"""
INSERT INTO mirror_dayfact (day, {", ".join(KEY)}, n, pair, sent) VALUES ({", ".join(["%s"] * (len(KEY) + 4))})
"""  # noqa: S608 - names of columns

type Span = tuple[int, int]  # Unix seconds: from when on, and before when


def end_of(ended: int | None, updated: int, created: int) -> int:
    """Return when a transfer ended. Without that time, it is that of its last change."""
    return max(ended or updated, created)


def duration_of(started: int | None, ended: int | None) -> int | None:
    """Return the time from the start of the execution to the end, or None if one is unknown."""
    return None if started is None or ended is None or ended < started else ended - started


def bucket_of(outcome: Outcome, started: int | None, ended: int | None) -> int | None:
    """Return the bucket of a delivered transfer's duration, or None if it is another one's or unknown."""
    duration = duration_of(started, ended) if outcome is Outcome.DELIVERED else None
    return None if duration is None else statistics.bucket(duration)


def count(*columns: str | Case, span: Span, where: Q = ALL, length: int = DAY) -> Counter[tuple[Any, ...]]:
    """Count the transfers that ended in a time by these columns.

    A column can be `start`, that of the hour or day (`length`). `where` is a condition on columns that facts have, too.
    """
    days, spans = divided(span) if length == DAY else ((), [span])
    return count_days(*columns, days=days, where=where) + count_rows(*columns, spans=spans, where=where, length=length)


def count_days(*columns: str | Case, days: Collection[int], where: Q = ALL) -> Counter[tuple[Any, ...]]:
    """Count the same on days that have facts."""
    facts = DayFact.objects.filter(where, day__in=days).annotate(start=F("day"))
    found = facts.values_list(*columns).annotate(total=Sum("n")) if days else ()
    return Counter({tuple(key): total for *key, total in found})


def count_rows(
    *columns: str | Case, spans: Iterable[Span], where: Q = ALL, length: int = DAY
) -> Counter[tuple[Any, ...]]:
    """Count the same from the rows of several times."""
    found = Counter[tuple[Any, ...]]()
    for each in spans:
        rows = ended(each).filter(where).annotate(start=F("hour") - F("hour") % length)
        found.update({tuple(key): total for *key, total in rows.values_list(*columns).annotate(total=Count("pk"))})
    return found


def pairs(*, span: Span, where: Q = ALL) -> Mapping[tuple[int | None, int | None], tuple[int, int]]:
    """Return how many transfers ended and what the delivered ones sent, in base units, by the tokens of both sides."""
    tokens = "origin_token_id", "destination_token_id"
    days, spans = divided(span)
    counts = count_rows(*tokens, spans=spans, where=where)
    amounts = Counter[tuple[Any, ...]]()
    for origin, destination, n, amount in DayFact.objects.filter(where, day__in=days, pair__isnull=False).values_list(
        *tokens, "pair", "sent"
    ):
        counts[origin, destination] += n
        amounts[origin, destination] += int(amount)
    for each in spans:
        delivered = ended(each).filter(where, outcome=Outcome.DELIVERED, sent__isnull=False)
        for origin, destination, amount in delivered.values_list(*tokens, "sent"):
            amounts[origin, destination] += int(amount)
    return {(origin, destination): (n, amounts[origin, destination]) for (origin, destination), n in counts.items()}


def ended(span: Span) -> QuerySet[Transfer]:
    """Return the rows of the transfers that ended in a time."""
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
    # An amount is text, which databases can't add up.
    unwritten = {pair: (n, str(amounts[pair])) for pair, n in of_pairs.items()}
    rows = [(day, *key, n, *unwritten.pop(key[:3], (None, None))) for key, n in totals.items()]
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(INSERT, rows)
    Day.objects.get_or_create(start=day)


def divided(span: Span) -> tuple[Sequence[int], Sequence[Span]]:
    """Return the days of a time that have facts, and the rest of it."""
    since, until = span
    known = Day.objects.filter(start__gte=since, start__lte=until - DAY).order_by("start")
    days, spans, start = list(known.values_list("start", flat=True)), list[Span](), since
    for day in [*days, until]:
        if start < day:
            spans.append((start, day))
        start = day + DAY
    return days, spans
