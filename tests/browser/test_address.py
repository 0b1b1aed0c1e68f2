"""The page of an address in a real browser: opened from its owner's link, page by page."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from intents_ui.emulator import names
from intents_ui.emulator.names import Role
from tests.browser.conftest import copied, some_intent, visiting

pytestmark = pytest.mark.browser

OWNER = names.address_of(Role.OWNER, 0)
PATH = f"/address/{OWNER}"


def ids(page: Page) -> list[str]:
    links = page.locator("#list .row-link").all()
    return [str(link.get_attribute("href")) for link in links]


def test_an_intents_owner_links_to_its_address_page(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="dark", width=768) as visit:
        page = visit.page
        visit.open(some_intent(visit, 2))
        page.get_by_role("link", name="View address").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Address")
        expect(page.get_by_label("Roles")).to_contain_text("Owner of")
        expect(page.get_by_role("heading", name="History")).to_be_visible()


@pytest.mark.parametrize(("width", "scripts"), [(360, True), (1280, False)], ids=["with scripts", "without"])
def test_the_history_pages_forward_and_back(browser: Browser, server: str, width: int, scripts: bool) -> None:
    with visiting(browser, server, theme="light", width=width, scripts=scripts) as visit:
        page = visit.page
        visit.open(PATH)
        first = ids(page)
        page.get_by_role("link", name=re.compile("Older")).click()
        expect(page).to_have_url(re.compile("cursor="))
        expect(page.locator("#list .row-link").first).not_to_have_attribute("href", first[0])
        second = ids(page)
        assert not set(first) & set(second)
        shared = page.url
        page.get_by_role("link", name=re.compile("Newer")).click()
        expect(page.locator("#list .row-link").last).not_to_have_attribute("href", second[-1])
        assert set(first) & set(ids(page))
        page.go_back()
        expect(page.locator("#list .row-link").first).to_have_attribute("href", second[0])
        page.goto(shared)
        # The emulator may have dropped some in the meantime, as it does when newer ones arrive.
        assert len(set(ids(page)) & set(second)) >= 18
        page.get_by_role("link", name="View address").click()
        expect(page.get_by_role("heading", name="Totals")).to_be_visible()


def test_paging_reloads_only_the_list(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        page = visit.page
        visit.open(PATH)
        page.evaluate("window.notReloaded = true")
        page.get_by_role("link", name=re.compile("Older")).click()
        expect(page).to_have_url(re.compile("cursor="))
        expect(page.locator("#said")).to_have_text("20 transfers shown")
        page.get_by_label("Filter by status").get_by_role("link", name="Succeeded").click()
        expect(page).to_have_url(re.compile(r"status=SUCCEEDED$"))
        expect(page.locator("#list .status").first).to_have_text("Succeeded")
        expect(page.get_by_role("heading", name="Totals")).to_be_visible()
        assert page.evaluate("window.notReloaded")


def test_the_address_is_copied_in_full_with_its_checksum(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        visit.open(PATH)
        visit.page.locator(".address").get_by_role("button", name="Copy address").click()
        expect(visit.page.locator("#said")).to_contain_text("Copied")
        text = copied(visit.page)
        assert text.lower() == OWNER
        assert text == visit.page.locator(".address bdi").inner_text()
