"""The list of transfers in a real browser: filters, pages, Back, and its announcements."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from intents_ui.formatting import text
from tests.browser.conftest import Visit, fits, visiting
from tests.browser.test_times import open_page, reader

pytestmark = pytest.mark.browser

# On a busy machine a list is shown as it was, if the newer one isn't there within 0.3 s.
SLOW_RESPONSES = 3


@pytest.fixture
def past() -> str:
    """Return a list that no longer grows. Transfers of the last half day may still fail or be refunded."""
    return f"to={int((datetime.now(UTC) - timedelta(hours=12)).timestamp())}"


def rows(page: Page) -> list[str]:
    return [str(row.get_attribute("id")) for row in page.locator("tr[id^=row-]").all()]


def assert_shows(page: Page, ids: list[str]) -> None:
    """Check the list once its last row is there."""
    expect(page.locator("tr[id^=row-]").last).to_have_id(ids[-1])
    assert rows(page) == ids


def pill(page: Page, name: str) -> Locator:
    return page.locator(f'.pill[data-filter="{name}"]')


def said(page: Page) -> Locator:
    return page.locator("#said")


def is_at_its_top(page: Page) -> bool:
    return bool(page.evaluate("document.querySelector('#list h1').getBoundingClientRect().top < innerHeight / 2"))


@pytest.mark.parametrize(
    ("width", "scripts"),
    [pytest.param(360, True, id="with scripts"), pytest.param(1280, False, id="without", marks=pytest.mark.slow)],
)
def test_a_user_filters_pages_goes_back_and_removes_the_filter(
    browser: Browser, server: str, width: int, scripts: bool, past: str
) -> None:
    with visiting(browser, server, width=width, scripts=scripts) as visit:
        page = visit.page
        visit.open(f"/history?{past}")
        pill(page, "status").locator("summary").click()
        for status in ("Failed", "Aborted", "Refunded"):
            page.get_by_role("checkbox", name=status).check()
        assert fits(page)
        pill(page, "status").get_by_role("button", name="Apply").click()
        expect(page).to_have_url(f"{server}/history?status=FAILED&status=ABORTED&status=REFUNDED&{past}")
        expect(page).to_have_title(re.compile("^Transfers: Status: failed, aborted, or refunded, Created until "))
        expect(pill(page, "status").locator("summary")).to_have_text("Status: failed, aborted, or refunded")
        expect(page.get_by_role("link", name="Older →")).to_be_visible()
        words = page.locator("tr[id^=row-] .status").all_inner_texts()
        first = rows(page)

        page.get_by_role("link", name="Older →").click()
        expect(page).to_have_url(re.compile("cursor="))
        expect(page.get_by_role("link", name="← Newer")).to_be_visible()
        second = rows(page)
        words += page.locator("tr[id^=row-] .status").all_inner_texts()
        assert {word.strip() for word in words} == {"Failed", "Aborted", "Refunded"}
        assert len(first) == 20
        assert second
        assert not set(first) & set(second)
        if scripts:
            expect(said(page)).to_have_text(f"{text.counted(len(second), 'transfer')}, page 2")
            expect(page.get_by_role("heading", name="Transfers")).to_be_focused()
            assert is_at_its_top(page)

        page.get_by_role("link", name="← Newer").click()
        assert_shows(page, first)
        expect(page.get_by_role("link", name="← Newer")).to_have_count(0)
        page.go_back()
        assert_shows(page, second)
        page.go_forward()
        assert_shows(page, first)
        expect(page.get_by_role("link", name="← Newer")).to_have_count(0)

        page.get_by_role("link", name="Remove filter: Status: failed, aborted, or refunded").click()
        expect(page).to_have_url(f"{server}/history?{past}")
        expect(pill(page, "status").locator("summary")).to_have_text("Status")
        page.get_by_role("link", name="Clear all").click()
        expect(page).to_have_url(f"{server}/history")
        expect(page).to_have_title("Transfers · Intents")
        assert fits(page)


@pytest.mark.programs
def test_an_invalid_cursor_is_reported_above_the_unchanged_list(visit: Visit) -> None:
    page = visit.page
    visit.open("/history?order=ASC")
    onward = page.locator("a[rel=next]")
    onward.evaluate("link => link.setAttribute('href', '/history?order=ASC&cursor=x')")
    onward.click()
    expect(page.get_by_role("heading", name="Invalid page link")).to_be_focused()
    expect(page.get_by_role("link", name="Try again")).to_have_count(0)
    expect(page.locator("tr[id^=row-]")).to_have_count(20)
    expect(page).to_have_url(f"{visit.root}/history?order=ASC")
    visit.forgive(400)


@pytest.mark.programs
def test_times_are_entered_in_the_users_zone(browser: Browser, server: str) -> None:
    with reader(browser, zone="Australia/Adelaide", locale="de-DE") as context:
        page = open_page(context, f"{server}/history")
        pill(page, "created").locator("summary").click()
        expect(page.get_by_label("Time zone")).to_have_value("Australia/Adelaide")
        page.get_by_label("From", exact=True).fill("2026-11-20T10:30")
        pill(page, "created").get_by_role("button", name="Apply").click()
        expect(page).to_have_url(f"{server}/history?from=1795132800")
        expect(pill(page, "created").locator("summary")).to_contain_text("Created from")
        expect(page.get_by_label("From", exact=True)).to_have_value("2026-11-20T10:30")
        # Another filter keeps the time filter.
        pill(page, "project").locator("summary").click()
        page.get_by_role("textbox", name="Project").fill("1042")
        page.keyboard.press("Enter")
        expect(page).to_have_url(f"{server}/history?project=1042&from=1795132800")


@pytest.mark.slow
def test_an_address_is_marked_in_all_its_places(visit: Visit) -> None:
    page = visit.page
    visit.open("/history?size=50")
    places = page.locator("[data-address]").evaluate_all("all => all.map(addressIn)")
    copyable = page.locator("[data-address]:has(button):visible")
    addresses = copyable.evaluate_all("all => all.map(addressIn)")
    often = max(addresses, key=places.count)
    assert places.count(often) > 1
    marked, heading = page.locator("[data-marked]"), page.get_by_role("heading", name="Transfers")
    place = copyable.nth(addresses.index(often))
    place.hover()
    expect(marked).to_have_count(places.count(often))
    heading.hover()
    expect(marked).to_have_count(0)
    place.get_by_role("button").focus()
    expect(marked).to_have_count(places.count(often))


@pytest.mark.programs
def test_a_panel_closes_on_escape_and_on_a_click_outside(visit: Visit) -> None:
    page = visit.page
    visit.open("/history")
    summary = pill(page, "origin").locator("summary")
    summary.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="From chain")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("combobox", name="From chain")).to_be_hidden()
    expect(summary).to_be_focused()
    summary.click()
    pill(page, "order").locator("summary").click()
    expect(page.get_by_role("combobox", name="From chain")).to_be_hidden()
    page.get_by_role("heading", name="Transfers").click()
    expect(page.get_by_role("combobox", name="Order")).to_be_hidden()


@pytest.mark.programs
def test_new_transfers_are_announced_and_shown_on_request(visit: Visit) -> None:
    page = visit.page
    visit.open("/history")
    before = rows(page)
    newer = page.get_by_role("link", name=re.compile(r"\d+ new transfers?"))
    for _ in range(SLOW_RESPONSES):
        expect(newer).to_be_visible()
        assert rows(page) == before
        newer.click()
        expect(newer).to_have_count(0)
        if rows(page)[0] != before[0]:
            break
    assert rows(page)[0] != before[0]
    expect(page).to_have_url(f"{visit.root}/history")
