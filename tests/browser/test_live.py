"""A transfer runs from quote to refund on open pages: every state in order, no reload, no error."""

import re
import time

import httpx
import pytest
from playwright.sync_api import APIResponse, Browser, Page, Route, expect

from tests.browser.conftest import Visit, some_intent, visiting

pytestmark = pytest.mark.browser

OWNER = "0x" + "11" * 20
USDC_ON_BASE = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
USDC_ON_ARBITRUM = "0xaf88d065e77c8cc2239327c5edb3a432268e5831"
REFUNDED_ON_ORIGIN = 8
REFUNDED_INSIDE = 9  # immediately, not after the longer interval that follows a failure
# The statuses from quote to refund, shown as a label unless the headline has the same word.
STATES = ["Quoted", "Committed", "In progress", "Failed", "Refunded"]
PATIENCE = 180.0


class Transfer:
    """A transfer that the test drives through the service's API."""

    def __init__(self, server: str) -> None:
        self._server = server
        request = {
            "ownerAddress": OWNER,
            "originChainId": 8453,
            "originTokenAddress": USDC_ON_BASE,
            "originTokenAmount": "300000000",
            "destinationChainId": 42161,
            "destinationTokenAddress": USDC_ON_ARBITRUM,
            "destinationToAddress": OWNER,
            "tradeType": "EXACT_INPUT",
        }
        self.intent = self._ask("QuoteIntent", **request)["intent"]
        self.path = f"/intent/{self.intent['intentId']}"

    def commit(self) -> None:
        self._ask("CommitIntent", intent=self.intent)

    def execute(self, scenario: int = REFUNDED_ON_ORIGIN) -> None:
        self._ask("ExecuteIntent", intentId=self.intent["intentId"], scenario=scenario, speed=3)

    def _ask(self, operation: str, **request: object) -> dict[str, dict[str, str]]:
        url = f"{self._server}/rpc/Service/{operation}"
        answer = httpx.post(url, json=request, trust_env=False, timeout=30)
        assert answer.status_code == 200, answer.text
        found: dict[str, dict[str, str]] = answer.json()
        return found


def badge(page: Page) -> str:
    return str(page.locator(".page-head[data-state]").get_attribute("data-state"))


def watched(transfer: Transfer, *visits: Visit) -> list[list[str]]:
    """Return the states that each page showed, until the refund."""
    shown = [[badge(visit.page)] for visit in visits]
    transfer.commit()
    deadline = time.monotonic() + PATIENCE
    executed = False
    while any(states[-1] != "Refunded" for states in shown) and time.monotonic() < deadline:
        for states, visit in zip(shown, visits, strict=True):
            visit.page.wait_for_timeout(20)
            now = badge(visit.page)
            if now != states[-1]:
                states.append(now)
        if not executed and shown[0][-1] == "Committed":
            transfer.execute()
            executed = True
    return shown


def refuse(route: Route) -> None:
    route.fulfill(status=503, content_type="text/html", body="", headers={"Retry-After": "10"})


def test_every_state_is_shown_by_stream_by_polling_and_without_scripts(browser: Browser, server: str) -> None:
    transfer = Transfer(server)
    with (
        visiting(browser, server, theme="light", width=1280) as streamed,
        visiting(browser, server, theme="dark", width=1280) as polled,
        visiting(browser, server, theme="dark", width=360, scripts=False) as refreshed,
    ):
        polled.page.route("**/live/**", refuse)
        for visit in (streamed, polled, refreshed):
            visit.open(transfer.path)
        for visit in (streamed, polled):
            visit.page.evaluate("window.notReloaded = true")
        by_stream, by_polling, by_refreshing = watched(transfer, streamed, polled, refreshed)
        assert by_stream == STATES
        # Polling may miss a state in between.
        for shown in (by_polling, by_refreshing):
            assert shown == [state for state in STATES if state in shown]
            assert (shown[0], shown[-1]) == ("Quoted", "Refunded")
        for visit in (streamed, polled):
            assert visit.page.evaluate("window.notReloaded")
            expect(visit.page.get_by_role("heading", level=1)).to_contain_text("Refunded")
            expect(visit.page).to_have_title(re.compile(r"^Refunded · 300\.00 USDC on Base → "))
            expect(visit.page.locator("link[rel=icon]")).to_have_attribute("href", re.compile("icon-neutral"))
            expect(visit.page.locator("#poll")).to_have_count(0)
        polled.forgive(503)


def test_a_slow_response_does_not_take_a_transfer_back(browser: Browser, server: str) -> None:
    transfer, held = Transfer(server), list[tuple[Route, APIResponse]]()
    with visiting(browser, server, theme="light", width=1280) as visit:
        visit.open(transfer.path)
        visit.page.route("**/receipt?slow", lambda route: held.append((route, route.fetch())))
        request = "(path) => void htmx.ajax('GET', path, { target: '#receipt', swap: 'innerMorph' })"
        visit.page.evaluate(request, f"{transfer.path}/receipt?slow")
        visit.page.wait_for_function("document.querySelector('.page-head[data-state=Quoted]')")
        transfer.commit()
        committed = visit.page.locator(".page-head[data-state=Committed]")
        expect(committed).to_be_attached(timeout=PATIENCE * 1000)
        (route, response), *_ = held
        with visit.page.expect_response("**/receipt?slow"):
            route.fulfill(response=response)
        visit.page.wait_for_timeout(500)  # time for a swap, which must not happen
        expect(committed).to_be_attached()


def test_open_sections_stay_open_during_live_updates(browser: Browser, server: str) -> None:
    transfer = Transfer(server)
    with visiting(browser, server, theme="light", width=1280) as visit:
        visit.open(transfer.path)
        fold = visit.page.locator("details.fold").first
        fold.locator("summary").click()
        transfer.commit()
        expect(visit.page.locator(".page-head[data-state]")).to_have_attribute("data-state", "Committed")
        expect(fold).to_have_attribute("open", "")


def test_a_quotes_remaining_time_counts_down(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        visit.open(Transfer(server).path)
        left = visit.page.locator("time[data-until]").first
        before = left.inner_text()
        expect(left).not_to_have_text(before)
        expect(left).to_have_text(re.compile(r"^\d+ (min|s)"))


def test_a_closed_transfer_opens_no_stream(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        asked: list[str] = []
        visit.page.on("request", lambda request: asked.append(request.url))
        visit.open(some_intent(visit, 2))
        expect(visit.page.get_by_role("heading", level=1)).to_have_text("Delivered")
        assert not [url for url in asked if "/live/" in url]
