"""The main task in a real browser: search, open a transfer, open its raw JSON."""

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import copied, some_intent, visiting

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("theme", "width", "scripts"), [("light", 360, True), ("dark", 1280, False)], ids=["with scripts", "without"]
)
def test_a_user_searches_opens_a_transfer_and_its_raw_json(
    browser: Browser, server: str, theme: str, width: int, scripts: bool
) -> None:
    with visiting(browser, server, theme=theme, width=width, scripts=scripts) as visit:
        page = visit.page
        intent_id = some_intent(visit, 2).removeprefix("/intent/")
        visit.open("/")
        page.get_by_role("combobox" if scripts else "searchbox").fill(f"my transfer {intent_id} is gone")
        page.get_by_role("button", name="Search").click()
        expect(page).to_have_url(f"{server}/intent/{intent_id}")
        expect(page.get_by_role("heading", level=1)).to_have_text("Delivered")
        page.locator("#proof > summary").click()
        if not scripts:
            page.get_by_role("link", name="All fields as a page").click()
        raw = page.locator("#raw")
        raw.locator("summary").click()
        expect(raw.locator("pre").first).to_be_visible()
        expect(raw.locator("pre").first).to_contain_text(f'"intentId": "{intent_id}"')


def test_an_owner_links_to_a_list_and_its_rows_to_transfers(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=768) as visit:
        page = visit.page
        visit.open(f"{some_intent(visit, 8)}/proof")
        owner = page.locator('[data-field="intent.ownerAddress"] [title^="0x"]').first.get_attribute("title")
        page.get_by_role("combobox", name="Search").fill(str(owner))
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Address")
        page.get_by_role("link", name=re.compile("Refunded: transfer")).first.click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Refunded")


def test_the_theme_is_switched_and_saved(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        visit.open("/")
        ground = "getComputedStyle(document.body).backgroundColor"
        light = visit.page.evaluate(ground)
        visit.page.get_by_role("button", name="Toggle dark mode").click()
        dark = visit.page.evaluate(ground)
        visit.open("/search")
        assert light != dark
        assert visit.page.evaluate(ground) == dark


def test_a_hash_is_copied_in_full(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        path = some_intent(visit, 2)
        visit.open(path)
        visit.page.get_by_role("button", name="Copy intent ID").click()
        expect(visit.page.locator("#said")).to_contain_text("Copied")
        assert copied(visit.page) == path.removeprefix("/intent/")


def test_a_slash_focuses_the_search_box(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        visit.open("/demo")
        visit.page.keyboard.press("/")
        expect(visit.page.get_by_role("combobox", name="Search")).to_be_focused()
