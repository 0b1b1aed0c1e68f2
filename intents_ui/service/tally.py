"""What became of our questions to the service, counted since the start of the process."""

import threading
from collections import Counter
from enum import StrEnum, auto


class Event(StrEnum):
    CALL = auto()  # put to the service, each attempt by itself
    FAILED = auto()  # … and not answered
    RETRY = auto()
    RETRY_SPARED = auto()  # there were too many of them already
    HELD_BACK = auto()  # not put to the service, because it is away, wants quiet or does not let us in
    OPENED = auto()  # the breaker
    HIT = auto()  # answered from a copy that is fresh
    STALE = auto()  # … that is renewed meanwhile
    OLD = auto()  # … because the service failed
    MISS = auto()  # there was no copy
    SHARED = auto()  # joined an equal question that was under way
    SHED = auto()  # refused because all places or connections were taken
    OLDER = auto()  # a response told of an earlier state than one before it, which is kept
    UNFIT = auto()  # a list had entries that don't meet its filter, which were left out
    UNREADABLE = auto()  # a message or picture in Redis, left aside
    UNSIGNED = auto()  # in Redis or STATE_DIR, and not signed by this installation: left aside


class Tally:
    """Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[Event] = Counter()

    def add(self, event: Event) -> None:
        with self._lock:
            self._counts[event] += 1

    def __getitem__(self, event: Event) -> int:
        return self._counts[event]
