"""Process lifecycle: memory tuning at the start, and shutdown detection.

Until its requests are done, gunicorn announces a shutdown to the worker only.
"""

import contextlib
import ctypes
import gc
from datetime import UTC, datetime
from typing import Any, Final

# glibc's mallopt. By default, each of a hundred threads gets a heap that keeps the memory of one large response. So:
# one heap for all threads, blocks of more than a megabyte in pages of their own, and free memory at the heap's end is
# returned to the system if it is more than four. With less, each page of a list takes its memory from the system again,
# which is a quarter of its processor time if its rows are known.
MALLOPT: Final = {"M_ARENA_MAX": (-8, 1), "M_MMAP_THRESHOLD": (-3, 2**20), "M_TRIM_THRESHOLD": (-1, 2**22)}

# Objects between two collections. A page of unseen transfers makes thousands, of which few outlive it.
GARBAGE: Final = 20_000


def trim_memory() -> None:
    with contextlib.suppress(AttributeError):  # not glibc
        for option, value in MALLOPT.values():
            ctypes.CDLL(None).mallopt(option, value)


began_at = datetime.now(UTC)  # when the process became ready for requests
_worker: Any = None


def attach(worker: Any) -> None:
    """Store gunicorn's worker, once everything is loaded.

    Freezes the loaded objects, so that garbage collections skip them. Full collections are then triggered by growth
    relative to cached responses only, which frees the leftovers of failures sooner.
    """
    global began_at, _worker
    began_at, _worker = datetime.now(UTC), worker
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE)


def is_stopping() -> bool:
    return _worker is not None and not _worker.alive
