"""Balances of a transfer's addresses in a real browser."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from intents_ui.display.summary.rules import EXPLANATIONS
from tests.browser.conftest import fits, some_intent, visiting
from tests.serving import dashboard

pytestmark = pytest.mark.browser

ABORTED_WITH_MONEY = 13
DELIVERED = 2
JOURNEYS = pytest.mark.parametrize(
    ("theme", "width", "scripts"), [("light", 360, True), ("dark", 1280, False)], ids=["with scripts", "without"]
)


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
