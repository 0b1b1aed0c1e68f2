"""Fixtures for tests in a real browser against a real dashboard. Errors on a page fail the test."""

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, Playwright, expect, sync_playwright

from tests import canary
from tests.conftest import needs
from tests.waiting import PATIENCE

# Without these, Chromium contacts its vendor's hosts at startup.
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
QUIET += ["--disable-component-update", "--disable-sync"]
# Scripts of pages that live for seconds only take less processor time without being optimized.
QUIET += ["--js-flags=--single-threaded --no-opt"]

# Browsers also log most of this in the console, but not everything in every version.
VIOLATIONS = """addEventListener("securitypolicyviolation", (event) =>
  console.error(`refused by the policy: ${event.effectiveDirective} ${event.blockedURI} ${event.sample}`))"""
# Responses that aren't pages run no scripts, including our own listener.
REFUSED_THERE = ".json' because the document's frame is sandboxed"
LOADED = "() => !document.querySelector('.htmx-request:not([hx-sse\\\\:connect]), .unasked, #checking')"
# A busy machine must not make a correct page fail.
PATIENCE_MS = PATIENCE * 1000
expect.set_options(timeout=PATIENCE_MS)
FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Yield Chromium without its user interface, if that is installed: it takes a third less processor time."""
    shell = shutil.which("chromium-headless-shell")
    started = playwright.chromium.launch(executable_path=shell or chromium(), args=QUIET)
    yield started
    started.close()


@pytest.fixture
def whole_browser(playwright: Playwright) -> Iterator[Browser]:
    """Yield Chromium with all features, such as notifications."""
    started = playwright.chromium.launch(executable_path=chromium(), args=QUIET)
    yield started
    started.close()


def chromium() -> Path:
    return needs("chromium", "apt-get install chromium")


@dataclass
class Visit:
    """A page, and its errors."""

    page: Page
    root: str
    faults: list[str] = field(default_factory=list)

    def open(self, path: str) -> None:
        self.page.goto(self.root + path)

    def watch(self) -> None:
        self.page.on("console", lambda message: self._fault("console", message.text, message.type == "error"))
        self.page.on("pageerror", lambda error: self._fault("error", str(error), True))
        self.page.on("request", lambda request: self._fault("foreign", request.url, self._is_foreign(request.url)))
        self.page.on(
            "request", lambda sent: canary.look(sent.url, f"{sent.url} {sent.headers} {sent.post_data_buffer}")
        )
        self.page.on("response", lambda came: canary.look(f"headers of {came.url}", str(came.headers)))

    def forgive(self, status: int) -> None:
        """Drop errors about a response with this status, which the test expects."""
        self.faults = [fault for fault in self.faults if f"status of {status}" not in fault]

    def _is_foreign(self, url: str) -> bool:
        return urlsplit(url).netloc != urlsplit(self.root).netloc

    def _fault(self, kind: str, words: str, is_fault: bool) -> None:
        if is_fault and REFUSED_THERE not in words:
            self.faults.append(f"{kind}: {words}")


@contextmanager
def visiting(browser: Browser, root: str, *, theme: str, width: int, scripts: bool = True) -> Iterator[Visit]:
    """Open a new browser context without storage. Its window is reused by the next one."""
    idle = _idle_windows(browser, scripts=scripts)
    window = idle.pop() if idle else _window(browser, scripts=scripts)
    page = window.new_page()
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    if scripts:
        page.add_init_script(VIOLATIONS)
    visit = Visit(page, root)
    visit.watch()
    try:
        yield visit
    finally:
        window.new_cdp_session(page).send("Storage.clearDataForOrigin", {"origin": root, "storageTypes": "all"})
        window.clear_cookies()
        window.clear_permissions()
        for opened in window.pages[1:]:
            with suppress(Error):  # it may still be navigating
                canary.look(opened.url, opened.content())
            opened.close()
        idle.append(window)
    assert visit.faults == []


def _window(browser: Browser, *, scripts: bool) -> BrowserContext:
    """Return a window that an empty page keeps open, because opening one takes longer than loading most pages."""
    window = browser.new_context(java_script_enabled=scripts)
    window.set_default_timeout(PATIENCE_MS)
    window.new_page()
    return window


@cache
def _idle_windows(browser: Browser, *, scripts: bool) -> list[BrowserContext]:
    return []


def some_intent(visit: Visit, scenario: int, kind: str = "completed") -> str:
    """Return the path of a scenario's transfer. Reads the long list of them without the browser."""
    page = httpx.get(f"{visit.root}/demo", trust_env=False, timeout=PATIENCE).text
    found = re.search(rf'href="([^"]+)" aria-label="{kind.capitalize()} transfer of scenario {scenario}"', page)
    assert found, f"no {kind} transfer of scenario {scenario}"
    return found[1]


def copied(page: Page) -> str:
    """Return the clipboard's content, read by another site, because our pages may not."""
    other = page.context.new_page()
    other.route("**/*", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    other.goto("http://localhost/")
    text: str = other.evaluate("navigator.clipboard.readText()")
    other.close()
    page.bring_to_front()
    return text


def expect_copied(page: Page, text: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while copied(page) != text:
        assert time.monotonic() < deadline, f"{copied(page)!r} is in the clipboard"


def loaded(page: Page) -> None:
    """Wait until everything that a transfer's page loads later has arrived, except its stream."""
    page.wait_for_function(LOADED)


def fits(page: Page) -> bool:
    """Return whether nothing is wider than the screen."""
    return bool(page.evaluate(FITS))


@pytest.fixture(params=["light", "dark"])
def theme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[360, 768, 1280])
def width(request: pytest.FixtureRequest) -> int:
    return int(request.param)
