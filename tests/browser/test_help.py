"""A term is explained on hover and on focus, can be dismissed, and links to the help."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import fits, visiting

pytestmark = pytest.mark.browser


def test_a_word_is_explained_on_hover_and_focus_and_dismissed(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="dark", width=360) as visit:
        page = visit.page
        visit.open("/chains")
        word, tip = page.get_by_role("link", name="Testnets", exact=True), page.locator("#term-testnet")
        expect(tip).to_be_hidden()
        word.hover()
        expect(tip).to_be_visible()
        expect(tip).to_contain_text("A chain for testing")
        assert fits(page)
        box = tip.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
        tip.hover()
        expect(tip).to_be_visible()
        page.keyboard.press("Escape")
        expect(tip).to_be_hidden()
        page.mouse.move(0, 0)
        word.focus()
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Tab")
        expect(word).to_be_focused()
        expect(tip).to_be_visible()
        page.keyboard.press("Tab")
        expect(tip).to_be_hidden()
        word.click()
        expect(page).to_have_url(f"{server}/help#testnet")
        expect(page.locator("#testnet")).to_be_in_viewport()
