"""Cache and concurrency limit for preview cards. Each card is rendered once.

A crawler that requests many at once uses at most two CPUs. The threads that serve pages only wait for them.
"""

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor

from cachetools import LRUCache

from intents_ui.transfers.summary import Card

MAX_RENDERERS = 2
WAITING = 16  # cards that wait for a renderer, or are rendered
SECONDS = 2.0
KEPT_BYTES = 4 * 2**20
ENTRY_BYTES = 1024  # overhead of an entry


def draw(card: Card) -> bytes:
    from intents_ui.share import drawing  # imports Pillow, so only when cards are used

    return drawing.png(card)


class Busy(Exception):
    """Too many cards are being rendered. Try again in a moment."""


class Cards:
    """Card cache. Thread-safe. A card's content is its cache key, so a changed status renders a new image."""

    def __init__(self, *, seconds: float = SECONDS, draw: Callable[[Card], bytes] = draw) -> None:
        self._seconds = seconds
        self._draw = draw
        self._renderers = ThreadPoolExecutor(MAX_RENDERERS, "card")
        self._lock = threading.Lock()
        self._pending: dict[Card, Future[bytes]] = {}
        self._cache: LRUCache[Card, bytes] = LRUCache(KEPT_BYTES, getsizeof=lambda picture: len(picture) + ENTRY_BYTES)

    def png(self, card: Card) -> bytes:
        """Return the card as PNG. Waits for 2 s at most. Raises Busy."""
        with self._lock:
            if card in self._cache:
                return self._cache[card]
            if card not in self._pending:
                if len(self._pending) >= WAITING:
                    raise Busy
                self._pending[card] = self._renderers.submit(self._render, card)
            pending = self._pending[card]
        try:
            return pending.result(self._seconds)
        except TimeoutError:
            if pending.cancel():  # before it began, for all who wait for it
                self._end(card)
            raise Busy from None
        except CancelledError:
            raise Busy from None

    def _render(self, card: Card) -> bytes:
        try:
            picture = self._draw(card)
        except BaseException:
            self._end(card)
            raise
        self._end(card, picture)
        return picture

    def _end(self, card: Card, picture: bytes | None = None) -> None:
        with self._lock:
            self._pending.pop(card, None)
            if picture is not None:
                self._cache[card] = picture
