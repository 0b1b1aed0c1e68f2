"""Rules of the ledger: windows of creation time that tile the past, and when each is read again.

Times are Unix seconds by the service's clock.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from intents_ui.mirror.models import Window

MINUTE, HOUR, DAY, MONTH = 60, 3600, 86_400, 31 * 86_400
WIDTH = MINUTE  # of a window at the present
BACKFILL_WIDTH = HOUR
# Ages at which a window is read again, in seconds after its end. A window at the present is read before its end, too.
AGES = (-40, -20, 0, 20, MINUTE, 10 * MINUTE, 30 * MINUTE, 2 * HOUR, DAY, 7 * DAY)
SEALED_FROM = 10 * MINUTE  # after a window's end. A quote can be committed until then
PAGE_SIZE, MOST_PAGES = 100, 40
MOST_ROWS = MOST_PAGES * PAGE_SIZE // 2  # of windows that are read as one list
RETRY, LONGEST_RETRY = 20, 30 * MINUTE
NEVER = 2**62


class Condition(StrEnum):
    """What is known of a window."""

    SEALED = "sealed"  # read to its end when nothing could be created in it any more
    OPEN = "open"  # read, and not sealed yet
    DUE = "due"  # not read yet
    HOLE = "hole"  # the last read failed


def utc(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def optional_utc(seconds: int | None) -> datetime | None:
    return None if seconds is None else utc(seconds)


def next_read(end: int, *, after: int) -> int:
    """Return when a window with this end is read again."""
    for age in AGES:
        step = max(1, age // 6)
        due = -(-(end + age) // step) * step  # rounded up, so that neighbors are due together
        if due > after:
            return due
    return NEVER


def runs(windows: "Iterable[Window]", *, by: "Callable[[Window], object]") -> "Iterator[tuple[Window, ...]]":
    """Yield neighbors that can be read as one list, because it isn't too long, in order. `by` is equal for them.

    `windows` are from the newest on. No more of them are taken than needed.
    """
    run: list[Window] = []
    for window in windows:
        if run:
            are_known = all(each.read_at is not None and not each.failures for each in (window, run[-1]))
            are_alike = window.end == run[-1].start and by(window) == by(run[-1])
            if not are_known or not are_alike or sum(each.rows for each in (window, *run)) > MOST_ROWS:
                yield tuple(reversed(run))
                run = []
        run.append(window)
    if run:
        yield tuple(reversed(run))


def is_sample(window: "Window") -> bool:
    """Return whether the window is of the 1% that are read without a filter of statuses."""
    return window.start // MINUTE % 97 == 42
