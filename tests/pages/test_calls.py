"""Decoded calls on the transfer page, above every field."""

import re
from html import unescape

import pytest
from django.test import Client

from intents_ui.emulator.app import Emulator
from tests.emulator.driving import quote
from tests.pages.reading import read

TITLE = "Decoded calls"


def visible_text(html: str) -> str:
    """Return the visible text of the fold."""
    fold = html[html.index(TITLE) : html.index("Decoded from well-known function signatures")]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", "", fold)))


def test_decoded_calls_come_before_every_field(site: Client, emulator: Emulator) -> None:
    html = read(site, f"/intent/{emulator.finished(16)['intentId']}/proof")
    assert html.index(TITLE) < html.index("Quote<span")
    words = visible_text(html)
    assert "to the deposit address." in words
    assert "Runs once the destination intent address has at least 50.00 USDC on Base." in words
    assert "Approve the recipient to spend 50.00 USDC from the destination intent address." in words
    assert "Call function 0x97d4df67 of the recipient." in words
    assert "Runs if the previous call fails." in words
    assert "approve, 68 bytes of data" in words


def test_a_permit_shows_its_deadline_and_that_it_is_unlimited(site: Client, emulator: Emulator) -> None:
    words = visible_text(read(site, f"/intent/{emulator.finished(15)['intentId']}/proof"))
    assert (
        "A signed permit allows the service's contract to spend USDC without limit from the owner's wallet until"
        in words
    )
    assert "The unused part stays approved until revoked." in words


HOSTILE = [
    pytest.param("0xac9650d8" + f"{32:064x}{2**200:064x}", "Arguments don't match the function", id="an endless list"),
    pytest.param("0xac9650d8" + "ff" * 40_000, "Arguments don't match the function signature", id="long and broken"),
    pytest.param("0xdeadbeef" + "00" * 90_000, "too long to decode", id="too long"),
    pytest.param("0xde", "too short for a function selector", id="too short"),
]


@pytest.mark.parametrize(("data", "words"), HOSTILE)
def test_hostile_call_data_renders_a_normal_page(site: Client, emulator: Emulator, data: str, words: str) -> None:
    quoted = quote(emulator, destinationToAddress="0x" + "cd" * 20, destinationCallData=data)
    assert words in visible_text(read(site, f"/intent/{quoted['intentId']}/proof"))
