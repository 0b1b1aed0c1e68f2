"""The console in a real browser: a transfer from its quote to the end, and one that is rejected."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PATIENCE_MS, Visit, copied, visiting
from tests.serving import dashboard

pytestmark = pytest.mark.browser

TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"

# Which one depends on the example: it is filled in from the newest transfer, which may pay someone else.
ARRIVED = re.compile("Delivered|Paid")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Yield a dashboard with higher limits for write operations."""
    with dashboard(INTENTS_RATE_CONSOLE_WRITES="100") as root:
        yield root


def quote(visit: Visit) -> Page:
    """Request a quote as a new user does, up to its response."""
    page = visit.page
    visit.open("/")
    page.get_by_role("link", name="Create a demo transfer").click()
    page.get_by_role("button", name="Send…", exact=True).click()
    expect(page.get_by_text("It costs nothing and moves no funds.")).to_be_visible()
    page.get_by_role("button", name="Send QuoteIntent").click()
    expect(page.get_by_role("heading", name="200 OK")).to_be_visible()
    return page


@pytest.mark.parametrize(
    ("theme", "width", "scripts"), [("light", 1280, True), ("dark", 360, False)], ids=["with scripts", "without"]
)
def test_a_new_user_quotes_commits_executes_and_watches_a_transfer(
    browser: Browser, server: str, theme: str, width: int, scripts: bool
) -> None:
    with visiting(browser, server, theme=theme, width=width, scripts=scripts) as visit:
        page = quote(visit)
        expect(page.get_by_role("list", name="Steps of a transfer").locator("[aria-current]")).to_have_text("Quote")
        page.get_by_role("button", name="Commit").click()
        expect(page.get_by_text("It moves no funds and cannot be undone")).to_be_visible()
        page.get_by_role("button", name="Send CommitIntent").click()
        expect(page.get_by_role("heading", name="200 OK")).to_be_visible()
        page.get_by_role("button", name="Execute this intent").click()
        page.get_by_role("button", name="Send ExecuteIntent").click()
        expect(page.locator(".json-tree")).to_contain_text("EXECUTING")
        page.get_by_role("link", name="View transfer").click()
        expect(page).to_have_url(re.compile(rf"^{server}/intent/0x[0-9a-f]{{64}}$"))
        # It takes seven seconds. Without scripts, the page reloads every ten.
        expect(page.get_by_role("heading", level=1)).to_have_text(ARRIVED, timeout=2 * PATIENCE_MS)
        expect(page.locator(".status").first).to_have_text("Succeeded")


def test_the_selected_failure_scenario_happens(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="dark", width=1280) as visit:
        page = quote(visit)
        page.get_by_role("button", name="Commit").click()
        page.get_by_role("button", name="Send CommitIntent").click()
        page.get_by_label("Scenario").select_option(
            label="Fails on the origin chain, refunded in the same transaction, in 4 seconds"
        )
        page.get_by_role("button", name="Execute this intent").click()
        expect(page.get_by_label("Request body (sent as is)")).to_have_value(re.compile('"scenario":"refunded-inside"'))
        page.get_by_role("button", name="Send ExecuteIntent").click()
        page.get_by_role("link", name="View transfer").click()
        expect(page.locator(".status").first).to_have_text("Refunded", timeout=2 * PATIENCE_MS)


def test_a_commit_with_one_changed_digit_is_rejected_and_shown(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        page = quote(visit)
        page.get_by_role("button", name="Commit").click()
        request = page.get_by_label("Request body (sent as is)")
        sent = request.input_value()
        found = re.search(r'"depositTransaction":\{[^}]*"amount":"[0-9]*([0-9])"', sent)
        assert found
        request.fill(sent[: found.start(1)] + str((int(found[1]) + 1) % 10) + sent[found.end(1) :])
        page.get_by_role("button", name="Send CommitIntent").click()
        expect(page.get_by_role("alert")).to_contain_text("differs from the one you confirmed")
        visit.forgive(409)
        page.get_by_role("button", name="Send CommitIntent").click()
        expect(page.get_by_role("heading", name="400 Bad Request")).to_be_visible()
        answer = page.locator("#answer")
        expect(answer).to_contain_text("InvalidArgument")
        expect(answer).to_contain_text("code 2000")
        expect(answer).to_contain_text("intent was modified: depositTransaction.amount differs")
        expect(page.get_by_role("button", name="Execute this intent")).to_have_count(0)
        # The unchanged one is still valid.
        page.locator("summary", has_text="As JSON").click()
        page.get_by_label("The whole request as JSON").fill(sent)
        page.get_by_role("button", name="Send this JSON…").click()
        page.get_by_role("button", name="Send CommitIntent").click()
        expect(page.get_by_role("heading", name="200 OK")).to_be_visible()


def test_an_operation_is_called_and_its_response_copied(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        page = visit.page
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        visit.open("/console")
        page.get_by_role("link", name="GetIntentHistory").click()
        page.get_by_label("byStatus", exact=True).fill("SUCCEEDED")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(r"\?page\.pageSize=5&byStatus=SUCCEEDED&ask=fields#answer$"))
        entry = page.locator(".json-tree details > ul > li > details").first
        expect(entry.locator("> ul")).to_be_hidden()
        entry.locator("> summary").click()
        expect(entry.locator("> ul")).to_be_visible()
        page.get_by_role("button", name="Copy the command").click()
        command = copied(page)
        assert command.startswith(f"curl -sS {server}/rpc/Service/GetIntentHistory ")
        assert command.endswith("""--data-raw '{"page":{"pageSize":5},"byStatus":"SUCCEEDED"}'""")
        page.get_by_role("link", name="Next page").click()
        expect(page.get_by_role("heading", name="200 OK")).to_be_visible()
        expect(page.get_by_label("page.after", exact=True)).not_to_have_value("")


@pytest.mark.parametrize("width", [360, 1280])
def test_no_part_is_wider_than_the_screen(browser: Browser, server: str, width: int) -> None:
    with visiting(browser, server, theme="dark", width=width) as visit:
        page = visit.page
        long = "x" * 400
        for path in ("/console", "/console/QuoteIntent", f"/console/GetIntent?intentId={long}&ask=fields",
                     "/console/GetIntentHistory?page.pageSize=3&ask=fields", "/console/CommitIntent"):  # fmt: skip
            visit.open(path)
            page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
            assert not page.evaluate(TOO_WIDE), path
        quote(visit)
        page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
        assert not page.evaluate(TOO_WIDE)
        page.get_by_role("button", name="Commit").click()
        assert not page.evaluate(TOO_WIDE)
