"""Untrusted images: decoded within limits and re-encoded."""

import io
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from intents_ui.service.logos import image_reencode, sandbox
from intents_ui.service.logos.image_reencode import BLACK, WHITE, Unusable, drawn_anew
from intents_ui.service.logos.sandbox import NotDrawn
from tests.service.pictures import BLUE, RED, opened, picture, png_that_claims, png_with

SECRET = b"canary-of-the-sender"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>'


def near(one: object, other: tuple[int, ...]) -> bool:
    assert isinstance(one, tuple)
    return all(abs(a - b) < 12 for a, b in zip(one, other, strict=True))


def animated(kind: str) -> bytes:
    frames = [Image.new("RGB", (80, 80), colour) for colour in (BLUE, RED)]
    written = io.BytesIO()
    frames[0].save(written, kind, save_all=True, append_images=frames[1:], duration=50)
    return written.getvalue()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(picture("PNG"), id="PNG"),
        pytest.param(picture("JPEG"), id="JPEG"),
        pytest.param(picture("WEBP"), id="WebP"),
        pytest.param(picture(size=(512, 512)), id="as large as may be"),
        pytest.param(picture(size=(1, 1)), id="a single pixel"),
        pytest.param(picture(size=(512, 100)), id="a bar"),
        pytest.param(animated("PNG"), id="animated PNG"),
        pytest.param(animated("WEBP"), id="animated WebP"),
        pytest.param(picture("PNG", colour=BLUE, icc_profile=SECRET), id="with a profile"),
    ],
)
def test_an_image_becomes_a_64_pixel_webp(body: bytes) -> None:
    drawn = opened(drawn_anew(body))
    assert (drawn.format, drawn.size, drawn.mode, getattr(drawn, "n_frames", 1)) == ("WEBP", (64, 64), "RGB", 1)
    assert near(drawn.getpixel((32, 32)), BLUE)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_only_visible_pixels_are_kept(kind: str) -> None:
    body = picture(kind, icc_profile=SECRET, exif=b"Exif\0\0" + SECRET) + SECRET
    assert SECRET in body
    assert SECRET not in drawn_anew(body)


@pytest.mark.parametrize(
    ("colour", "ground"),
    [
        pytest.param((255, 255, 255, 255), BLACK, id="white on black"),
        pytest.param((0, 0, 0, 255), WHITE, id="black on white"),
        pytest.param((255, 200, 0, 255), WHITE, id="yellow on white"),
    ],
)
def test_a_transparent_image_gets_a_contrasting_background(
    colour: tuple[int, ...], ground: tuple[int, int, int]
) -> None:
    image = Image.new("RGBA", (100, 100))
    image.paste(colour, (30, 30, 70, 70))
    written = io.BytesIO()
    image.save(written, "PNG")
    drawn = opened(drawn_anew(written.getvalue()))
    assert near(drawn.getpixel((3, 3)), ground)
    assert near(drawn.getpixel((32, 32)), colour[:3])


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(SVG, id="SVG"),
        pytest.param(b"<!doctype html><script>alert(1)</script>", id="HTML"),
        pytest.param(b"GIF89a" + picture()[6:], id="GIF by its first bytes"),
        pytest.param(animated("GIF"), id="GIF"),
        pytest.param(picture("BMP"), id="BMP"),
        pytest.param(picture("TIFF"), id="TIFF"),
        pytest.param(picture("ICO"), id="ICO"),
        pytest.param(picture("PPM"), id="PPM"),
        pytest.param(picture()[:60], id="cut off"),
        pytest.param(picture("JPEG")[:300], id="JPEG, cut off"),
        pytest.param(picture("WEBP")[:40], id="WebP, cut off"),
        pytest.param(picture(size=(513, 8)), id="too wide"),
        pytest.param(picture(size=(8, 513)), id="too high"),
        pytest.param(picture("WEBP", size=(600, 600)), id="WebP, too large"),
        pytest.param(picture("JPEG", size=(600, 600)), id="JPEG, too large"),
        pytest.param(png_that_claims(60_000, 60_000), id="bomb"),
        pytest.param(png_that_claims(2**31 - 1, 2**31 - 1), id="bomb beyond all numbers"),
        pytest.param(png_that_claims(512, 512), id="less than it claims"),
        pytest.param(png_with(b"zTXt", b"a\0\0" + zlib.compress(b"a" * 50_000_000)), id="bomb of text"),
        pytest.param(picture(colour=(0, 0, 0, 0)), id="nothing to be seen"),
    ],
)
def test_an_unsupported_image_is_rejected(body: bytes) -> None:
    with pytest.raises(Unusable):
        drawn_anew(body)


@given(
    start=st.sampled_from([picture(kind, size=(9, 9)) for kind in ("PNG", "JPEG", "WEBP")]),
    at=st.integers(0, 200),
    noise=st.binary(min_size=1, max_size=40),
)
def test_any_input_is_drawn_or_rejected(start: bytes, at: int, noise: bytes) -> None:
    try:
        drawn = drawn_anew(start[:at] + noise + start[at + len(noise) :])
    except Unusable:
        return
    assert opened(drawn).size == (64, 64)


def progressive(scans: int) -> bytes:
    """A progressive JPEG with its last scan repeated, as it takes next to no bytes and much time to decode."""
    body = picture("JPEG", size=(512, 512), progressive=True)
    last = body.rindex(b"\xff\xda")
    end = body.rindex(b"\xff\xd9")
    return body[:last] + body[last:end] * scans + body[end:]


def test_a_progressive_jpeg_beyond_the_scan_limit_is_rejected_before_decoding() -> None:
    ordinary = picture("JPEG", size=(512, 512), progressive=True).count(b"\xff\xda")
    assert opened(drawn_anew(progressive(65 - ordinary))).size == (64, 64)
    with pytest.raises(Unusable, match="more than 64 scans"):
        drawn_anew(progressive(66 - ordinary))
    with pytest.raises(Unusable, match="more than 64 scans"):
        drawn_anew(progressive(20_000))


def test_an_image_of_more_than_64_mb_decoded_is_rejected_before_decoding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_reencode, "LARGEST_SIDE", 60_000)
    with pytest.raises(Unusable, match="more than 64 MB"):
        drawn_anew(png_that_claims(4097, 4096))


CHILD = f"import sys; sys.path.append({str(Path(sandbox.DECODER).parent)!r}); import image_reencode\n"
LIMITED = f"{CHILD}image_reencode.limit()\n"


@pytest.mark.parametrize(
    ("does", "why"),
    [
        pytest.param("while True: pass", "ended with -(9|24)", id="takes the processor"),
        pytest.param("try: bytearray(2**30)\nexcept MemoryError: sys.exit(3)", "ended with 3", id="takes the memory"),
        pytest.param("import os; os.abort()", "ended with -6", id="crashes"),
        pytest.param("import sys; sys.stdout.buffer.write(b'x' * 2**21)", "too much", id="answers without end"),
        pytest.param("import sys; sys.exit(0)", "ended with 0", id="answers nothing"),
    ],
)
def test_a_crashing_decoder_takes_down_only_its_own_process(does: str, why: str) -> None:
    with pytest.raises(NotDrawn, match=why):
        sandbox.run(["-c", LIMITED + does], b"")


def test_limits_are_enforced_before_decoding() -> None:
    decodes = """
import resource
limits = (resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_CORE, resource.RLIMIT_FSIZE)
in_force = lambda: repr([resource.getrlimit(each)[0] for each in limits])
image_reencode.drawn_anew = lambda body: b"RIFF0000WEBP" + in_force().encode()
sys.exit(image_reencode.main())
"""
    result = sandbox.run(["-c", CHILD + decodes], b"").removeprefix(b"RIFF0000WEBP")
    assert result.decode() == repr([image_reencode.PROCESSOR_SECONDS, image_reencode.MEMORY, 0, 0])


def test_an_image_is_decoded_in_a_separate_process() -> None:
    drawn = opened(sandbox.drawn_anew(picture("JPEG")))
    assert (drawn.format, drawn.size) == ("WEBP", (64, 64))
    with pytest.raises(NotDrawn, match="UnidentifiedImageError"):
        sandbox.drawn_anew(b"<!doctype html>")
