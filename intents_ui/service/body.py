"""An answer's bytes, bounded before and after they are inflated (faults.md 0.5): 1 MB of gzip can hold a gigabyte."""

import zlib

from intents_ui.service.errors import Flaw, Unreadable

ACCEPTED_ENCODINGS = "gzip, identity"

_GZIP = 16 + zlib.MAX_WBITS


class Body:
    """Takes the pieces as they come from the wire; raises Unreadable as soon as they are too many."""

    def __init__(self, *, encoding: str, limit: int) -> None:
        if encoding not in ("", "identity", "gzip"):
            raise Unreadable.because(Flaw.ENCODING)
        self._gzip = zlib.decompressobj(_GZIP) if encoding == "gzip" else None
        self._limit = limit
        self._wire_bytes = 0
        self._content = bytearray()

    def add(self, piece: bytes) -> None:
        self._wire_bytes += len(piece)
        if self._wire_bytes > self._limit:
            raise Unreadable.because(Flaw.TOO_LARGE)
        # One byte more than there is room for, so that too much shows.
        room = self._limit - len(self._content) + 1
        self._content += _inflated(self._gzip, piece, room=room) if self._gzip else piece
        if len(self._content) > self._limit:
            raise Unreadable.because(Flaw.TOO_LARGE)

    def whole(self) -> bytes:
        """Everything, once the last piece is there."""
        if self._gzip and self._wire_bytes and (not self._gzip.eof or self._gzip.unused_data):
            raise Unreadable.because(Flaw.ENCODING, "cut off or followed by something")
        return bytes(self._content)


def _inflated(gzip: "zlib._Decompress", piece: bytes, *, room: int) -> bytes:
    try:
        return gzip.decompress(piece, room)
    except zlib.error:
        raise Unreadable.because(Flaw.ENCODING, "not gzip") from None
