"""Preview cards, complete for any content."""

from dataclasses import replace
from functools import cache

import pytest
from PIL import Image

from intents_ui.share import drawing
from intents_ui.share.drawing import MONEY, TONES
from intents_ui.transfers import statuses
from intents_ui.transfers.statuses import StatusLabel, Tone
from intents_ui.transfers.summary import Card, PreviewEnd
from tests.service.pictures import opened

DONE = Card(
    intent="0x7c1f4ab2…90cd9e2b",
    status=statuses.INTENTS[statuses.IntentStatus.SUCCEEDED],
    tone=Tone.GOOD,
    headline="99.85 USDC arrived on Base",
    sentence="The money has arrived on Base.",
    sent=PreviewEnd("100.00 USDC", "Arbitrum One"),
    received=PreviewEnd("99.85 USDC", "Base"),
    when="Created 2026-11-21 12:00:00 UTC",
    has_arrived=True,
    alt="Succeeded · 99.85 USDC arrived on Base.",
)


@cache
def drawn(card: Card) -> Image.Image:
    return opened(drawing.png(card))


def test_a_card_is_an_image_of_its_size_with_content() -> None:
    image = drawn(DONE)
    assert (image.format, image.size) == ("PNG", (1200, 630))
    left, top, right, bottom = MONEY
    for place in ((88, 160, 1112, 330), (left + 20, top, right, bottom), (88, 520, 1112, 570)):
        assert len(image.crop(place).convert("L").getcolors() or ()) > 20


def test_every_tone_has_its_color_and_icon() -> None:
    shapes = set()
    for tone in Tone:
        image = drawn(replace(DONE, tone=tone))
        colours = {colour for _, colour in image.crop((88, 78, 160, 134)).getcolors(10_000) or ()}
        assert {tuple(bytes.fromhex(colour[1:])) for colour in TONES[tone]} <= colours
        shapes.add(image.crop((100, 85, 140, 125)).convert("1").tobytes())
    assert len(shapes) == len(Tone)


@pytest.mark.parametrize(
    "words",
    ["", "x" * 5000, "中文字符" * 100, "👩‍👩‍👧" * 40, "a\nb\tc\0d"],
    ids=["none", "long", "foreign", "emoji", "control"],
)
def test_untrusted_text_stays_in_its_space(words: str) -> None:
    strange = replace(
        DONE,
        intent=words,
        status=StatusLabel(words, Tone.NEUTRAL, "info", ""),
        headline=words,
        sentence=words,
        sent=PreviewEnd(words, words, words),
        received=PreviewEnd(words, words),
        when=words,
    )
    image = drawn(strange)
    plain = drawn(DONE)
    for margin in ((0, 0, 1200, 40), (0, 592, 1200, 630), (0, 0, 40, 630), (1162, 0, 1200, 630)):
        assert image.crop(margin).tobytes() == plain.crop(margin).tobytes()


def test_characters_missing_in_the_font_are_visible() -> None:
    without = drawn(replace(DONE, headline="pay"))
    assert drawn(replace(DONE, headline="pay\u4e2d")).tobytes() != without.tobytes()


def test_an_arrow_points_only_to_a_delivered_amount() -> None:
    left, top, right, bottom = MONEY
    middle = ((left + right) // 2 - 30, top + 20, (left + right) // 2 + 30, bottom - 20)
    ground = drawn(replace(DONE, has_arrived=False)).crop(middle).getcolors() or []
    assert len(ground) == 1
    assert len(drawn(DONE).crop(middle).getcolors() or []) > 1


def test_a_quoted_amount_is_smaller_and_paler_than_a_delivered_one() -> None:
    left, top, right, bottom = MONEY
    half = ((left + right) // 2 + 60, top, right, bottom)
    quoted = drawn(replace(DONE, received=PreviewEnd("Quoted: 99.85 USDC", "Base", has_any_step=False))).crop(half)
    delivered = drawn(DONE).crop(half)
    darkest = [min(colour[0] for _, colour in each.getcolors(10_000) or []) for each in (quoted, delivered)]
    assert darkest[0] > darkest[1]
