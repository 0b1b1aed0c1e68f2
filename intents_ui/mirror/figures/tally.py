"""Figures of a set of ended transfers, which can be merged and stored. Pure functions over rows.

Owners are counted by 32-bit hashes, which stay in the figures of hours, so that those of a day are exact. Those of a
day keep the smallest hashes of each cause, so that those of a longer time are exact if they are few.
"""

import heapq
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

from intents_ui.mirror.figures import histogram
from intents_ui.mirror.figures.histogram import Histogram
from intents_ui.service.wire.outcome import Outcome

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
PLACES = {outcome.value: place for place, outcome in enumerate(ENDED)}
FIRST = 5  # slowest and latest failed transfers
KEPT_HASHES = 16  # of each cause, of a day
SIZE = 4  # bytes of a hash

type Cause = tuple[int | None, int | None]  # failed step and reason
type Pair = tuple[int | None, int | None]  # tokens of the origin and the destination
type Group = tuple[int, int | None, int | None]  # route and pair
DELIVERED: Cause | None = None


class Row(NamedTuple):
    """An ended transfer. Times are Unix milliseconds."""

    pk: int
    route: int
    outcome: str
    created: int
    updated: int
    started: int | None
    ended: int | None
    owner: bytes | None
    failed_step: int | None
    reason: int | None
    origin_token: int | None
    destination_token: int | None
    sent: str | None

    @property
    def end(self) -> int:
        return end_of(self.ended, self.updated, self.created)

    @property
    def duration(self) -> int | None:
        """Return the milliseconds from the start of the execution to the end."""
        return duration_of(self.started, self.ended)


def end_of(ended: int | None, updated: int, created: int) -> int:
    """Return when a transfer ended. Without that time, it is that of its last change."""
    return max(ended or updated, created)


def duration_of(started: int | None, ended: int | None) -> int | None:
    """Return the time from the start of the execution to the end, or None if one is unknown."""
    return None if started is None or ended is None or ended < started else ended - started


class Stored(NamedTuple):
    """Figures as columns of a row, in the order of `COLUMNS`."""

    delivered: int
    refunded: int
    failed: int
    aborted: int
    rejected: int
    unconfirmed: int
    owners: int
    failed_owners: int
    durations: bytes
    details: str
    owner_hashes: bytes


COLUMNS = Stored._fields


@dataclass(slots=True)
class Tally:
    """Figures of ended transfers.

    `reasons` are the counts of those that were not delivered, by cause. `tokens` are the counts of pairs, with the
    amount that was sent for the delivered ones. `slowest` are durations, `failures` times of ending, both with primary
    keys. `owners` are hashes, of delivered transfers and by cause.
    """

    counts: list[int] = field(default_factory=lambda: [0] * len(ENDED))
    durations: Histogram = field(default_factory=dict)
    reasons: dict[Cause, int] = field(default_factory=dict)
    tokens: dict[Pair, tuple[int, int]] = field(default_factory=dict)
    slowest: list[tuple[int, int]] = field(default_factory=list)
    failures: list[tuple[int, int]] = field(default_factory=list)
    owners: dict[Cause | None, set[int]] = field(default_factory=dict)

    @property
    def ended(self) -> int:
        return sum(self.counts)

    @property
    def delivered(self) -> int:
        return self.counts[0]

    def add(self, row: Row) -> None:
        place = PLACES[row.outcome]
        self.counts[place] += 1
        pair, cause = (row.origin_token, row.destination_token), DELIVERED
        count, sent = self.tokens.get(pair, (0, 0))
        self.tokens[pair] = count + 1, sent + (int(row.sent or 0) if place == 0 else 0)
        if place == 0:
            duration = row.duration
            if duration is not None:
                histogram.add(self.durations, [(histogram.bucket(duration), 1)])
                _push(self.slowest, (duration, row.pk))
        else:
            cause = row.failed_step, row.reason
            self.reasons[cause] = self.reasons.get(cause, 0) + 1
            _push(self.failures, (row.end, row.pk))
        if row.owner is not None:
            self.owners.setdefault(cause, set()).add(owner_hash(row.owner))

    def merge(self, other: "Tally") -> None:
        for place, count in enumerate(other.counts):
            self.counts[place] += count
        histogram.add(self.durations, other.durations.items())
        for cause, count in other.reasons.items():
            self.reasons[cause] = self.reasons.get(cause, 0) + count
        for pair, (count, amount) in other.tokens.items():
            known = self.tokens.get(pair, (0, 0))
            self.tokens[pair] = known[0] + count, known[1] + amount
        if other.slowest:
            self.slowest = first(self.slowest + other.slowest)
        if other.failures:
            self.failures = first(self.failures + other.failures)
        for key, hashes in other.owners.items():
            self.owners.setdefault(key, set()).update(hashes)

    def store(self, *, kept_hashes: int | None = None, most: int | None = None) -> Stored:
        """Return the columns, with so many hashes of each cause, and so many of the most frequent causes and pairs."""
        causes = sorted(self.reasons, key=lambda cause: (-self.reasons[cause], _order(cause)))
        pairs = sorted(self.tokens, key=lambda pair: (-self.tokens[pair][0], _order(pair)))
        details = (
            [[*cause, self.reasons[cause], len(self.owners.get(cause, ()))] for cause in causes[:most]],
            [[*pair, *self.tokens[pair]] for pair in pairs[:most]],
            first(self.slowest),
            first(self.failures),
        )
        failed = set[int]().union(*(hashes for cause, hashes in self.owners.items() if cause is not DELIVERED))
        return Stored._make(
            (
                *self.counts,
                len(failed | self.owners.get(DELIVERED, set())),
                len(failed),
                histogram.encode(self.durations),
                json.dumps(details, separators=(",", ":")),
                b"".join(_packed(self.owners.get(key, ()), kept_hashes) for key in (DELIVERED, *causes)),
            )
        )


class Details(NamedTuple):
    """What a row has as JSON. `reasons` are step, reason, count and owners. `tokens` are a pair, count and amount."""

    reasons: Sequence[tuple[int | None, int | None, int, int]]
    tokens: Sequence[tuple[int | None, int | None, int, int]]
    slowest: Sequence[tuple[int, int]]
    failures: Sequence[tuple[int, int]]


def details(stored: str) -> Details:
    return Details(*[[tuple(each) for each in part] for part in (json.loads(stored) if stored else [[]] * 4)])


def load(columns: Sequence[Any]) -> Tally:
    """Return the figures of a row, given in the order of `COLUMNS`."""
    row = Stored(*columns)
    found = details(row.details)
    causes: list[Cause] = [(step, reason) for step, reason, _, _ in found.reasons]
    return Tally(
        counts=list(columns[: len(ENDED)]),
        durations=dict(histogram.decode(bytes(row.durations))),
        reasons={(step, reason): count for step, reason, count, _ in found.reasons},
        tokens={(origin, destination): (count, sent) for origin, destination, count, sent in found.tokens},
        slowest=list(found.slowest),
        failures=list(found.failures),
        owners={key: each for key, each in zip((DELIVERED, *causes), _hashes(row.owner_hashes), strict=False) if each},
    )


def by_group(rows: Iterable[Row]) -> dict[Group, Tally]:
    """Return the figures of each route and pair of tokens. Takes memory for the groups and their owners only."""
    found: dict[Group, Tally] = {}
    for row in rows:
        key = row.route, row.origin_token, row.destination_token
        if key not in found:
            found[key] = Tally()
        found[key].add(row)
    return found


def by_scope(
    groups: Mapping[Group, Tally], scopes: Mapping[int, Sequence[int]], tokens: Mapping[int, int]
) -> dict[int, Tally]:
    """Return the figures of each scope. `scopes` are those of each route, `tokens` has that of each token."""
    routes: dict[int, Tally] = {}
    found: dict[int, Tally] = {}
    for (route, *pair), tally in groups.items():
        routes.setdefault(route, Tally()).merge(tally)
        for scope in {tokens[each] for each in pair if each is not None}:
            found.setdefault(scope, Tally()).merge(tally)
    for route, tally in routes.items():
        for scope in scopes[route]:
            found.setdefault(scope, Tally()).merge(tally)
    return found


def owner_hash(owner: bytes) -> int:
    return int.from_bytes(blake2b(owner, digest_size=SIZE).digest())


def first(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the greatest, from the greatest on."""
    return sorted(found, reverse=True)[:FIRST]


def _push(heap: list[tuple[int, int]], each: tuple[int, int]) -> None:
    """Add one, and keep the greatest."""
    if len(heap) < FIRST:
        heapq.heappush(heap, each)
    else:
        heapq.heappushpop(heap, each)


def _order(pair: tuple[int | None, int | None]) -> tuple[int, int]:
    one, other = pair
    return -1 if one is None else one, -1 if other is None else other


def _packed(hashes: Iterable[int], most: int | None) -> bytes:
    kept = sorted(hashes)[:most]
    return struct.pack(f">I{len(kept)}I", len(kept), *kept)


def _hashes(stored: bytes) -> Iterable[set[int]]:
    place, data = 0, bytes(stored)
    while place < len(data):
        (count,) = struct.unpack_from(">I", data, place)
        yield set(struct.unpack_from(f">{count}I", data, place + SIZE))
        place += SIZE * (count + 1)
