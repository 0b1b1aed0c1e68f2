"""The attention page: groups unfold to rows, and which customers were notified stays in the browser."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import fits, visiting

MOST_HEIGHT = 8000


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 1280])
def test_a_group_unfolds_to_its_transfers(browser: Browser, server: str, width: int) -> None:
    with visiting(browser, server, theme="light", width=width) as visit:
        page = visit.page
        visit.open("/attention")
        group = page.locator(".attention details").first
        group.locator("summary").press("Enter")
        boxes = group.get_by_role("checkbox", name="Notified")
        expect(boxes.first).to_be_visible()
        assert fits(page)
        assert page.evaluate("document.documentElement.scrollHeight") <= MOST_HEIGHT
        boxes.first.check()
        row = group.locator("tbody tr").first.get_attribute("id")
        page.reload()
        group.locator("summary").click()
        expect(page.locator(f"#{row}").get_by_role("checkbox")).to_be_checked()
        expect(boxes.nth(1)).not_to_be_checked()
        page.locator(f"#{row} .row-link").click()
        expect(page).to_have_url(f"{server}/intent/{str(row).removeprefix('row-')}")


@pytest.mark.browser
def test_without_scripts_a_group_is_opened_by_a_link(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=360, scripts=False) as visit:
        page = visit.page
        visit.open("/attention")
        page.locator(".attention summary").first.click()
        page.get_by_role("link", name="Show").first.click()
        expect(page.locator("details[open] tbody tr").first).to_be_visible()
        expect(page.get_by_role("checkbox")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollHeight") <= MOST_HEIGHT


@pytest.mark.browser
def test_the_start_page_links_the_problems_and_the_navigation_counts_them(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        page = visit.page
        visit.open("/")
        expect(page.get_by_role("link", name="Failed in the last hour")).not_to_contain_text("Counting…")
        tile = page.get_by_role("link", name="Funds waiting for their owner")
        expect(tile).to_contain_text("$")
        tile.click()
        expect(page).to_have_url(f"{server}/attention#recoverable")
        navigation = page.get_by_role("navigation", name="Main")
        expect(navigation.locator("[aria-current]")).to_contain_text("Attention")
        page.goto(f"{server}/history")
        count = navigation.get_by_role("link", name="Attention").locator(".nav-count").inner_text()
        assert int(count) > 50
