"""Bounded buffer for a response body, limited before and after decompression: 1 MB of gzip can expand to 1 GB."""

import threading
import zlib
from collections.abc import Callable, Iterator
from typing import Self

from intents_ui.service.errors import Flaw, Overloaded, ServiceError

ACCEPTED_ENCODINGS = "gzip, identity"
LARGE = 2**20  # bytes
ROOM = 48 * 2**20  # bytes of large responses in memory at a time, per process
STEP = 2**16  # bytes to decompress at a time, so that a canceled response isn't expanded further

_GZIP = 16 + zlib.MAX_WBITS


class ResponseMemory:
    """Memory budget for all large responses of the process. Thread-safe.

    A parsed response takes many times its size, and parsing two at once isn't faster: hold `parsing` meanwhile.
    """

    def __init__(self, most: int = ROOM) -> None:
        self.parsing = threading.Lock()
        self._left = most
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        """Take bytes without blocking. Return whether they were available."""
        with self._lock:
            has_room = size <= self._left
            self._left -= size if has_room else 0
            return has_room

    def give_back(self, size: int) -> None:
        with self._lock:
            self._left += size


class Body:
    """Collect a response's bytes as they arrive, and raise `flawed(flaw)` at the first flaw.

    Use it as a context manager that also covers parsing, so that its share of the memory budget is held that long.
    Raises Overloaded if the budget for large responses is used up.
    """

    def __init__(
        self, *, encoding: str, limit: int, memory: ResponseMemory, flawed: Callable[[Flaw], ServiceError]
    ) -> None:
        if encoding not in ("", "identity", "gzip"):
            raise flawed(Flaw.ENCODING)
        self._gzip = zlib.decompressobj(_GZIP) if encoding == "gzip" else None
        self._limit = limit
        self._memory = memory
        self._flawed = flawed
        self.wire_bytes = 0
        self._content = bytearray()
        self._reserved = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._content.clear()
        self._memory.give_back(self._reserved)
        self._reserved = 0

    def add(self, piece: bytes) -> None:
        self.wire_bytes += len(piece)
        if self.wire_bytes > self._limit:
            raise self._flawed(Flaw.TOO_LARGE)
        for part in self._inflated(self._gzip, piece) if self._gzip else (piece,):
            self._content += part
            if len(self._content) > self._limit:
                raise self._flawed(Flaw.TOO_LARGE)
            while len(self._content) > max(self._reserved, LARGE):
                self._take(LARGE)

    def whole(self) -> bytearray:
        """Return the complete body once, after the last piece."""
        if self._gzip and self.wire_bytes and (not self._gzip.eof or self._gzip.unused_data):
            raise self._flawed(Flaw.ENCODING)
        content, self._content = self._content, bytearray()
        return content

    def _inflated(self, gzip: "zlib._Decompress", piece: bytes) -> Iterator[bytes]:
        while True:
            try:
                part = gzip.decompress(piece, STEP)
            except zlib.error:
                raise self._flawed(Flaw.ENCODING) from None
            yield part
            piece = gzip.unconsumed_tail
            if not piece and len(part) < STEP:
                return

    def _take(self, size: int) -> None:
        if not self._memory.take(size):
            raise Overloaded("as many large answers are in hand as there is room for")
        self._reserved += size
