"""Spoofed tokens: every place that shows one has a warning with the reasons."""

import html
import re
from typing import Any

import pytest

from intents_ui.emulator.app import Emulator
from intents_ui.formatting import hashes
from tests.pages.asgi import ask
from tests.pages.reading import read, visible_text

SPOOF = 18  # 1,000 fake "USDC"
FAKE = "0xef5753e624bb76c4daf0c837eff7ec1239cc8e7f"
WORDS = "looks like USDC, unlisted"
SHORT = "0xeF5753…cC8e7F"
SAID = f"1,000.00 USDC ({WORDS}: {SHORT})"
LIKE = "Its symbol looks like USDC, which the service features on Base at 0x833589…A02913. This is a different token."
UNLISTED = "Not on the service's token list. Check the contract address."


@pytest.fixture
def spoof(emulator: Emulator) -> dict[str, Any]:
    return emulator.finished(SPOOF)


def part(page: str, pattern: str) -> str:
    found = re.search(pattern, page, re.DOTALL)
    assert found, pattern
    return found[0]


def is_marked(markup: str) -> bool:
    """Return whether the tag and the address are visible, with all reasons in the tooltip and for screen readers."""
    mark = part(markup, r'<span class="marks".*?</bdi></span>')
    title = html.unescape(part(mark, r'title="[^"]*"'))
    assert title == f'title="{LIKE} {UNLISTED}"'
    assert visible_text(mark) == f"looks like USDC , 1 more warning , unlisted: {LIKE} {UNLISTED} {SHORT}"
    return True


def test_a_transfer_page_marks_the_amount_and_lists_all_warnings_below(site, spoof):
    shown = read(site, f"/intent/{spoof['intentId']}")
    assert is_marked(part(shown, r'<div class="money">.*?</div>'))
    note = part(shown, r'<div class="note warnings".*?</ul>')
    assert f"Looks like USDC. {LIKE} Unlisted. {UNLISTED}" in visible_text(note)
    assert re.search(rf'title="{hashes.checksum(FAKE)}".*<button class="copy" type="button" data-copy title', note)
    assert SAID in html.unescape(part(shown, "<title>.*?</title>"))
    assert SAID in visible_text(part(shown, r'data-step="deposit".*?</li>'))


def test_a_triage_row_shows_the_token_warnings(site, spoof):
    triaged = ask("POST", "/triage", data={"q": f"{spoof['intentId']} {FAKE}"}).text
    transfer, token = re.findall(r'<tr id="row-\d+">.*?</tr>', triaged, re.DOTALL)
    assert f"{SAID} on Base →" in visible_text(transfer)
    assert f"USDC ({WORDS}), a token on Base" in visible_text(token)
    assert LIKE in visible_text(token)
