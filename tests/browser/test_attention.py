"""The attention page: groups unfold to rows, and which customers were notified stays in the browser."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import fits, visiting


@pytest.mark.browser
def test_a_group_unfolds_to_its_transfers(browser: Browser, server: str) -> None:
    with visiting(browser, server, width=360) as visit:
        page = visit.page
        visit.open("/attention")
        group = page.locator(".attention details").first
        group.locator("summary").press("Enter")
        boxes = group.get_by_role("checkbox", name="Notified")
        expect(boxes.first).to_be_visible()
        assert fits(page)
        boxes.first.check()
        row = group.locator("tbody tr").first.get_attribute("id")
        page.reload()
        group.locator("summary").click()
        expect(page.locator(f"#{row}").get_by_role("checkbox")).to_be_checked()
        expect(boxes.nth(1)).not_to_be_checked()
        page.locator(f"#{row} .row-link").click()
        expect(page).to_have_url(f"{server}/intent/{str(row).removeprefix('row-')}")
