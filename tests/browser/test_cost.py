"""Nothing shifts while a page loads."""

import re
from typing import Final

import pytest
from playwright.sync_api import Browser, Route

from tests.browser.conftest import Visit, some_intent, visiting

pytestmark = [pytest.mark.browser, pytest.mark.programs]

STILL: Final = 0.01
SHIFTS: Final = """window.shifts = [];
new PerformanceObserver((list) => shifts.push(...list.getEntries().filter((each) => !each.hadRecentInput)))
  .observe({ type: "layout-shift", buffered: true });"""
MOVED: Final = """() => shifts.map(({ value, sources }) =>
  [value, sources.map(({ node }) => (node?.outerHTML ?? node?.data ?? "").slice(0, 80)).join(" | ")])"""


def come(visit: Visit, path: str) -> None:
    """Open a page with an empty cache (a browser with intercepted requests has none). Fonts load after the page."""
    late: list[Route] = []

    def hold(font: Route) -> None:
        late.append(font)

    visit.page.route("**/*.woff2", hold)
    visit.page.goto(visit.root + path, wait_until="domcontentloaded")
    visit.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")  # it is drawn
    for font in late:
        font.continue_()
    visit.page.unroute("**/*.woff2", hold)
    visit.page.wait_for_load_state("networkidle")


@pytest.mark.parametrize(("width", "scenario"), [(360, 3), (1280, 4)])
def test_nothing_shifts_while_a_page_loads(browser: Browser, server: str, width: int, scenario: int) -> None:
    """On a slow phone, with a transfer that is opened for the first time, like its status on the home page."""
    with visiting(browser, server, theme="light", width=width) as visit:
        visit.prepare(SHIFTS)
        session = visit.page.context.new_cdp_session(visit.page)
        session.send("Emulation.setCPUThrottlingRate", {"rate": 6})
        # Periodic updates may shift the page.
        visit.page.route(re.compile(r"/(newest|history/newer)\?"), lambda route: route.fulfill(status=204))
        for path in (some_intent(visit, scenario), "/history", "/", "/tokens?chain=8453", "/routes"):
            come(visit, path)
            moved = visit.page.evaluate(MOVED)
            assert sum(value for value, _ in moved) < STILL, (path, moved)
