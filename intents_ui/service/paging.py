"""Pagination of the service's lists: forward, backward and to the end.

A page's cursor belongs to the service and is sent back unchanged. Only the way back is derived here, with `before`,
because requesting an earlier cursor again can return other rows: rows that were added or no longer match the filter
shift all that follow. Where the service doesn't support `before`, the original cursor of that page is used.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from intents_ui.service.errors import Invalid
from intents_ui.service.models import EARLIEST, End, HistoryAnswer, IntentHistory, Page, SortBy

MOST_EARLIER = 5  # pages whose cursors a position remembers
MOST_ROWS = 500  # rows per page, whatever page size was requested
ASCENDING = "ASC"

type Ask = Callable[[Page], HistoryAnswer]


@dataclass(frozen=True)
class Position:
    """Position in a list: the page's cursor (None for the first page), and those of the pages before it.

    A page that `is_backward` was requested with `before`. It replaces the last of the `earlier` pages and ends at
    `edge`, the Unix time in seconds of the row that follows it. The flag is needed because a forward cursor may have
    `before`, too.
    """

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
    """One page of a list, with the positions of its neighbors.

    `end` says why none follows. `begins_anew` marks a first page shown because the previous page's cursor is unknown.
    """

    entries: Sequence[IntentHistory]
    following: Position | None
    previous: Position | None
    end: End | None
    unreadable: int
    begins_anew: bool = False


def leaf(ask: Ask, first: Page, *, at: Position) -> Leaf:
    """Return the page at a position. `first` holds the list's order and page size."""
    try:
        answer = ask(at.cursor or first)
    except Invalid:
        if not at.is_backward:
            raise
        return _by_original_cursor(ask, first, at=at)
    return _backward(ask, first, answer, at=at) if at.is_backward else _forward(answer, first, at=at)


def _forward(answer: HistoryAnswer, first: Page, *, at: Position) -> Leaf:
    onward, entries = answer.following, _entries(answer, first)
    circles = onward is not None and at.has_been_at(onward)
    return Leaf(
        entries=entries[:MOST_ROWS],
        following=at.onward(onward) if onward and not circles else None,
        previous=_before(at, entries, first),
        end=End.CIRCLES if circles else answer.end,
        unreadable=answer.unreadable_entries + len(entries[MOST_ROWS:]),
    )


def _before(at: Position, entries: Sequence[IntentHistory], first: Page) -> Position | None:
    """Return the position of the rows that preceded this page when it was listed."""
    turned = at.cursor and turn(at.cursor, first, is_backward=False)
    if turned:
        return replace(at, cursor=turned, edge=_edge(entries), is_backward=True)
    return at.back(at.earlier[-1]) if at.earlier else None


def _backward(ask: Ask, first: Page, answer: HistoryAnswer, *, at: Position) -> Leaf:
    further, entries = answer.following, _entries(answer, first)
    # The response ignores `before`: it continues in the other direction, or has rows from beyond the edge.
    if (further and further.before is None) or _has_entry(entries, at.edge, first, beyond=True):
        return _by_original_cursor(ask, first, at=at)
    if not entries and at.earlier:
        # Either all earlier rows left the list, or the service interprets `before` differently. The original cursor
        # tells.
        known = _by_original_cursor(ask, first, at=at)
        if _has_entry(known.entries, at.edge, first, beyond=False):
            return known
    onward = at.cursor and turn(at.cursor, first, is_backward=True)
    return Leaf(
        entries=entries,
        following=replace(at, cursor=onward, edge=None, is_backward=False) if onward else None,
        previous=replace(at.back(further), edge=_edge(entries), is_backward=True) if further else None,
        end=answer.end,
        unreadable=answer.unreadable_entries,
    )


def _by_original_cursor(ask: Ask, first: Page, *, at: Position) -> Leaf:
    """Return the page by its original cursor, or the first page if that cursor is unknown."""
    if at.earlier:
        return leaf(ask, first, at=at.back(at.earlier[-1]))
    return replace(leaf(ask, first, at=Position()), begins_anew=True)


def _edge(entries: Sequence[IntentHistory]) -> int | None:
    created = entries[0].created_at if entries else None
    return int(created.timestamp()) if created else None


def _has_entry(entries: Sequence[IntentHistory], edge: int | None, first: Page, *, beyond: bool) -> bool:
    """Return whether any entry lies on this side of the edge, or beyond it."""
    if edge is None:
        return False
    created = [int(entry.created_at.timestamp()) for entry in entries if entry.created_at]
    return any(each > edge if (_order(first.sort) == ASCENDING) is beyond else each < edge for each in created)


def turn(cursor: Page, first: Page, *, is_backward: bool) -> Page | None:
    """Return the page that ends where this one begins, or begins where a backward one ends, or None if there is none.

    Cursors are exclusive, so the row at the cursor is one step inside. `first` fills in what the cursor omits. A
    forward cursor with only `before` can't be turned, because the service's interpretation of it is unknown.
    """
    sort, size = cursor.sort or first.sort, cursor.page_size or first.page_size
    step = 1 if _order(sort) == ASCENDING else -1
    number, end = (cursor.before, "after") if is_backward else (cursor.after, "before")
    if number is None:
        return None
    number += -step if is_backward else step
    if number < 0:
        return None
    values = {"sort": sort, "page_size": size, "before": None, "after": None, end: number}
    return Page(**dict(cursor) | values)


def answers(ask: Ask, first: Page) -> Iterator[tuple[HistoryAnswer, End | None]]:
    """Yield each page of a list, with the reason for the end at the last one.

    Raises what `ask` raises.
    """
    cursors = set()
    page: Page | None = first
    while page is not None:
        answer = ask(page)
        page, end = answer.following, answer.end
        if page is not None and page.cursor in cursors:
            page, end = None, End.CIRCLES
        elif page is not None:
            cursors.add(page.cursor)
        yield answer, end


def walk(ask: Ask, first: Page) -> Iterator[tuple[tuple[IntentHistory, ...], End | None]]:
    """Yield each page's entries without duplicates, with the reason for the end at the last one.

    It remembers all IDs. Raises what `ask` raises.
    """
    seen: set[str] = set()
    for answer, end in answers(ask, first):
        fresh = [entry for entry in _entries(answer, first) if entry.intent_id.lower() not in seen]
        seen.update(entry.intent_id.lower() for entry in fresh)
        yield tuple(fresh), end


def _entries(answer: HistoryAnswer, first: Page) -> Sequence[IntentHistory]:
    """Return the page's entries without duplicates, latest version of each, sorted as requested.

    Not every service sorts them.
    """
    entries = list({entry.intent_id.lower(): entry for entry in answer.intents}.values())
    entries.sort(key=lambda entry: entry.created_at or EARLIEST, reverse=_order(first.sort) != ASCENDING)
    return tuple(entries)


def _order(sort: Sequence[SortBy]) -> str:
    return (sort[0].order or "").upper() if sort else ""
