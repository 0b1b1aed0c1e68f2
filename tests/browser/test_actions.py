"""The action bar of a transfer's page: in reach at any place of the page, and what its buttons do."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import expect_copied, loaded, some_intent, visiting


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 1280])
def test_the_bar_stays_in_view_while_the_page_scrolls(browser: Browser, server: str, width: int) -> None:
    with visiting(browser, server, theme="light", width=width) as visit:
        page = visit.page
        visit.open(some_intent(visit, 10))
        loaded(page)
        reply, answer = page.get_by_role("link", name="Copy reply"), page.locator(".bar-answer strong")
        headline = page.get_by_role("heading", level=1).inner_text()
        expect(reply).to_be_in_viewport()
        expect(answer).not_to_be_visible()
        page.get_by_text("All fields").last.scroll_into_view_if_needed()
        expect(page.get_by_role("heading", level=1)).not_to_be_in_viewport()
        expect(reply).to_be_in_viewport()
        if width > 640:
            expect(answer).to_be_visible()
            expect(answer).to_have_text(headline)


@pytest.mark.browser
def test_its_buttons_say_what_they_copied(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        page = visit.page
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        path = some_intent(visit, 10)
        visit.open(f"{path}?tx=0x00")
        toast = page.locator("#toast")
        page.get_by_role("button", name="Copy link").click()
        expect(toast).to_have_text("Copied link")
        expect_copied(page, f"{server}{path}")
        page.get_by_role("link", name="Copy reply").click()
        expect(toast).to_have_text("Copied customer reply")
        expect(page.get_by_role("status").filter(has_text="Copied customer reply")).to_have_count(1)
        expect(toast).to_be_hidden()


@pytest.mark.browser
def test_its_status_follows_the_transfer(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        page = visit.page
        visit.open(some_intent(visit, 1, "live"))
        expect(page.get_by_role("button", name="Follow")).to_be_visible()
        expect(page.locator(".answer h1")).to_have_text("Swap complete")
        expect(page.locator(".bar-answer strong")).to_have_text("Swap complete")
        expect(page.get_by_role("button", name="Follow")).to_have_count(0)


@pytest.mark.browser
def test_without_scripts_its_links_lead_to_the_same(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=360, scripts=False) as visit:
        page = visit.page
        path = some_intent(visit, 10)
        visit.open(path)
        bar = page.get_by_role("group", name="Actions")
        expect(bar.get_by_role("button")).to_have_count(0)
        bar.get_by_text("More").click()
        expect(bar.get_by_role("link", name="QR code, badge, embed")).to_be_visible()
        bar.get_by_role("link", name="Copy reply").click()
        expect(page).to_have_url(f"{server}{path}/reply")
