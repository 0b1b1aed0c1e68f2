"""A quote is committed from its page, and another viewer's page updates."""

import pytest
from playwright.sync_api import Browser, expect

from intents_ui.transfers.rules import MESSAGES
from tests.browser.conftest import visiting
from tests.browser.kinds import transfer

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    "scripts", [pytest.param(True, id="with scripts"), pytest.param(False, id="without", marks=pytest.mark.slow)]
)
def test_a_quote_is_committed_from_its_page(browser: Browser, server: str, scripts: bool) -> None:
    path = transfer(server)
    with (
        visiting(browser, server, theme="light", width=360, scripts=scripts) as operator,
        visiting(browser, server, theme="light", width=1280) as reader,
    ):
        reader.open(path)
        offer = reader.page.get_by_role("link", name="Accept", exact=True)
        expect(offer).to_be_visible()
        operator.open(path)
        operator.page.get_by_role("link", name="Accept", exact=True).click()
        expect(operator.page.get_by_role("heading", level=1)).to_have_text("Accept this quote?")
        operator.page.get_by_role("button", name="Accept", exact=True).click()
        expect(operator.page.get_by_role("heading", level=1)).to_have_text("Quote accepted")
        expect(reader.page.get_by_role("heading", level=1)).to_contain_text(MESSAGES["committed.open"].headline)
        expect(offer).to_have_count(0)
        operator.page.get_by_role("link", name="View transfer").click()
        expect(operator.page.get_by_role("heading", level=1)).to_contain_text(MESSAGES["committed.open"].headline)
        expect(operator.page.get_by_role("link", name="Accept", exact=True)).to_have_count(0)
