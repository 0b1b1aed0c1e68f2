"""The side bar of helpdesks in their frames: who may frame it, and whose messages it reads."""

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Frame, Page, Route, expect

from tests.browser import kinds, looks
from tests.browser.conftest import Visit, fits, some_intent, visiting
from tests.browser.test_embed import BLOCKED, Framing, Sites, frame_on, framing, reading, refusal
from tests.helpdesk import signing
from tests.serving import dashboard

pytestmark = pytest.mark.browser

REFUNDED, RECOVERABLE = 8, 11
NOTHING = "0x" + "12" * 32

# What Chatwoot does: it answers requests of the frame with the open conversation.
CHATWOOT = """(conversation) => {
  if (window !== top) return;
  window.conversation = conversation;
  addEventListener("message", ({ data, source }) => {
    if (data === "chatwoot-dashboard-app:fetch-info") source.postMessage(window.conversation, "*");
  });
}"""
SEND = "(said) => { window.conversation = said; frames[0].postMessage(said, '*'); }"
# What Zendesk does: it posts a token into the frame, and answers requests of the app.
ZENDESK = """<!doctype html><title>Zendesk</title>
<iframe name="app" width="360" height="700"></iframe>
<form method="post" target="app" action="{action}"><input type="hidden" name="token" value="{token}"></form>
<script>
  const ticket = {ticket};
  addEventListener("message", ({{ data, source, origin }}) => {{
    const {{ key, id, request, params, appGuid }} = JSON.parse(data);
    if (appGuid !== "guid-1") return;
    const reply = (said) => source.postMessage(JSON.stringify(said), origin);
    if (key === "iframe.handshake") reply({{ key: "zaf.app.registered", message: {{}} }});
    if (request === "get") reply({{ id, result: ticket }});
    if (request === "invoke") window.resized = params.resize[0];
  }});
  document.forms[0].submit();
</script>"""


@dataclass
class Helpdesks(Sites):
    """`shop` is the origin of Chatwoot, `desk` is in INTENTS_HELPDESK_HOSTS, `other` is unknown."""

    desk: str


@pytest.fixture(scope="module")
def helpdesks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Helpdesks]:
    key: Path = tmp_path_factory.mktemp("zendesk") / "key.pem"
    key.write_text(signing.public_key())
    with ExitStack() as stack:
        shop, desk, other = (stack.enter_context(served()) for _ in range(3))
        env = {"INTENTS_CHATWOOT_ORIGIN": shop, "INTENTS_HELPDESK_KEY": signing.KEY, "INTENTS_HELPDESK_HOSTS": desk[7:]}
        env |= {"INTENTS_ZENDESK_PUBLIC_KEY_FILE": str(key), "INTENTS_ZENDESK_AUDIENCE": signing.AUDIENCE}
        root = stack.enter_context(dashboard(**env))
        yield Helpdesks(root, shop, other, desk)


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
    frame.wait_for_function("window.heard > 0")


def is_waiting(frame: Frame) -> bool:
    return frame.get_by_label("Text of the ticket").input_value() == "" and frame.locator("article").count() == 0


def test_the_side_bar_works_in_the_frame_of_chatwoot_and_in_no_other(browser: Browser, helpdesks: Helpdesks) -> None:
    with reading(browser, helpdesks, theme="light") as visit:
        answering(visit.page, conversation(f"My funds? {id_of(visit)} {id_of(visit, RECOVERABLE)}"))
        bar = helpdesks.dashboard + signing.PATH
        frame = frame_on(visit.page, framing(helpdesks.shop, bar, 340, 700))
        expect(frame.get_by_role("article")).to_have_count(2)
        expect(frame.get_by_role("article").nth(1)).to_contain_text("Refunded")
        assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert refusal(visit.page, helpdesks.other, bar) == BLOCKED


def test_each_conversation_is_looked_up_once(browser: Browser, helpdesks: Helpdesks) -> None:
    """Chatwoot sends the conversation again after each page of the frame."""
    with reading(browser, helpdesks, theme="dark") as visit:
        posts: list[str] = []
        visit.page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
        answering(visit.page, conversation(id_of(visit)))
        frame = frame_on(visit.page, framing(helpdesks.shop, helpdesks.dashboard + signing.PATH, 340, 700))
        expect(frame.get_by_role("article")).to_contain_text("Refunded")
        frame.evaluate("window.heard = 0; addEventListener('message', () => heard++)")
        visit.page.evaluate(SEND, conversation(id_of(visit)))
        heard(frame)
        visit.page.evaluate(SEND, conversation(NOTHING, number=8))
        expect(frame.get_by_role("article")).to_contain_text("Not found")
        assert len(posts) == 2


def test_messages_of_another_origin_are_ignored(browser: Browser, helpdesks: Helpdesks) -> None:
    """Both of another frame on Chatwoot's page, and of another page around the side bar."""
    listening = (
        "if (location.pathname === '/embed/ticket') {window.heard = 0; addEventListener('message', () => heard++)}"
    )
    with reading(browser, helpdesks, theme="light") as visit:
        visit.page.add_init_script(listening)
        bar = helpdesks.dashboard + signing.PATH
        visit.page.goto(f"{helpdesks.shop}/?src={bar}&src={helpdesks.other}/", wait_until="load")
        frame = next(each for each in visit.page.frames if each.url == bar)
        foreign = next(each for each in visit.page.frames if each.url.startswith(helpdesks.other))
        foreign.evaluate("(said) => parent.frames[0].postMessage(said, '*')", conversation(id_of(visit)))
        heard(frame)
        assert is_waiting(frame)
        visit.page.goto(framing(helpdesks.desk, bar), wait_until="load")
        [frame] = visit.page.frames[1:]
        visit.page.evaluate(SEND, conversation(id_of(visit)))
        heard(frame)
        assert is_waiting(frame)


def test_odd_messages_of_chatwoot_change_nothing(browser: Browser, helpdesks: Helpdesks) -> None:
    with reading(browser, helpdesks, theme="light") as visit:
        errors: list[str] = []
        visit.page.on("pageerror", lambda error: errors.append(str(error)))
        frame = frame_on(visit.page, framing(helpdesks.shop, helpdesks.dashboard + signing.PATH))
        expect(frame.get_by_text("Waiting for the ticket.")).to_be_visible()
        frame.evaluate("window.heard = 0; addEventListener('message', () => heard++)")
        odd: list[Any] = ["", "{", "null", "5", {}, None, '{"event": "appContext"}', '{"event": "x", "data": {}}']
        odd.append('{"event": "appContext", "data": {"conversation": {}}}')
        for each in odd:
            visit.page.evaluate(SEND, each)
        frame.wait_for_function(f"window.heard === {len(odd)}")
        assert is_waiting(frame)
        assert errors == []


def test_without_scripts_the_text_can_be_pasted(browser: Browser, helpdesks: Helpdesks) -> None:
    with reading(browser, helpdesks, theme="light", scripts=False) as visit:
        frame = frame_on(visit.page, framing(helpdesks.shop, helpdesks.dashboard + signing.PATH, 340, 700))
        expect(frame.get_by_text("Without JavaScript, the helpdesk can't send the ticket.")).to_be_visible()
        frame.get_by_label("Text of the ticket").fill(id_of(visit))
        frame.get_by_role("button", name="Look up").press("Enter")
        expect(frame.get_by_role("article")).to_contain_text("Refunded")


def test_a_signed_url_opens_the_side_bar_and_its_reply_can_be_copied(browser: Browser, helpdesks: Helpdesks) -> None:
    with reading(browser, helpdesks, theme="light") as visit:
        intent_id = id_of(visit)
        url = helpdesks.dashboard + signing.signed_url(intent_id)
        frame = frame_on(visit.page, framing(helpdesks.desk, url, 340, 700))
        frame.get_by_text("Customer reply").click()
        frame.get_by_role("button", name="Copy reply").click()
        expect(frame.locator("#toast")).to_have_text("Copied")
        with visit.page.context.expect_page() as opened:
            frame.get_by_role("link", name="View transfer").click()
        assert opened.value.url == f"{helpdesks.dashboard}/intent/{intent_id}"


def test_a_rejection_is_shown_in_the_frame(browser: Browser, helpdesks: Helpdesks) -> None:
    with reading(browser, helpdesks, theme="light") as visit:
        url = helpdesks.dashboard + signing.signed_url(NOTHING, age=600)
        frame = frame_on(visit.page, framing(helpdesks.desk, url))
        expect(frame.get_by_role("alert")).to_contain_text("older than five minutes")


def test_zendesk_opens_the_side_bar_with_its_token_and_sends_the_ticket(browser: Browser, helpdesks: Helpdesks) -> None:
    """Both have names, because pages of the internet can't frame those of this machine."""
    origin, intents = f"https://{signing.ACCOUNT}", "https://intents.example"
    with reading(browser, helpdesks, theme="light") as visit:
        ticket = {"ticket.id": 5, "ticket.subject": "Funds", "ticket.description": id_of(visit)}
        ticket |= {"ticket.comments": [{"value": f"<p>{id_of(visit)}</p>"}]}
        action = f"{intents}{signing.PATH}?origin={origin}&amp;app_guid=guid-1"
        page = ZENDESK.format(action=action, token=signing.token(), ticket=json.dumps(ticket))

        def fetch(route: Route) -> None:
            route.fulfill(response=route.fetch(url=route.request.url.replace(intents, helpdesks.dashboard)))

        visit.page.route(f"{origin}/**", lambda route: route.fulfill(body=page, content_type="text/html"))
        visit.page.route(f"{intents}/**", fetch)
        visit.page.goto(f"{origin}/agent/tickets/5")
        frame = visit.page.frame(name="app")
        assert frame is not None
        expect(frame.get_by_role("article")).to_contain_text("Refunded")
        assert visit.page.evaluate("window.resized") == {"width": "100%", "height": "600px"}
        visit.page.unroute_all(behavior="wait")  # a refresh may be on its way


@pytest.mark.parametrize("text", ["{ids}", "", "rejected"], ids=["transfers", "empty", "rejected"])
def test_the_side_bar_is_accessible_and_fits(browser: Browser, helpdesks: Helpdesks, text: str) -> None:
    with visiting(browser, helpdesks.dashboard, theme="light", width=320) as visit:
        ids = " ".join(id_of(visit, scenario) for scenario in (3, 8, 11, 18, 19, 28))
        age = 600 if text == "rejected" else 0
        url = signing.signed_url(f"{text.format(ids=ids)} {NOTHING}", age=age) if text else signing.PATH
        visit.open(url)
        visit.forgive(403)
        expect(visit.page.locator("main")).to_be_visible()
        for theme in ("light", "dark"):
            visit.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            assert looks.axe(visit.page, looks.new_shapes(visit.page, set()), is_whole=True) == []
            kinds.unfold(visit.page)
            assert looks.axe(visit.page, looks.new_shapes(visit.page, set()), is_whole=True) == []
            assert looks.faint(visit.page, looks.new_shapes(visit.page, set())) == []
        for look in (looks.CUT, looks.SMALL, looks.SCROLLED):
            assert visit.page.evaluate(look) == []
        for width in (300, 320, 360, 400, 1280):
            visit.page.set_viewport_size({"width": width, "height": 900})
            assert fits(visit.page), width
