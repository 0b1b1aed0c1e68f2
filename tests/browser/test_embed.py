"""A transfer in a frame: two sites embed our pages, and only the card appears, on the named site."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import batched
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Frame, Page, expect

from intents_ui.display.summary.rules import EXPLANATIONS
from tests.browser.conftest import PATIENCE_MS, Visit, fits, some_intent, visiting
from tests.browser.kinds import RECIPIENT
from tests.browser.test_live import Transfer
from tests.serving import dashboard
from tests.url_patterns import url_patterns

pytestmark = pytest.mark.browser

SIZES = [(280, 600), (300, 600), (480, 440), (800, 440)]
MOST_WORDS = 18  # the scenario with the tallest card
BLOCKED = "net::ERR_BLOCKED_BY_RESPONSE"


class Framing(BaseHTTPRequestHandler):
    """Another site: a page with a frame for each `src`."""

    def do_GET(self) -> None:
        asked = parse_qs(urlsplit(self.path).query)
        size = f'width="{asked.get("width", [480])[0]}" height="{asked.get("height", [320])[0]}"'
        frames = (f'<iframe src="{escape(src)}" {size}></iframe>' for src in asked.get("src", [""]))
        body = f"<!doctype html><title>Shop</title>{''.join(frames)}"
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *words: object) -> None:
        """Log nothing. The test reports errors."""


@dataclass
class Sites:
    """`shop` is in INTENTS_EMBED_HOSTS, `other` is not."""

    dashboard: str
    shop: str
    other: str


@pytest.fixture(scope="module")
def sites() -> Iterator[Sites]:
    shop, other = (ThreadingHTTPServer(("127.0.0.1", 0), Framing) for _ in range(2))
    threads = [threading.Thread(target=each.serve_forever) for each in (shop, other)]
    for thread in threads:
        thread.start()
    try:
        with dashboard(INTENTS_EMBED_HOSTS=f"127.0.0.1:{shop.server_port}") as root:
            yield Sites(root, f"http://127.0.0.1:{shop.server_port}", f"http://127.0.0.1:{other.server_port}")
    finally:
        for each, thread in zip((shop, other), threads, strict=True):
            each.shutdown()
            each.server_close()
            thread.join(5)


def framing(site: str, src: str, width: int = 480, height: int = 320) -> str:
    """Return the URL of the other site's page with this frame."""
    return f"{site}/?{httpx.QueryParams({'src': src, 'width': width, 'height': height})}"


def frame_on(page: Page, url: str) -> Frame:
    page.goto(url, wait_until="commit")
    found = page.wait_for_selector("iframe").content_frame()
    assert found is not None
    return found


def refusal(page: Page, site: str, src: str) -> str | None:
    """Return the browser's message about a frame that it leaves empty."""
    with page.expect_event("requestfailed", lambda request: request.url == src) as failed:
        page.goto(framing(site, src), wait_until="commit")
    reason: str | None = failed.value.failure
    return reason


@contextmanager
def reading(browser: Browser, sites: Sites, *, theme: str, scripts: bool = True) -> Iterator[Visit]:
    """Open a browser on other sites, and record what it blocks."""
    window = browser.new_context(color_scheme="dark" if theme == "dark" else "light", java_script_enabled=scripts)
    window.set_default_timeout(PATIENCE_MS)
    try:
        yield Visit(window.new_page(), sites.dashboard)
    finally:
        window.close()


def test_the_named_site_shows_the_card_and_no_other_site_does(browser: Browser, sites: Sites) -> None:
    with reading(browser, sites, theme="light") as visit:
        src = sites.dashboard + "/embed" + some_intent(visit, 8)
        frame = frame_on(visit.page, framing(sites.shop, src))
        expect(frame.get_by_role("heading", level=1)).to_have_text(EXPLANATIONS["refunded.origin"].headline)
        expect(frame.locator(".embed-state .status")).to_have_text("Refunded")
        assert refusal(visit.page, sites.other, src) == BLOCKED


@pytest.mark.parametrize(
    "path", ["/", "/history", "/help", "{intent}", "{intent}/feed.atom", "/intent/%20", "/nowhere"]
)
def test_no_other_page_can_be_framed_even_by_the_named_site(browser: Browser, sites: Sites, path: str) -> None:
    with reading(browser, sites, theme="light") as visit:
        src = sites.dashboard + path.format(intent=some_intent(visit, 8))
        assert refusal(visit.page, sites.shop, src) == BLOCKED


@pytest.mark.parametrize("site", ["shop", "other"])
def test_only_the_card_can_be_framed_of_the_whole_site_map(browser: Browser, sites: Sites, site: str) -> None:
    """Downloads are left out, because they have no frame."""
    with reading(browser, sites, theme="light") as visit:
        path = some_intent(visit, 8)
        names = {
            "intent_id": path.rpartition("/")[2],
            "address": RECIPIENT,
            "chain_id": "8453",
            "operation": "GetIntent",
        }
        names |= {"status": "FAILED", "run": "a" * 22, "transaction_hash": RECIPIENT, "name": "RELAY"}
        names |= {"number": "1", "used": "RELAY", "providers": "RELAY", "origin": "8453", "destination": "42161"}
        patterns = [str(each.pattern) for each in url_patterns()]
        shown_ones = [each for each in patterns if "<file:" not in each and not each.endswith(".csv")]
        paths = ["/" + re.sub(r"<\w+:(\w+)>", lambda found: names[found[1]], each) for each in shown_ones]
        sources = [sites.dashboard + each for each in [*paths, "/static/css/base.css", "/healthz", "/live/0x12"]]
        shown = []
        for some in batched(sources, 6):  # a page with all of them takes long to load on a busy machine
            visit.page.goto(f"{getattr(sites, site)}/?{httpx.QueryParams({'src': list(some)})}", wait_until="load")
            assert len(visit.page.frames) == len(some) + 1
            shown += [frame.url for frame in visit.page.frames[1:] if not frame.url.startswith("chrome-error:")]
        assert shown == ([f"{sites.dashboard}/embed{path}"] if site == "shop" else [])


def test_a_missing_transfer_is_reported_in_the_frame(browser: Browser, sites: Sites) -> None:
    with reading(browser, sites, theme="light") as visit:
        frame = frame_on(visit.page, framing(sites.shop, f"{sites.dashboard}/embed/intent/0x{'ab' * 32}"))
        expect(frame.get_by_role("alert")).to_contain_text("Not found")


def test_the_card_opens_the_page_in_a_new_tab(browser: Browser, sites: Sites) -> None:
    with reading(browser, sites, theme="light") as visit:
        path = some_intent(visit, 2)
        frame = frame_on(visit.page, framing(sites.shop, f"{sites.dashboard}/embed{path}"))
        with visit.page.context.expect_page() as opened:
            frame.get_by_role("link", name="View transfer").click()
        assert opened.value.url == sites.dashboard + path
        expect(opened.value.get_by_role("heading", level=1)).to_be_visible()
        assert opened.value.evaluate("window.opener === null")
        assert visit.page.url.startswith(sites.shop)


def test_the_card_updates_automatically(browser: Browser, sites: Sites) -> None:
    transfer = Transfer(sites.dashboard)
    with reading(browser, sites, theme="light") as visit:
        frame = frame_on(visit.page, framing(sites.shop, f"{sites.dashboard}/embed{transfer.path}"))
        state = frame.locator(".status")
        expect(state).to_have_text("Quoted")
        frame.evaluate("window.notReloaded = true")
        transfer.commit()
        expect(state).to_have_text("Committed")
        transfer.execute()
        # Whichever status it has when the card loads.
        expect(state).to_have_text(re.compile("In progress|Failed|Refunded"))
        assert frame.evaluate("window.notReloaded")


@pytest.mark.slow
def test_without_scripts_the_card_reloads_itself(browser: Browser, sites: Sites) -> None:
    transfer = Transfer(sites.dashboard)
    with reading(browser, sites, theme="dark", scripts=False) as visit:
        frame = frame_on(visit.page, framing(sites.shop, f"{sites.dashboard}/embed{transfer.path}"))
        expect(frame.locator(".status")).to_have_text("Quoted")
        transfer.commit()
        expect(frame.locator(".status")).to_have_text("Committed", timeout=2 * PATIENCE_MS)


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_card_fits_its_frame_in_the_sites_theme(browser: Browser, sites: Sites, width: int, height: int) -> None:
    with reading(browser, sites, theme="dark") as visit:
        src = f"{sites.dashboard}/embed{some_intent(visit, MOST_WORDS)}"
        frame = frame_on(visit.page, framing(sites.shop, src, width, height))
        expect(frame.get_by_role("link", name="View transfer")).to_be_visible()
        frame.evaluate("document.fonts.ready.then(() => true)")  # until then another font is used
        assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert frame.evaluate("document.documentElement.scrollHeight") <= height
        card = frame.locator("#embed").evaluate("element => getComputedStyle(element).backgroundColor")
        assert card == "rgb(20, 24, 30)"


def test_the_card_alone_has_no_errors_and_no_foreign_requests(browser: Browser, sites: Sites) -> None:
    """Its console is empty, and everything it loads is our own."""
    with visiting(browser, sites.dashboard, theme="light", width=360) as visit:
        visit.open("/embed" + some_intent(visit, 2))
        expect(visit.page.get_by_role("heading", level=1)).to_be_visible()
        visit.open("/embed" + Transfer(sites.dashboard).path)
        expect(visit.page.locator(".status")).to_have_text("Quoted")
        assert fits(visit.page)
        assert visit.page.context.cookies() == []
