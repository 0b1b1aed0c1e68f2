"""How many exports there may be at a time, and where they ask."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from weakref import WeakKeyDictionary

STOOD_STILL_SECONDS = 60.0


class Exports:
    """The exports of this process, `most` at a time, and the threads in which they ask. Safe for threads.

    A reader who takes nothing for a minute keeps his place only as long as nobody else wants it; one who is gone, and
    of whom nothing else was heard, has none.
    """

    def __init__(self, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        # Questions of readers who have left end by themselves; until then they hold these threads and no others.
        self.threads = ThreadPoolExecutor(most, thread_name_prefix="export")
        self._clock = clock
        self._lock = threading.Lock()
        self._moved: WeakKeyDictionary[object, float] = WeakKeyDictionary()

    def take_place(self, download: object) -> bool:
        """Also for one that has a place already, to say that it moves."""
        with self._lock:
            now = self._clock()
            if download not in self._moved:
                for other in [each for each, at in self._moved.items() if now - at > STOOD_STILL_SECONDS]:
                    del self._moved[other]
            if download not in self._moved and len(self._moved) >= self.most:
                return False
            self._moved[download] = now
            return True

    def leave_place(self, download: object) -> None:
        with self._lock:
            self._moved.pop(download, None)

    @property
    def under_way(self) -> int:
        return len(self._moved)

    def close(self) -> None:
        self.threads.shutdown(wait=False, cancel_futures=True)
