"""Per-page service budget: a total deadline and a concurrency slot.

Pages that wait for the service must not occupy every thread, because other pages need no request. One client address
gets at most a quarter of the slots. Calls outside a page (live updates, background refreshes) need no slot.
"""

import contextlib
import threading
from collections.abc import Iterator
from contextvars import ContextVar

from intents_ui.service.context import processor, request_context
from intents_ui.service.context.deadline import is_over, time_left, within
from intents_ui.service.context.shares import Lack, Shares
from intents_ui.service.errors import BeyondShare, OutOfTime, Overloaded


class Places:
    """Concurrency limiter for pages that wait for the service.

    Allows `most` pages at a time. One more is rejected if no slot is free within `wait` seconds.
    """

    def __init__(self, most: int, *, wait: float) -> None:
        self._shares = Shares(most)
        self._wait = wait

    @contextlib.contextmanager
    def page(self, *, seconds: float) -> Iterator[None]:
        """Run a page with a deadline of `seconds`.

        Its first service call takes a slot, and the end of the block releases it.
        """
        page = _Page(self)
        token = _page.set(page)
        try:
            with within(seconds):
                yield
        finally:
            _page.reset(token)
            page.leave()

    def take(self, visitor: str | None) -> Lack | None:
        with processor.waiting():
            return self._shares.take(visitor, wait=time_left(self._wait, expired=OutOfTime) or 0.0)

    def give_back(self, visitor: str | None) -> None:
        self._shares.give_back(visitor)


class _Page:
    """One page's slot, shared by all threads that work for the page."""

    def __init__(self, places: Places) -> None:
        self._limiter = places
        self._visitor = request_context.visitor()
        self._lock = threading.Lock()
        self._has_slot: bool | None = None  # None: no call yet
        self._lack: Lack | None = None

    def take_place(self) -> None:
        with self._lock:
            if self._has_slot is None:
                self._lack = self._limiter.take(self._visitor)
                self._has_slot = self._lack is None
            if self._lack is Lack.SHARE:
                raise BeyondShare("as many pages of one address wait for the service as may")
            if not self._has_slot:
                raise Overloaded("as many pages wait for the service as may")

    def leave(self) -> None:
        with self._lock:
            if self._has_slot:
                self._limiter.give_back(self._visitor)
            self._has_slot = False


_page: ContextVar[_Page | None] = ContextVar("page", default=None)


def claim() -> None:
    """Check the current page's budget before a service call.

    Raises OutOfTime after its deadline, and Overloaded or BeyondShare where it gets no slot.
    """
    if is_over():
        raise OutOfTime
    page = _page.get()
    if page:
        page.take_place()
