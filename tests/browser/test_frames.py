"""Pages in frames of other sites: the card of a transfer and the side bar of helpdesks, only where they are permitted,
and whose messages the side bar reads.
"""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import batched
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Frame, Page, Route, expect

from tests.browser import looks
from tests.browser.conftest import PATIENCE_MS, Visit, some_intent, wait_until
from tests.browser.kinds import RECIPIENT
from tests.browser.test_live import Transfer
from tests.helpdesk import signing
from tests.serving import dashboard
from tests.url_patterns import url_patterns

pytestmark = pytest.mark.browser

BLOCKED = "net::ERR_BLOCKED_BY_RESPONSE"


REFUNDED, RECOVERABLE = 8, 11
NOTHING = "0x" + "12" * 32

CHATWOOT: Final = looks.function("answerAsChatwoot")
SEND = "(said) => { window.conversation = said; frames[0].postMessage(said, '*'); }"
# What Zendesk does: it answers requests of the app.
ZENDESK = Path(__file__).with_name("zendesk.html").read_text()
ZENDESKS: Final = "https://acme.zendesk.com"
INTENTS: Final = "https://intents.example"
NAMED_HOSTS: Final = ("https://acme.zendesk.com", "*.desk.example", "https://*.shop.example:8443")
# Origins whose messages are read, of any page, and of a page without HTTPS in addition.
ALLOWED: Final = [ZENDESKS, "https://b.a.desk.example", "https://a.shop.example:8443"]
ALLOWED_BY_HTTP: Final = ["http://a.desk.example"]
REJECTED: Final = [
    *("null", "http://acme.zendesk.com", "https://acme.zendesk.com:8443", "https://acme.zendesk.com.example"),
    *("https://a.acme.zendesk.com", "http://desk.example", "https://desk.example", "https://adesk.example"),
    *("https://a.desk.example.example", "https://a.desk.example:8443", "ftp://a.desk.example"),
    *("http://a.shop.example:8443", "https://a.shop.example", "https://a.shop.example:84430"),
    "https://shop.example:8443",
]
READ: Final = looks.function("originsRead")


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
    """All but `other` are in INTENTS_EMBED_HOSTS."""

    dashboard: str
    shop: str
    chatwoot: str
    desk: str
    other: str


@contextmanager
def served() -> Iterator[str]:
    """Serve another site until the block ends."""
    site = ThreadingHTTPServer(("127.0.0.1", 0), Framing)
    thread = threading.Thread(target=site.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{site.server_port}"
    finally:
        site.shutdown()
        site.server_close()
        thread.join(5)


@pytest.fixture(scope="module")
def sites() -> Iterator[Sites]:
    with ExitStack() as stack:
        shop, chatwoot, desk, other = (stack.enter_context(served()) for _ in range(4))
        hosts = [urlsplit(site).netloc for site in (shop, chatwoot, desk)]
        root = stack.enter_context(dashboard(INTENTS_EMBED_HOSTS=",".join([*hosts, *NAMED_HOSTS])))
        yield Sites(root, shop, chatwoot, desk, other)


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


@pytest.mark.programs
@pytest.mark.parametrize("site", ["shop", "other"])
def test_only_the_card_and_the_side_bar_can_be_framed_of_the_whole_site_map(
    browser: Browser, sites: Sites, site: str
) -> None:
    """Downloads are left out, because they have no frame."""
    with reading(browser, sites, theme="light") as visit:
        path = some_intent(visit, 8)
        names = {"intent_id": path.rpartition("/")[2], "address": RECIPIENT, "transaction_hash": RECIPIENT}
        shown_ones = [
            each
            for each in url_patterns()
            if "<file:" not in each.pattern and not each.pattern.endswith((".csv", "opensearch.xml"))
        ]
        paths = [each.path(**names, operation="GetIntent") for each in shown_ones]
        sources = [sites.dashboard + each for each in [*paths, "/static/css/theme.css", "/healthz", "/live/0x12"]]
        shown = []
        for some in batched(sources, 6):  # a page with all of them takes long to load on a busy machine
            visit.page.goto(f"{getattr(sites, site)}/?{httpx.QueryParams({'src': list(some)})}", wait_until="load")
            assert len(visit.page.frames) == len(some) + 1
            shown += [frame.url for frame in visit.page.frames[1:] if not frame.url.startswith("chrome-error:")]
        framed = [f"{sites.dashboard}/embed{path}", sites.dashboard + signing.PATH]
        assert sorted(shown) == (framed if site == "shop" else [])


def more_often(route: Route) -> None:
    """Let a card ask for its state each second instead of every ten."""
    response = route.fetch()
    text = response.text()
    route.fulfill(response=response, body=text.replace('hx-trigger="every 10s"', 'hx-trigger="every 1s"'))


@pytest.mark.programs
def test_the_card_updates_and_the_page_around_it_learns_its_height_and_status(browser: Browser, sites: Sites) -> None:
    transfer = Transfer(sites.dashboard)
    with reading(browser, sites, theme="light") as visit:
        page = visit.page
        page.add_init_script("window.heard = []; addEventListener('message', ({ data }) => heard.push(data))")
        page.route("**/embed/**", more_often)
        frame = frame_on(page, framing(sites.shop, f"{sites.dashboard}/embed{transfer.path}"))
        state = frame.locator(".status")
        expect(state).to_have_text("Quoted")
        wait_until(page.main_frame, "heard.length > 0")
        frame.evaluate("window.notReloaded = true")
        transfer.commit()
        expect(state).to_have_text("Accepted")
        wait_until(page.main_frame, "heard.at(-1).status === 'COMMITTED'")
        heard = page.evaluate("heard")
        assert {each["source"] for each in heard} == {"intents-ui"}
        assert {each["intent"] for each in heard} == {transfer.path.rpartition("/")[2]}
        assert heard[0]["status"] == "QUOTED"
        bottom = "Math.ceil(document.getElementById('embed').getBoundingClientRect().bottom)"
        assert heard[-1]["height"] == frame.evaluate(bottom)
        transfer.execute()
        # Whichever status it has when the card loads.
        expect(state).to_have_text(re.compile("In progress|Failed|Refunded"))
        assert frame.evaluate("window.notReloaded")
        with page.context.expect_page() as opened:
            frame.get_by_role("link", name="View transfer").click()
        assert opened.value.url == sites.dashboard + transfer.path
        assert opened.value.evaluate("window.opener === null")


def id_of(visit: Visit, scenario: int = REFUNDED) -> str:
    return some_intent(visit, scenario).rpartition("/")[2]


def conversation(text: str, number: int = 7) -> str:
    """Return Chatwoot's message about a conversation."""
    messages = [{"content": "Hello"}, {"content": None}, {"content": text}]
    known = {"id": number, "messages": messages, "custom_attributes": {}}
    return json.dumps({"event": "appContext", "data": {"conversation": known, "contact": {"custom_attributes": {}}}})


def answering(page: Page, said: str) -> None:
    page.add_init_script(f"({CHATWOOT})({json.dumps(said)})")


def heard(frame: Frame) -> None:
    """Wait until the frame has read a message."""
    wait_until(frame, "window.heard > 0")


def is_waiting(frame: Frame) -> bool:
    return frame.get_by_label("Text of the ticket").input_value() == "" and frame.locator("article").count() == 0


@pytest.mark.programs
def test_the_side_bar_looks_up_each_conversation_of_chatwoot_once_and_of_no_other_site(
    browser: Browser, sites: Sites
) -> None:
    """Chatwoot sends the conversation again after each page of the frame."""
    with reading(browser, sites, theme="light") as visit:
        posts: list[str] = []
        visit.page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
        said = conversation(f"My funds? {id_of(visit)} {id_of(visit, RECOVERABLE)}")
        answering(visit.page, said)
        bar = sites.dashboard + signing.PATH
        frame = frame_on(visit.page, framing(sites.chatwoot, bar, 340, 700))
        expect(frame.get_by_role("article")).to_have_count(2)
        expect(frame.get_by_role("article").nth(1)).to_contain_text("Refunded")
        assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
        frame.evaluate("window.heard = 0; addEventListener('message', () => heard++)")
        visit.page.evaluate(SEND, said)
        heard(frame)
        visit.page.evaluate(SEND, conversation(NOTHING, number=8))
        expect(frame.get_by_role("article")).to_have_count(1)
        expect(frame.get_by_role("article")).to_contain_text("Not found")
        assert len(posts) == 2
        assert refusal(visit.page, sites.other, bar) == BLOCKED


def test_messages_of_another_frame_are_ignored(browser: Browser, sites: Sites) -> None:
    listening = (
        "if (location.pathname === '/embed/ticket') {window.heard = 0; addEventListener('message', () => heard++)}"
    )
    with reading(browser, sites, theme="light") as visit:
        visit.page.add_init_script(listening)
        bar = sites.dashboard + signing.PATH
        visit.page.goto(f"{sites.chatwoot}/?src={bar}&src={sites.other}/", wait_until="load")
        frame = next(each for each in visit.page.frames if each.url == bar)
        foreign = next(each for each in visit.page.frames if each.url.startswith(sites.other))
        foreign.evaluate("(said) => parent.frames[0].postMessage(said, '*')", conversation(id_of(visit)))
        heard(frame)
        assert is_waiting(frame)


def serve_by_names(page: Page, sites: Sites, zendesk: str) -> None:
    """Serve a page of Zendesk, and the dashboard over HTTPS."""

    def fetch(route: Route) -> None:
        headers = {name: value.replace(INTENTS, sites.dashboard) for name, value in route.request.headers.items()}
        route.fulfill(response=route.fetch(url=route.request.url.replace(INTENTS, sites.dashboard), headers=headers))

    page.route(f"{ZENDESKS}/**", lambda route: route.fulfill(body=zendesk, content_type="text/html"))
    page.route(f"{INTENTS}/**", fetch)


@pytest.mark.parametrize("is_https", [False, True], ids=["http", "https"])
def test_only_messages_of_pages_that_may_frame_the_side_bar_are_read(
    browser: Browser, sites: Sites, is_https: bool
) -> None:
    with reading(browser, sites, theme="light") as visit:
        serve_by_names(visit.page, sites, f'<iframe src="{INTENTS}{signing.PATH}"></iframe>')
        url = ZENDESKS if is_https else framing(sites.chatwoot, sites.dashboard + signing.PATH)
        frame = frame_on(visit.page, url)
        expect(frame.get_by_label("Text of the ticket")).to_be_visible()
        allowed = ALLOWED if is_https else ALLOWED + ALLOWED_BY_HTTP
        wait_until(frame, "document.readyState === 'complete'")
        origins = ALLOWED + ALLOWED_BY_HTTP + REJECTED
        assert frame.evaluate(READ, [origins, conversation(NOTHING)]) == allowed
        visit.page.unroute_all(behavior="wait")


@pytest.mark.slow
def test_zendesk_sends_the_ticket_to_the_side_bar(browser: Browser, sites: Sites) -> None:
    """Both have names, because pages of the internet can't frame those of this machine."""
    origin, intents = ZENDESKS, INTENTS
    with reading(browser, sites, theme="light") as visit:
        ticket = {"ticket.id": 5, "ticket.subject": "Funds", "ticket.description": id_of(visit)}
        ticket |= {"ticket.comments": [{"value": f"<p>{id_of(visit)}</p>"}]}
        src = f"{intents}{signing.PATH}?origin={origin}&amp;app_guid=guid-1"
        page = ZENDESK.replace("{src}", src).replace("{ticket}", json.dumps(ticket))
        serve_by_names(visit.page, sites, page)
        visit.page.goto(f"{origin}/agent/tickets/5")
        frame = visit.page.frame(name="app")
        assert frame is not None
        expect(frame.get_by_role("article")).to_contain_text("Refunded")
        assert visit.page.evaluate("window.resized") == {"width": "100%", "height": "600px"}
        visit.page.unroute_all(behavior="wait")  # a refresh may be on its way
