"""Whether this process is about to end. gunicorn tells its worker, and nobody else, until the requests are over."""

from typing import Any

_workers: list[Any] = []


def attach(worker: Any) -> None:
    """`post_worker_init` in gunicorn.conf.py hands the worker over."""
    _workers.append(worker)


def is_stopping() -> bool:
    return any(not worker.alive for worker in _workers)
