"""The action bar of a transfer's page: in reach at any place of the page, and what its buttons do."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import expect_copied, loaded, some_intent, visiting

pytestmark = pytest.mark.browser


def test_the_bar_stays_in_view_while_the_page_scrolls(browser: Browser, server: str) -> None:
    with visiting(browser, server) as visit:
        page = visit.page
        visit.open(some_intent(visit, 10))
        loaded(page)
        reply, answer = page.get_by_role("link", name="Copy reply"), page.locator(".bar-answer strong")
        heading = page.get_by_role("heading", level=1)
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate("scrollTo(0, 0)")
            expect(reply).to_be_in_viewport()
            expect(answer).not_to_be_visible()
            page.get_by_text("All fields").last.scroll_into_view_if_needed()
            expect(heading).not_to_be_in_viewport()
            expect(reply).to_be_in_viewport()
        expect(answer).to_be_visible()
        expect(answer).to_have_text(heading.inner_text())


def test_copy_buttons_copy_and_say_what(browser: Browser, server: str) -> None:
    with visiting(browser, server) as visit:
        page = visit.page
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        path = some_intent(visit, 10)
        visit.open(f"{path}?tx=0x00")
        toast = page.locator("#toast")
        page.get_by_role("button", name="Copy link").click()
        expect(toast).to_have_text("Copied link")
        expect_copied(page, f"{server}{path}")
        page.get_by_role("button", name="Copy intent ID").click()
        expect(toast).to_have_text(f"Copied intent ID {path.removeprefix('/intent/')}")
        expect_copied(page, path.removeprefix("/intent/"))
        page.get_by_role("link", name="Copy reply").click()
        expect(toast).to_have_text("Copied customer reply")
        expect(page.get_by_role("status").filter(has_text="Copied customer reply")).to_have_count(1)
        expect_copied(page, page.get_by_role("textbox", name="Plain text").input_value())


@pytest.mark.slow
def test_without_scripts_its_links_lead_to_the_same(browser: Browser, server: str) -> None:
    with visiting(browser, server, width=360, scripts=False) as visit:
        page = visit.page
        path = some_intent(visit, 10)
        visit.open(path)
        bar = page.get_by_role("group", name="Actions")
        expect(bar.get_by_role("button")).to_have_count(0)
        bar.get_by_text("More").click()
        expect(bar.get_by_role("link", name="QR code, badge, embed")).to_be_visible()
        bar.get_by_role("link", name="Copy reply").click()
        expect(page).to_have_url(f"{server}{path}/reply")
