"""Fair sharing of CPU time: one thread per client address computes at a time, so one client can't crowd out the others.

A thread holds its address's lock while it computes (`computing`) and releases it while it waits for the service or for
another thread (`waiting`). It proceeds without the lock after LONGEST_WAIT seconds, so sharing delays a page but never
blocks it. Requests without an address (this machine) need no lock.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import Final

LONGEST_WAIT: Final = 1.0


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
