"""Pictures as a host of logos may send them."""

import io
import struct
import zlib
from typing import Any

from PIL import Image

BLUE, RED, WHITE = (11, 83, 191), (200, 20, 20), (255, 255, 255)
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def picture(
    kind: str = "PNG", *, size: tuple[int, int] = (128, 128), colour: tuple[int, ...] = BLUE, **how: Any
) -> bytes:
    written = io.BytesIO()
    Image.new("RGBA" if len(colour) == 4 else "RGB", size, colour).save(written, kind, **how)
    return written.getvalue()


def opened(body: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(body))
    image.load()
    return image


def png_that_claims(width: int, height: int) -> bytes:
    """A PNG whose head says so, with next to nothing behind it."""
    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return SIGNATURE + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
