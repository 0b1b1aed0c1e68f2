"""Cache and concurrency limit for preview cards. Each card is rendered once.

A crawler that requests many at once uses at most two CPUs and few of the threads that serve pages.
"""

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from cachetools import LRUCache

from intents_ui.transfers.summary import Card

if TYPE_CHECKING:
    from intents_ui.share.drawing import CardRenderer

MAX_RENDERERS = 2
WAITING = 16  # threads that wait for a renderer, or for a card that another thread renders
SECONDS = 2.0
KEPT_BYTES = 4 * 2**20
ENTRY_BYTES = 1024  # overhead of an entry


def new_renderer() -> "CardRenderer":
    from intents_ui.share.drawing import CardRenderer  # imports Pillow, so only when cards are used

    return CardRenderer()


class Busy(Exception):
    """Too many cards are being rendered. Try again in a moment."""


class Cards:
    """Card cache. Thread-safe. A card's content is its cache key, so a changed status renders a new image."""

    def __init__(self, *, seconds: float = SECONDS, renderer: "Callable[[], CardRenderer]" = new_renderer) -> None:
        self._seconds = seconds
        self._new_renderer = renderer
        self._renderers: SimpleQueue[CardRenderer | None] = SimpleQueue()
        for _ in range(MAX_RENDERERS):
            self._renderers.put(None)  # made at its first use, because it loads the fonts
        self._slots = threading.BoundedSemaphore(WAITING)
        self._lock = threading.Lock()
        self._pending: dict[Card, Future[bytes]] = {}
        self._cache: LRUCache[Card, bytes] = LRUCache(KEPT_BYTES, getsizeof=lambda picture: len(picture) + ENTRY_BYTES)

    def png(self, card: Card) -> bytes:
        """Return the card as PNG. Waits for a renderer for 2 s at most. Raises Busy."""
        with self._lock:
            with contextlib.suppress(KeyError):
                return self._cache[card]
            if not self._slots.acquire(blocking=False):
                raise Busy
            others = self._pending.get(card)
            mine = self._pending.setdefault(card, Future())
        try:
            return self._wait(others) if others else self._draw_shared(card, mine)
        finally:
            self._slots.release()

    def _draw_shared(self, card: Card, mine: "Future[bytes]") -> bytes:
        try:
            picture = self._drawn(card)
        except BaseException as error:
            with self._lock:
                del self._pending[card]
            mine.set_exception(error)
            raise
        with self._lock:
            self._cache[card] = picture
            del self._pending[card]
        mine.set_result(picture)
        return picture

    def _drawn(self, card: Card) -> bytes:
        try:
            renderer = self._renderers.get(timeout=self._seconds)
        except Empty:
            raise Busy from None
        try:
            renderer = renderer or self._new_renderer()
            return renderer.png(card)
        finally:
            self._renderers.put(renderer)

    def _wait(self, others: "Future[bytes]") -> bytes:
        try:
            return others.result(self._seconds)
        except TimeoutError:
            raise Busy from None
