"""Images as a client decodes them."""

import io

from PIL import Image


def opened(body: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(body))
    image.load()
    return image
