"""A term is explained on hover and on focus, can be dismissed, and links to the help."""

import re

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.browser.conftest import Visit, fits, visiting

pytestmark = pytest.mark.browser


def older(visit: Visit) -> None:
    """Open a browser without `interestfor`, which our script replaces."""

    def strip(route: Route) -> None:
        sent = route.fetch()
        route.fulfill(response=sent, body=re.sub(r' interestfor="[^"]*"', "", sent.text()))

    visit.prepare("delete HTMLButtonElement.prototype.interestForElement")
    visit.page.route("**/chains", strip)


@pytest.mark.parametrize(
    "is_older", [pytest.param(False, id="newer"), pytest.param(True, id="older", marks=pytest.mark.slow)]
)
def test_a_word_is_explained_on_hover_and_focus_and_dismissed(browser: Browser, server: str, is_older: bool) -> None:
    with visiting(browser, server, theme="dark", width=360) as visit:
        page = visit.page
        if is_older:
            older(visit)
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
