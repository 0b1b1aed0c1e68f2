"""The demo in a real browser: a transfer by pickers, up to its live page."""

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import visiting

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("width", "scripts"),
    [pytest.param(1280, True, id="desktop"), pytest.param(360, False, id="phone without scripts")],
)
def test_a_new_user_creates_a_transfer_by_keyboard_and_watches_it(
    browser: Browser, server: str, width: int, scripts: bool
) -> None:
    with visiting(browser, server, theme="light", width=width, scripts=scripts) as visit:
        page, press = visit.page, visit.page.keyboard.press
        visit.open("/")
        page.get_by_role("link", name="Create a demo transfer").click()
        expect(page).to_have_url(f"{server}/demo/new")
        page.get_by_label("From").focus()
        page.keyboard.type("USDC on Base")
        press("Tab")
        page.keyboard.type("USDC on Arb")
        press("Tab")
        page.keyboard.type("40")
        press("Tab")
        expect(page.get_by_label("Scenario")).to_be_focused()
        press("Tab")
        expect(page.get_by_role("button", name="Create transfer")).to_be_focused()
        press("Enter")
        expect(page).to_have_url(re.compile(rf"^{server}/intent/0x[0-9a-f]{{64}}$"))
        expect(page.get_by_role("main")).to_contain_text("40.00 USDC")
        # It takes seven seconds. Without scripts, the page reloads every ten.
        expect(page.locator(".status").first).to_have_text("Succeeded")
