"""Transfers that may be the one that a customer means, by its amount, token, chains and time, by an address, or by the
ends of hashes and addresses. Queries for pages, which never write.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Abs, Lower

from intents_ui.mirror.entry import ADDRESS, ENDS, HASH, milliseconds, packed, size_of, unpacked
from intents_ui.mirror.models import DAY_MILLISECONDS, FOUND_BY, Route, Token, Transfer
from intents_ui.service.outcome import Outcome

KEPT, TOMORROW = timedelta(days=90), timedelta(days=1)
FEE = 30  # sizes, which is 3%: more may be sent than is to arrive
ENOUGH = 10  # transfers. If there are fewer, those are read, too, that one fact contradicts
MAX_READ, MAX_OF_ADDRESS, MOST = 300, 1_000, 100  # transfers of a query, and of a result
LONGEST_WITHOUT_AMOUNT = timedelta(days=3)

# Facts. Others are the columns of shortened values.
AMOUNT, TOKEN, ORIGIN, DESTINATION, CHAIN = "amount", "token", "origin", "destination", "chain"
ROUTE, TIME, STATUS, MEMO, ADDRESS_GIVEN = "route", "time", "status", "memo", "address"
# How much a fact says about which transfer is meant.
WEIGHTS = {
    AMOUNT: 40, TOKEN: 20, ORIGIN: 20, DESTINATION: 20, CHAIN: 15, TIME: 15, STATUS: 5, MEMO: 50, ADDRESS_GIVEN: 50,
}  # fmt: skip
WEIGHT_OF_ENDS = 100
ADDRESSES = ("owner", "recipient", "refund")  # which are stored as a whole
SHORTENED = ("intent_id", *ADDRESSES, *(each for each in FOUND_BY if each not in ADDRESSES))
COLUMNS = (
    "created", "size", "origin_token_id", "destination_token_id", "route_id", "outcome", "memo", *SHORTENED,
)  # fmt: skip


@dataclass(frozen=True)
class Wanted:
    """What is known of a transfer. Chains are IDs. `shortened` are the hex digits at the start and end of values."""

    amounts: Sequence[Decimal] = ()
    in_dollars: bool = False
    symbols: Iterable[str] = ()
    origin: int | None = None
    destination: int | None = None
    chains: Sequence[int] = ()
    since: datetime | None = None
    until: datetime | None = None
    outcomes: Set[Outcome] = frozenset()
    memo: str = ""
    shortened: Sequence[tuple[str, str]] = ()
    addresses: Sequence[str] = ()


@dataclass(frozen=True)
class Candidate:
    """A transfer, with the facts that match, and those that contradict it."""

    intent_id: str
    matches: Sequence[str]
    contradicts: Sequence[str]


def candidates(wanted: Wanted, *, now: datetime) -> Sequence[Candidate]:
    """Return the transfers that may be meant, at most MOST, the likeliest first."""
    search = _Search(wanted, now)
    found = {row.intent_id: row for row in search.rows()}
    judged = [(search.score(row), row) for row in found.values()]
    ranked = sorted(judged, key=lambda each: (-each[0], -each[1].created))
    return [Candidate(unpacked(row.intent_id, HASH), *search.judge(row)) for _, row in ranked[:MOST]]


class _Row(NamedTuple):
    """The COLUMNS of a transfer."""

    created: int
    size: int | None
    origin_token: int | None
    destination_token: int | None
    route: int
    outcome: str
    memo: str | None
    intent_id: bytes
    owner: bytes | None
    recipient: bytes | None
    refund: bytes | None
    deposit_hash: bytes | None
    origin_hash: bytes | None
    destination_hash: bytes | None
    refund_hash: bytes | None
    deposit_address: bytes | None
    delivery_address: bytes | None


class _Search:
    def __init__(self, wanted: Wanted, now: datetime) -> None:
        self.wanted = wanted
        self.since, self.until = milliseconds(wanted.since or now - KEPT), milliseconds(wanted.until or now + TOMORROW)
        self.all_days = _days(milliseconds(now - KEPT), milliseconds(now + TOMORROW))
        # What other tokens than those of a dollar were worth isn't known.
        amounts = () if wanted.in_dollars and wanted.symbols else wanted.amounts
        self.sizes = [size for each in amounts if (size := _size(each)) is not None]
        self.addresses = [found for each in wanted.addresses if (found := packed(each, ADDRESS))]
        self.shortened = [(head.lower(), tail.lower()) for head, tail in wanted.shortened]

    # What is read

    def rows(self) -> Sequence[_Row]:
        return [*self._by_ends(), *self._by_address()] or [*self._by_facts()]

    def _by_ends(self) -> Iterator[_Row]:
        for head, tail in self.shortened:
            for column in SHORTENED if head else ():
                low, high = _span(head, column)
                rows = self._of_column(column, **{f"{column}__gte": low, f"{column}__lte": high})
                yield from (row for row in self._narrowed(rows) if _has_ends(getattr(row, column), head, tail))

    def _by_address(self) -> Iterator[_Row]:
        for address in self.addresses:
            for column in ADDRESSES:
                yield from self._narrowed(self._of_column(column, **{column: address}))

    def _of_column(self, column: str, **condition: bytes) -> QuerySet[Transfer]:
        rows = Transfer.objects.filter(**condition).order_by("-created")
        return rows.filter(created_day__in=self.all_days) if column in FOUND_BY else rows

    def _narrowed(self, rows: QuerySet[Transfer]) -> Iterator[_Row]:
        """Yield the newest. If there are more, yield also those with the amount or the memo."""
        newest = _read(rows, most=MAX_OF_ADDRESS)
        yield from newest
        if len(newest) == MAX_OF_ADDRESS:
            for size in self.sizes:
                yield from _read(rows.filter(_near(size)))
            if self.wanted.memo:
                yield from _read(rows.filter(memo__icontains=self.wanted.memo))

    def _by_facts(self) -> Iterator[_Row]:
        """Yield what all facts match. If these are few, yield also what one of them contradicts."""
        told = {}
        if self.wanted.since or self.wanted.until:
            told[TIME] = Q(created__gte=self.since, created__lt=self.until)
        if self.tokens:
            told[TOKEN] = Q(origin_token__in=self.tokens) | Q(destination_token__in=self.tokens)
        if self.on:
            told[ROUTE] = Q(on__in=set.intersection(*self.on.values()))
        for size in self.sizes:
            told[AMOUNT] = _near(size)
            found: dict[bytes, _Row] = {}
            for left_out in ("", *told):
                is_timed = TIME in told and left_out != TIME
                if len(found) >= ENOUGH or (left_out == AMOUNT and not (is_timed and self._can_lack_amount)):
                    break
                days = _days(self.since, self.until) if is_timed else self.all_days
                conditions = (each for name, each in told.items() if name != left_out)
                # By a sum, SQLite doesn't take the index of routes, which are most transfers of a chain.
                rows = Transfer.objects.alias(on=F("route") + 0, distance=Abs(F("size") - size))
                rows = rows.filter(*conditions, created_day__in=days).order_by("distance", "-created")
                found |= {row.intent_id: row for row in _read(rows)}
            yield from found.values()

    @property
    def _can_lack_amount(self) -> bool:
        is_short = self.until - self.since <= LONGEST_WITHOUT_AMOUNT // timedelta(milliseconds=1)
        return is_short and bool(self.tokens or self.on)

    # What is told, in the terms of the copy

    @cached_property
    def tokens(self) -> set[int]:
        """The tokens with these symbols, or those of a dollar if the amount is in dollars."""
        tokens = Token.objects.annotate(lowered=Lower("symbol")).values_list("pk", flat=True)
        if self.wanted.symbols:
            return set(tokens.filter(lowered__in={name for each in self.wanted.symbols for name in _alike(each)}))
        return set(tokens.filter(lowered__contains="usd")) if self.wanted.in_dollars else set()

    @cached_property
    def on(self) -> dict[str, set[int]]:
        """The routes that match each chain that was named."""
        wanted, told = self.wanted, {}
        if wanted.origin is not None:
            told[ORIGIN] = Q(origin_chain=str(wanted.origin))
        if wanted.destination is not None:
            told[DESTINATION] = Q(destination_chain=str(wanted.destination))
        if chains := [*map(str, wanted.chains)]:
            told[CHAIN] = Q(origin_chain__in=chains) | Q(destination_chain__in=chains)
        return {name: set(Route.objects.filter(each).values_list("pk", flat=True)) for name, each in told.items()}

    # What matches

    def score(self, row: _Row) -> int:
        matches, contradicts = self.judge(row)
        of_facts = sum(WEIGHTS.get(each, WEIGHT_OF_ENDS) for each in matches) - sum(
            WEIGHTS[each] for each in contradicts
        )
        # The nearest of amounts that match comes first.
        return of_facts - (self._distance(row.size) if AMOUNT in matches else 0)

    def judge(self, row: _Row) -> tuple[Sequence[str], Sequence[str]]:
        """Return the facts that match, and those that contradict the transfer."""
        judged = dict(self._judged(row))
        return [fact for fact, fits in judged.items() if fits], [fact for fact, fits in judged.items() if not fits]

    def _judged(self, row: _Row) -> Iterator[tuple[str, bool]]:
        """Yield what is known of the transfer."""
        wanted = self.wanted
        for head, tail in self.shortened:
            yield from ((column, True) for column in SHORTENED if _has_ends(getattr(row, column), head, tail))
        if self.addresses:
            yield ADDRESS_GIVEN, any(getattr(row, column) in self.addresses for column in ADDRESSES)
        if self.sizes and row.size is not None and (row.origin_token in self.tokens or not wanted.in_dollars):
            yield AMOUNT, self._distance(row.size) <= FEE
        if self.tokens and wanted.symbols:
            is_token = row.origin_token in self.tokens or row.destination_token in self.tokens
            if is_token or row.destination_token is not None:  # unknown until it has arrived
                yield TOKEN, is_token
        for name, routes in self.on.items():
            yield name, row.route in routes
        if wanted.since or wanted.until:
            yield TIME, self.since <= row.created < self.until
        if wanted.outcomes:
            yield STATUS, row.outcome in wanted.outcomes
        if wanted.memo and row.memo:
            yield MEMO, wanted.memo.casefold() in row.memo.casefold()

    def _distance(self, size: int | None) -> int:
        return min(abs(each - (size or 0)) for each in self.sizes)


def _read(rows: QuerySet[Transfer], *, most: int = MAX_READ) -> list[_Row]:
    return [_Row(*each) for each in rows.values_list(*COLUMNS)[:most]]


def _days(since: int, until: int) -> Sequence[int]:
    return range(since // DAY_MILLISECONDS, until // DAY_MILLISECONDS + 1)


def _size(amount: Decimal) -> int | None:
    whole, part = amount.as_integer_ratio()
    units = round(whole * 10**HASH / part)
    return size_of(units, HASH)


def _near(size: int) -> Q:
    return Q(size__gte=size - FEE, size__lte=size + FEE)


def _alike(symbol: str) -> Iterator[str]:
    """Yield the symbols of tokens that customers call by this one."""
    plain = symbol.lower()
    yield from (plain, f"{plain}.e", f"{plain}0", f"w{plain}")


def _span(head: str, column: str) -> tuple[bytes, bytes]:
    """Return the first and the last value of a column that begins with these hex digits."""
    size = HASH if column == "intent_id" else ADDRESS if column in ADDRESSES else ENDS
    known = head if column in (("intent_id", *ADDRESSES)) else head[:ENDS]
    low, high = (bytes.fromhex(known.ljust(2 * size, filler)) for filler in "0f")
    return low, high


def _has_ends(value: bytes | None, head: str, tail: str) -> bool:
    """Return whether a value, or what is stored of it, begins and ends with these hex digits."""
    if value is None or len(value) not in (ENDS, ADDRESS, HASH):
        return False
    digits = bytes(value).hex()
    if len(value) > ENDS:
        return len(head) + len(tail) <= len(digits) and digits.startswith(head) and digits.endswith(tail)
    return digits[:ENDS].startswith(head[:ENDS]) and digits[ENDS:].endswith(tail[-ENDS:])
