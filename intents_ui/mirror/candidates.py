"""Transfers that may be the one that a customer means, by its amount, token, chains and time, by an address, or by the
ends of hashes and addresses. Queries for pages, which never write.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Abs, Lower

from intents_ui.mirror.entry import ADDRESS, ENDS, HASH, milliseconds, packed, size_of, unpacked
from intents_ui.mirror.models import ADDRESSES, DAY_MILLISECONDS, FOUND_BY, Route, Token, Transfer

if TYPE_CHECKING:
    from intents_ui.search.facts import TicketFacts

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
# Columns that can be shortened, with their bytes: addresses are stored as a whole, of others there are the ends.
SIZES = {"intent_id": HASH} | dict.fromkeys(ADDRESSES, ADDRESS) | dict.fromkeys(FOUND_BY[1:], ENDS)
COLUMNS = ("created", "size", "origin_token", "destination_token", "route", "outcome", "memo", *SIZES)

type Rows = QuerySet[Transfer]
type Row = Any  # with the columns of a transfer


@dataclass(frozen=True)
class Candidate:
    """A transfer, with the facts that match, and those that contradict it."""

    intent_id: str
    matches: Sequence[str]
    contradicts: Sequence[str]


def candidates(wanted: "TicketFacts", *, now: datetime) -> Sequence[Candidate]:
    """Return the transfers that may be meant, at most MOST, the likeliest first."""
    search = _Search(wanted, now)
    rows = [*search.by_ends(), *search.by_address()] or [*search.by_facts()]
    found = {row.intent_id: (row, dict(search.judged(row))) for row in rows}
    ranked = sorted(found.values(), key=lambda each: (-search.score(*each), -each[0].created))
    return [
        Candidate(
            unpacked(row.intent_id, HASH), *([name for name in facts if facts[name] is fits] for fits in (True, False))
        )
        for row, facts in ranked[:MOST]
    ]


class _Search:
    """What is wanted in the terms of the copy. `on` are the routes that match each chain that was named."""

    def __init__(self, wanted: "TicketFacts", now: datetime) -> None:
        self.wanted = wanted
        self.since, self.until = milliseconds(wanted.since or now - KEPT), milliseconds(wanted.until or now + TOMORROW)
        self.all_days = _days(milliseconds(now - KEPT), milliseconds(now + TOMORROW))
        # What other tokens than those of a dollar were worth isn't known.
        amounts = () if wanted.in_dollars and wanted.symbols else wanted.amounts
        units = (int(each.scaleb(HASH)) for each in amounts)  # with more decimals than any token has
        self.sizes = [size for each in units if (size := size_of(each, HASH)) is not None]
        self.addresses = [found for each in wanted.pasted.addresses if (found := packed(each.value, ADDRESS))]
        self.shortened = [(each.head, each.tail) for each in wanted.pasted.shortened]
        self.tokens = _tokens(wanted)
        chains, sides = [str(each.id) for each in wanted.chains], {}
        if wanted.origin:
            sides[ORIGIN] = Q(origin_chain=str(wanted.origin.id))
        if wanted.destination:
            sides[DESTINATION] = Q(destination_chain=str(wanted.destination.id))
        if chains:
            sides[CHAIN] = Q(origin_chain__in=chains) | Q(destination_chain__in=chains)
        self.on = {name: set(Route.objects.filter(each).values_list("pk", flat=True)) for name, each in sides.items()}

    # What is read

    def by_ends(self) -> Iterator[Row]:
        for head, tail in self.shortened:
            for column, size in SIZES.items() if head else ():
                known = head[:ENDS] if size == ENDS else head
                low, high = (bytes.fromhex(known.ljust(2 * size, filler)) for filler in "0f")
                rows = self._narrowed(column, **{f"{column}__gte": low, f"{column}__lte": high})
                yield from (row for row in rows if _has_ends(getattr(row, column), head, tail))

    def by_address(self) -> Iterator[Row]:
        for address in self.addresses:
            for column in ADDRESSES:
                yield from self._narrowed(column, **{column: address})

    def _narrowed(self, column: str, **condition: bytes) -> Iterator[Row]:
        """Yield the newest. If there are more, yield also those with the amount or the memo."""
        rows = Transfer.objects.filter(**condition).order_by("-created")
        if column in FOUND_BY:
            rows = rows.filter(created_day__in=self.all_days)
        newest = _read(rows, most=MAX_OF_ADDRESS)
        yield from newest
        if len(newest) == MAX_OF_ADDRESS:
            for size in self.sizes:
                yield from _read(rows.filter(_near(size)))
            if self.wanted.memo:
                yield from _read(rows.filter(memo__icontains=self.wanted.memo))

    def by_facts(self) -> Iterator[Row]:
        """Yield what all facts match. If these are few, yield also what one of them contradicts."""
        told = {}
        if self.wanted.since or self.wanted.until:
            told[TIME] = Q(created__gte=self.since, created__lt=self.until)
        if self.tokens:
            told[TOKEN] = Q(origin_token__in=self.tokens) | Q(destination_token__in=self.tokens)
        if self.on:
            told[ROUTE] = Q(on__in=set.intersection(*self.on.values()))
        is_short = self.until - self.since <= LONGEST_WITHOUT_AMOUNT // timedelta(milliseconds=1)
        can_lack_amount = is_short and bool(self.tokens or self.on)
        for size in self.sizes:
            told[AMOUNT] = _near(size)
            found: dict[bytes, Row] = {}
            for left_out in ("", *told):
                is_timed = TIME in told and left_out != TIME
                if len(found) >= ENOUGH or (left_out == AMOUNT and not (is_timed and can_lack_amount)):
                    break
                days = _days(self.since, self.until) if is_timed else self.all_days
                conditions = (each for name, each in told.items() if name != left_out)
                # By a sum, SQLite doesn't take the index of routes, which are most transfers of a chain.
                rows = Transfer.objects.alias(on=F("route") + 0, distance=Abs(F("size") - size))
                rows = rows.filter(*conditions, created_day__in=days).order_by("distance", "-created")
                found |= {row.intent_id: row for row in _read(rows)}
            yield from found.values()

    # What matches

    def judged(self, row: Row) -> Iterator[tuple[str, bool]]:
        """Yield the facts about a transfer, and whether they match."""
        wanted = self.wanted
        for head, tail in self.shortened:
            yield from ((column, True) for column in SIZES if _has_ends(getattr(row, column), head, tail))
        if self.addresses:
            yield ADDRESS_GIVEN, any(getattr(row, column) in self.addresses for column in ADDRESSES)
        if self.sizes and row.size is not None and (row.origin_token in self.tokens or not wanted.in_dollars):
            yield AMOUNT, self._distance(row) <= FEE
        if self.tokens and wanted.symbols:
            is_token = row.origin_token in self.tokens or row.destination_token in self.tokens
            if is_token or row.destination_token is not None:  # unknown until it has arrived
                yield TOKEN, is_token
        yield from ((name, row.route in routes) for name, routes in self.on.items())
        if wanted.since or wanted.until:
            yield TIME, self.since <= row.created < self.until
        if wanted.statuses:
            yield STATUS, row.outcome in wanted.statuses
        if wanted.memo and row.memo:
            yield MEMO, wanted.memo.casefold() in row.memo.casefold()

    def score(self, row: Row, facts: dict[str, bool]) -> int:
        score = sum(WEIGHTS.get(name, WEIGHT_OF_ENDS) * (1 if fits else -1) for name, fits in facts.items())
        # The nearest of amounts that match comes first.
        return score - (self._distance(row) if facts.get(AMOUNT) else 0)

    def _distance(self, row: Row) -> int:
        return min(abs(each - int(row.size)) for each in self.sizes)


def _read(rows: Rows, *, most: int = MAX_READ) -> list[Row]:
    return list(rows.values_list(*COLUMNS, named=True)[:most])


def _days(since: int, until: int) -> Sequence[int]:
    return range(since // DAY_MILLISECONDS, until // DAY_MILLISECONDS + 1)


def _near(size: int) -> Q:
    return Q(size__gte=size - FEE, size__lte=size + FEE)


def _tokens(wanted: "TicketFacts") -> set[int]:
    """Return the tokens with these symbols, or those of a dollar if the amount is in dollars.

    Customers call `usdc.e`, `usdt0` and `weth` by their plain names, too.
    """
    tokens = Token.objects.annotate(lowered=Lower("symbol")).values_list("pk", flat=True)
    if wanted.symbols:
        names = [form.format(each.lower()) for each in wanted.symbols for form in ("{}", "{}.e", "{}0", "w{}")]
        return set(tokens.filter(lowered__in=names))
    return set(tokens.filter(lowered__contains="usd")) if wanted.in_dollars else set()


def _has_ends(value: bytes | None, head: str, tail: str) -> bool:
    """Return whether a value, or what is stored of it, begins and ends with these hex digits."""
    if value is None or len(value) not in (ENDS, ADDRESS, HASH):
        return False
    digits = bytes(value).hex()
    if len(value) > ENDS:
        return len(head) + len(tail) <= len(digits) and digits.startswith(head) and digits.endswith(tail)
    return digits[:ENDS].startswith(head[:ENDS]) and digits[ENDS:].endswith(tail[-ENDS:])
