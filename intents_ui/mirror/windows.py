"""The ledger of the mirror: windows of creation time that tile the past, and when each is read again.

Pure functions over windows. Times are Unix seconds by the service's clock.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

MINUTE, HOUR, DAY = 60, 3600, 86_400
WIDTH = MINUTE  # of a window at the present
BACKFILL_WIDTH = HOUR
# Ages at which a window is read again, in seconds after its end. A window at the present is read before its end, too.
AGES = (-40, -20, 0, 20, MINUTE, 10 * MINUTE, 30 * MINUTE, 2 * HOUR, DAY, 7 * DAY)
SEALED_FROM = 10 * MINUTE  # after a window's end. A quote can be committed until then
MOST_PAGES = 40
RETRY, LONGEST_RETRY = 20, 30 * MINUTE
NEVER = 2**62


class Condition(StrEnum):
    """What is known of a window."""

    SEALED = "sealed"  # read to its end when nothing could be created in it any more
    OPEN = "open"  # read, and not sealed yet
    DUE = "due"  # not read yet
    HOLE = "hole"  # the last read failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Transfers created from `start` until before `end`.

    `due`: when it is read again. `rows` are those of the last complete read, at `read_at`. `failures` counts the failed
    reads since then, `reason` is that of the last.
    """

    start: int
    end: int
    due: int
    read_at: int | None = None
    rows: int = 0
    is_sealed: bool = False
    failures: int = 0
    reason: str = ""

    @property
    def condition(self) -> Condition:
        if self.is_sealed:
            return Condition.SEALED
        if self.failures:
            return Condition.HOLE
        return Condition.DUE if self.read_at is None else Condition.OPEN

    @property
    def version(self) -> tuple[object, ...]:
        """What each read changes."""
        return self.end, self.read_at, self.failures


def tile(start: int, end: int, *, width: int, due: int | None = None) -> Iterator[Window]:
    """Yield windows that tile the time, cut at multiples of `width`. They are due at their first age, or at `due`."""
    while start < end:
        stop = min(end, (start // width + 1) * width)
        yield Window(start=start, end=stop, due=start + width // 3 if due is None else due)
        start = stop


def extended(end: int, *, now: int) -> Iterator[Window]:
    """Yield the windows that a ledger up to `end` lacks. The last one contains `now`."""
    present = (now // WIDTH + 1) * WIDTH
    recent = max(end, present - HOUR)
    yield from tile(end, recent, width=BACKFILL_WIDTH, due=now)
    yield from tile(recent, present, width=WIDTH)


def gaps(windows: Iterable[Window], *, now: int) -> Iterator[Window]:
    """Yield windows for what is missing between these."""
    for earlier, later in pairwise(sorted(windows, key=lambda each: each.start)):
        yield from tile(earlier.end, later.start, width=BACKFILL_WIDTH, due=now)


def after_read(window: Window, *, rows: int, at: int) -> Window:
    """Return the window after a complete read at this time. It is sealed if nothing can be created in it any more."""
    return replace(
        window,
        due=_at_next_age(window.end, at),
        read_at=at,
        rows=rows,
        is_sealed=at >= window.end + SEALED_FROM,
        failures=0,
        reason="",
    )


def after_failure(window: Window, reason: str, *, at: int) -> Window:
    """Return the window after a read whose result can't be complete. It keeps that of the last complete read."""
    pause = min(RETRY * 2 ** min(window.failures, 10), LONGEST_RETRY)
    return replace(window, failures=window.failures + 1, reason=reason, due=at + pause)


def postponed(window: Window, *, at: int) -> Window:
    """Return the window after a read that the service didn't answer, which says nothing about the window."""
    return replace(window, due=at + RETRY)


def doubted(window: Window, reason: str, *, at: int) -> Window:
    """Return a window whose transfers are no longer all there."""
    return replace(window, is_sealed=False, failures=1, reason=reason, due=at)


def split(window: Window, *, at: int) -> tuple[Window, Window] | None:
    """Return the halves of a window that is too long to read, or None if it can't be split."""
    middle = (window.start + window.end) // 2
    if middle == window.start:
        return None
    return Window(start=window.start, end=middle, due=at), Window(start=middle, end=window.end, due=at)


def mergeable(windows: Iterable[Window], *, page_size: int) -> Iterator[tuple[Window, ...]]:
    """Yield runs of sealed neighbors of a day that can be one window: read again at the same time, as one list."""
    run: list[Window] = []
    for window in windows:
        if run and not _can_merge(run, window, most_rows=MOST_PAGES * page_size // 2):
            if len(run) > 1:
                yield tuple(run)
            run = []
        run.append(window)
    if len(run) > 1:
        yield tuple(run)


def merged(run: Sequence[Window]) -> Window:
    """Return the one window of a run."""
    return replace(
        run[0],
        end=run[-1].end,
        read_at=min(each.read_at or 0 for each in run),
        rows=sum(each.rows for each in run),
    )


def _can_merge(run: Sequence[Window], window: Window, *, most_rows: int) -> bool:
    earlier = run[-1]
    return (
        earlier.is_sealed
        and window.is_sealed
        and earlier.end == window.start
        and earlier.due == window.due
        and run[0].start // DAY == window.start // DAY
        and sum(each.rows for each in run) + window.rows <= most_rows
    )


def sooner(window: Window, *, now: int) -> Window:
    """Return the window, due because a transfer in it has changed, but no more often than its age justifies."""
    wanted = now if window.read_at is None else max(now, window.read_at + max(0, window.read_at - window.end) // 10)
    return replace(window, due=min(window.due, wanted)) if not window.failures else window


def newest_run(due: Iterable[Window], *, page_size: int) -> tuple[Window, ...]:
    """Return the newest neighbors that can be read as one list, because it isn't too long.

    `due` are from the newest on. No more of them are taken than needed.
    """
    run: list[Window] = []
    for window in due:
        if run and not _joins(window, run, most_rows=MOST_PAGES * page_size // 2):
            break
        run.append(window)
    return tuple(reversed(run))


def _joins(window: Window, run: Sequence[Window], *, most_rows: int) -> bool:
    later = run[-1]
    return (
        window.end == later.start
        and _may_join(window)
        and _may_join(later)
        and is_sample(window) is is_sample(later)
        and sum(each.rows for each in run) + window.rows <= most_rows
    )


def _may_join(window: Window) -> bool:
    return window.read_at is not None and not window.failures


def is_sample(window: Window) -> bool:
    """Return whether the window is of the 1% that are read without a filter of statuses."""
    return window.start // MINUTE % 97 == 42


def _at_next_age(end: int, at: int) -> int:
    for age in AGES:
        step = max(1, age // 6)
        due = -(-(end + age) // step) * step  # rounded up, so that neighbors are due together
        if due > at:
            return due
    return NEVER
