"""Keyboard shortcuts in lists, on a transfer's page, for the theme and the search box, and none while typing."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit, expect_copied, some_intent

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def with_clipboard(visit: Visit) -> None:
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])


@pytest.mark.programs
def test_brackets_open_the_neighbors_in_the_list_that_the_transfer_was_opened_from(visit: Visit) -> None:
    page = visit.page
    visit.open("/history?status=SUCCEEDED")
    listed = [each.get_attribute("href") for each in page.locator("main .row-link").all()]
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    neighbors = page.get_by_role("navigation", name="List", exact=True)
    expect(neighbors).to_contain_text("1 of 20 in the list")
    page.keyboard.press("[")  # there is none before the first
    for key, place in (("]", 1), ("]", 2), ("[", 1)):
        page.keyboard.press(key)
        expect(page).to_have_url(re.compile(f"{listed[place]}$"))
        expect(neighbors).to_contain_text(f"{place + 1} of 20")
    expect(neighbors.get_by_role("link", name="Next →")).to_have_attribute("href", str(listed[2]))
    neighbors.get_by_role("link", name="2 of 20 in the list").click()
    expect(page).to_have_url(re.compile(r"/history\?status=SUCCEEDED$"))


def test_keys_copy_the_link_and_press_the_buttons_of_a_transfer(visit: Visit) -> None:
    page = visit.page
    path = some_intent(visit, 1)
    visit.open(f"{path}?from=elsewhere#proof")
    page.keyboard.press("l")
    expect_copied(page, f"{visit.root}{path}")
    star = page.locator("main [data-star]")
    for pressed in ("true", "false"):
        page.keyboard.press("s")
        expect(star).to_have_attribute("aria-pressed", pressed)
    page.evaluate("window.open = (...opened) => { window.opened = opened; }")
    page.keyboard.press("e")
    assert page.evaluate("window.opened") == [
        page.locator("main a[rel~=external]").first.get_attribute("href"),
        "_blank",
        "noopener,noreferrer",
    ]


def test_theme_search_and_help(visit: Visit) -> None:
    page = visit.page
    visit.open("/history")
    for key in ("Control+j", "Alt+j"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement === document.body")
    page.keyboard.press("t")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Settings and shortcuts")
    expect(sheet).to_be_visible()
    page.keyboard.press("t")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    page.keyboard.press("/")
    box = page.locator("[data-search]")
    expect(box).to_be_focused()
    page.keyboard.type("jkcrt?/")
    expect(box).to_have_value("jkcrt?/")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_shortcuts_work_on_layouts_without_latin_letters(visit: Visit) -> None:
    page = visit.page
    visit.open("/history")
    body, root, box = page.locator("body"), page.locator("html"), page.locator("[data-search]")
    # Russian, Greek, Hebrew and Arabic.
    for letter in ("\N{CYRILLIC SMALL LETTER IE}", "τ", "א", "ف"):
        before = root.get_attribute("data-theme")
        body.dispatch_event("keydown", {"key": letter, "code": "KeyT"})
        assert root.get_attribute("data-theme") != before
    before = root.get_attribute("data-theme")
    body.dispatch_event("keydown", {"key": "\N{CYRILLIC CAPITAL LETTER IE}", "code": "KeyT", "shiftKey": True})
    body.dispatch_event("keydown", {"key": "ť", "code": "KeyT"})
    assert root.get_attribute("data-theme") == before
    for pressed in ({"key": "ظ", "code": "Slash"}, {"key": "л", "code": "KeyK", "ctrlKey": True}):
        page.locator("main").focus()
        body.dispatch_event("keydown", pressed)
        expect(box).to_be_focused()
    page.locator("main").focus()
    body.dispatch_event("keydown", {"key": "؟", "code": "Slash", "shiftKey": True})
    expect(page.get_by_role("dialog", name="Settings and shortcuts")).to_be_visible()


@pytest.mark.programs
def test_single_key_shortcuts_can_be_turned_off_for_good(visit: Visit) -> None:
    page = visit.page
    visit.open("/history")
    page.get_by_role("button", name="Settings and shortcuts").click()
    page.get_by_label("Enable single-key shortcuts").uncheck()
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("button", name="Settings and shortcuts")).to_be_focused()
    visit.open("/chains")
    page.keyboard.press("j")
    page.keyboard.press("t")
    assert page.evaluate("document.activeElement === document.body")
    assert page.locator("html").get_attribute("data-theme") is None
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Settings and shortcuts")).to_be_visible()
