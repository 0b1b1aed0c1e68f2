"""An answer's bytes, bounded before and after they are inflated (faults.md 0.5): 1 MB of gzip can hold a gigabyte."""

import threading
import zlib
from collections.abc import Callable
from typing import Self

from intents_ui.service.errors import Flaw, Overloaded, ServiceError

ACCEPTED_ENCODINGS = "gzip, identity"
LARGE = 2**20  # bytes
MOST_LARGE = 8  # answers beyond that in hand at a time in a process, whoever asks

_GZIP = 16 + zlib.MAX_WBITS
_large = threading.BoundedSemaphore(MOST_LARGE)


class Body:
    """Takes the pieces as they come from the wire; raises what `flawed` makes of a flaw as soon as there is one.

    `with` it around the reading. Large ones have a number of places together; Overloaded where none is free.
    """

    def __init__(self, *, encoding: str, limit: int, flawed: Callable[[Flaw], ServiceError]) -> None:
        if encoding not in ("", "identity", "gzip"):
            raise flawed(Flaw.ENCODING)
        self._gzip = zlib.decompressobj(_GZIP) if encoding == "gzip" else None
        self._limit = limit
        self._flawed = flawed
        self.wire_bytes = 0
        self._content = bytearray()
        self._has_place = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._has_place:
            self._has_place = False
            _large.release()

    def add(self, piece: bytes) -> None:
        self.wire_bytes += len(piece)
        if self.wire_bytes > self._limit:
            raise self._flawed(Flaw.TOO_LARGE)
        try:
            # One byte more than there is room for, so that too much shows.
            room = self._limit - len(self._content) + 1
            self._content += self._gzip.decompress(piece, room) if self._gzip else piece
        except zlib.error:
            raise self._flawed(Flaw.ENCODING) from None
        if len(self._content) > self._limit:
            raise self._flawed(Flaw.TOO_LARGE)
        if len(self._content) > LARGE and not self._has_place:
            self._has_place = _large.acquire(blocking=False)
            if not self._has_place:
                raise Overloaded("as many large answers are read as may be at a time")

    def whole(self) -> bytes:
        """Everything, once the last piece is there."""
        if self._gzip and self.wire_bytes and (not self._gzip.eof or self._gzip.unused_data):
            raise self._flawed(Flaw.ENCODING)
        return bytes(self._content)
