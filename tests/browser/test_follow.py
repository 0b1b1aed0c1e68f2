"""Followed transfers and addresses report changes by notification, title and icon, also in a hidden tab."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from intents_ui.transfers.rules import MESSAGES
from tests.browser.conftest import Visit, wait_until
from tests.browser.kinds import RECIPIENT
from tests.browser.test_live import HIDE, REFUNDED_INSIDE, Transfer
from tests.waiting import until

pytestmark = pytest.mark.browser

# A real notification would leave the browser, so it is recorded, in whichever tab.
RECORDED = """
  window.sent = [];
  window.Notification = class {
    static permission = "%s";
    static async requestPermission() { window.asked = true; return (this.permission = "%s"); }
    constructor(title, { tag }) { window.sent.push([title, tag]); window.last = this; }
    close() {}
  };
"""
SWITCH = "[data-follow]"
ACCEPTED = MESSAGES["committed.open"].headline


def notifications(visit: Visit, *, permission: str = "default", answer: str = "granted") -> None:
    visit.page.add_init_script(RECORDED % (permission, answer))


def hide(page: Page, hidden: bool = True) -> None:
    page.evaluate(HIDE, hidden)


def sent(page: Page) -> list[list[str]]:
    found: list[list[str]] = page.evaluate("window.sent")
    return found


def begins(words: str) -> re.Pattern[str]:
    return re.compile(f"^● {words}")


def connected(page: Page) -> None:
    expect(page.locator("html")).to_have_attribute("data-stream", "open")


def test_a_hidden_tab_reports_each_state_once_and_stops_at_the_end(visit: Visit) -> None:
    page, transfer = visit.page, Transfer(visit.root)
    notifications(visit)
    streams: list[str] = []
    page.on("request", lambda request: streams.append(request.url) if "/live/" in request.url else None)
    visit.open(transfer.path)
    assert not page.evaluate("window.asked")
    page.locator(SWITCH).click()
    expect(page.locator("#toast")).to_contain_text("You'll also get notifications.")
    connected(page)
    hide(page)
    transfer.commit()
    expect(page).to_have_title(begins(ACCEPTED))
    transfer.execute(REFUNDED_INSIDE)
    expect(page).to_have_title(begins("Refunded"))
    expect(page.locator("#toast")).to_contain_text("Stopped following: transfer closed (Refunded")
    expect(page.locator("link[rel=icon]")).to_have_attribute("href", re.compile("icon-attention"))
    words = [title.partition(" · ")[0] for title, _ in sent(page)]
    assert words[0] == ACCEPTED
    assert words[-1].startswith("Refunded")
    assert len(words) == len(set(words))
    assert "Refunded" in sent(page)[-1][0]
    assert len(streams) == 1
    assert page.evaluate("savedItems.pages('followed')") == []
    hide(page, False)
    expect(page).to_have_title(re.compile("^Refunded · 300"))


@pytest.mark.slow
def test_a_reopened_page_still_follows_until_it_is_turned_off(visit: Visit) -> None:
    page, transfer = visit.page, Transfer(visit.root)
    notifications(visit, permission="granted")
    visit.open(transfer.path)
    page.locator(SWITCH).click()
    page.reload()
    expect(page.locator(SWITCH)).to_have_attribute("aria-pressed", "true")
    hide(page)
    transfer.commit()
    expect(page).to_have_title(begins(ACCEPTED))
    assert [title.partition(" · ")[0] for title, _ in sent(page)] == [ACCEPTED]
    page.evaluate("window.focus = () => { window.wasFocused = true; }; window.last.onclick()")
    assert page.evaluate("window.wasFocused")
    hide(page, False)
    page.locator(SWITCH).click()
    expect(page.locator(SWITCH)).to_have_attribute("aria-pressed", "false")
    page.reload()
    expect(page.locator(SWITCH)).to_have_attribute("aria-pressed", "false")


@pytest.mark.programs
def test_two_tabs_report_a_state_once_and_stop_together(visit: Visit) -> None:
    page, transfer = visit.page, Transfer(visit.root)
    other = page.context.new_page()
    for each in (visit, Visit(other, visit.root)):
        notifications(each, permission="granted")
        each.open(transfer.path)
    page.locator(SWITCH).click()
    expect(other.locator(SWITCH)).to_have_attribute("aria-pressed", "true")
    for each in (page, other):
        hide(each)
    transfer.commit()
    for each in (page, other):
        expect(each).to_have_title(begins(ACCEPTED))
    until(lambda: sent(page) and sent(other))
    hide(other, False)
    other.locator(SWITCH).click()
    expect(page.locator(SWITCH)).to_have_attribute("aria-pressed", "false")
    assert sent(page)[0][1] == sent(other)[0][1], "the browser shows one of several with the same tag"


class Feed:
    """An address's feed with the test's entries."""

    def __init__(self, page: Page) -> None:
        self.titles: dict[str, str] = {}
        page.route("**/feed.atom", self._answer)

    def _answer(self, route: Route) -> None:
        entries = (
            f'<entry><title>{title}</title><link href="http://x/intent/{name}"/></entry>'
            for name, title in self.titles.items()
        )
        body = f'<feed xmlns="http://www.w3.org/2005/Atom"><title>Feed</title>{"".join(entries)}</feed>'
        route.fulfill(content_type="application/atom+xml", body=body)


def test_an_address_page_checks_for_new_transfers_every_half_minute(visit: Visit) -> None:
    page, feed = visit.page, Feed(visit.page)
    Transfer(visit.root)
    visit.page.clock.install()
    notifications(visit, permission="granted")
    visit.open(f"/address/{RECIPIENT}")
    own = page.title()
    feed.titles = {"0x1": "In progress · 5 USDC"}
    with page.expect_response("**/feed.atom"):
        page.locator(SWITCH).click()
    wait_until(page, "!document.querySelector('.htmx-request')")  # the page knows what it is compared with
    hide(page)
    feed.titles = {"0x2": "Quoted · 7 USDC", "0x1": "Refunded · 5 USDC on Base came back"}
    with page.expect_response("**/feed.atom"):
        page.clock.run_for(30_000)
    expect(page).to_have_title("● Quoted · 7 USDC, and 1 more")
    expect(page.locator("link[rel=icon]")).to_have_attribute("href", re.compile("icon-progress"))
    assert [title for title, _ in sent(page)] == ["Quoted · 7 USDC, and 1 more"]
    hide(page, False)
    expect(page).to_have_title(own)
    expect(page.locator("link[rel=icon]")).to_have_attribute("href", re.compile("mark"))
