"""What was read from the mirror in the last seconds, for all pages of a process."""

import threading
import time
from collections.abc import Callable, Hashable
from typing import Any

from intents_ui import wiring


class RecentReads:
    """Results by their keys, of which there are few. Thread-safe. One thread at a time reads."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a read may need another one
        self._found: dict[Hashable, tuple[float, Any]] = {}

    def get[T](self, key: Hashable, read: Callable[[], T], *, max_age: float) -> T:
        """Return the result of `read`, which is at most so many seconds old."""
        with self._lock:
            read_at, found = self._found.get(key, (float("-inf"), None))
            if time.monotonic() - read_at > max_age:
                found = read()
                self._found[key] = time.monotonic(), found
            result: T = found
            return result


@wiring.once
def reads() -> RecentReads:
    return RecentReads()
