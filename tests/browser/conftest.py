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
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Error,
    Frame,
    Page,
    Playwright,
    Request,
    Response,
    expect,
    sync_playwright,
)

from intents_ui.emulator.app import Emulator
from tests import canary
from tests.faults.upstream import Upstream, upstream
from tests.gunicorn_constants import BALANCE_TIMEOUT, POLICIES, constants
from tests.serving import dashboard, needs
from tests.waiting import PATIENCE, until

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
LOADING = ".htmx-request:not([hx-sse\\\\:connect]), .not-loaded:not(.saved-status *), #checking"
LOADED = f"() => !document.querySelector('{LOADING}')"
# A busy machine must not make a correct page fail.
PATIENCE_MS = PATIENCE * 1000
expect.set_options(timeout=PATIENCE_MS)
BLOCKED = re.compile(r"net::ERR_FAILED|Failed to fetch")
FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    """Yield Playwright. Its event loop ends before other tests, which have their own."""
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Yield Chromium without its user interface, if that is installed: it takes a third less processor time."""
    shell = shutil.which("chromium-headless-shell")
    started = playwright.chromium.launch(executable_path=shell or chromium(), args=QUIET)
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
    is_blocking: bool = False

    def open(self, path: str) -> None:
        self.page.goto(self.root + path)

    def watch(self) -> None:
        self.page.on("console", self._read)
        self.page.on("pageerror", self._fail)
        self.page.on("request", self._send)
        self.page.on("response", self._receive)

    def block(self, urls: str | re.Pattern[str]) -> None:
        """Abort these requests. Their errors don't count, even those that come while the page closes."""
        self.is_blocking = True
        self.page.route(urls, lambda route: route.abort())

    def forgive(self, status: int) -> None:
        """Drop errors about a response with this status, which the test expects."""
        self.faults = [fault for fault in self.faults if f"status of {status}" not in fault]

    def _read(self, message: ConsoleMessage) -> None:
        is_expected = REFUSED_THERE in message.text or (self.is_blocking and BLOCKED.search(message.text))
        if message.type == "error" and not is_expected:
            self.faults.append(f"console: {message.text}")

    def _fail(self, error: Error) -> None:
        self.faults.append(f"error: {error}")

    def _send(self, request: Request) -> None:
        canary.look(request.url, f"{request.url} {request.headers} {request.post_data_buffer}")
        if urlsplit(request.url).netloc != urlsplit(self.root).netloc:
            self.faults.append(f"foreign: {request.url}")

    def _receive(self, response: Response) -> None:
        canary.look(f"headers of {response.url}", str(response.headers))


@contextmanager
def visiting(
    browser: Browser, root: str, *, theme: str = "light", width: int = 1280, scripts: bool = True
) -> Iterator[Visit]:
    """Open a page without storage."""
    context = browser.new_context(
        java_script_enabled=scripts,
        viewport={"width": width, "height": 900},
        color_scheme="dark" if theme == "dark" else "light",
    )
    context.set_default_timeout(PATIENCE_MS)
    visit = Visit(context.new_page(), root)
    if scripts:
        visit.page.add_init_script(VIOLATIONS)
    visit.watch()
    try:
        yield visit
    finally:
        for opened in context.pages:
            with suppress(Error):  # it may still be navigating
                canary.look(opened.url, opened.content())
        context.close()
    assert visit.faults == []


@pytest.fixture
def visit(browser: Browser, server: str) -> Iterator[Visit]:
    """Yield a page of a wide light screen, for tests that need no other."""
    with visiting(browser, server) as found:
        yield found


@cache
def client() -> httpx.Client:
    return httpx.Client(trust_env=False, timeout=PATIENCE)


@pytest.fixture(scope="package", autouse=True)
def _closed_client() -> Iterator[None]:
    yield
    client().close()
    client.cache_clear()


def finished_transfers(root: str) -> dict[int, str]:
    """Return the path of each scenario's closed transfer. Reads the long list of them without the browser."""
    demo = httpx.get(f"{root}/demo", trust_env=False, timeout=PATIENCE).text
    found = re.findall(r'href="(/intent/[^"]+)" aria-label="Completed transfer of scenario (\d+)"', demo)
    return {int(scenario): path for path, scenario in found}


def some_intent(visit: Visit, scenario: int) -> str:
    return finished_transfers(visit.root)[scenario]


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
    wait_until(page, LOADED)


def wait_until(page: Page | Frame, expression: str, arg: object = None) -> None:
    """Wait until a script's expression or function is true.

    Playwright's `wait_for_function` evaluates it within the page when it isn't true at once, which our policy forbids.
    """
    until(lambda: page.evaluate(expression, arg), pause=0.02)


def show_times(page: Page, way: str) -> None:
    """Choose `Local`, `UTC` or `Unix` in the settings."""
    page.get_by_role("button", name="Settings", exact=True).click()
    page.get_by_label(way, exact=True).check()
    page.get_by_role("button", name="Close").click()


def fits(page: Page) -> bool:
    """Return whether nothing is wider than the screen."""
    return bool(page.evaluate(FITS))


@dataclass
class Troubled:
    """A dashboard whose pages don't wait for balances, and its service, in which tests inject faults."""

    root: str
    service: Upstream

    def path(self, scenario: int) -> str:
        """Return the path of a closed transfer."""
        return f"/intent/{self.service.emulator.finished(scenario)['intentId']}"


@pytest.fixture(scope="package")
def shared_failure() -> Iterator[Troubled]:
    settings = constants(**{POLICIES: {"history": {"fresh": 0, "renewed": 0}}, BALANCE_TIMEOUT: 0.0})
    with (
        upstream(Emulator(service_name="Service")) as service,
        dashboard(INTENTS_SERVICE_URL=service.url, SECRET_KEY="a key of the test", **settings) as root,
    ):
        yield Troubled(root, service)


@pytest.fixture
def troubled(shared_failure: Troubled) -> Iterator[Troubled]:
    yield shared_failure
    shared_failure.service.clear_faults()
    # An open circuit breaker lets a request through every few seconds.
    until(lambda: "Service error" not in client().get(f"{shared_failure.root}/history?size=10").text)
