"""Reads several pages of a long list for one view, within a page limit and the view's deadline."""

import time

from intents_ui.service.context.request_context import seconds_left
from intents_ui.service.errors import ServiceError
from intents_ui.service.queries.paging import Ask, Leaf, leaf
from intents_ui.service.wire.models import Page
from intents_ui.service.wire.results import Position, Read, Stop

MOST_PAGES = 4
SECONDS_AFTERWARDS = 2.0  # reserved for name lookups after the last page


def read(ask: Ask, first: Page, *, at: Position) -> Read:
    """Read from a position.

    A failure after the first page keeps the pages read so far, and one at the first page raises.
    """
    leaves: list[Leaf] = []
    slowest, position = 0.0, at
    while True:
        began = time.monotonic()
        try:
            found = leaf(ask, first, at=position)
        except ServiceError as error:
            if not leaves:
                raise
            return _read(leaves, Stop.TROUBLE, _onward(at, position), error=error)
        slowest = max(slowest, time.monotonic() - began)
        leaves.append(found)
        if found.following is None:
            return _read(leaves, _end(found))
        position = found.following
        if len(leaves) == MOST_PAGES:
            return _read(leaves, Stop.ENOUGH, _onward(at, position))
        if not _has_time_for(slowest):
            return _read(leaves, Stop.TIME, _onward(at, position))


def _end(last: Leaf) -> Stop:
    if last.goes_in_circles:
        return Stop.CIRCLES
    if last.is_lost:
        return Stop.LOST
    return Stop.EMPTY_PAGE if last.breaks_off else Stop.END


def _has_time_for(seconds: float) -> bool:
    left = seconds_left()
    return left is None or left - SECONDS_AFTERWARDS > seconds


def _onward(at: Position, position: Position) -> Position | None:
    """Return the next view's position. It stores the starts of views, not of each page within them."""
    return at.onward(position.cursor) if position.cursor else None


def _read(leaves: list[Leaf], stop: Stop, following: Position | None = None, error: ServiceError | None = None) -> Read:
    entries = {entry.intent_id.lower(): entry for found in leaves for entry in found.entries}
    return Read(tuple(entries.values()), stop, following, error, sum(found.unreadable for found in leaves))
