"""Untrusted images: decoded within limits and re-encoded."""

import pytest

from intents_ui.service.logos import sandbox
from intents_ui.service.logos.image_reencode import Unusable, drawn_anew
from intents_ui.service.logos.sandbox import NotDrawn
from tests.service.pictures import BLUE, opened, picture, png_that_claims

SECRET = b"canary-of-the-sender"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>'


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(picture("PNG"), id="PNG"),
        pytest.param(picture("JPEG"), id="JPEG"),
        pytest.param(picture("WEBP"), id="WebP"),
    ],
)
def test_an_image_becomes_a_64_pixel_webp(body: bytes) -> None:
    drawn = opened(drawn_anew(body))
    assert (drawn.format, drawn.size, drawn.mode) == ("WEBP", (64, 64), "RGB")
    pixel = drawn.getpixel((32, 32))
    assert isinstance(pixel, tuple)
    assert all(abs(a - b) < 12 for a, b in zip(pixel, BLUE, strict=True))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_only_visible_pixels_are_kept(kind: str) -> None:
    body = picture(kind, icc_profile=SECRET, exif=b"Exif\0\0" + SECRET) + SECRET
    assert SECRET in body
    assert SECRET not in drawn_anew(body)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(SVG, id="SVG"),
        pytest.param(picture("GIF"), id="GIF"),
        pytest.param(picture()[:60], id="cut off"),
        pytest.param(picture(size=(513, 8)), id="too wide"),
        pytest.param(png_that_claims(60_000, 60_000), id="bomb"),
        pytest.param(picture(colour=(0, 0, 0, 0)), id="nothing to be seen"),
    ],
)
def test_an_unsupported_image_is_rejected(body: bytes) -> None:
    with pytest.raises(Unusable):
        drawn_anew(body)


def test_an_image_that_cannot_be_decoded_fails_in_a_process_of_its_own() -> None:
    with pytest.raises(NotDrawn, match="UnidentifiedImageError"):
        sandbox.drawn_anew(SVG)
