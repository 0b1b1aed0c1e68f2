"""Counters of service call outcomes since process start."""

import threading
from collections import Counter
from enum import StrEnum, auto


class Event(StrEnum):
    CALL = auto()  # attempts sent to the service
    FAILED = auto()  # attempts that failed
    RETRY = auto()
    RETRY_SPARED = auto()  # suppressed: retry budget exhausted
    HELD_BACK = auto()  # rejected by a circuit breaker or during a rate limit
    OPENED = auto()  # a circuit breaker opened
    HIT = auto()  # served from the cache, fresh
    STALE = auto()  # served from the cache during a refresh (stale-while-revalidate)
    OLD = auto()  # served from the cache because the service failed (stale-if-error)
    MISS = auto()  # not in the cache
    SHARED = auto()  # coalesced with an identical pending call
    SHED = auto()  # rejected because all slots or connections were in use
    OLDER = auto()  # a response with an older state than the cached one, which was discarded
    UNFIT = auto()  # a list with entries that don't match its filter, which were left out
    UNREADABLE = auto()  # an invalid message or image in Redis, ignored
    UNSIGNED = auto()  # an entry in Redis that this installation didn't sign, ignored


class Counters:
    """Counters. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[Event] = Counter()

    def add(self, event: Event) -> None:
        with self._lock:
            self._counts[event] += 1

    def __getitem__(self, event: Event) -> int:
        return self._counts[event]
