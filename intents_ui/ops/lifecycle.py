"""Process lifecycle: memory tuning at the start, and shutdown detection.

Until its requests are done, gunicorn announces a shutdown to the worker only.
"""

import contextlib
import ctypes
import gc
from datetime import UTC, datetime
from typing import Any, Final

# glibc's mallopt. By default, each of a hundred threads gets a heap that keeps the memory of one large response. So:
# one heap for all threads, large blocks in pages of their own, and free memory at the heap's end is returned to the
# system.
MALLOPT: Final = {"M_ARENA_MAX": (-8, 1), "M_MMAP_THRESHOLD": (-3, 64 * 1024), "M_TRIM_THRESHOLD": (-1, 128 * 1024)}

_workers: list[Any] = []
_began_at = datetime.now(UTC)


def trim_memory() -> None:
    with contextlib.suppress(AttributeError):  # not glibc
        for option, value in MALLOPT.values():
            ctypes.CDLL(None).mallopt(option, value)


def attach(worker: Any) -> None:
    """Store the worker. Called by `post_worker_init` in gunicorn.conf.py once everything is loaded.

    Freezes the loaded objects, so that garbage collections skip them. Full collections are then triggered by growth
    relative to cached responses only, which frees the leftovers of failures sooner.
    """
    global _began_at
    _workers.append(worker)
    _began_at = datetime.now(UTC)
    gc.collect()
    gc.freeze()


def began_at() -> datetime:
    """Return when this process became ready for requests."""
    return _began_at


def is_stopping() -> bool:
    return any(not worker.alive for worker in _workers)
