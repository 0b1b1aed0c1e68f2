"""Request context for service calls: the user's request on whose behalf a call is made, and request IDs.

The call `3f9a0c1d2e4b.2` is the second call of the request `3f9a0c1d2e4b`. A call outside any request has a random ID.
"""

import contextlib
import threading
import uuid
from collections.abc import Iterator
from contextvars import Context, ContextVar
from typing import Any


class Origin:
    """The current user request. Thread-safe, because a page makes calls in several threads."""

    def __init__(self, request_id: str, *, visitor: str | None = None) -> None:
        self.id = request_id
        self.visitor = visitor  # client address for fair shares, None if unlimited
        self.calls = 0
        self.span: Any = None  # of the request's trace, if tracing is on
        self._lock = threading.Lock()

    def next_call(self) -> str:
        with self._lock:
            self.calls += 1
            return f"{self.id}.{self.calls}"


_current: ContextVar[Origin | None] = ContextVar("origin", default=None)


def current() -> Origin | None:
    return _current.get()


def visitor() -> str | None:
    """Return the client address whose fair share the current call uses, or None."""
    origin = current()
    return origin.visitor if origin else None


@contextlib.contextmanager
def asking(origin: Origin) -> Iterator[None]:
    """Run the block on behalf of `origin`, including threads with a copy of its context (`concurrency`)."""
    token = _current.set(origin)
    try:
        yield
    finally:
        _current.reset(token)


def apart() -> Context:
    """Return a context for background work that outlives its request.

    It has the origin, but no deadline or page budget.
    """
    context = Context()
    context.run(_current.set, current())
    return context


def call_id() -> str:
    """Return an ID for one attempt of a call."""
    origin = current()
    return origin.next_call() if origin else drawn()


def reference() -> str:
    """Return the request ID to show with an error, by which the log entry can be found."""
    origin = current()
    return origin.id if origin else drawn()


def drawn() -> str:
    return uuid.uuid4().hex[:12]
