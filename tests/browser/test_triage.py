"""A ticket in a real browser: pasted, resolved row by row, followed to a transfer, copied."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import FITS, Visit, copied, some_intent, visiting
from tests.browser.kinds import transfer
from tests.pages.doors import Doors, ids
from tests.service.scripted_server import serving
from tests.serving import dashboard
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.browser

NOTHING = "0x" + "12" * 32
USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"

GROUPS = """groups => groups.map((group) =>
  [group.querySelector(".owner bdi")?.title, [...group.querySelectorAll("tr[id]")].map((row) => row.id)])"""
REPLIES = (
    """replies => replies.map((reply) => [reply.getAttribute("aria-label"), reply.value.match(/Intent ID: .*/g)])"""
)


def ticket(visit: Visit) -> tuple[str, list[str]]:
    """Return a message with several kinds of transfers, and their IDs."""
    known = [some_intent(visit, scenario).removeprefix("/intent/") for scenario in (2, 8, 10, 18, 20)]
    return (
        f"Dear team,\nmy transfers {', '.join(known)} did not come, see https://etherscan.io/tx/{NOTHING} of {USDC}.\n"
        f"> again: {known[0]}\nand 0x1234…abcd, <b>thanks</b>"
    ), known


@pytest.mark.parametrize(
    ("theme", "width", "scripts"), [("light", 360, True), ("dark", 1280, False)], ids=["with scripts", "without"]
)
def test_a_ticket_is_pasted_resolved_and_followed(
    browser: Browser, server: str, theme: str, width: int, scripts: bool
) -> None:
    with visiting(browser, server, theme=theme, width=width, scripts=scripts) as visit:
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


@pytest.mark.parametrize("keys", ["Control+Enter", "Meta+Enter"])
def test_the_keyboard_submits_the_text(browser: Browser, server: str, keys: str) -> None:
    with visiting(browser, server, theme="light", width=360) as visit:
        page = visit.page
        visit.open("/triage")
        expect(page.locator("form").get_by_text("or press Ctrl or ⌘ + Enter")).to_be_visible()
        field = page.get_by_label("Text")
        field.fill(NOTHING)
        field.press("Enter")
        expect(page).to_have_url(f"{server}/triage")
        field.press(keys)
        expect(page.get_by_role("heading", level=1)).to_have_text("1 identifier found")


def test_without_scripts_no_shortcut_is_shown(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=360, scripts=False) as visit:
        visit.open("/triage")
        expect(visit.page.get_by_text("or press Ctrl")).to_be_hidden()


def test_all_rows_are_copied(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        page = visit.page
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        text, known = ticket(visit)
        visit.open("/triage")
        page.get_by_label("Text").fill(text)
        page.get_by_role("button", name="Triage").click()
        page.get_by_text("Reply for the whole ticket", exact=True).click()
        written = page.get_by_label("Reply for the whole ticket", exact=True).input_value()
        page.get_by_role("button", name="Copy reply for the whole ticket").click()
        expect(page.locator("#said")).to_contain_text("Copied")
        assert copied(page).replace("\r\n", "\n") == written
        assert all(each in written for each in known)
        for name in ("Plain text", "Markdown", "CSV"):
            page.get_by_text(name, exact=True).click()
            written = page.get_by_label(f"All rows as {name}", exact=True).input_value()
            assert all(each in written for each in known)
            page.get_by_role("button", name=f"Copy all rows as {name}").click()
            expect(page.locator("#said")).to_contain_text("Copied")
            text_copied = copied(page)
            assert text_copied.replace("\r\n", "\n") == written
            assert f"{server}/intent/{known[0]}" in text_copied


def ticket_of_fifty(visit: Visit) -> str:
    """Return a message with 48 old transfers of each urgency, which no longer change, a token and an unknown hash."""
    paths = [some_intent(visit, scenario) for scenario in (2, 8, 10, 18, 20, 25)]
    for status in ("FAILED", "REFUNDED", "SUCCEEDED"):
        listed = httpx.get(
            f"{visit.root}/history?status={status}&order=ASC&size=50", trust_env=False, timeout=PATIENCE
        ).text
        paths += re.findall(r'<a class="row-link" href="(/intent/0x[0-9a-f]{64})"', listed)[:20]
    known = [path.removeprefix("/intent/") for path in dict.fromkeys(paths)][:48]
    return f"Dear team,\n{', '.join(known)}\nsee https://etherscan.io/tx/{NOTHING} of {USDC}. <b>Thanks</b>"


def case(page: Page) -> dict[str, Any]:
    """Return the rows and owners of the page in their order, and what the replies are about."""
    groups = page.locator("tbody").evaluate_all(GROUPS)
    replies = page.locator("tbody textarea").evaluate_all(REPLIES)
    counts = page.locator(".counts > *").all_inner_texts()
    return {"groups": groups, "replies": replies, "counts": counts}


def test_the_link_to_a_case_of_fifty_reproduces_it_in_a_fresh_browser(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        page = visit.page
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        text = ticket_of_fifty(visit)
        visit.open("/triage")
        page.get_by_label("Text").fill(text)
        page.get_by_role("button", name="Triage").click()
        expect(page.locator("#said")).to_have_text(page.locator("#total").inner_text())
        before = case(page)
        expect_grouped(page, before)
        page.get_by_role("button", name="Copy link to this case").click()
        expect(page.locator("#said")).to_contain_text("Copied")
        link = copied(page)
        page.get_by_role("button", name="Re-check").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("50 identifiers found")
        assert page.locator("[data-case]").input_value().splitlines() == text.splitlines()
    with visiting(browser, server, theme="light", width=360) as visit:
        page = visit.page
        requested = []
        page.on("request", lambda request: requested.append(request.url))
        page.goto(link)
        expect(page.get_by_role("heading", level=1)).to_have_text("50 identifiers found")
        expect(page.locator("#total")).to_be_visible()
        assert case(page) == before
        assert page.url == f"{server}/triage"
        assert not any(NOTHING in url.partition("#")[0] for url in requested)
        page.evaluate("hash => location.hash = hash", f"ids={NOTHING},<b>,javascript:1,0x12,{USDC}")
        expect(page.get_by_role("heading", level=1)).to_have_text("2 identifiers found")
        page.evaluate("hash => location.hash = hash", "ids=<b>")
        expect(page.get_by_text("The link has no identifiers.").first).to_be_visible()
        expect(page.get_by_role("heading", level=1)).to_have_text("2 identifiers found")


def expect_grouped(page: Page, shown: dict[str, Any]) -> None:
    """Expect all rows by owner, the most urgent first, with one reply for each owner."""
    rows = [row for _, group in shown["groups"] for row in group]
    assert sorted(rows, key=lambda row: int(row.removeprefix("row-"))) == [f"row-{number}" for number in range(1, 51)]
    owners = [owner for owner, _ in shown["groups"] if owner]
    assert [label for label, _ in shown["replies"]] == [f"Reply to owner {owner}" for owner in owners]
    assert len({*owners}) == len(owners) > 5
    told = [intent_id for _, found in shown["replies"] for intent_id in found]
    assert len({*told}) == len(told) == 48
    links = page.locator(".counts a")
    assert sum(int(words.split()[-1]) for words in shown["counts"]) == 50
    firsts = [(each.get_attribute("href") or "").removeprefix("#") for each in links.all()]
    assert (len({*firsts}), firsts[0]) == (3, rows[0])
    # Groups are in the order of their first rows' urgency.
    leading = [group[0] for _, group in shown["groups"]]
    assert [each for each in leading if each in firsts] == [each for each in firsts if each in leading]
    links.last.click()
    expect(page.locator(f"#{firsts[-1]}")).to_be_in_viewport()
    assert page.url.endswith(f"/triage#{firsts[-1]}")


def test_the_counts_are_links_without_scripts(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="dark", width=360, scripts=False) as visit:
        page = visit.page
        text, _ = ticket(visit)
        visit.open("/triage")
        page.get_by_label("Text").fill(text)
        page.get_by_role("button", name="Triage").click()
        link = page.get_by_role("link", name=re.compile(r"^Fine \d$"))
        link.focus()
        page.keyboard.press("Enter")
        expect(page.locator("tr:target")).to_be_in_viewport()
        assert page.url == f"{server}/triage{link.get_attribute('href')}"


def test_a_text_without_identifiers_is_guessed_from_a_search(browser: Browser, server: str) -> None:
    path = transfer(server, commit=True)
    shortened = f"{server}/search?q={path[8:16]}%E2%80%A6{path[-4:]}"
    until(lambda: httpx.get(shortened, trust_env=False, timeout=PATIENCE).status_code == 200)  # the newest are cached
    with visiting(browser, server, theme="light", width=360) as visit:
        page = visit.page
        visit.open("/")
        page.get_by_role("combobox", name="Search").fill("300 USDC from Base to Arbitrum")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Guess among the newest transfers").click()
        expect(page.get_by_role("heading", name="Guesses")).to_be_in_viewport()
        expect(page.get_by_text("Read as: 300 USDC, Base to Arbitrum One")).to_be_visible()
        # The emulator's own history may have another one that fits as well.
        guess = page.locator("tbody tr", has=page.locator(f'.row-link[href="{path}"]'))
        expect(guess).to_contain_text("amount, token, both chains")
        assert page.evaluate(FITS)
        guess.locator(".row-link").click()
        expect(page).to_have_url(f"{server}{path}")
        visit.forgive(404)


def test_an_invalid_ticket_returns_to_its_form(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=360, scripts=False) as visit:
        page = visit.page
        visit.open("/triage")
        page.get_by_label("Text").fill("0x" + "ab" * 19 + "a\n")
        page.get_by_role("button", name="Triage").click()
        expect(page.get_by_role("alert")).to_contain_text("An address has 40 hex characters. This one has 39.")
        expect(page.get_by_label("Text")).to_have_value("0x" + "ab" * 19 + "a\n")
        expect(page.get_by_label("Text")).to_be_focused()
        visit.forgive(400)


def test_a_search_for_a_message_links_to_its_triage(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="dark", width=1280) as visit:
        visit.open("/")
        visit.page.get_by_role("combobox", name="Search").fill(f"{NOTHING} and {NOTHING[:-1]}3")
        visit.page.keyboard.press("Enter")
        visit.page.get_by_role("button", name="Look up all identifiers").click()
        expect(visit.page.get_by_role("heading", level=1)).to_have_text("2 identifiers found")
        visit.forgive(404)


@pytest.fixture
def doors() -> Doors:
    return Doors()


@pytest.fixture
def behind_doors(doors: Doors) -> Iterator[str]:
    with serving(doors) as service, dashboard(INTENTS_SERVICE_URL=service.url, SECRET_KEY="a key of the test") as root:
        yield root


def test_rows_stream_one_by_one_without_scripts(browser: Browser, behind_doors: str, doors: Doors) -> None:
    with visiting(browser, behind_doors, theme="light", width=1280, scripts=False) as visit:
        page = visit.page
        first, second = ids(2)
        visit.open("/triage")
        page.get_by_label("Text").fill(f"/intent/{first} /intent/{second}")
        doors.open |= {first}
        page.get_by_role("button", name="Triage").click(no_wait_after=True)
        expect(page.locator("#line-1")).to_contain_text("Succeeded")
        expect(page.locator("#line-1")).to_be_visible()
        expect(page.locator("#line-2")).to_have_count(0)
        expect(page.get_by_text("Loading …")).to_be_visible()
        doors.all_open.set()
        expect(page.locator("#row-2")).to_contain_text("Succeeded")
        expect(page.locator("#line-2")).to_be_hidden()
        expect(page.get_by_text("Loading …")).to_be_hidden()
        page.get_by_role("link", name="All results loaded").click()
        expect(page.locator("#total")).to_be_in_viewport()
