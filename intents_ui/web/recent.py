"""What was read in the last seconds, for all pages of a process."""

import logging
import threading
import time
from collections.abc import Callable, Hashable
from typing import Any

log = logging.getLogger(__name__)


class RecentReads:
    """Results by their keys, of which there are few. Thread-safe.

    Pages don't wait for a result that is renewed in time: a page gets the old one, and starts a thread that renews it.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._locks: dict[Hashable, threading.Lock] = {}  # held while the key is read
        self._found: dict[Hashable, tuple[float, Any]] = {}

    def get[T](self, key: Hashable, read: Callable[[], T], *, max_age: float) -> T:
        """Return the result of `read`, which is renewed after `max_age` seconds, and at most twice as old."""
        lock = self._locks.setdefault(key, threading.Lock())
        if self._age(key) > 2 * max_age:
            with lock:
                if self._age(key) > max_age:
                    self._read(key, read)
        elif self._age(key) > max_age and lock.acquire(blocking=False):
            renewal = threading.Thread(target=self._renew, args=(key, read, lock), name="renewal", daemon=True)
            try:
                renewal.start()
            except RuntimeError:  # no more threads. A later page tries again
                lock.release()
        result: T = self._found[key][1]
        return result

    def _age(self, key: Hashable) -> float:
        return self._clock() - self._found[key][0] if key in self._found else float("inf")

    def _read(self, key: Hashable, read: Callable[[], Any]) -> None:
        read_at = self._clock()
        self._found[key] = read_at, read()

    def _renew(self, key: Hashable, read: Callable[[], Any], lock: threading.Lock) -> None:
        try:
            self._read(key, read)
        except Exception as error:  # a later page reads it again, and gets the error
            log.info("A result could not be renewed: %s", error)
        finally:
            lock.release()
