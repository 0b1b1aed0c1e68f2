"""How many exports there may be at a time, and where they ask."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from weakref import WeakKeyDictionary

from intents_ui.service.shares import Lack, Shares

STOOD_STILL_SECONDS = 60.0


class Exports:
    """The exports of this process, `most` at a time, and the threads in which they ask. Safe for threads.

    One address has a quarter of the places at most, and one place at least.

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
        self._visitors: WeakKeyDictionary[object, str | None] = WeakKeyDictionary()

    def take_place(self, download: object, visitor: str | None = None) -> bool:
        """Also for one that has a place already, to say that it moves; whose it is stays as it was said first."""
        with self._lock:
            self._visitors.setdefault(download, visitor)
            now = self._clock()
            if download not in self._moved:
                for other in [each for each, at in self._moved.items() if now - at > STOOD_STILL_SECONDS]:
                    del self._moved[other]
            if download not in self._moved and self._lack(self._visitors[download]):
                return False
            self._moved[download] = now
            return True

    def has_share(self, visitor: str | None) -> bool:
        """Return whether this address has as many exports as one address may have."""
        with self._lock:
            return self._lack(visitor) is Lack.SHARE

    def _lack(self, visitor: str | None) -> Lack | None:
        taken = Shares(self.most)
        for download in self._moved:
            taken.hold(self._visitors.get(download))
        return taken.lack(visitor)

    def leave_place(self, download: object) -> None:
        with self._lock:
            self._moved.pop(download, None)

    @property
    def under_way(self) -> int:
        return len(self._moved)

    def close(self) -> None:
        self.threads.shutdown(wait=False, cancel_futures=True)
