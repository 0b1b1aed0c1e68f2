"""After every swap the focus is on an element where the user continues, and the change is announced once."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.browser import looks
from tests.browser.conftest import Visit, visiting
from tests.browser.kinds import OWNER
from tests.browser.test_live import Transfer
from tests.corpus import picked

pytestmark = pytest.mark.browser

LISTEN: Final = looks.function("listenToStatus")
HEADING: Final = "#list h1, #list h2"


@dataclass(frozen=True)
class Row:
    """`act` swaps a part of the page by keyboard. Then `focused` has the focus and `told` was announced."""

    name: str
    path: str
    act: Callable[[Page], None]
    focused: str
    told: str = ""


def press(what: str, *, unfold: str = "", name: str = "") -> Callable[[Page], None]:
    """Press Enter on the first match."""

    def act(page: Page) -> None:
        if unfold:
            enter(page.locator(unfold).first)
        enter(page.locator(what, has_text=name).first if name else page.locator(what).first)

    return act


def enter(control: Locator) -> None:
    control.focus()
    control.press("Enter")


def type_usdc(page: Page) -> None:
    page.get_by_role("searchbox", name="Search tokens").focus()
    page.keyboard.type("usdc")


def go_down(page: Page) -> None:
    """Go to the last row, which loads more rows."""
    page.locator("tbody tr:last-child .row-link").last.focus()
    expect(page.locator(".windows .window")).not_to_have_count(1)


def try_again(page: Page) -> None:
    """Make the next rows fail to load, then retry. Others follow them."""
    next_window = re.compile(r"/tokens/rows\?")
    broken = """<nav class="pager" aria-label="More tokens"><a class="button" href="{0}" hx-get="{0}"
        hx-target="closest nav" hx-swap="outerHTML">Try again</a></nav>"""

    def fail(route: Route) -> None:
        route.fulfill(content_type="text/html", body=broken.format(route.request.url))

    def go_on(route: Route) -> None:
        there_is_more = '<nav class="pager" aria-label="More tokens"><a href="/tokens">Next 100</a></nav>'
        route.fulfill(content_type="text/html", body=route.fetch().text().partition("<nav")[0] + there_is_more)

    page.route(next_window, fail, times=1)
    page.reload()
    page.evaluate(LISTEN)
    page.locator("tbody tr:last-child .row-link").last.focus()
    expect(page.get_by_role("link", name="Try again")).to_be_visible()
    page.route(next_window, go_on, times=1)
    enter(page.get_by_role("link", name="Try again"))
    expect(page.locator(".windows .window")).not_to_have_count(1)


ROWS: Final = [
    Row(
        "a filter",
        "/history",
        press("a", unfold='[data-filter="status"] summary', name="Open (quoted"),
        HEADING,
        r"\d+ transfers, newest first",
    ),
    Row("a chip taken off", "/history?origin=8453", press('[aria-label^="Remove filter"]'), HEADING, r"\d+ transfers,"),
    Row("a page", "/history", press("a", name="Older"), HEADING, r"\d+ transfers, page 2"),
    Row("a part of a history", OWNER, press('a[href*="status=SUCCEEDED"]'), HEADING, r"\d+ transfers? shown"),
    Row("chains of a kind", "/chains", press(".choices a", name="Testnets"), HEADING, r"\d+ chain"),
    Row("tokens of a kind", "/tokens?chain=8453", press("#pills a", name="All listed"), HEADING, r"\d"),
    Row("tokens that are typed", "/tokens", type_usdc, "input[type=search][name=q]", r"\d"),
    Row("the next window of tokens", "/tokens?show=listed", go_down, "tbody tr:last-child .row-link"),
    Row("a window of tokens that had failed", "/tokens?show=listed", try_again, ".window:nth-of-type(2) .row-link"),
]  # fmt: skip


def opened(visit: Visit, path: str) -> Page:
    visit.open(path)
    visit.page.evaluate(LISTEN)
    return visit.page


def assert_kept(page: Page, focused: str, told: str) -> None:
    expect(page.locator(":focus")).to_have_count(1)
    expect(page.locator(focused).and_(page.locator(":focus"))).to_have_count(1)
    if told:
        expect(page.locator("#said")).to_have_text(re.compile(told))
    heard = page.evaluate("told")
    assert len(heard) == len(set(heard)) <= 1, heard


CHOSEN: Final = ("a page", "the next window of tokens")


@pytest.mark.programs
@pytest.mark.parametrize("row", picked({row.name: row for row in ROWS}, *CHOSEN))
def test_loaded_content_never_loses_the_focus(visit: Visit, row: Row) -> None:
    page = opened(visit, row.path)
    with page.expect_event("requestfinished", lambda request: request.headers.get("hx-request") == "true"):
        row.act(page)
    assert_kept(page, row.focused, row.told)


@pytest.mark.parametrize(
    "is_streamed", [pytest.param(True, id="by stream"), pytest.param(False, id="by polling", marks=pytest.mark.slow)]
)
def test_a_live_update_takes_the_focus_from_no_element(browser: Browser, server: str, is_streamed: bool) -> None:
    transfer = Transfer(server)
    with visiting(browser, server, theme="light", width=1280) as visit:
        if not is_streamed:
            visit.page.route("**/live/**", lambda route: route.fulfill(status=503, headers={"Retry-After": "10"}))
        page = opened(visit, transfer.path)
        expect(page.locator(".answer-finding")).to_have_count(1)
        page.locator("#receipt [data-copy]").first.focus()
        offer = page.get_by_role("link", name="Accept", exact=True)
        expect(offer).to_be_visible()
        if is_streamed:
            offer.focus()
        transfer.commit()
        expect(page.locator("#state")).to_have_attribute("data-state", "Accepted")
        # If the focused element disappears with the state, the state's heading gets the focus.
        focused = page.locator("#receipt h1" if is_streamed else "#receipt [data-copy]").first
        expect(focused).to_be_focused()
        visit.forgive(503)
