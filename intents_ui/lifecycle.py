"""What a process is told at its start, and whether it is about to end.

gunicorn tells its worker of the end, and nobody else, until the requests are over.
"""

import contextlib
import ctypes
import gc
from datetime import UTC, datetime
from typing import Any, Final

# glibc's mallopt. It would make a heap for each of a hundred threads and keep in each what one large answer took there:
# one heap for all, what is large in pages of its own, and what is free at the end of the heap goes back.
MALLOPT: Final = {"M_ARENA_MAX": (-8, 1), "M_MMAP_THRESHOLD": (-3, 64 * 1024), "M_TRIM_THRESHOLD": (-1, 128 * 1024)}

_workers: list[Any] = []
_began_at = datetime.now(UTC)


def give_memory_back() -> None:
    with contextlib.suppress(AttributeError):  # another C library
        for option, value in MALLOPT.values():
            ctypes.CDLL(None).mallopt(option, value)


def attach(worker: Any) -> None:
    """`post_worker_init` in gunicorn.conf.py hands the worker over, with everything loaded.

    That stays for good, so no collection looks at it again. One for everything then comes when there is a quarter more
    than what is kept of answers, not than that together with all code: what a failure leaves behind is gone sooner.
    """
    global _began_at
    _workers.append(worker)
    _began_at = datetime.now(UTC)
    gc.collect()
    gc.freeze()


def began_at() -> datetime:
    """When this process was ready for readers."""
    return _began_at


def is_stopping() -> bool:
    return any(not worker.alive for worker in _workers)
