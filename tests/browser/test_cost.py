"""Weight of a first visit with the files of the image: nothing shifts while a page loads, a transfer's page is
light, and the next page loads no file again.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route

from tests.browser.conftest import Visit, some_intent, visiting
from tests.serving import ROOT, dashboard

pytestmark = pytest.mark.browser

PARTS: Final = ("manage.py", "gunicorn.conf.py", "intents_ui", "templates", "static")
STILL: Final = 0.01
FIRST_VISIT: Final = 60_000
SHIFTS: Final = """window.shifts = [];
new PerformanceObserver((list) => shifts.push(...list.getEntries().filter((each) => !each.hadRecentInput)))
  .observe({ type: "layout-shift", buffered: true });"""
MOVED: Final = """() => shifts.map(({ value, sources }) =>
  [value, sources.map(({ node }) => (node?.outerHTML ?? node?.data ?? "").slice(0, 80)).join(" | ")])"""


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = tmp_path_factory.mktemp("image")
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, place / part)
    subprocess.run(
        [sys.executable, "manage.py", "collectstatic", "--noinput", "-v0", "--ignore", "django_htmx"],
        cwd=place,
        check=True,
    )
    with dashboard(place=place, INTENTS_BALANCE_TIMEOUT="5") as root:  # a page that is still loading them would shift
        yield root
    shutil.rmtree(place)


def come(visit: Visit, path: str) -> None:
    """Open a page with an empty cache (a browser with intercepted requests has none). Fonts load after the page."""
    late: list[Route] = []

    def hold(font: Route) -> None:
        late.append(font)

    visit.page.route("**/*.woff2", hold)
    visit.page.goto(visit.root + path, wait_until="domcontentloaded")
    visit.page.wait_for_timeout(100)  # it is drawn with the available fonts
    for font in late:
        font.continue_()
    visit.page.unroute("**/*.woff2", hold)
    visit.page.wait_for_load_state("networkidle")


@pytest.mark.parametrize(("width", "scenario"), [(360, 3), (1280, 4)])
def test_nothing_shifts_while_a_page_loads(browser: Browser, collected: str, width: int, scenario: int) -> None:
    """On a slow phone, with a transfer that is opened for the first time, like its status on the home page."""
    with visiting(browser, collected, theme="light", width=width) as visit:
        visit.page.add_init_script(SHIFTS)
        visit.page.context.new_cdp_session(visit.page).send("Emulation.setCPUThrottlingRate", {"rate": 6})
        # Periodic updates may shift the page.
        visit.page.route(re.compile(r"/(newest|history/newer)\?"), lambda route: route.fulfill(status=204))
        for path in (some_intent(visit, scenario), "/history", "/", "/tokens?chain=8453", "/routes"):
            come(visit, path)
            moved = visit.page.evaluate(MOVED)
            assert sum(value for value, _ in moved) < STILL, (path, moved)


def test_the_navigation_stays_where_the_first_bytes_put_it(browser: Browser, collected: str) -> None:
    place = "() => JSON.stringify(document.querySelector('.frame-nav').getBoundingClientRect())"
    with visiting(browser, collected, theme="light", width=360, scripts=False) as visit:
        for path in (some_intent(visit, 3), "/history", "/attention"):
            visit.open(path)
            at_last = visit.page.evaluate(place)
            first_bytes = visit.page.content().partition("<main")[0]
            visit.page.route("**" + path, partial(Route.fulfill, body=first_bytes, content_type="text/html"))
            visit.open(path)
            visit.page.unroute("**" + path)
            assert visit.page.locator("main").count() == 0
            assert visit.page.evaluate(place) == at_last, path


def test_a_transfers_page_is_light_and_the_next_one_reuses_its_files(browser: Browser, collected: str) -> None:
    with visiting(browser, collected, theme="light", width=360) as visit:
        visit.page.context.new_cdp_session(visit.page).send("Network.clearBrowserCache")  # of other tests
        sizes = received(visit.page)
        visit.open(some_intent(visit, 5))
        visit.page.wait_for_load_state("networkidle")
        first = dict(sizes)
        assert sum(size for path, size in first.items() if is_text(path)) <= FIRST_VISIT, first
        assert {Path(path).suffix for path in first} >= {".js", ".css", ".woff2"}
        sizes.clear()
        visit.open("/history")
        visit.page.wait_for_load_state("networkidle")
        assert sizes["/history"]
        assert not [path for path, size in sizes.items() if size and path in first and path.startswith("/static/")]


def received(page: Page) -> dict[str, int]:
    """Return the bytes received from now on for each path, headers included, 0 for cached files."""
    sizes: dict[str, int] = {}
    paths: dict[str, str] = {}

    def begin(event: dict[str, Any]) -> None:
        paths[event["requestId"]] = urlsplit(event["response"]["url"]).path

    def end(event: dict[str, Any]) -> None:
        sizes[paths[event["requestId"]]] = event["encodedDataLength"]

    network = page.context.new_cdp_session(page)
    network.on("Network.responseReceived", begin)
    network.on("Network.loadingFinished", end)
    network.send("Network.enable")
    return sizes


def is_text(path: str) -> bool:
    return Path(path).suffix not in (".svg", ".woff2")
