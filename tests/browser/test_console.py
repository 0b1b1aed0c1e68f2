"""The console in a real browser: a transfer from its quote to the end, and a call whose response is copied."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit, copied

pytestmark = pytest.mark.browser


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
