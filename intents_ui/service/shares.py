"""Fair shares of what is scarce: one client address holds a quarter of it at most, and an IPv6 /48 a half.

A visitor is an address as limits count it (`visitors.address_of`); None is nobody in particular (this machine, a
socket on the disk), whom only the whole bounds.
"""

import ipaddress
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from enum import Enum
from functools import lru_cache
from typing import Any

ONE_ADDRESS = 4  # a quarter
ONE_SITE = 2  # a half
SITE_BITS = 48  # of IPv6: what one subscriber may get, with 65,536 networks that count as an address each


class Lack(Enum):
    """Why there is no place: all are taken, or the visitor has his share."""

    FULL = "full"
    SHARE = "share"


@lru_cache(maxsize=4096)
def buckets(visitor: str) -> tuple[tuple[str, int], ...]:
    """Return the buckets a visitor counts in, each with the part of the whole that it may hold (4: a quarter)."""
    own = (visitor, ONE_ADDRESS)
    try:
        network = ipaddress.ip_network(visitor)
    except ValueError:
        return (own,)
    if network.version == 4 or network.prefixlen < SITE_BITS:
        return (own,)
    return (own, (str(network.supernet(new_prefix=SITE_BITS)), ONE_SITE))


class Shares:
    """Places, or bytes, that are held at a time: `most` of them. Safe for threads."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.held = 0
        self._by_bucket: Counter[str] = Counter()
        self._changed = threading.Condition()

    def take(self, visitor: str | None, units: int = 1, *, wait: float = 0.0) -> Lack | None:
        """Take so many, None says that they were taken. `wait`: seconds for which a place is waited for."""
        until = time.monotonic() + wait
        with self._changed:
            while lack := self.lack(visitor, units):
                left = until - time.monotonic()
                if left <= 0:
                    return lack
                self._changed.wait(left)
            self.hold(visitor, units)
            return None

    def give_back(self, visitor: str | None, units: int = 1) -> None:
        with self._changed:
            self.hold(visitor, -units)
            self._changed.notify_all()

    def of_visitor(self, visitor: str) -> int:
        return self._by_bucket[visitor]

    def lack(self, visitor: str | None, units: int = 1) -> Lack | None:
        """Return why so many can't be taken at this moment."""
        if visitor is not None:
            for bucket, part in buckets(visitor):
                if self._by_bucket[bucket] + units > max(1, self.most // part):
                    return Lack.SHARE
        return Lack.FULL if self.held + units > self.most else None

    def hold(self, visitor: str | None, units: int = 1) -> None:
        """Count what is held, whatever may be."""
        self.held += units
        for bucket, _ in buckets(visitor) if visitor is not None else ():
            self._by_bucket[bucket] += units
            if not self._by_bucket[bucket]:
                del self._by_bucket[bucket]


type Job = tuple[Future[Any], Callable[[], Any]]


class FairThreads:
    """Threads of which one address has a quarter at most. What waits for one takes turns by address."""

    def __init__(self, most: int, *, name: str) -> None:
        self._pool = ThreadPoolExecutor(most, thread_name_prefix=name)
        self._shares = Shares(most)
        self._waiting: dict[str | None, deque[Job]] = {}
        self._is_closed = False
        self._lock = threading.Lock()
        # What a job submits counts for nobody: otherwise the jobs of one visitor could wait for one another for good.
        self._here = threading.local()

    def submit[T](self, do: Callable[[], T], visitor: str | None) -> "Future[T]":
        """Raises RuntimeError once the threads have ended."""
        future: Future[T] = Future()
        visitor = None if hasattr(self._here, "job") else visitor
        with self._lock:
            if self._is_closed:
                raise RuntimeError("these threads have ended")
            self._waiting.setdefault(visitor, deque()).append((future, do))
            self._start()
        return future

    def shutdown(self) -> None:
        """What runs goes on to its end; what waits is cancelled."""
        with self._lock:
            self._is_closed = True
            waiting, self._waiting = self._waiting, {}
        for future, _ in (job for jobs in waiting.values() for job in jobs):
            future.cancel()
        self._pool.shutdown(wait=False)

    def _start(self) -> None:
        while started := list(self._startable()):
            for visitor, job in started:
                self._pool.submit(self._run, visitor, *job)

    def _startable(self) -> Iterator[tuple[str | None, Job]]:
        """One job of each visitor who may have one more; those who got one come last the next time."""
        for visitor in list(self._waiting):
            jobs = self._waiting[visitor]
            while jobs and jobs[0][0].cancelled():
                jobs.popleft()
            is_taken = bool(jobs) and self._shares.take(visitor) is None
            if is_taken:
                yield visitor, jobs.popleft()
            if is_taken or not jobs:
                del self._waiting[visitor]
            if jobs and is_taken:
                self._waiting[visitor] = jobs

    def _run(self, visitor: str | None, future: "Future[Any]", do: Callable[[], Any]) -> None:
        self._here.job = future
        try:
            if future.set_running_or_notify_cancel():
                _settle(future, do)
        finally:
            del self._here.job
            self._shares.give_back(visitor)
            with self._lock:
                if not self._is_closed:
                    self._start()


def _settle(future: "Future[Any]", do: Callable[[], Any]) -> None:
    try:
        result = do()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)
