"""Sharing a page in a browser: by link and QR code, with scripts and without."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Visit, copied, fits, some_intent, visiting, wait_until

pytestmark = pytest.mark.browser


def open_share(page: Page) -> None:
    page.locator(".bar-actions .more > summary").click()
    page.locator(".bar-actions").get_by_role("link", name="Share").click()
    page.wait_for_url("**/share")


def is_drawn(page: Page, selector: str) -> bool:
    page.locator(selector).scroll_into_view_if_needed()
    wait_until(page, "selector => document.querySelector(selector).complete", selector)
    return bool(page.locator(selector).evaluate("image => image.naturalWidth > 0"))


def test_the_share_page_has_every_option(browser: Browser, server: str) -> None:
    with visiting(browser, server, width=360) as visit:
        page = visit.page
        path = some_intent(visit, 10)
        visit.open(path)
        open_share(page)
        link = page.get_by_label("Link", exact=True)
        expect(link).to_have_value(server + path)
        for picture in (".share-code img", ".share-card img"):
            assert is_drawn(page, picture), picture
        assert fits(page)
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Copy: Link").click()
        expect(page.locator("#said")).to_contain_text("Copied")
        assert copied(page) == server + path
        page.locator(".share-card img").evaluate("image => { image.src = '/robots.txt'; }")  # no picture
        expect(page.get_by_text("Link preview")).to_have_count(0)


@pytest.mark.slow
@pytest.mark.parametrize("can_share", [True, False])
def test_sharing_with_an_app_appears_where_supported(visit: Visit, can_share: bool) -> None:
    page = visit.page
    path = some_intent(visit, 10)
    share = (
        "data => { window.shared = data; return Promise.reject(new Error('closed')); }" if can_share else "undefined"
    )
    visit.page.add_init_script(f"Object.defineProperty(navigator, 'share', {{ value: {share} }});")
    visit.open(path)
    open_share(page)
    expect(page.get_by_label("Link", exact=True)).to_be_visible()
    button = page.get_by_role("button", name="Share with an app")
    expect(button).to_have_count(1 if can_share else 0)
    if can_share:
        button.click()
        assert page.evaluate("window.shared.url") == visit.root + path
