"""Saved items are compared with a shortened ID in the browser, without sending any of them."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from tests.browser.conftest import Visit, fits, some_intent, visiting
from tests.waiting import until

pytestmark = pytest.mark.browser

FULL = "0x7c1f" + "5e" * 28 + "9e2b"
OTHER = "0x7c1f" + "5e" * 28 + "9e2c"


@pytest.fixture
def visit(browser: Browser, server: str) -> Iterator[Visit]:
    with visiting(browser, server, theme="light", width=1280) as visit:
        visit.forgive(404)
        yield visit
        visit.forgive(404)


def search(visit: Visit, shortened: str) -> Page:
    visit.open(f"/search?q={quote(shortened)}")
    return visit.page


def saved(page: Page) -> list[str]:
    links = page.get_by_role("region", name="Saved in this browser").locator("li a")
    return [str(link) for link in links.evaluate_all("links => links.map(link => link.getAttribute('href'))")]


def short(path: str) -> str:
    return f"{path.rpartition('/')[2][:6]}…{path[-4:]}"


def test_a_visited_and_starred_transfer_is_listed_once(visit: Visit) -> None:
    first, second = some_intent(visit, 2), some_intent(visit, 8)
    for path in (first, second):
        visit.open(path)
    visit.page.get_by_role("button", name="Star").click()
    assert saved(search(visit, short(second))) == [second]
    assert saved(search(visit, f"my wallet says {short(first).upper().replace('X', 'x')}!")) == [first]
    assert saved(search(visit, f"…{second[-6:]}")) == [second]
    assert saved(search(visit, f"{second.rpartition('/')[2][:10]}...")) == [second]
    visit.page.get_by_role("region", name="Saved in this browser").get_by_role("link").click()
    expect(visit.page).to_have_url(visit.root + second)


def test_addresses_and_searches_are_compared_too_and_others_left_out(visit: Visit) -> None:
    visit.open(some_intent(visit, 8))
    owner = str(visit.page.locator("main a[href^='/address/']").first.get_attribute("href"))
    visit.open(owner)
    for value in (FULL, OTHER):
        visit.open(f"/search?q={value}")
    assert saved(search(visit, short(owner))) == [owner]
    assert saved(search(visit, short(FULL))) == [f"/search?q={FULL}"]
    assert saved(search(visit, "0x7c1f…")) == [f"/search?q={OTHER}", f"/search?q={FULL}"]


def test_without_a_match_there_is_no_section(visit: Visit) -> None:
    visit.open(some_intent(visit, 8))
    page = search(visit, "0x12ab…34cd")
    expect(page.get_by_role("heading", level=1)).to_have_text("No matches")
    expect(page.get_by_text("Saved in this browser")).to_be_hidden()


def test_saved_items_are_never_sent(visit: Visit) -> None:
    first, second = some_intent(visit, 2), some_intent(visit, 8)
    for path in (first, second):
        visit.open(path)
    visit.open("/help")  # parts of those pages may still be loading
    sent: list[Request] = []
    visit.page.on("request", lambda request: sent.append(request))
    assert saved(search(visit, short(second))) == [second]
    for request in sent:
        written = f"{request.url} {request.headers} {request.post_data}"
        assert all(path.rpartition("/")[2] not in written for path in (first, second))


def test_another_tab_adds_to_the_list(visit: Visit) -> None:
    intent = some_intent(visit, 8)
    page = search(visit, short(intent))
    expect(page.get_by_text("Saved in this browser")).to_be_hidden()
    other = page.context.new_page()
    other.goto(visit.root + intent)
    expect(page.get_by_role("region", name="Saved in this browser").locator("li a")).to_have_attribute("href", intent)


def test_without_scripts_the_section_is_absent(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="dark", width=360, scripts=False) as visit:
        page = search(visit, "0x12ab…34cd")
        visit.forgive(404)
        expect(page.get_by_text("Saved in this browser")).to_be_hidden()
        expect(page.get_by_text("Searched the 100 newest transfers.")).to_be_visible()


def test_on_a_phone_nothing_is_wider_than_the_screen(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="dark", width=360) as visit:
        visit.open("/newest")
        intent = str(visit.page.locator("a.row-link").last.get_attribute("href"))
        visit.forgive(404)
        # The searched list is cached and can be older than the transfer.
        until(lambda: search(visit, short(intent)).get_by_role("heading", level=1).inner_text() == "Possible matches")
        visit.forgive(404)
        page = visit.page
        expect(page.locator(f"a.row-link[href='{intent}']")).to_be_visible()
        assert fits(page)
