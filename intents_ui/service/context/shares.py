"""Fair shares of limited resources: at most a quarter for one client.

Of CPU time: one thread per client computes at a time, so one client can't crowd out the others. A thread holds
its address's lock while it computes (`computing`) and releases it while it waits for the service or for another thread
(`waiting`). It proceeds without the lock after LONGEST_WAIT seconds, so sharing delays a page but never blocks it.

A visitor is a client as `client_ip.client_of` names it. None is this machine, which only the total limits.
"""

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from enum import Enum
from functools import lru_cache
from typing import Any, Final

ONE_CLIENT = 4  # a quarter
LONGEST_WAIT: Final = 1.0


class Lack(Enum):
    """Why a resource isn't available: it is used up, or the visitor's share is."""

    FULL = "full"
    SHARE = "share"


class Shares:
    """Semaphore with fair shares for `most` units (slots or bytes). Thread-safe."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.held = 0
        self._by_visitor: Counter[str] = Counter()
        self._changed = threading.Condition()

    def take(self, visitor: str | None, units: int = 1, *, wait: float = 0.0) -> Lack | None:
        """Take units, waiting up to `wait` seconds. Return None on success, or why they aren't available."""
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

    def lack(self, visitor: str | None, units: int = 1) -> Lack | None:
        """Return why these units can't be taken now, or None."""
        if visitor is not None and self._by_visitor[visitor] + units > max(1, self.most // ONE_CLIENT):
            return Lack.SHARE
        return Lack.FULL if self.held + units > self.most else None

    def hold(self, visitor: str | None, units: int = 1) -> None:
        """Add units without checking the limits."""
        self.held += units
        if visitor is not None:
            self._by_visitor[visitor] += units
            if not self._by_visitor[visitor]:
                del self._by_visitor[visitor]


type Job = tuple[Future[Any], Callable[[], Any]]


class FairThreads:
    """Thread pool with fair shares. Waiting jobs take turns by client address."""

    def __init__(self, most: int, *, name: str) -> None:
        self._pool = ThreadPoolExecutor(most, thread_name_prefix=name)
        self._shares = Shares(most)
        self._waiting: dict[str | None, deque[Job]] = {}
        self._is_closed = False
        self._lock = threading.Lock()
        # Jobs submitted by a job count for no visitor. Otherwise the jobs of one visitor could deadlock waiting for
        # each other.
        self._local = threading.local()

    def submit[T](self, do: Callable[[], T], visitor: str | None) -> "Future[T]":
        """Queue a job. Raises RuntimeError after `shutdown`."""
        future: Future[T] = Future()
        visitor = None if hasattr(self._local, "job") else visitor
        with self._lock:
            if self._is_closed:
                raise RuntimeError("these threads have ended")
            self._waiting.setdefault(visitor, deque()).append((future, do))
            self._start()
        return future

    def shutdown(self) -> None:
        """Cancel waiting jobs. Running ones continue."""
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
        """Yield one job of each visitor below its share, and move those visitors to the end of the queue."""
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
        self._local.job = future
        try:
            if future.set_running_or_notify_cancel():
                _settle(future, do)
        finally:
            del self._local.job
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


class _Here(threading.local):
    turn: threading.Lock | None = None  # the lock that this thread holds, or releases while it waits
    is_held = False


_here = _Here()


@lru_cache(maxsize=10_000)
def _lock_of(visitor: str) -> threading.Lock:
    return threading.Lock()


@contextmanager
def computing(visitor: str | None) -> Iterator[None]:
    if visitor is None or _here.turn is not None:
        yield
        return
    _here.turn = _lock_of(visitor)
    _acquire()
    try:
        yield
    finally:
        _release()
        _here.turn = None


def waiting() -> AbstractContextManager[None]:
    return _Waiting()


class _Waiting:
    def __enter__(self) -> None:
        self._had_turn = _here.is_held
        _release()

    def __exit__(self, *_: object) -> None:
        if self._had_turn:
            _acquire()


def _acquire() -> None:
    if _here.turn is not None:
        _here.is_held = _here.turn.acquire(timeout=LONGEST_WAIT)


def _release() -> None:
    if _here.is_held and _here.turn is not None:
        _here.is_held = False
        _here.turn.release()
