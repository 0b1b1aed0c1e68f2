"""A list read page by page: onward, back, and to its end.

A page's cursor is the service's own and goes back to it unchanged (interface.md 4.2). Only the way back is made here,
by `before` (2.16), because a page that is asked for again may hold other rows by now: what was added before it, or has
left the filter, moves all that follows. A service that does not know `before` gets the cursor that led there at first.
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
ASCENDING = "ASC"
BY_CREATION = "createdAt"
LONG_AGO = datetime.min.replace(tzinfo=UTC)

type Ask = Callable[[Page], HistoryAnswer]


@dataclass(frozen=True)
class Position:
    """Where in a list a reader is: the page's cursor, None for the first, and those of the pages before it.

    A page read by `before` stands for the last of the `earlier` ones."""

    cursor: Page | None = None
    earlier: tuple[Page | None, ...] = ()

    @property
    def is_backward(self) -> bool:
        return self.cursor is not None and self.cursor.before is not None

    def onward(self, cursor: Page) -> Self:
        return replace(self, cursor=cursor, earlier=(*self.earlier, self.cursor)[-MOST_EARLIER:])

    def back(self, cursor: Page | None) -> Self:
        return replace(self, cursor=cursor, earlier=self.earlier[:-1])

    def has_been_at(self, page: Page) -> bool:
        been = (self.cursor, *self.earlier)
        return any(each is not None and each.cursor == page.cursor for each in been)


@dataclass(frozen=True)
class Leaf:
    """One page of a list. `goes_in_circles`: there is said to be more, and what leads to it was read already."""

    entries: tuple[IntentHistory, ...]
    following: Position | None
    previous: Position | None
    goes_in_circles: bool = False
    unreadable: int = 0


def leaf(ask: Ask, first: Page, *, at: Position) -> Leaf:
    """The page at a position; `first` says how the list is sorted and how long a page is."""
    page = at.cursor or first
    try:
        answer = ask(page)
    except Invalid:
        if not (at.is_backward and at.earlier):
            raise
        return leaf(ask, first, at=at.back(at.earlier[-1]))
    if at.is_backward:
        return _backward(ask, first, answer, at=at)
    return _forward(answer, first, at=at)


def _forward(answer: HistoryAnswer, first: Page, *, at: Position) -> Leaf:
    onward = answer.following
    circles = answer.is_stuck or (onward is not None and at.has_been_at(onward))
    return Leaf(
        entries=_entries(answer, first),
        following=at.onward(onward) if onward and not circles else None,
        previous=_before(at),
        goes_in_circles=circles,
        unreadable=answer.unreadable_entries,
    )


def _before(at: Position) -> Position | None:
    """What was listed before this page when it was listed."""
    turned = at.cursor and turn(at.cursor)
    if turned:
        return replace(at, cursor=turned)
    return at.back(at.earlier[-1]) if at.earlier else None


def _backward(ask: Ask, first: Page, answer: HistoryAnswer, *, at: Position) -> Leaf:
    further = answer.following
    if further and further.before is None and at.earlier:
        # It goes on in the other direction: it does not know `before`, and gave the first page or the same again.
        return leaf(ask, first, at=at.back(at.earlier[-1]))
    onward = at.cursor and turn(at.cursor)
    return Leaf(
        entries=_entries(answer, first),
        following=replace(at, cursor=onward) if onward else None,
        previous=at.back(further) if further else None,
        goes_in_circles=answer.is_stuck,
        unreadable=answer.unreadable_entries,
    )


def turn(cursor: Page) -> Page | None:
    """The page that ends where this one begins, or begins where it ends; None for a cursor that holds no number.

    Both ends are exclusive, so the row at the cursor is one step inside."""
    step = 1 if _order(cursor) == ASCENDING else -1
    if cursor.after is not None:
        before, after = cursor.after + step, None
    elif cursor.before is not None:
        before, after = None, cursor.before - step
    else:
        return None
    if min(each for each in (before, after) if each is not None) < 0:
        return None
    turned = cursor.model_copy(update={"before": before, "after": after})
    return Page.from_text(json.dumps(turned.model_dump(by_alias=True, exclude_none=True)))


class End(Enum):
    """Why a list that is read to its end is over."""

    COMPLETE = "complete"
    CIRCLES = "circles"


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
        end = End.CIRCLES if circles else End.COMPLETE
        yield tuple(fresh), None if page else end


def _entries(answer: HistoryAnswer, first: Page) -> tuple[IntentHistory, ...]:
    """Each intent once, in the order that was asked for: not every service keeps to it (domain.md 7, row 25)."""
    entries: Sequence[IntentHistory] = list({entry.intent_id.lower(): entry for entry in answer.intents}.values())
    if first.sort and first.sort[0].column == BY_CREATION:
        rising = _order(first) == ASCENDING
        entries = sorted(entries, key=lambda entry: entry.created_at or LONG_AGO, reverse=not rising)
    return tuple(entries)


def _order(page: Page) -> str:
    return (page.sort[0].order or "").upper() if page.sort else ""
