"""A list read page by page: onward, back, and to its end.

A page's cursor is the service's own and goes back to it unchanged (interface.md 4.2). Only the way back is made here,
by `before` (2.16), because a page that is asked for again may hold other rows by now: what was added before it, or has
left the filter, moves all that follows. A service that does not know `before`, or takes it otherwise (domain.md 3.1),
gets the cursor that led there at first.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from typing import Self

from intents_ui.service.answers import HistoryAnswer
from intents_ui.service.errors import Invalid
from intents_ui.service.wire import IntentHistory, Page

MOST_EARLIER = 20
MOST_ROWS = 500  # of a page, whatever length was asked for
ASCENDING = "ASC"
BY_CREATION = "createdAt"
LONG_AGO = datetime.min.replace(tzinfo=UTC)

type Ask = Callable[[Page], HistoryAnswer]


@dataclass(frozen=True)
class Position:
    """Where in a list a reader is: the page's cursor, None for the first, and those of the pages before it.

    A page that `is_backward` was read by `before`. It stands for the last of the `earlier` ones, and ends at `edge`:
    the Unix seconds of the row that follows it. The cursor does not tell: one that leads on may hold `before` too."""

    cursor: Page | None = None
    earlier: tuple[Page | None, ...] = ()
    edge: int | None = None
    is_backward: bool = False

    def onward(self, cursor: Page) -> Self:
        earlier = (*self.earlier, self.cursor)[-MOST_EARLIER:]
        return replace(self, cursor=cursor, earlier=earlier, edge=None, is_backward=False)

    def back(self, cursor: Page | None) -> Self:
        return replace(self, cursor=cursor, earlier=self.earlier[:-1], edge=None, is_backward=False)

    def has_been_at(self, page: Page) -> bool:
        been = (self.cursor, *self.earlier)
        return any(each is not None and each.cursor == page.cursor for each in been)


@dataclass(frozen=True)
class Leaf:
    """One page of a list. There is said to be more, and …: what leads to it was read already (`goes_in_circles`), or is
    no cursor (`is_lost`), or this page is empty (`breaks_off`). `begins_anew`: it is the first page,
    because no way back is known from the one before."""

    entries: tuple[IntentHistory, ...]
    following: Position | None
    previous: Position | None
    goes_in_circles: bool
    unreadable: int
    breaks_off: bool
    is_lost: bool
    begins_anew: bool = False


def leaf(ask: Ask, first: Page, *, at: Position) -> Leaf:
    """The page at a position; `first` says how the list is sorted and how long a page is."""
    try:
        answer = ask(at.cursor or first)
    except Invalid:
        if not at.is_backward:
            raise
        return _remembered(ask, first, at=at)
    return _backward(ask, first, answer, at=at) if at.is_backward else _forward(answer, first, at=at)


def _forward(answer: HistoryAnswer, first: Page, *, at: Position) -> Leaf:
    onward = answer.following
    circles = answer.is_stuck or (onward is not None and at.has_been_at(onward))
    entries = _entries(answer, first)
    return Leaf(
        entries=entries[:MOST_ROWS],
        following=at.onward(onward) if onward and not circles else None,
        previous=_before(at, entries, first),
        goes_in_circles=circles,
        unreadable=answer.unreadable_entries + len(entries[MOST_ROWS:]),
        breaks_off=answer.breaks_off,
        is_lost=answer.is_lost,
    )


def _before(at: Position, entries: Sequence[IntentHistory], first: Page) -> Position | None:
    """What was listed before this page when it was listed."""
    turned = at.cursor and turn(at.cursor, first, is_backward=False)
    if turned:
        return replace(at, cursor=turned, edge=_edge(entries), is_backward=True)
    return at.back(at.earlier[-1]) if at.earlier else None


def _backward(ask: Ask, first: Page, answer: HistoryAnswer, *, at: Position) -> Leaf:
    further, entries = answer.following, _entries(answer, first)
    # It goes on in the other direction, or gave what lies there: it does not know `before`.
    if (further and further.before is None) or _any(entries, at.edge, first, beyond=True):
        return _remembered(ask, first, at=at)
    if not entries and at.earlier:
        # Everything before may have left the list, or `before` is taken otherwise.
        known = _remembered(ask, first, at=at)
        if _any(known.entries, at.edge, first, beyond=False):
            return known
    onward = at.cursor and turn(at.cursor, first, is_backward=True)
    return Leaf(
        entries=entries,
        following=replace(at, cursor=onward, edge=None, is_backward=False) if onward else None,
        previous=replace(at.back(further), edge=_edge(entries), is_backward=True) if further else None,
        goes_in_circles=answer.is_stuck,
        unreadable=answer.unreadable_entries,
        breaks_off=answer.breaks_off,
        is_lost=answer.is_lost,
    )


def _remembered(ask: Ask, first: Page, *, at: Position) -> Leaf:
    """The page that a position stands for, by the cursor that led there; the first one, when that is forgotten."""
    if at.earlier:
        return leaf(ask, first, at=at.back(at.earlier[-1]))
    return replace(leaf(ask, first, at=Position()), begins_anew=True)


def _edge(entries: Sequence[IntentHistory]) -> int | None:
    created = entries[0].created_at if entries else None
    return int(created.timestamp()) if created else None


def _any(entries: Sequence[IntentHistory], edge: int | None, first: Page, *, beyond: bool) -> bool:
    """Whether any of them lies on this side of the edge, or beyond it."""
    if edge is None:
        return False
    created = [int(entry.created_at.timestamp()) for entry in entries if entry.created_at]
    return any(each > edge if (_order(first) == ASCENDING) is beyond else each < edge for each in created)


def turn(cursor: Page, first: Page, *, is_backward: bool) -> Page | None:
    """The page that ends where this one begins, or begins where a backward one ends; None if it cannot be turned.

    Both ends are exclusive, so the row at the cursor is one step inside. `first` tells what the cursor leaves out. One
    that leads on by `before` alone cannot be turned: what the service makes of it is not known (domain.md 3.1)."""
    sort, size = cursor.sort or first.sort, cursor.page_size or first.page_size
    whole = cursor.model_copy(update={"sort": sort, "page_size": size})
    step = 1 if _order(whole) == ASCENDING else -1
    number, end = (cursor.before, "after") if is_backward else (cursor.after, "before")
    if number is None:
        return None
    number += -step if is_backward else step
    if number < 0:
        return None
    turned = whole.model_copy(update={"before": None, "after": None, end: number})
    return Page.from_text(json.dumps(turned.model_dump(by_alias=True, exclude_none=True)))


class End(Enum):
    """Why a list that is read to its end is over."""

    COMPLETE = "complete"
    CIRCLES = "circles"
    LOST = "lost"  # there is said to be more, and what leads to it is no cursor
    EMPTY_PAGE = "empty page"  # although there is said to be more


def walk(ask: Ask, first: Page) -> Iterator[tuple[tuple[IntentHistory, ...], End | None]]:
    """Every page of a list, each intent once, with why it ends at the last. Raises what `ask` raises."""
    seen: set[str] = set()
    cursors = set()
    page: Page | None = first
    while page is not None:
        answer = ask(page)
        fresh = [entry for entry in _entries(answer, first) if entry.intent_id.lower() not in seen]
        seen.update(entry.intent_id.lower() for entry in fresh)
        page = answer.following
        circles = answer.is_stuck or (page is not None and page.cursor in cursors)
        if page is not None:
            cursors.add(page.cursor)
        if circles:
            page = None
        yield tuple(fresh), None if page else _end(answer, circles=circles)


def _end(answer: HistoryAnswer, *, circles: bool) -> End:
    if circles:
        return End.CIRCLES
    if answer.is_lost:
        return End.LOST
    return End.EMPTY_PAGE if answer.breaks_off else End.COMPLETE


def _entries(answer: HistoryAnswer, first: Page) -> tuple[IntentHistory, ...]:
    """Each intent once, as it was seen last, in the order that was asked for: not every service keeps to it.

    domain.md section 7, rows 23 and 25."""
    entries: Sequence[IntentHistory] = list({entry.intent_id.lower(): entry for entry in answer.intents}.values())
    if first.sort and first.sort[0].column == BY_CREATION:
        rising = _order(first) == ASCENDING
        entries = sorted(entries, key=lambda entry: entry.created_at or LONG_AGO, reverse=not rising)
    return tuple(entries)


def _order(page: Page) -> str:
    return (page.sort[0].order or "").upper() if page.sort else ""
