"""Times in the user's zone, in UTC and as Unix seconds. The server writes UTC."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import PATIENCE_MS, show_times

pytestmark = pytest.mark.browser

TIMES = "time[data-at]"


@contextmanager
def reader(browser: Browser, *, zone: str, locale: str = "en-US") -> Iterator[BrowserContext]:
    context = browser.new_context(timezone_id=zone, locale=locale)
    context.set_default_timeout(PATIENCE_MS)
    try:
        yield context
    finally:
        context.close()


def open_page(context: BrowserContext, url: str) -> Page:
    page = context.new_page()
    page.goto(url)
    return page


def first_intent(page: Page) -> str:
    return str(page.locator("a[href^='/intent/']").first.get_attribute("href"))


def told(page: Page) -> list[tuple[str, str]]:
    """Return each time on the page with its displayed text."""
    found: list[tuple[str, str]] = page.locator(TIMES).evaluate_all(
        "times => times.map(time => [time.dateTime, time.textContent])"
    )
    return [(moment, words) for moment, words in found]


def clock_in(zone: str, moment: str) -> str:
    return datetime.fromisoformat(moment).astimezone(ZoneInfo(zone)).strftime("%H:%M")


@pytest.mark.parametrize(
    ("zone", "name"),
    [("Asia/Kolkata", r"GMT\+5:30"), pytest.param("America/New_York", r"E[SD]T", marks=pytest.mark.slow)],
)
def test_each_time_is_in_the_users_zone_with_its_name(browser: Browser, server: str, zone: str, name: str) -> None:
    with reader(browser, zone=zone) as context:
        page = open_page(context, server + "/history")
        for path in ("/history", first_intent(page)):
            page.goto(server + path)
            times = told(page)
            assert times
            for moment, words in times:
                assert clock_in(zone, moment) in words
                assert re.search(rf" ({name})$", words)


@pytest.mark.programs
def test_the_time_zone_is_saved_and_applies_to_later_content(browser: Browser, server: str) -> None:
    with reader(browser, zone="Asia/Kolkata") as context:
        page = open_page(context, server + "/history")
        show_times(page, "Unix")
        for moment, words in told(page):
            assert words == f"{int(datetime.fromisoformat(moment).timestamp())} Unix"
        page.get_by_role("link", name="Older").first.click()
        page.wait_for_url("**cursor=**")
        expect(page.locator(TIMES).first).to_have_text(re.compile(r"^\d+ Unix$"))
        page.goto(server + first_intent(page))
        assert page.get_by_label("Unix").is_checked()
        assert all(words.endswith(" Unix") for _, words in told(page))


@pytest.mark.programs
def test_times_in_a_form_are_in_the_displayed_zone_and_stay_when_it_is_sent_without_a_change(
    browser: Browser, server: str
) -> None:
    with reader(browser, zone="America/New_York") as context:
        page = open_page(context, server + "/history?from_at=2026-11-01T06:30:15&zone=UTC")
        url = page.url
        field = page.locator("input[name=from_at]")
        expect(field).to_have_value("2026-11-01T01:30:15")  # for the second time in that night
        show_times(page, "UTC")
        expect(field).to_have_value("2026-11-01T06:30:15")
        show_times(page, "Local")
        page.locator("[data-filter=created] summary").click()
        with page.expect_response(lambda response: "from_at=2026-11-01T01%3A30%3A15" in response.url):
            page.locator("[data-filter=created]").get_by_role("button", name="Apply").click()
        expect(page).to_have_url(url)
