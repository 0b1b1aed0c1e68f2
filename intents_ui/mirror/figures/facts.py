"""Ended transfers, added up by their route and tokens. Of past days there are facts, all other times are rows.

A change of a transfer deletes the facts of its day (`forget_days`), in the same transaction, so that its rows are
counted until the leader has written them again.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Min, QuerySet
from pydantic_core import from_json, to_json

from intents_ui.mirror.models import Day, DayBar, Transfer
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
PAIR = ("route_id", "origin_token_id", "destination_token_id")
HOURS_SHOWN = 9 * DAY  # the longest period that a page shows by the hour, and the days on which it begins and ends

type Span = tuple[int, int]  # Unix seconds: from when on, and before when
type Pair = tuple[int, int | None, int | None]
type Other = tuple[str, int | None, int | None]  # outcome, failed step, reason


@dataclass(slots=True)
class Ended:
    """What ended of a route and its tokens.

    `durations` are the numbers of the delivered ones by bucket, `others` those of all without a duration. `sent` is
    what the delivered ones sent, in base units. If it was read from rows, there are the owners, and those of whom one
    transfer wasn't delivered.
    """

    durations: dict[int, int] = field(default_factory=dict)
    others: dict[Other, int] = field(default_factory=dict)
    sent: int = 0
    owners: set[bytes] = field(default_factory=set)
    unserved: set[bytes] = field(default_factory=set)

    @property
    def count(self) -> int:
        return sum(self.durations.values()) + sum(self.others.values())

    def add(self, other: "Ended") -> None:
        add(self.durations, other.durations)
        add(self.others, other.others)
        self.sent += other.sent
        self.owners |= other.owners
        self.unserved |= other.unserved


type Found = Mapping[Pair, Ended]


def add(counts: dict[Any, int], more: Mapping[Any, int]) -> None:
    """Add counts. Those of a `Counter` take several times as long."""
    if counts:
        for key, n in more.items():
            counts[key] = counts.get(key, 0) + n
    else:
        counts.update(more)


def merged(several: Iterable[Found]) -> Found:
    found = defaultdict[Pair, Ended](Ended)
    for each in several:
        for pair, ended in each.items():
            found[pair].add(ended)
    return found


def of_rows(span: Span) -> Mapping[int, Found]:
    """Add up the rows that ended in a time, by the start of the hour in which they did."""
    hours = defaultdict[int, defaultdict[Pair, Ended]](lambda: defaultdict(Ended))
    rows = ended(span).values_list("end", *PAIR, "outcome", "failed_step", "reason_id", "bucket", "sent", "owner")
    for end, route, origin, destination, outcome, step, reason, bucket, sent, owner in rows.iterator():
        own = hours[end // (HOUR * 1000) * HOUR][route, origin, destination]
        if bucket is None:
            add(own.others, {(outcome, step, reason): 1})
        else:
            own.durations[bucket] = own.durations.get(bucket, 0) + 1
        if outcome == Outcome.DELIVERED:
            own.sent += int(sent or 0)
        if owner is not None:
            own.owners.add(bytes(owner))
            if outcome != Outcome.DELIVERED:
                own.unserved.add(bytes(owner))
    return hours


def of_days(days: Sequence[int]) -> Iterator[Found]:
    """Yield the facts of these days, without those that have none now."""
    rows = Day.objects.exclude(facts="").filter(start__in=days).values_list("facts", flat=True)
    yield from map(_read, rows.iterator())


def ended(span: Span) -> QuerySet[Transfer]:
    return Transfer.objects.filter(end__gte=span[0] * 1000, end__lt=span[1] * 1000)


def written(found: Found) -> str:
    """Return the facts of a day as JSON."""
    rows = [
        (pair, each.sent, [*each.durations.items()], [(*other, n) for other, n in each.others.items()])
        for pair, each in found.items()
    ]
    return to_json(rows).decode()


def _read(facts: str) -> Found:
    return {
        tuple(pair): Ended(dict(durations), {tuple(other): n for *other, n in others}, sent)
        for pair, sent, durations, others in from_json(facts)
    }


def forget_days(ends: Iterable[int]) -> None:
    """Let the days of these ends be counted from their rows, within a transaction that changes rows."""
    Day.objects.filter(start__in={end // 1000 // DAY * DAY for end in ends}).delete()


def expire(until: int, *, now: int) -> None:
    """Delete the facts of the days before this time, and the hours of days that no chart shows by the hour."""
    DayBar.objects.filter(day__lt=now - HOURS_SHOWN).exclude(hours="").update(hours="")
    Day.objects.filter(start__lt=until - DAY).delete()
    DayBar.objects.filter(day__lt=until - DAY)._raw_delete("default")


def divided(span: Span, *, has_facts: bool = True) -> tuple[tuple[int, ...], Sequence[Span]]:
    """Return the days of a time that have facts, if it `has_facts`, and the rest of it, divided by days."""
    since, until = span
    days = Day.objects.exclude(facts="").filter(start__gte=since, start__lte=until - DAY)
    known = {*days.values_list("start", flat=True)} if has_facts else set()
    first = Transfer.objects.aggregate(first=Min("end"))["first"]
    since = until if first is None else max(since, first // 1000)
    rest = (day for day in range(since // DAY * DAY, until, DAY) if day not in known)
    return tuple(sorted(known)), [(max(day, since), min(day + DAY, until)) for day in rest]
