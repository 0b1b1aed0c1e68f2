"""A transfer runs from quote to refund on open pages, with every state in order and no reload; and times that tick."""

import re
from datetime import timedelta
from itertools import groupby
from typing import Final

import pytest
from playwright.sync_api import APIResponse, Browser, Route, expect

from intents_ui.formatting import times
from tests.browser import looks
from tests.browser.conftest import Visit, client, loaded, visiting, wait_until
from tests.browser.kinds import QUOTE
from tests.waiting import until

pytestmark = pytest.mark.browser

REFUNDED_ON_ORIGIN = 8
REFUNDED_INSIDE = 9  # immediately, not after the longer interval that follows a failure
HIDE: Final = looks.function("hide")
# The statuses from quote to refund, shown as a label unless the headline has the same word.
STATES = ["Quoted", "Accepted", "In progress", "Failed", "Refunded"]
LISTEN: Final = looks.function("listen")


class Transfer:
    """A transfer that the test drives through the service's API."""

    def __init__(self, server: str) -> None:
        self._server = server
        self.intent = self._ask("QuoteIntent", **QUOTE)["intent"]
        self.path = f"/intent/{self.intent['intentId']}"

    def commit(self) -> None:
        self._ask("CommitIntent", intent=self.intent)

    def execute(self, scenario: int = REFUNDED_ON_ORIGIN) -> None:
        self._ask("ExecuteIntent", intentId=self.intent["intentId"], scenario=scenario, speed=12)

    def _ask(self, operation: str, **request: object) -> dict[str, dict[str, str]]:
        answer = client().post(f"{self._server}/rpc/Service/{operation}", json=request)
        assert answer.status_code == 200, answer.text
        found: dict[str, dict[str, str]] = answer.json()
        return found


def expect_state(visit: Visit, state: str) -> None:
    expect(visit.page.locator("#state[data-state]")).to_have_attribute("data-state", state)


def refuse(route: Route) -> None:
    route.fulfill(status=503, content_type="text/html", body="", headers={"Retry-After": "10"})


@pytest.mark.programs
def test_every_state_is_shown_and_announced_once_by_stream_by_polling_and_without_scripts(
    browser: Browser, server: str
) -> None:
    transfer = Transfer(server)
    with (
        visiting(browser, server) as streamed,
        visiting(browser, server, theme="dark") as polled,
        visiting(browser, server, theme="dark", width=360, scripts=False) as refreshed,
    ):
        polled.page.route("**/live/**", refuse)
        for visit in (streamed, polled, refreshed):
            visit.open(transfer.path)
        for visit in (streamed, polled):
            visit.page.evaluate("window.notReloaded = true")
            visit.page.locator("#reply > summary").click()
            loaded(visit.page)  # parts that load later may announce themselves
            visit.page.evaluate(LISTEN)
        for visit in (streamed, polled, refreshed):
            expect_state(visit, "Quoted")
        refresh = '<noscript><meta http-equiv="refresh" content="10"></noscript>'
        assert refresh in client().get(server + transfer.path).text
        transfer.commit()
        expect_state(streamed, "Accepted")
        transfer.execute()
        for visit in (streamed, polled):
            expect_state(visit, "Refunded")
        expect_state(refreshed, "Refunded")  # by itself
        assert streamed.page.evaluate("seen") == STATES
        # Polling may miss a state in between.
        shown = polled.page.evaluate("seen")
        assert shown == [state for state in STATES if state in shown]
        assert (shown[0], shown[-1]) == ("Quoted", "Refunded")
        heard = streamed.page.evaluate("readOut")
        assert len(set(heard)) == len(heard)
        assert [state for state, _ in groupby(words.partition(":")[0] for words in heard)] == STATES[1:]
        expect(streamed.page.locator(".bar-answer strong")).to_contain_text("Refunded")
        for visit in (streamed, polled):
            assert visit.page.evaluate("window.notReloaded")
            reply = re.compile(rf" refunded to your wallet .*: {re.escape(server + transfer.path)}\n$", re.DOTALL)
            expect(visit.page.get_by_role("textbox", name="Reply")).to_have_value(reply)
            expect(visit.page.get_by_role("heading", level=1)).to_contain_text("Refunded")
            expect(visit.page).to_have_title(re.compile(r"^Refunded · 300\.00 USDC on Base → "))
            expect(visit.page.locator("link[rel=icon]")).to_have_attribute("href", re.compile("icon-neutral"))
            expect(visit.page.locator("#poll")).to_have_count(0)
        polled.forgive(503)


def test_a_stream_that_ends_is_opened_again(browser: Browser, server: str) -> None:
    transfer, streams = Transfer(server), list[str]()
    with visiting(browser, server) as visit:
        page = visit.page
        page.on("request", lambda request: streams.append(request.url) if "/live/" in request.url else None)
        ended = {"content_type": "text/event-stream", "body": ": bye\n\n"}
        page.route("**/live/**", lambda route: route.fulfill(**ended), times=1)
        visit.block("**/receipt*")  # no polling
        # htmx would send the whole URL in a header of each request, longer than servers accept.
        visit.open(f"{transfer.path}?x={'a' * 9_000}")
        until(lambda: page.evaluate("true") and len(streams) == 2)
        transfer.commit()
        expect_state(visit, "Accepted")
        expect(page.locator("html")).to_have_attribute("data-stream", "open")


def test_a_tab_that_loads_hidden_opens_its_stream_and_asks_for_news_when_it_is_shown(visit: Visit) -> None:
    """Over HTTP/1.1, six open streams would leave no connection for further pages."""
    page, requested = visit.page, list[str]()
    page.on("request", lambda request: requested.append(request.url))
    visit.page.clock.install()
    visit.page.add_init_script("Object.defineProperty(document, 'hidden', { get: () => true, configurable: true })")
    for path, news in ((Transfer(visit.root).path, "/live/"), ("/", "/overview"), ("/history", "/newer")):
        visit.open(path)
        loaded(page)
        page.clock.fast_forward(11_000)
        page.evaluate(HIDE, True)  # like a tab that becomes hidden again
        assert not [url for url in requested if re.search("/live/|/receipt|/overview|/newest|/newer", url)]
        page.evaluate(HIDE, False)
        page.clock.fast_forward(11_000)
        until(lambda news=news: page.evaluate("true") and any(news in url for url in requested))
        requested.clear()


def test_a_slow_response_does_not_take_a_transfer_back_and_open_sections_stay_open(
    browser: Browser, server: str
) -> None:
    transfer, held = Transfer(server), list[tuple[Route, APIResponse]]()
    with visiting(browser, server) as visit:
        visit.open(transfer.path)
        fold = visit.page.locator("details.fold").first
        fold.locator("summary").click()
        visit.page.locator("#reply > summary").click()
        visit.page.route("**/receipt?slow", lambda route: held.append((route, route.fetch())))
        request = """(path) => {
          window.isDone = false;
          htmx.ajax("GET", path, { target: "#receipt", swap: "innerMorph" }).finally(() => (window.isDone = true));
        }"""
        visit.page.evaluate(request, f"{transfer.path}/receipt?slow")
        until(lambda: visit.page.evaluate("true") and held)
        transfer.commit()
        committed = visit.page.locator("#state[data-state=Accepted]")
        expect(committed).to_be_attached()
        (route, response), *_ = held
        route.fulfill(response=response)
        wait_until(visit.page, "window.isDone")
        expect(committed).to_be_attached()
        expect(fold).to_have_attribute("open", "")
        reply = visit.page.get_by_role("textbox", name="Reply")
        expect(reply).to_have_value(re.compile("You accepted the quote"))


def test_the_browser_writes_durations_as_the_server_does(visit: Visit) -> None:
    visit.open(Transfer(visit.root).path)
    seconds = [0, 1, 59, 60, 61, 3_599, 3_600, 3_601, 3_660, 86_399, 86_400, 86_460, 90_000, 700_000]
    written = [times.duration(timedelta(seconds=each)) for each in seconds]
    assert visit.page.evaluate("all => all.map(duration)", seconds) == written
