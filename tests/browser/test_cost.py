"""With the files of the image, nothing shifts while a page loads."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, Route

from tests.browser.conftest import Visit, some_intent, visiting
from tests.serving import ROOT, dashboard

pytestmark = [pytest.mark.browser, pytest.mark.programs]

PARTS: Final = ("pyproject.toml", "manage.py", "gunicorn.conf.py", "intents_ui", "templates", "static")
STILL: Final = 0.01
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
    with dashboard(place=place) as root:
        yield root
    shutil.rmtree(place)


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
def test_nothing_shifts_while_a_page_loads(browser: Browser, collected: str, width: int, scenario: int) -> None:
    """On a slow phone, with a transfer that is opened for the first time, like its status on the home page."""
    with visiting(browser, collected, theme="light", width=width) as visit:
        visit.prepare(SHIFTS)
        session = visit.page.context.new_cdp_session(visit.page)
        session.send("Emulation.setCPUThrottlingRate", {"rate": 6})
        # Periodic updates may shift the page.
        visit.page.route(re.compile(r"/(newest|history/newer)\?"), lambda route: route.fulfill(status=204))
        for path in (some_intent(visit, scenario), "/history", "/", "/tokens?chain=8453", "/routes"):
            come(visit, path)
            moved = visit.page.evaluate(MOVED)
            assert sum(value for value, _ in moved) < STILL, (path, moved)
