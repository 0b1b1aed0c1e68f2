"""A stranger's picture, drawn anew: what is shown was written by ourselves, whatever came (faults.md S-IMG)."""

import io

from PIL import Image, ImageOps, ImageStat

FORMATS = ("PNG", "JPEG", "WEBP")
LARGEST_SIDE = 512
SIDE = 64
QUALITY = 90
WHITE, BLACK = (255, 255, 255), (20, 24, 30)
ALMOST_WHITE = 220  # of 255


class Unusable(Exception):
    """Nothing that we would show: it is no PNG, JPEG or WebP, it is too large, broken or empty."""


def drawn_anew(body: bytes) -> bytes:
    """The first frame as a WebP of 64 pixels a side, opaque, with nothing beside it. Raises Unusable."""
    try:
        drawn = _on_ground(_first_frame(body))
    except Unusable:
        raise
    # What is broken makes a decoder raise almost anything.
    except Exception as error:
        raise Unusable(f"{type(error).__name__} while it was read") from error
    written = io.BytesIO()
    drawn.save(written, "WEBP", quality=QUALITY)
    return written.getvalue()


def _first_frame(body: bytes) -> Image.Image:
    with Image.open(io.BytesIO(body), formats=FORMATS) as image:
        if max(image.size) > LARGEST_SIDE:
            raise Unusable("more than 512 pixels on a side")
        return image.convert("RGBA")


def _on_ground(image: Image.Image) -> Image.Image:
    """In the middle of a square. What is drawn in white is seen on black, everything else on white."""
    if image.getbbox() is None:
        raise Unusable("nothing in it can be seen")
    brightness = ImageStat.Stat(image.convert("L"), mask=image.getchannel("A")).mean[0]
    fitting = ImageOps.contain(image, (SIDE, SIDE))
    ground = Image.new("RGB", (SIDE, SIDE), BLACK if brightness > ALMOST_WHITE else WHITE)
    ground.paste(fitting, ((SIDE - fitting.width) // 2, (SIDE - fitting.height) // 2), mask=fitting)
    return ground
