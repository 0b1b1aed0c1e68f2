"""A term is explained on hover and on focus, can be dismissed, and links to the help."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import fits, visiting

pytestmark = pytest.mark.browser


def older(page: Page) -> None:
    """Open a browser without `interestfor`, which our script replaces."""
    page.add_init_script("delete HTMLButtonElement.prototype.interestForElement")
    page.route("**/console", lambda route: route.fulfill(response=(sent := route.fetch()), body=strip(sent.text())))


def strip(html: str) -> str:
    return re.sub(r' interestfor="[^"]*"', "", html)


@pytest.mark.parametrize(("is_older", "width"), [(False, 360), (False, 1280), (True, 360)])
def test_a_word_is_explained_on_hover_and_focus_and_dismissed(
    browser: Browser, server: str, is_older: bool, width: int
) -> None:
    with visiting(browser, server, theme="dark", width=width) as visit:
        page = visit.page
        if is_older:
            older(page)
        visit.open("/console")
        word, tip = page.get_by_role("link", name="Quote", exact=True), page.locator("#term-quote")
        expect(tip).to_be_hidden()
        word.hover()
        expect(tip).to_be_visible()
        expect(tip).to_contain_text("The service's price for a transfer")
        assert fits(page)
        box = tip.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
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
        expect(page).to_have_url(f"{server}/help#quote")
        expect(page.locator("#quote")).to_be_in_viewport()


def test_without_scripts_a_term_links_to_the_help(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=360, scripts=False) as visit:
        visit.open("/console")
        expect(visit.page.locator("#term-quote")).to_be_hidden()
        visit.page.get_by_role("link", name="Quote", exact=True).click()
        expect(visit.page.locator("#quote")).to_be_in_viewport()
        expect(visit.page.locator("#quote")).to_contain_text("The service's price for a transfer")
