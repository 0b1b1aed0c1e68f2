"""Every page with hostile text in every response field, in a real browser: none of it runs.

No policy violation, no dialog, no error in the console, no request to another host, and nothing wider than the
screen, on a phone and on a desktop.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import httpx
import pytest
from playwright.sync_api import Browser, Page

from intents_ui.emulator.app import Emulator
from tests.browser import kinds
from tests.browser.conftest import fits, loaded, visiting
from tests.browser.kinds import USDC
from tests.faults import corpus
from tests.faults.hostile import visible
from tests.serving import dashboard, free_port, running
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.programs]

SCENARIOS: Final = (3, 8, 11, 17, 18, 20, 28, 30)
PLACES: Final = [
    *("/", "/history", "/history?recoverable=1", "/attention"),
    *("/chains", "/chain/8453", "/provider/RELAY", "/tokens?chain=1", "/tokens?q=usd"),
    *(f"/token/1/{USDC}", f"/token/1/{USDC}/routes", kinds.SPOOF, kinds.FROM_USDC),
    *(f"/address/{USDC}", "/console/GetIntentHistory", '/console/GetTokenList?ask=json&json={"chainIds": [1]}'),
    *("/status", "/tx/0x" + "cd" * 32, "/search?q=0x" + "ab" * 32, "/history?status=LOST", "/chain/4711"),
    *("/export/history.csv?status=LOST", "/insight/coverage", "/insight", "/late"),
]
TRIAGE: Final = "/triage"
WATCH: Final = """
addEventListener("securitypolicyviolation", (event) => (window.told ??= []).push(
  `${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
"""


@contextmanager
def hostile(wants: str) -> Iterator[tuple[str, list[str]]]:
    """Yield a dashboard with a hostile service, and the paths of its transfers, of other pages and of the triage."""
    port = free_port()
    service = f"http://127.0.0.1:{port}"
    command = ("-m", "tests.faults.hostile", str(port), wants)
    with (
        running(*command, url=f"{service}/rpc/Service/GetChains"),
        dashboard(
            INTENTS_SERVICE_URL=service,
            SECRET_KEY="a key of the test",
            INTENTS_CONSOLE="write",
            INTENTS_CONSOLE_TOKEN="of an operator, who is not here",
        ) as root,
    ):
        yield root, [*of_transfers(service), *PLACES, TRIAGE]


def of_transfers(service: str) -> Iterator[str]:
    """Return the transfers' paths, which the hostile service shares with any other at this time."""
    emulator = Emulator()
    intents = {scenario: emulator.finished(scenario) for scenario in SCENARIOS}
    yield from (f"/intent/{intent['intentId']}" for intent in intents.values())
    failed = f"/intent/{intents[11]['intentId']}"
    yield from (f"{failed}/{part}" for part in kinds.OF_AN_INTENT)
    yield from (
        f"/embed{failed}",
        f"/address/{intents[11]['ownerAddress']}",
        f"/search?owner={intents[11]['ownerAddress']}",
    )
    quoted = httpx.post(
        f"{service}/rpc/Service/QuoteIntent", json=kinds.QUOTE, trust_env=False, timeout=PATIENCE
    ).json()["intent"]
    yield from (f"/intent/{quoted['intentId']}", f"/intent/{quoted['intentId']}/commit")


@pytest.mark.parametrize("wants", ["word", pytest.param("anything", marks=pytest.mark.slow)])
def test_untrusted_text_runs_on_no_page(browser: Browser, wants: str) -> None:
    wrong: list[str] = []
    read = ""
    with hostile(wants) as (root, paths), visiting(browser, root, width=360) as visit:
        visit.page.add_init_script(WATCH)
        visit.page.on("dialog", lambda dialog: (wrong.append(f"a dialog: {dialog.message}"), dialog.dismiss()))
        for path in paths:
            answer = visit.page.goto(root + path)
            assert answer
            assert answer.status in (200, 400, 404, 409), f"{path}: {answer.status}"
            visit.forgive(400)
            visit.forgive(404)
            visit.forgive(409)
            if path == TRIAGE:
                kinds.triaged(f"{paths[0]} {USDC} 0x{'ab' * 32}")(visit.page)
            found = [*look(visit.page)]
            visit.page.set_viewport_size({"width": 1280, "height": 900})
            found += [] if fits(visit.page) else ["wider than a wide screen"]
            visit.page.set_viewport_size({"width": 360, "height": 900})
            wrong += [f"{path}: {each}" for each in (*found, *visit.faults)]
            visit.faults.clear()
            read += visit.page.inner_text("main")
    assert wrong == [], "\n".join(wrong)
    assert [each for each in corpus.TAGS if visible(each) in read][10:], "nothing hostile was to be seen"


def look(page: Page) -> Iterator[str]:
    loaded(page)
    if not fits(page):
        yield "wider than the screen"
    kinds.unfold(page)
    loaded(page)
    if not fits(page):
        yield "wider than the screen when unfolded"
    yield from page.evaluate("window.told ?? []")
    if page.locator("main").locator("script, iframe, [onerror], [onload], [onfocus], form[action^=http]").count():
        yield "an element that is not ours"
