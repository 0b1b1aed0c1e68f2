"""The attention page: groups unfold to rows."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import fits, visiting


@pytest.mark.browser
def test_a_group_unfolds_to_its_transfers(browser: Browser, server: str) -> None:
    with visiting(browser, server, width=360) as visit:
        page = visit.page
        page.clock.install()
        visit.open("/attention")
        group = page.locator(".attention details").first
        group.locator("summary").press("Enter")
        expect(group.locator("tbody tr").first).to_be_visible()
        assert fits(page)
        for refreshed in ("/attention", "/attention?group="):  # the groups, and the rows of this one, which stays open
            with page.expect_response(lambda answer, part=refreshed: answer.url.startswith(server + part)):
                page.clock.run_for(11_000)
        expect(group.locator("tbody tr").first).to_be_visible()
        row = group.locator("tbody tr").first.get_attribute("id")
        page.locator(f"#{row} .row-link").click()
        expect(page).to_have_url(f"{server}/intent/{str(row).removeprefix('row-')}")
