"""Sliding-window counter of the last ten seconds."""

from collections import Counter, deque
from collections.abc import Callable

SECONDS = 10


class Recent:
    """Not thread-safe: callers hold a lock."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seconds: deque[tuple[int, Counter[str]]] = deque()

    def add(self, what: str) -> None:
        second = int(self._clock())
        if not self._seconds or self._seconds[-1][0] != second:
            self._seconds.append((second, Counter()))
        self._seconds[-1][1][what] += 1

    def count(self, what: str) -> int:
        oldest = int(self._clock()) - SECONDS
        while self._seconds and self._seconds[0][0] <= oldest:
            self._seconds.popleft()
        return sum(counts[what] for _, counts in self._seconds)

    def clear(self) -> None:
        self._seconds.clear()
