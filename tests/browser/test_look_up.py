"""The main task in a real browser: search, open a transfer, open its raw JSON."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Visit, some_intent, visiting

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    "scripts", [pytest.param(True, id="with scripts"), pytest.param(False, id="without", marks=pytest.mark.programs)]
)
def test_a_user_searches_opens_a_transfer_and_its_raw_json(browser: Browser, server: str, scripts: bool) -> None:
    with visiting(browser, server, width=360, scripts=scripts) as visit:
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


@pytest.mark.programs
def test_the_theme_is_switched_and_saved(visit: Visit) -> None:
    visit.open("/")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = visit.page.evaluate(ground)
    visit.page.get_by_role("button", name="Toggle dark mode").click()
    dark = visit.page.evaluate(ground)
    visit.open("/search")
    assert light != dark
    assert visit.page.evaluate(ground) == dark
