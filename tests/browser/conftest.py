"""A real browser, pointed at a real dashboard. What goes wrong in a page is collected and fails the test."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.conftest import needs

# Without these, Chromium looks for its maker's hosts at every start.
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
QUIET += ["--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = needs("chromium", "apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        yield started
        started.close()


@dataclass
class Visit:
    """A page, and what it did that it should not."""

    page: Page
    root: str
    faults: list[str] = field(default_factory=list)

    def open(self, path: str) -> None:
        self.page.goto(self.root + path)

    def watch(self) -> None:
        self.page.on("console", lambda message: self._fault("console", message.text, message.type == "error"))
        self.page.on("pageerror", lambda error: self._fault("error", str(error), True))
        self.page.on("request", lambda request: self._fault("foreign", request.url, self._is_foreign(request.url)))

    def _is_foreign(self, url: str) -> bool:
        return urlsplit(url).netloc != urlsplit(self.root).netloc

    def _fault(self, kind: str, words: str, is_fault: bool) -> None:
        if is_fault:
            self.faults.append(f"{kind}: {words}")


@contextmanager
def visiting(browser: Browser, root: str, *, theme: str, width: int, scripts: bool = True) -> Iterator[Visit]:
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if theme == "dark" else "light",
        java_script_enabled=scripts,
    )
    context.set_default_timeout(10_000)
    visit = Visit(context.new_page(), root)
    visit.watch()
    try:
        yield visit
    finally:
        context.close()
    assert visit.faults == []


@pytest.fixture(params=["light", "dark"])
def theme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[360, 768, 1280])
def width(request: pytest.FixtureRequest) -> int:
    return int(request.param)
