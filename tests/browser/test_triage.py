"""Results of a ticket in a browser: how old they are, and the link that reproduces them."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Visit, copied, some_intent, visiting

pytestmark = pytest.mark.browser

NOTHING = "0x" + "12" * 32
USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"

GROUPS = """groups => groups.map((group) =>
  [group.querySelector(".owner bdi")?.title, [...group.querySelectorAll("tr[id]")].map((row) => row.id)])"""


def ticket(visit: Visit) -> tuple[str, list[str]]:
    """Return a message with several kinds of transfers, and their IDs."""
    known = [some_intent(visit, scenario).removeprefix("/intent/") for scenario in (2, 8, 10, 18, 20)]
    return (
        f"Dear team,\nmy transfers {', '.join(known)} did not come, see https://etherscan.io/tx/{NOTHING} of {USDC}.\n"
        f"> again: {known[0]}\nand 0x1234…abcd, <b>thanks</b>"
    ), known


def test_results_say_after_an_hour_that_they_are_old(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=360, scripts=False) as visit:
        visit.open("/triage")
        visit.page.get_by_label("Text").fill(NOTHING)
        visit.page.get_by_role("button", name="Triage").click()
        expect(visit.page.locator("#total")).to_be_visible()
        old = visit.page.get_by_text("These results are over an hour old.")
        expect(old).to_be_hidden()
        visit.page.evaluate("document.getAnimations().forEach((each) => each.finish())")
        expect(old).to_be_visible()


@pytest.mark.programs
def test_the_link_to_a_case_reproduces_it_in_a_fresh_browser(browser: Browser, server: str) -> None:
    with visiting(browser, server) as visit:
        page = visit.page
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        text, _ = ticket(visit)
        visit.open("/triage")
        page.get_by_label("Text").fill(text)
        page.get_by_role("button", name="Triage").click()
        expect(page.locator("#said")).to_have_text(page.locator("#total").inner_text())
        page.get_by_role("button", name="Copy link to this case").click()
        expect(page.locator("#said")).to_contain_text("Copied")
        before, link = page.locator("tbody").evaluate_all(GROUPS), copied(page)
    with visiting(browser, server, width=360) as visit:
        page, requested = visit.page, list[str]()
        page.on("request", lambda request: requested.append(request.url))
        page.goto(link)
        expect(page.locator("#total")).to_be_visible()
        assert page.locator("tbody").evaluate_all(GROUPS) == before
        assert page.url == f"{server}/triage"
        assert not any(NOTHING in url.partition("#")[0] for url in requested)
        page.evaluate("hash => location.hash = hash", f"ids={NOTHING},<b>,javascript:1,0x12,{USDC}")
        expect(page.get_by_role("heading", level=1)).to_have_text("2 identifiers found")
        page.evaluate("hash => location.hash = hash", "ids=<b>")
        expect(page.get_by_text("The link has no identifiers.").first).to_be_visible()
        expect(page.get_by_role("heading", level=1)).to_have_text("2 identifiers found")
