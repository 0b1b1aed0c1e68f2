"""An answer's bytes, bounded before and after they are inflated (faults.md 0.5): 1 MB of gzip can hold a gigabyte."""

import zlib
from collections.abc import Callable

from intents_ui.service.errors import Flaw, ServiceError

ACCEPTED_ENCODINGS = "gzip, identity"

_GZIP = 16 + zlib.MAX_WBITS


class Body:
    """Takes the pieces as they come from the wire; raises what `flawed` makes of a flaw as soon as there is one."""

    def __init__(self, *, encoding: str, limit: int, flawed: Callable[[Flaw], ServiceError]) -> None:
        if encoding not in ("", "identity", "gzip"):
            raise flawed(Flaw.ENCODING)
        self._gzip = zlib.decompressobj(_GZIP) if encoding == "gzip" else None
        self._limit = limit
        self._flawed = flawed
        self.wire_bytes = 0
        self._content = bytearray()

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

    def whole(self) -> bytes:
        """Everything, once the last piece is there."""
        if self._gzip and self.wire_bytes and (not self._gzip.eof or self._gzip.unused_data):
            raise self._flawed(Flaw.ENCODING)
        return bytes(self._content)
