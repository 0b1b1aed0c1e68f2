"""The cards that are drawn, and those that were: so many at a time, so many bytes kept, each drawn once.

A crawler that asks for many at once takes no more than two processors' time and few of the threads that make pages.
"""

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from cachetools import LRUCache

from intents_ui.display.share import Card

if TYPE_CHECKING:
    from intents_ui.pictures.drawing import Pen

PENS = 2
WAITING = 16  # threads that wait for a pen, or for the card that another draws
SECONDS = 2.0
KEPT_BYTES = 4 * 2**20
ENTRY_BYTES = 1024  # what an entry costs beside its picture


def a_pen() -> "Pen":
    from intents_ui.pictures.drawing import Pen  # and with it Pillow: only where cards are asked for

    return Pen()


class Busy(Exception):
    """As many cards as may are being drawn and waited for. It may be another's turn in a moment."""


class Cards:
    """Safe for threads. What is the same card is the same picture, so a state that changed is drawn anew."""

    def __init__(self, *, seconds: float = SECONDS, pen: "Callable[[], Pen]" = a_pen) -> None:
        self._seconds = seconds
        self._pens: SimpleQueue[Pen] = SimpleQueue()
        for _ in range(PENS):
            self._pens.put(pen())
        self._places = threading.BoundedSemaphore(WAITING)
        self._lock = threading.Lock()
        self._under_way: dict[Card, Future[bytes]] = {}
        self._kept: LRUCache[Card, bytes] = LRUCache(KEPT_BYTES, getsizeof=lambda picture: len(picture) + ENTRY_BYTES)

    def png(self, card: Card) -> bytes:
        """Takes 2 s at most before it is drawn. Raises Busy."""
        with self._lock:
            with contextlib.suppress(KeyError):
                return self._kept[card]
            if not self._places.acquire(blocking=False):
                raise Busy
            others = self._under_way.get(card)
            mine = self._under_way.setdefault(card, Future())
        try:
            return self._wait(others) if others else self._draw_for_all(card, mine)
        finally:
            self._places.release()

    def _draw_for_all(self, card: Card, mine: "Future[bytes]") -> bytes:
        try:
            picture = self._drawn(card)
        except BaseException as error:
            with self._lock:
                del self._under_way[card]
            mine.set_exception(error)
            raise
        with self._lock:
            self._kept[card] = picture
            del self._under_way[card]
        mine.set_result(picture)
        return picture

    def _drawn(self, card: Card) -> bytes:
        try:
            pen = self._pens.get(timeout=self._seconds)
        except Empty:
            raise Busy from None
        try:
            return pen.png(card)
        finally:
            self._pens.put(pen)

    def _wait(self, others: "Future[bytes]") -> bytes:
        try:
            return others.result(self._seconds)
        except TimeoutError:
            raise Busy from None
