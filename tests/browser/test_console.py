"""The console in a real browser: a transfer from its quote to the end, and a call whose response is copied."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Visit, copied, visiting

pytestmark = pytest.mark.browser


# Which one depends on the example: it is filled in from the newest transfer, which may pay someone else.
ARRIVED = re.compile("Delivered|Paid")


def quote(visit: Visit) -> Page:
    """Request a quote as a new user does, up to its response."""
    page = visit.page
    visit.open("/console")
    page.get_by_role("link", name="QuoteIntent").click()
    page.get_by_role("button", name="Send…", exact=True).click()
    expect(page.get_by_text("It costs nothing and moves no funds.")).to_be_visible()
    page.get_by_role("button", name="Send QuoteIntent").click()
    expect(page.get_by_role("heading", name="200 OK")).to_be_visible()
    return page


@pytest.mark.programs
@pytest.mark.parametrize(
    "scripts", [pytest.param(True, id="with scripts"), pytest.param(False, id="without", marks=pytest.mark.slow)]
)
def test_a_new_user_quotes_commits_executes_and_watches_a_transfer(
    browser: Browser, server: str, scripts: bool
) -> None:
    with visiting(browser, server, scripts=scripts) as visit:
        page = quote(visit)
        expect(page.get_by_role("list", name="Steps of a transfer").locator("[aria-current]")).to_have_text("Quote")
        page.get_by_role("link", name="Accept").click()
        expect(page.get_by_text("No funds move.", exact=False).first).to_be_visible()
        page.get_by_role("button", name="Accept").click()
        expect(page.get_by_role("heading", name="Quote accepted")).to_be_visible()
        page.get_by_role("link", name="Execute this intent").click()
        page.get_by_role("button", name="Send…", exact=True).click()
        page.get_by_role("button", name="Send ExecuteIntent").click()
        expect(page.locator("pre.json").first).to_contain_text("EXECUTING")
        page.get_by_role("link", name="View transfer").click()
        expect(page).to_have_url(re.compile(rf"^{server}/intent/0x[0-9a-f]{{64}}$"))
        # It takes seven seconds. Without scripts, the page reloads every ten.
        expect(page.get_by_role("heading", level=1)).to_have_text(ARRIVED)
        expect(page.locator(".status").first).to_have_text("Succeeded")


def test_an_operation_is_called_and_its_response_copied(visit: Visit) -> None:
    page = visit.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.open("/console")
    page.get_by_role("link", name="GetIntentHistory").click()
    page.get_by_label("byStatus", exact=True).fill("SUCCEEDED")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"\?page\.pageSize=5&byStatus=SUCCEEDED&ask=fields#answer$"))
    expect(page.locator("pre.json").first).to_contain_text('"intents": [')
    page.get_by_role("button", name="Copy the command").click()
    command = copied(page)
    assert command.startswith(f"curl -sS {visit.root}/rpc/Service/GetIntentHistory ")
    assert command.endswith("""--data-raw '{"page":{"pageSize":5},"byStatus":"SUCCEEDED"}'""")
    page.get_by_role("link", name="Next page").click()
    expect(page.get_by_role("heading", name="200 OK")).to_be_visible()
    expect(page.get_by_label("page.after", exact=True)).not_to_have_value("")
