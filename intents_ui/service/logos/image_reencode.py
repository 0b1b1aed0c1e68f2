"""Re-encodes untrusted images, so that only bytes written by our own encoder are served.

`sandbox` runs this file as a program: an image on standard input, the new image or the reason for its rejection on
standard output. It imports nothing from this package.
"""

import io
import resource
import sys

from PIL import Image, ImageOps, ImageStat

FORMATS = ("PNG", "JPEG", "WEBP")
LARGEST_SIDE = 512
MOST_DECODED = 64 * 2**20  # bytes, at four per pixel
MOST_SCANS = 64  # of a progressive JPEG, because each scan takes few bytes but decodes the whole image
SCAN = b"\xff\xda"  # the start-of-scan marker, which can't occur inside the image data
PROCESSOR_SECONDS = 1
MEMORY = 512 * 2**20  # address space, including the interpreter and its libraries
SIDE = 64
QUALITY = 90
WHITE, BLACK = (255, 255, 255), (20, 24, 30)
ALMOST_WHITE = 220  # mean brightness from 0 to 255


class Unusable(Exception):
    """The image is rejected: not a PNG, JPEG or WebP, too large, broken or empty."""


def drawn_anew(body: bytes) -> bytes:
    """Return the first frame as an opaque 64-pixel square WebP without metadata. Raises Unusable."""
    try:
        drawn = _centered(_first_frame(body))
    except Unusable:
        raise
    # Decoders can raise almost anything for a broken image.
    except Exception as error:
        raise Unusable(f"{type(error).__name__} while it was read") from error
    written = io.BytesIO()
    drawn.save(written, "WEBP", quality=QUALITY)
    return written.getvalue()


def _first_frame(body: bytes) -> Image.Image:
    with Image.open(io.BytesIO(body), formats=FORMATS) as image:
        if image.format == "JPEG" and body.count(SCAN) > MOST_SCANS:
            raise Unusable("more than 64 scans")
        if image.width * image.height * 4 > MOST_DECODED:
            raise Unusable("more than 64 MB decoded")
        if max(image.size) > LARGEST_SIDE:
            raise Unusable("more than 512 pixels on a side")
        return image.convert("RGBA")


def _centered(image: Image.Image) -> Image.Image:
    """Center the image on a square: white images on black, all others on white."""
    if image.getbbox() is None:
        raise Unusable("nothing in it can be seen")
    brightness = ImageStat.Stat(image.convert("L"), mask=image.getchannel("A")).mean[0]
    fitting = ImageOps.contain(image, (SIDE, SIDE))
    ground = Image.new("RGB", (SIDE, SIDE), BLACK if brightness > ALMOST_WHITE else WHITE)
    ground.paste(fitting, ((SIDE - fitting.width) // 2, (SIDE - fitting.height) // 2), mask=fitting)
    return ground


def limit() -> None:  # pragma: no cover - runs in the decoder's process, which is started without an environment
    """Set the process's resource limits. Call it before reading any input."""
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def main() -> int:  # pragma: no cover - as above
    limit()
    try:
        drawn = drawn_anew(sys.stdin.buffer.read())
    except Unusable as error:
        sys.stdout.write(str(error))
        return 1
    sys.stdout.buffer.write(drawn)
    return 0


if __name__ == "__main__":  # pragma: no cover - as above
    sys.exit(main())
