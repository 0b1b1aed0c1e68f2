"""Context of a service call: the user's request on whose behalf it is made, and what that request has used so far.

It follows the request through its threads and tasks. Calls outside a request (live updates, background refreshes) have
an ID of their own.
"""

import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, MutableSequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import Context, ContextVar
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from intents_ui.service.errors import ServiceError, StaleResponse

log = logging.getLogger("intents_ui.service")

PAGE_TIMEOUT = 8.0  # seconds of all of a page's service calls


class Origin:
    """A user's request. Thread-safe, because a page makes calls in several threads.

    `client` is whose fair shares it uses, None if unlimited. Its calls are numbered: `3f9a0c1d2e4b.2` is the second
    one of the request `3f9a0c1d2e4b`.
    """

    def __init__(self, request_id: str, *, client: str | None = None) -> None:
        self.id = request_id
        self.client = client
        self.calls = 0
        self._lock = threading.Lock()

    def next_call(self) -> str:
        with self._lock:
            self.calls += 1
            return f"{self.id}.{self.calls}"


NOWHERE: deque[Any] = deque(maxlen=0)  # keeps nothing


class RequestContext(NamedTuple):
    """`stale` and `failed`: the stale responses and failed calls of the page so far. More are added while it is made.

    `ends_at`: its deadline, by time.monotonic.
    """

    origin: Origin | None = None
    ends_at: float | None = None
    stale: MutableSequence[StaleResponse] = NOWHERE
    failed: MutableSequence[ServiceError] = NOWHERE

    @property
    def as_of(self) -> datetime:
        """When the oldest response arrived: now, unless one is stale."""
        return min((each.learned_at for each in self.stale), default=datetime.now(UTC))


OUTSIDE = RequestContext()
_context: ContextVar[RequestContext] = ContextVar("service_context", default=OUTSIDE)
current = _context.get


@contextmanager
def _changed(**changes: Any) -> Iterator[RequestContext]:
    """Run the block in a changed context, including threads with a copy of it (`executor`)."""
    changed = current()._replace(**changes)
    token = _context.set(changed)
    try:
        yield changed
    finally:
        _context.reset(token)


def request_scope(origin: Origin) -> AbstractContextManager[RequestContext]:
    """Run the block on behalf of `origin`."""
    return _changed(origin=origin)


def collecting(*what: Literal["stale", "failed"]) -> AbstractContextManager[RequestContext]:
    """Collect the stale responses or failed calls of the block instead of in the context around it."""
    return _changed(**{each: [] for each in what})


def within(seconds: float) -> AbstractContextManager[RequestContext]:
    """Limit all network calls in the block to `seconds`, or to an enclosing deadline if that is earlier."""
    ends_at, outer = time.monotonic() + seconds, current().ends_at
    return _changed(ends_at=ends_at if outer is None else min(ends_at, outer))


def page_deadline() -> AbstractContextManager[RequestContext]:
    """Limit the service calls of a page."""
    return within(PAGE_TIMEOUT)


def background_context() -> Context:
    """Return a context for background work that outlives its request.

    It has the origin, but no deadline. It collects the stale responses that it uses, so that `as_of` is right.
    """
    context = Context()
    context.run(_context.set, RequestContext(origin=current().origin, stale=[]))
    return context


def without_deadline[T](ask: Callable[[], T]) -> T:
    """Run a call without the page's deadline: a write that is interrupted may still have been executed."""
    return background_context().run(ask)


def client() -> str | None:
    """Return the client whose fair shares the current call uses, or None."""
    origin = current().origin
    return origin.client if origin else None


def call_id() -> str:
    """Return an ID for one attempt of a call."""
    origin = current().origin
    return origin.next_call() if origin else secrets.token_hex(6)


def reference() -> str:
    """Return the request ID to show with an error, by which the log entry can be found."""
    origin = current().origin
    return origin.id if origin else secrets.token_hex(6)


def seconds_left() -> float | None:
    """Return the seconds until the current deadline, negative after it, or None without a deadline."""
    ends_at = current().ends_at
    return None if ends_at is None else ends_at - time.monotonic()


def is_over() -> bool:
    left = seconds_left()
    return left is not None and left <= 0


def time_left(timeout: float | None, *, expired: type[Exception]) -> float | None:
    """Return `timeout` cut to the time left. Raises `expired` after the deadline."""
    left = seconds_left()
    if left is None:
        return timeout
    if left <= 0:
        raise expired("the time is over")
    return left if timeout is None else min(left, timeout)


def add_failed(error: ServiceError) -> None:
    """Note a failed call, so that the page can show its request ID."""
    if error.request_id is None:
        error.request_id = reference()
        log.info("%s skipped (request ID %s): %s", error.operation, error.request_id, error.summary)
    current().failed.append(error)
