"""What a page may take of the service: so many seconds for all of its questions, and a place among those who wait.

Pages that wait must not hold every thread there is: the others serve what needs no answer. One address has a quarter of
the places at most. Whoever asks for no page (the live part, a question that its page no longer waits for) needs no
place.
"""

import contextlib
import threading
from collections.abc import Iterator
from contextvars import ContextVar

from intents_ui.service import origin, processor
from intents_ui.service.deadline import is_over, time_left, within
from intents_ui.service.errors import BeyondShare, OutOfTime, Overloaded
from intents_ui.service.shares import Lack, Shares


class Places:
    """`most` pages at a time wait for the service; one more is refused if no place is free within `wait` seconds."""

    def __init__(self, most: int, *, wait: float) -> None:
        self._shares = Shares(most)
        self._wait = wait

    @contextlib.contextmanager
    def page(self, *, seconds: float) -> Iterator[None]:
        """A page: its first question takes a place, which is free again when the page is done."""
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
    """Shared by the threads that ask for one page: all of them have its place, or none."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._visitor = origin.visitor()
        self._lock = threading.Lock()
        self._has_place: bool | None = None  # None: nothing was asked yet
        self._lack: Lack | None = None

    def take_place(self) -> None:
        with self._lock:
            if self._has_place is None:
                self._lack = self._places.take(self._visitor)
                self._has_place = self._lack is None
            if self._lack is Lack.SHARE:
                raise BeyondShare("as many pages of one address wait for the service as may")
            if not self._has_place:
                raise Overloaded("as many pages wait for the service as may")

    def leave(self) -> None:
        with self._lock:
            if self._has_place:
                self._places.give_back(self._visitor)
            self._has_place = False


_page: ContextVar[_Page | None] = ContextVar("page", default=None)


def claim() -> None:
    """Before anything that waits for the service. Raises OutOfTime or Overloaded when this page may not."""
    if is_over():
        raise OutOfTime
    page = _page.get()
    if page:
        page.take_place()
