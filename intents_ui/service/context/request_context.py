"""Context of a service call: the user's request on whose behalf it is made, and what that request has used so far.

One immutable `_Context` follows the request through its threads and tasks. It holds

- the request (`Origin`), whose calls are numbered: `3f9a0c1d2e4b.2` is the second call of the request `3f9a0c1d2e4b`,
- the deadline. Deadlines nest: an inner one can only be earlier,
- the slot. Pages that wait for the service must not occupy every thread, because other pages need no request. One
  client address gets at most a quarter of the slots,
- the stale responses and the failed calls, which the page reports.

Calls outside a request (live updates, background refreshes) have an ID of their own and need no slot.
"""

import contextlib
import logging
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from contextvars import Context, ContextVar
from datetime import UTC, datetime
from typing import Any, NamedTuple

from intents_ui.service.context import shares
from intents_ui.service.context.shares import Lack, Shares
from intents_ui.service.errors import BeyondShare, OutOfTime, Overloaded, ServiceError, StaleResponse

log = logging.getLogger("intents_ui.service")


class Origin:
    """A user's request. Thread-safe, because a page makes calls in several threads."""

    def __init__(self, request_id: str, *, visitor: str | None = None) -> None:
        self.id = request_id
        self.visitor = visitor  # client address for fair shares, None if unlimited
        self.calls = 0
        self._lock = threading.Lock()

    def next_call(self) -> str:
        with self._lock:
            self.calls += 1
            return f"{self.id}.{self.calls}"


class ServiceSlots:
    """Concurrency limiter for pages that wait for the service.

    Allows `most` pages at a time. One more is rejected if no slot is free within `wait` seconds.
    """

    def __init__(self, most: int, *, wait: float = 0.5) -> None:
        self._shares = Shares(most)
        self._wait = wait

    @contextlib.contextmanager
    def page(self, *, seconds: float) -> Iterator[None]:
        """Run a page with a deadline of `seconds`.

        Its first service call takes a slot, and the end of the block releases it.
        """
        slot = _Slot(self, visitor())
        try:
            with within(seconds), _Changed(slot=slot):
                yield
        finally:
            slot.release()

    def acquire(self, visitor: str | None) -> Lack | None:
        with shares.waiting():
            return self._shares.take(visitor, wait=time_left(self._wait, expired=OutOfTime) or 0.0)

    def release(self, visitor: str | None) -> None:
        self._shares.give_back(visitor)


class _Slot:
    """One page's slot, shared by all threads that work for the page."""

    def __init__(self, slots: ServiceSlots, visitor: str | None) -> None:
        self._slots = slots
        self._visitor = visitor
        self._lock = threading.Lock()
        self._is_taken: bool | None = None  # None: no call yet
        self._lack: Lack | None = None

    def acquire(self) -> None:
        with self._lock:
            if self._is_taken is None:
                self._lack = self._slots.acquire(self._visitor)
                self._is_taken = self._lack is None
            if self._lack is Lack.SHARE:
                raise BeyondShare("as many pages of one address wait for the service as may")
            if not self._is_taken:
                raise Overloaded("as many pages wait for the service as may")

    def release(self) -> None:
        with self._lock:
            if self._is_taken:
                self._slots.release(self._visitor)
            self._is_taken = False


class _Context(NamedTuple):
    origin: Origin | None = None
    slot: _Slot | None = None
    ends_at: float | None = None  # of time.monotonic
    stale: list[StaleResponse] | None = None
    failed: list[ServiceError] | None = None


_context: ContextVar[_Context] = ContextVar("service_context", default=_Context())  # noqa: B039 - immutable


class _Changed:
    """Run the block in a changed context, including threads with a copy of it (`concurrency`)."""

    def __init__(self, **changes: Any) -> None:
        self._changes = changes

    def __enter__(self) -> None:
        self._token = _context.set(_context.get()._replace(**self._changes))

    def __exit__(self, *_: object) -> None:
        _context.reset(self._token)


def current() -> Origin | None:
    return _context.get().origin


def visitor() -> str | None:
    """Return the client address whose fair share the current call uses, or None."""
    origin = current()
    return origin.visitor if origin else None


def asking(origin: Origin) -> contextlib.AbstractContextManager[None]:
    """Return a context manager that runs its block on behalf of `origin`."""
    return _Changed(origin=origin)


def apart() -> Context:
    """Return a context for background work that outlives its request.

    It has the origin, but no deadline or slot. It collects the stale responses that it uses, so that `as_of` is right.
    """
    context = Context()
    context.run(_context.set, _Context(origin=current(), stale=[]))
    return context


def call_id() -> str:
    """Return an ID for one attempt of a call."""
    origin = current()
    return origin.next_call() if origin else secrets.token_hex(6)


def reference() -> str:
    """Return the request ID to show with an error, by which the log entry can be found."""
    origin = current()
    return origin.id if origin else secrets.token_hex(6)


def claim_slot() -> None:
    """Check the page's deadline and slot before a service call.

    Raises OutOfTime after its deadline, and Overloaded or BeyondShare where it gets no slot.
    """
    if is_over():
        raise OutOfTime
    if slot := _context.get().slot:
        slot.acquire()


def within(seconds: float) -> contextlib.AbstractContextManager[None]:
    """Limit all network calls in the block to `seconds`, or to an enclosing deadline if that is earlier."""
    ends_at, outer = time.monotonic() + seconds, _context.get().ends_at
    return _Changed(ends_at=ends_at if outer is None else min(ends_at, outer))


def seconds_left() -> float | None:
    """Return the seconds until the current deadline, negative after it, or None without a deadline."""
    ends_at = _context.get().ends_at
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


@contextlib.contextmanager
def collecting_stale() -> Iterator[list[StaleResponse]]:
    """Collect the stale responses that the block uses."""
    stale: list[StaleResponse] = []
    with _Changed(stale=stale):
        yield stale


def stale_responses() -> Sequence[StaleResponse]:
    """Return the list of stale responses, which grows while the block runs."""
    stale = _context.get().stale
    return () if stale is None else stale


def as_of() -> datetime:
    """Return when the oldest response on the page arrived: now, unless one is stale."""
    return min((each.learned_at for each in stale_responses()), default=datetime.now(UTC))


def add_stale(response: StaleResponse) -> None:
    stale = _context.get().stale
    if stale is not None:
        stale.append(response)


@contextlib.contextmanager
def collecting_failed() -> Iterator[list[ServiceError]]:
    """Collect the failed calls of the block, so that the page can show the request ID of each one."""
    failed: list[ServiceError] = []
    with _Changed(failed=failed):
        yield failed


def failed_calls() -> Sequence[ServiceError]:
    """Return the list of failed calls, which grows while the block runs."""
    failed = _context.get().failed
    return () if failed is None else failed


def add_failed(error: ServiceError) -> None:
    if error.request_id is None:
        error.request_id = reference()
        log.info("%s skipped (request ID %s): %s", error.operation, error.request_id, error.summary)
    failed = _context.get().failed
    if failed is not None:
        failed.append(error)
