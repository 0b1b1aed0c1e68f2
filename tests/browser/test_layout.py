"""Edges and corners that are only noticed when they are wrong."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.browser.conftest import Visit, loaded, some_intent, visiting
from tests.serving import dashboard

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def late() -> Iterator[str]:
    """Yield a dashboard whose balances never arrive in time for the page."""
    with dashboard(INTENTS_BALANCE_TIMEOUT="0") as root:
        yield root


@pytest.fixture
def wide(browser: Browser, server: str) -> Iterator[Visit]:
    with visiting(browser, server, theme="light", width=1920) as visit:
        visit.open("/")
        yield visit


def test_the_header_is_as_wide_as_the_page_below_it(wide: Visit) -> None:
    edges = """selectors => selectors.map((each) => {
      const one = document.querySelector(each);
      const [style, box] = [getComputedStyle(one), one.getBoundingClientRect()];
      return [box.left + parseFloat(style.paddingLeft), box.right - parseFloat(style.paddingRight)];
    })"""
    header, page, footer = wide.page.evaluate(edges, [".frame-bar", ".page", ".frame-foot > div"])
    assert header == page == footer


def test_no_strip_is_left_empty_beside_the_header(wide: Visit) -> None:
    banner = wide.page.locator(".frame-head").bounding_box()
    assert banner is not None
    assert banner["width"] == wide.page.evaluate("document.documentElement.clientWidth")
    assert wide.page.evaluate("getComputedStyle(document.documentElement).scrollbarGutter") == "auto"
    assert wide.page.evaluate("getComputedStyle(document.documentElement).overflowY") == "scroll"


def test_the_ends_of_the_time_switch_are_as_round_as_its_frame(wide: Visit) -> None:
    radii = """() => ["first", "last"].map((end) =>
      getComputedStyle(document.querySelector(`.choice label:${end}-of-type`))[
        end === "first" ? "borderStartStartRadius" : "borderEndEndRadius"])"""
    assert wide.page.evaluate(radii) == ["7px", "7px"]


def test_accepted_input_is_described_in_lines_of_text(wide: Visit) -> None:
    tops = "Array.from(document.querySelectorAll('.hints li'), (each) => getComputedStyle(each).display)"
    assert set(wide.page.evaluate(tops)) == {"inline"}
    baselines = """() => Array.from(document.querySelectorAll(".hints li:nth-child(-n + 2)"), (each) => {
      const range = document.createRange();
      const words = document.createTreeWalker(each, NodeFilter.SHOW_TEXT).nextNode();
      range.selectNodeContents(words);
      return range.getBoundingClientRect().bottom;
    })"""
    lines = sorted(set(wide.page.evaluate(baselines)))
    assert len(lines) <= 2
    assert all(below - above >= 16 for above, below in pairwise(lines)), lines


PLACES = """Array.from(document.querySelectorAll("#reply, #share, #proof"),
  (each) => each.getBoundingClientRect().top + scrollY)"""


@pytest.mark.parametrize(("width", "scenario"), [(360, 8), (1280, 2)])
def test_parts_that_load_later_move_nothing(browser: Browser, late: str, width: int, scenario: int) -> None:
    """Balances, not cached yet, and statistics of the route. Empty addresses are one line, as before the check."""
    held = list[Route]()
    with visiting(browser, late, theme="light", width=width) as visit:
        page = visit.page
        for part in ("balances", "route-stats"):
            page.route(f"**/{part}", lambda route: held.append(route))
        visit.open(some_intent(visit, scenario))
        expect(page.locator("#balances")).to_contain_text("Checking")
        before, height = page.evaluate(PLACES), page.locator("#balances").bounding_box()
        page.route("**/receipt?once", lambda route: route.abort())
        for route in held:
            route.continue_()
        loaded(page)
        expect(page.locator("#balances")).to_contain_text("No funds")
        expect(page.locator("#route-stats h2")).to_be_visible()
        assert len(before) == 3
        assert page.evaluate(PLACES) == before
        assert height is not None
        assert height["height"] < 56
        visit.faults.clear()  # of the aborted request


def test_a_phone_shows_the_first_rows_of_a_long_list_and_without_scripts_all_on_request(
    browser: Browser, server: str
) -> None:
    with visiting(browser, server, theme="light", width=360, scripts=False) as visit:
        page = visit.page
        visit.open("/help/status/FAILED")
        cases = page.locator(".situations").first.locator(".situation")
        shown = cases.locator("visible=true")
        expect(shown).to_have_count(10)
        page.get_by_text(f"Show all {cases.count()}").click()
        expect(shown).to_have_count(cases.count())
        page.get_by_text("Show the first 10").click()
        expect(shown).to_have_count(10)
        last = cases.last.get_attribute("id")
        visit.open(f"/help/status/FAILED#{last}")
        expect(cases.last).to_be_visible()
        page.set_viewport_size({"width": 1280, "height": 900})
        visit.open("/help/status/FAILED")
        expect(shown).to_have_count(cases.count())
        expect(page.get_by_text("Show all")).to_be_hidden()
