"""As much of a long list as one view may read: so many pages, and only while its page has time for another.

Source: interface.md 4.2; domain.md section 7, row 31.
"""

import time
from dataclasses import dataclass
from enum import Enum

from intents_ui.service.deadline import seconds_left
from intents_ui.service.errors import ServiceError
from intents_ui.service.paging import Ask, Leaf, Position, leaf
from intents_ui.service.wire import IntentHistory, Page

MOST_PAGES = 4
SECONDS_AFTERWARDS = 2.0  # that the page needs for names, when everything is read


class Stop(Enum):
    """Why no more was read."""

    END = "end"
    ENOUGH = "enough"
    TIME = "time"
    CIRCLES = "circles"  # there is said to be more, and what leads to it was read already
    LOST = "lost"  # …, and what leads to it is no cursor
    EMPTY_PAGE = "empty page"  # although there is said to be more
    TROUBLE = "trouble"


@dataclass(frozen=True)
class Read:
    """Each intent once. `following`: where to go on, or to try again; `error` is what the trouble was."""

    entries: tuple[IntentHistory, ...]
    stop: Stop
    following: Position | None = None
    error: ServiceError | None = None
    unreadable: int = 0

    @property
    def is_faulty(self) -> bool:
        """It ended where it should not have."""
        return self.stop in (Stop.CIRCLES, Stop.LOST, Stop.EMPTY_PAGE, Stop.TROUBLE)


def read(ask: Ask, first: Page, *, at: Position) -> Read:
    """From a position on. What came before a trouble stays; raises what kept us from all of it."""
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
    """What a view remembers are the beginnings of views, and not of each page that they read."""
    return at.onward(position.cursor) if position.cursor else None


def _read(leaves: list[Leaf], stop: Stop, following: Position | None = None, error: ServiceError | None = None) -> Read:
    entries = {entry.intent_id.lower(): entry for found in leaves for entry in found.entries}
    return Read(tuple(entries.values()), stop, following, error, sum(found.unreadable for found in leaves))
