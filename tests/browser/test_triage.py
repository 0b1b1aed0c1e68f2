"""A ticket in a real browser: pasted, resolved row by row, followed to a transfer, copied."""

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


@pytest.mark.parametrize(
    ("width", "scripts"),
    [pytest.param(360, True, id="with scripts"), pytest.param(1280, False, id="without", marks=pytest.mark.slow)],
)
def test_a_ticket_is_pasted_resolved_and_followed(browser: Browser, server: str, width: int, scripts: bool) -> None:
    with visiting(browser, server, width=width, scripts=scripts) as visit:
        page = visit.page
        text, known = ticket(visit)
        visit.open("/")
        page.get_by_role("link", name="Triage").click()
        page.get_by_label("Text").fill(text)
        page.get_by_role("button", name="Triage").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("8 identifiers found")
        total = "All 8 identifiers resolved: 5 found, 1 token, 2 not found."
        expect(page.get_by_role("heading", level=2, name=total, exact=True)).to_be_visible()
        expect(page.get_by_role("status").filter(has_text=total)).to_have_count(1 if scripts else 0)
        expect(page.get_by_text("Loading …")).to_be_hidden()
        expect(page.locator("tr[id]")).to_have_count(8)
        expect(page.locator("#line-1")).to_be_hidden()
        expect(page.locator("tbody").first.locator("tr[id]").first).to_contain_text("likely")
        row = page.locator("#row-2")
        expect(row).to_contain_text("Refunded")
        with page.context.expect_page() as opened:
            row.locator(".row-link").click()
        expect(opened.value).to_have_url(f"{server}/intent/{known[1]}")
        expect(opened.value.get_by_role("heading", level=1)).to_contain_text("Refunded")
        page.get_by_text("CSV", exact=True).click()
        written = page.get_by_label("All rows as CSV")
        expect(written).to_be_visible()
        assert known[4] in written.input_value()
        expect(page.get_by_role("button", name="Copy all rows as CSV")).to_be_visible(visible=scripts)


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
