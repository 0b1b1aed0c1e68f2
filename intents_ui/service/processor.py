"""Fair sharing of CPU time: one thread per client address computes at a time, so one client can't crowd out the others.

A thread holds its address's lock while it computes (`computing`) and releases it while it waits for the service or for
another thread (`waiting`). It proceeds without the lock after LONGEST_WAIT seconds, so sharing delays a page but never
blocks it. Requests without an address (this machine) need no lock.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Final

LONGEST_WAIT: Final = 1.0


class _Here(threading.local):
    turn: threading.Lock | None = None  # the lock that this thread holds, or releases while it waits
    is_held = False


_here = _Here()


@lru_cache(maxsize=10_000)
def _turn_of(visitor: str) -> threading.Lock:
    return threading.Lock()


@contextmanager
def computing(visitor: str | None) -> Iterator[None]:
    if visitor is None or _here.turn is not None:
        yield
        return
    _here.turn = _turn_of(visitor)
    _take()
    try:
        yield
    finally:
        _give_up()
        _here.turn = None


@contextmanager
def waiting() -> Iterator[None]:
    had_turn = _here.is_held
    _give_up()
    try:
        yield
    finally:
        if had_turn:
            _take()


def _take() -> None:
    if _here.turn is not None:
        _here.is_held = _here.turn.acquire(timeout=LONGEST_WAIT)


def _give_up() -> None:
    if _here.is_held and _here.turn is not None:
        _here.is_held = False
        _here.turn.release()
