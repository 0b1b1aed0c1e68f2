"""The keyboard walkthrough of docs/features.md, step by step: the main task without a mouse."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit, copied, expect_copied

FURTHEST = 150  # Tab presses after which an element counts as unreachable


def tab_to(page: Page, wanted: Locator, *, key: str = "Tab") -> None:
    for _ in range(FURTHEST):
        page.keyboard.press(key)
        if wanted.evaluate("element => element === document.activeElement"):
            return
    pytest.fail(f"{wanted} is not reached by {key}")


@pytest.mark.browser
@pytest.mark.programs
def test_a_customers_message_leads_to_a_whole_ticket(visit: Visit) -> None:
    page = visit.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.open("/history?status=SUCCEEDED")
    intent_id = page.locator("a.row-link").first.get_attribute("href").removeprefix("/intent/")

    visit.open("/")  # 1
    expect(page.locator("[data-search]")).to_be_focused()
    page.keyboard.insert_text(f"Where is my money? {intent_id}")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{visit.root}/intent/{intent_id}")
    page.wait_for_load_state()

    page.keyboard.press("Tab")  # 2
    expect(page.locator(":focus")).to_have_text("Skip to content")
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    page.keyboard.press("c")
    expect_copied(page, intent_id)

    tab_to(page, page.locator("#reply > summary"))  # 3
    page.keyboard.press("Enter")
    button = page.get_by_role("button", name="Copy reply")
    expect(button).to_be_visible()
    tab_to(page, button)
    page.evaluate("navigator.clipboard.writeText('')")
    page.keyboard.press("Enter")
    expect(button).to_have_attribute("data-copied", "")
    assert intent_id in copied(page)

    page.keyboard.press("r")  # 4
    expect(page).to_have_url(f"{visit.root}/intent/{intent_id}.json")
    page.go_back()
    expect(page).to_have_url(f"{visit.root}/intent/{intent_id}#page")

    page.wait_for_load_state()
    page.keyboard.press("/")  # 5
    expect(page.locator("[data-search]")).to_be_focused()
    navigation = page.get_by_role("navigation", name="Main")
    tab_to(page, navigation.get_by_role("link", name="Transfers"), key="Shift+Tab")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{visit.root}/history")

    tab_to(page, page.locator("summary", has_text="Status").first)  # 6
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("link", name=re.compile(r"^Open \(quoted")))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("status="))
    heading = page.locator("#list").get_by_role("heading").first
    expect(heading).to_be_focused()

    page.keyboard.press("j")  # 7
    page.keyboard.press("j")
    page.keyboard.press("k")
    href = page.locator("main tbody a.row-link").first.get_attribute("href")
    expect(page.locator(":focus")).to_have_attribute("href", str(href))
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{visit.root}{href}")
    page.go_back()
    expect(page).to_have_url(re.compile("status="))

    visit.open("/history")
    page.locator("main tbody a").last.focus()
    tab_to(page, page.get_by_role("link", name="Older"))  # 8
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("cursor="))
    expect(heading).to_be_focused()
    page.keyboard.press("j")
    assert page.locator(":focus").get_attribute("href") == page.locator("a.row-link").first.get_attribute("href")

    tab_to(page, navigation.get_by_role("link", name="Triage"), key="Shift+Tab")  # 9
    page.keyboard.press("Enter")
    expect(page.locator("#ticket")).to_be_focused()
    page.keyboard.insert_text(f"First {intent_id} and then {'0x' + '1' * 64}")
    tab_to(page, page.get_by_role("button", name="Triage"))
    page.keyboard.press("Enter")
    expect(page.locator("#total")).to_be_visible()
    page.wait_for_load_state()
    links = [each.get_attribute("href") for each in page.locator("main tbody a.row-link").all()]
    for _ in range(links.index(f"/intent/{intent_id}") + 1):  # the most urgent row is first
        page.keyboard.press("j")
    expect(page.locator(":focus")).to_have_attribute("href", f"/intent/{intent_id}")
    page.keyboard.press("c")
    expect_copied(page, intent_id)
