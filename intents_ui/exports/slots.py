"""Export concurrency limit."""

import threading
import time
from collections.abc import Callable
from weakref import WeakKeyDictionary

from intents_ui.service.context.shares import Lack, Shares

STALLED_SECONDS = 60.0


class Exports:
    """The exports of this process, at most `most` at a time. Thread-safe.

    One client gets at most an eighth of the slots, and at least one. A download that makes no progress for a
    minute keeps its slot only while no other export needs one. A garbage-collected download has none.
    """

    def __init__(self, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._moved: WeakKeyDictionary[object, float] = WeakKeyDictionary()
        self._clients: WeakKeyDictionary[object, str | None] = WeakKeyDictionary()

    def acquire(self, download: object, client: str | None = None) -> bool:
        """Take a slot, or record progress for a download that has one. Only the first call's client counts."""
        with self._lock:
            self._clients.setdefault(download, client)
            now = self._clock()
            if download not in self._moved:
                for other in [each for each, at in self._moved.items() if now - at > STALLED_SECONDS]:
                    del self._moved[other]
            if download not in self._moved and self._lack(self._clients[download]):
                return False
            self._moved[download] = now
            return True

    def is_at_share_limit(self, client: str | None) -> bool:
        """Return whether this client uses its whole share of exports."""
        with self._lock:
            return self._lack(client) is Lack.SHARE

    def _lack(self, client: str | None) -> Lack | None:
        taken = Shares(self.most)
        for download in self._moved:
            taken.hold(self._clients.get(download))
        return taken.lack(client)

    def release(self, download: object) -> None:
        with self._lock:
            self._moved.pop(download, None)

    @property
    def running(self) -> int:
        return len(self._moved)
