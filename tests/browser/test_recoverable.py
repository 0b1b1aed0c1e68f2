"""Recoverable balances in a real browser: on a transfer's page and in the list of all."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from intents_ui.display.summary.rules import EXPLANATIONS
from tests.browser.conftest import fits, some_intent, visiting
from tests.serving import dashboard

pytestmark = pytest.mark.browser

ABORTED_WITH_MONEY = 13
DELIVERED = 2
JOURNEYS = pytest.mark.parametrize(
    ("theme", "width", "scripts"), [("light", 360, True), ("dark", 1280, False)], ids=["with scripts", "without"]
)


def values(page: Page) -> list[float]:
    cells = page.locator('.worklist tbody td[data-label="USD"]').all_inner_texts()
    return [float(re.sub(r"[^0-9.]", "", cell.removeprefix("USD"))) for cell in cells]


@pytest.mark.sampled(1)
@JOURNEYS
def test_a_transfers_page_shows_leftover_funds(
    browser: Browser, server: str, theme: str, width: int, scripts: bool
) -> None:
    with visiting(browser, server, theme=theme, width=width, scripts=scripts) as visit:
        page = visit.page
        path = some_intent(visit, ABORTED_WITH_MONEY)
        visit.open(path)
        section = page.locator("#balances")
        expect(page.get_by_role("heading", level=1)).to_have_text(EXPLANATIONS["aborted.recoverable"].headline)
        expect(section).to_contain_text("30.00 USDT")
        expect(section).to_contain_text(re.compile(r"Checked \d\d:\d\d:\d\d UTC"))
        assert fits(page)
        section.get_by_role("link", name="Check again").click()
        expect(section).to_contain_text("30.00 USDT")
        expect(page.locator("#said")).to_have_text(
            re.compile(r"^Intent address balances: \$30\.00\." if scripts else "^$")
        )
        if scripts:
            expect(page).to_have_url(f"{server}{path}")
            expect(section.get_by_role("link", name="Check again")).to_be_focused()
            expect(section.get_by_role("button", name="Copy deposit address")).to_be_visible()
        else:
            expect(page).to_have_url(f"{server}{path}/balances")
            page.get_by_role("link", name="Back to the transfer").click()
            expect(page).to_have_url(f"{server}{path}")


@pytest.mark.sampled(1)
@JOURNEYS
def test_the_recoverable_list_is_sorted_and_filtered(
    browser: Browser, server: str, theme: str, width: int, scripts: bool
) -> None:
    with visiting(browser, server, theme=theme, width=width, scripts=scripts) as visit:
        page = visit.page
        visit.open("/recoverable")
        expect(page.get_by_role("heading", level=1)).to_have_text("Recoverable")
        assert fits(page)
        assert values(page) != sorted(values(page), reverse=True)
        narrow(page, "Oldest first", "Order", "Largest first, by USD")
        expect(page).to_have_url(f"{server}/recoverable?sort=usd")
        expect(page.locator("caption")).to_contain_text("largest value first")
        assert values(page) == sorted(values(page), reverse=True)
        page.locator(".totals + details summary").click()
        assert fits(page)
        all_of_them = page.locator("#totals").inner_text()
        narrow(page, "From chain", "From chain", "Polygon")
        expect(page).to_have_url(f"{server}/recoverable?origin=137&sort=usd")
        expect(page.locator("#totals")).not_to_have_text(all_of_them)
        assert values(page) == sorted(values(page), reverse=True)
        page.get_by_role("link", name="Remove filter: From Polygon").click()
        expect(page).to_have_url(f"{server}/recoverable?sort=usd")
        expect(page.get_by_role("link", name="Remove filter: From Polygon")).to_be_hidden()
        page.go_back()
        expect(page).to_have_url(f"{server}/recoverable?origin=137&sort=usd")
        expect(page.get_by_role("link", name="Remove filter: From Polygon")).to_be_visible()


def narrow(page: Page, pill: str, field: str, choice: str) -> None:
    page.locator(".pill summary", has_text=pill).click()
    page.get_by_label(field, exact=True).select_option(choice)
    page.get_by_role("button", name="Apply").click()


def test_the_column_heads_sort_too(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        page = visit.page
        visit.open("/recoverable")
        page.get_by_role("link", name="USD", exact=True).click()
        expect(page).to_have_url(f"{server}/recoverable?sort=usd")
        expect(page.get_by_role("columnheader", name="USD")).to_have_attribute("aria-sort", "descending")
        expect(page.get_by_role("heading", level=1)).to_be_focused()
        expect(page.locator("#said")).to_contain_text("transfers (all).")


def test_a_row_opens_its_transfer_by_keyboard(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="dark", width=1280) as visit:
        page = visit.page
        visit.open("/recoverable")
        link = page.locator(".worklist .row-link").first
        target = link.get_attribute("href")
        link.focus()
        page.keyboard.press("Enter")
        expect(page).to_have_url(f"{server}{target}")


def test_back_restores_the_previous_order(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        page = visit.page
        visit.open("/recoverable")
        first = page.locator(".worklist tbody tr").first.get_attribute("id")
        page.get_by_role("link", name="USD", exact=True).click()
        expect(page).to_have_url(f"{server}/recoverable?sort=usd")
        page.go_back()
        expect(page).to_have_url(f"{server}/recoverable")
        expect(page.locator(".worklist tbody tr").first).to_have_attribute("id", str(first))
        expect(page.locator("caption")).to_contain_text("oldest first")


@pytest.fixture(scope="module")
def late() -> Iterator[str]:
    """Yield a dashboard whose balances never arrive in time for the page."""
    with dashboard(INTENTS_BALANCE_TIMEOUT="0") as root:
        yield root


def test_an_error_response_replaces_its_part_too(browser: Browser, late: str) -> None:
    with visiting(browser, late, theme="light", width=1280) as visit:
        page = visit.page
        page.route("**/balances", lambda route: route.fulfill(status=503, body="<p>cannot be shown</p>"))
        visit.open(some_intent(visit, DELIVERED))
        expect(page.locator("#balances")).to_have_text("cannot be shown")
        visit.faults.clear()  # browsers report a 503 as an error


def test_an_interrupted_response_leaves_the_page_and_a_retry_button(browser: Browser, late: str) -> None:
    with visiting(browser, late, theme="light", width=1280) as visit:
        page = visit.page
        page.route("**/balances", lambda route: route.abort())
        visit.open(some_intent(visit, ABORTED_WITH_MONEY))
        expect(page.get_by_role("heading", level=1)).to_contain_text("Aborted")
        again = page.locator("#balances").get_by_role("link", name="Check balances")
        expect(again).to_be_visible()
        visit.faults.clear()  # browsers report a truncated response as an error
        page.unroute("**/balances")
        again.click()
        expect(page.locator("#balances")).to_contain_text("30.00 USDT")
