"""The lease by which one process writes to the mirror.

Each takeover raises the epoch. A transaction of an earlier epoch is refused (`fence`), so a process that slept through
its lease can't write.
"""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django import db
from django.db.models import F

from intents_ui.mirror.models import Lease

SECONDS = 14  # with the second between two looks of a spare process, a takeover takes at most 15
RENEWED_EVERY = 5
ROW = 1
_one_at_a_time = threading.RLock()  # transactions of a process: SQLite waits for another one for five seconds only


class LeaseLost(Exception):
    """Another process has taken over."""


class LeaseHeld(LeaseLost):
    """Another process has the lease."""


def clock() -> int:
    """Return Unix milliseconds by this machine's clock."""
    return time.time_ns() // 1_000_000


@contextmanager
def acquired() -> Iterator[int]:
    """Hold the lease during the block. Yields its epoch. Raises LeaseHeld."""
    epoch = acquire()
    try:
        yield epoch
    finally:
        Lease.objects.filter(pk=ROW, epoch=epoch).update(holder="", until=0)  # if it is still ours


def acquire(*, now: int | None = None) -> int:
    """Return the epoch of a lease from now on (Unix milliseconds). Raises LeaseHeld."""
    now = clock() if now is None else now
    known, _ = Lease.objects.get_or_create(pk=ROW, defaults={"epoch": 0, "holder": "", "until": 0})
    holder = f"{socket.gethostname()}:{os.getpid()}"
    # Of the processes that see it free, one finds this epoch.
    free = Lease.objects.filter(pk=ROW, epoch=known.epoch, until__lt=now)
    try:
        taken = known.until < now and free.update(epoch=known.epoch + 1, holder=holder, until=now + SECONDS * 1000)
    except db.OperationalError:
        if not known.holder:
            raise
        taken = False  # locked: the process that had the lease may be frozen inside a transaction
    if not taken:
        raise LeaseHeld
    return known.epoch + 1


def fence(epoch: int, **changes: int) -> None:
    """Begin a transaction that only the holder of this epoch may commit, and extend the lease. Raises LeaseLost."""
    if not Lease.objects.filter(pk=ROW, epoch=epoch).update(until=clock() + SECONDS * 1000, **changes):
        raise LeaseLost


@contextmanager
def transaction(epoch: int) -> Iterator[None]:
    """Run a transaction that a takeover refuses. Raises LeaseLost."""
    with _one_at_a_time, db.transaction.atomic():
        fence(epoch)
        yield


def hold() -> None:
    """Let the leader's transactions wait for this one, which needs no lease."""
    Lease.objects.filter(pk=ROW).update(epoch=F("epoch"))
