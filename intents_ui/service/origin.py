"""On whose behalf the service is asked: a request of a reader, whose id each of its calls bears.

The call `3f9a0c1d2e4b.2` is the second that the request `3f9a0c1d2e4b` made; what no request asks has an id alone.
"""

import contextlib
import threading
import uuid
from collections.abc import Iterator
from contextvars import Context, ContextVar
from typing import Any


class Origin:
    """Safe for threads: a page asks in several."""

    def __init__(self, request_id: str, *, visitor: str | None = None) -> None:
        self.id = request_id
        self.visitor = visitor  # by whom shares are counted; None: by nobody
        self.calls = 0
        self.span: Any = None  # of its trace, if somebody asked for traces
        self._lock = threading.Lock()

    def next_call(self) -> str:
        with self._lock:
            self.calls += 1
            return f"{self.id}.{self.calls}"


_current: ContextVar[Origin | None] = ContextVar("origin", default=None)


def current() -> Origin | None:
    return _current.get()


def visitor() -> str | None:
    """Return the address whose share is used, if its use is counted."""
    origin = current()
    return origin.visitor if origin else None


@contextlib.contextmanager
def asking(origin: Origin) -> Iterator[None]:
    """Around what is done for it; in threads too that have its context (`together`)."""
    token = _current.set(origin)
    try:
        yield
    finally:
        _current.reset(token)


def apart() -> Context:
    """A context for what goes on without its request: it knows for whom it began, and nothing else."""
    context = Context()
    context.run(_current.set, current())
    return context


def call_id() -> str:
    """Of one attempt of a call."""
    origin = current()
    return origin.next_call() if origin else drawn()


def reference() -> str:
    """By which whoever is told of a failure finds it in our log."""
    origin = current()
    return origin.id if origin else drawn()


def drawn() -> str:
    return uuid.uuid4().hex[:12]
