"""An open page while the service fails or is slow, and after it recovers."""

import re

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.browser.conftest import Troubled, client, fits, loaded, visiting
from tests.browser.test_live import Transfer
from tests.faults.upstream import STATUSES
from tests.waiting import until

pytestmark = pytest.mark.browser

REASON = re.compile(r"Last updated .+ \(.+\): transfer list\. (Service error|The service is slow to respond)\.")
REFRESH = 11_000  # milliseconds after which the home page has refreshed
ABORTED_WITH_MONEY, DELIVERED = 13, 2
PLACES = """Array.from(document.querySelectorAll("#reply, #proof"),
  (each) => each.getBoundingClientRect().top + scrollY)"""


def test_the_notice_of_a_stale_page_goes_with_fresh_data(browser: Browser, troubled: Troubled) -> None:
    path = "/history?status=SUCCEEDED"
    with visiting(browser, troubled.root) as visit:
        page, note, said = visit.page, visit.page.locator("#old-answers"), visit.page.locator("#old-said")
        visit.open(path)
        troubled.service.inject(STATUSES["502 with a page"], "GetIntentHistory")
        page.reload()
        expect(note).to_contain_text(REASON)
        troubled.service.clear_faults()
        until(lambda: "Service error" not in client().get(troubled.root + path).text)
        page.get_by_role("link", name="Older →").click()
        expect(page).to_have_url(re.compile("cursor="))
        expect(note).to_be_empty()
        expect(said).to_be_empty()


@pytest.mark.programs
def test_an_outage_leaves_the_page_as_it_is(browser: Browser, troubled: Troubled) -> None:
    with visiting(browser, troubled.root, width=360) as visit:
        page = visit.page
        visit.open("/history?origin=8453&size=10")
        before, address, own = page.locator("#list .row-link").count(), page.url, page.title()
        troubled.service.inject(STATUSES["502 with a page"])
        failure = page.locator(".list-failure")
        for again in (page.get_by_role("link", name="Older →"), failure.get_by_role("link", name="Try again")):
            with page.expect_response(lambda response: response.status == 503):
                again.click()
            expect(failure.get_by_role("heading")).to_be_focused()
            expect(failure).to_have_count(1)
            expect(failure).to_be_in_viewport()
            expect(page.locator("#said")).to_have_text(re.compile(r"The list was not updated\.$"))
            expect(page).to_have_title(f"{failure.get_by_role('heading').inner_text()} · Intents")
            assert page.url == address
            assert page.locator("#list .row-link").count() == before > 0
        troubled.service.clear_faults()
        until(lambda: client().get(f"{troubled.root}/history?origin=8453&size=50").status_code == 200)
        failure.get_by_role("link", name="Try again").click()
        expect(failure).to_have_count(0)
        expect(page).to_have_url(re.compile("cursor="))
        expect(page).to_have_title(own)
        visit.forgive(503)


@pytest.mark.programs
def test_an_interrupted_response_leaves_the_page_and_a_retry_link(browser: Browser, troubled: Troubled) -> None:
    with visiting(browser, troubled.root) as visit:
        page = visit.page
        visit.block("**/balances")
        visit.open(troubled.path(ABORTED_WITH_MONEY))
        expect(page.get_by_role("heading", level=1)).to_contain_text("Aborted")
        again = page.locator("#balances").get_by_role("link", name="Check balances")
        expect(again).to_be_visible()
        page.unroute("**/balances")
        again.click()
        expect(page.locator("#balances")).to_contain_text("30.00 USDT")
        section = page.locator("#balances")
        section.get_by_role("link", name="Check again").click()
        expect(page.locator("#said")).to_have_text(re.compile(r"^Intent address balances: \$30\.00\."))
        expect(section.get_by_role("link", name="Check again")).to_be_focused()


@pytest.mark.programs
def test_parts_that_load_later_move_nothing(browser: Browser, troubled: Troubled) -> None:
    """Balances, not cached yet, and statistics of the route. Empty addresses are one line, as before the check."""
    held = list[Route]()
    with visiting(browser, troubled.root, width=360) as visit:
        page = visit.page
        for part in ("balances", "route-stats"):
            page.route(f"**/{part}", lambda route: held.append(route))
        visit.open(troubled.path(DELIVERED))
        expect(page.locator("#balances")).to_contain_text("Checking")
        before, height = page.evaluate(PLACES), page.locator("#balances").bounding_box()
        visit.block("**/receipt?once")
        for route in held:
            route.continue_()
        loaded(page)
        expect(page.locator("#balances")).to_contain_text("No funds")
        assert len(before) == 2
        assert page.evaluate(PLACES) == before
        assert height is not None
        assert height["height"] < 56


def test_a_live_page_says_since_when_its_connection_is_lost_until_it_is_back(browser: Browser, server: str) -> None:
    with visiting(browser, server, width=360) as visit:
        page, notice = visit.page, visit.page.locator("#connection")
        visit.page.clock.install()
        transfer = Transfer(server)
        visit.open(transfer.path)
        expect(page.locator("html")).to_have_attribute("data-stream", "open")
        transfer.commit()
        expect(page.locator("#poll")).to_have_count(0)  # once the stream has brought something
        visit.block(re.compile("/live/|/receipt"))
        page.clock.fast_forward(36_000)  # nothing comes in a connection that hangs
        expect(notice).to_have_text(
            re.compile(r"^Connection lost since \d\d:\d\d \S+\. Showing the last known status\.$")
        )
        assert notice.get_attribute("role") == "status"
        expect(page.locator(".live-off")).to_be_visible()
        assert fits(page)
        page.unroute_all()
        expect(notice).to_be_empty()
        expect(page.locator("html")).to_have_attribute("data-stream", "open")


@pytest.mark.parametrize("is_behind_proxy", [False, pytest.param(True, marks=pytest.mark.programs)])
def test_each_failed_request_of_a_list_says_so(browser: Browser, server: str, is_behind_proxy: bool) -> None:
    def fail(route: Route) -> None:
        if is_behind_proxy:
            route.fulfill(status=502, content_type="text/html", body="<h1>502 Bad Gateway</h1>")
        else:
            route.abort()

    with visiting(browser, server) as visit:
        page, toast, notice = visit.page, visit.page.locator("#toast"), visit.page.locator("#connection")
        visit.page.clock.install()
        visit.open("/history")
        page.route(re.compile("cursor=|/newer"), fail)
        page.get_by_role("link", name="Older →").click()
        expect(toast).to_have_text("Couldn't load. Check your connection and try again.")
        expect(toast).to_be_visible()
        expect(page.locator("#said")).to_have_text("Couldn't load. Check your connection and try again.")
        expect(notice).to_be_empty()
        page.clock.fast_forward(REFRESH)
        expect(notice).to_contain_text("Connection lost since")
        expect(page.locator("#list .row-link")).to_have_count(20)
        page.unroute_all()
        page.clock.fast_forward(REFRESH)
        expect(notice).to_be_empty()
        visit.faults.clear()  # of failed requests
