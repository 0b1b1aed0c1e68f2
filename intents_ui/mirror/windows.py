"""Lengths and ages of the ledger's windows, in seconds. Times are by the service's clock."""

from datetime import UTC, datetime
from enum import StrEnum

MINUTE, HOUR, DAY, MONTH = 60, 3600, 86_400, 31 * 86_400
WIDTH = MINUTE  # of a window at the present
BACKFILL_WIDTH = HOUR
# Ages at which a window is read again, in seconds after its end. A window at the present is read before its end, too.
AGES = (-40, -20, 0, 20, MINUTE, 10 * MINUTE, 30 * MINUTE, 2 * HOUR, DAY, 7 * DAY)
SEALED_FROM = 10 * MINUTE  # after a window's end. A quote can be committed until then
PAGE_SIZE, MAX_PAGES = 100, 40
MAX_ROWS = MAX_PAGES * PAGE_SIZE // 2  # of windows that are read as one list
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
