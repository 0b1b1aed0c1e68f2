"""The lease by which one process writes to the mirror.

Each takeover raises the epoch. A transaction of an earlier epoch is refused (`fence`), so a process that slept through
its lease can't write.
"""

import os
import socket

from django.db.models import F

from intents_ui.mirror.models import Lease

SECONDS = 15
RENEWED_EVERY = 5
ROW = 1


class LeaseLost(Exception):
    """Another process has the lease."""


def acquire(*, now: int) -> int | None:
    """Return the epoch of a lease from now on (Unix milliseconds), or None if another process has one."""
    Lease.objects.get_or_create(pk=ROW, defaults={"epoch": 0, "holder": "", "until": 0})
    free = Lease.objects.filter(pk=ROW, until__lt=now)
    taken = free.update(epoch=F("epoch") + 1, holder=_holder(), until=now + SECONDS * 1000)
    return Lease.objects.get(pk=ROW, holder=_holder()).epoch if taken else None


def renew(epoch: int, *, now: int) -> None:
    """Extend the lease. Raises LeaseLost."""
    if not Lease.objects.filter(pk=ROW, epoch=epoch).update(until=now + SECONDS * 1000):
        raise LeaseLost


def release(epoch: int) -> None:
    """End the lease, if it is still ours."""
    Lease.objects.filter(pk=ROW, epoch=epoch).update(holder="", until=0)


def fence(epoch: int) -> None:
    """Begin a transaction that only the holder of this epoch may commit. Raises LeaseLost."""
    if not Lease.objects.filter(pk=ROW, epoch=epoch).update(epoch=epoch):
        raise LeaseLost


def _holder() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"
