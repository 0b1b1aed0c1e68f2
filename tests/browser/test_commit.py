"""A quote is committed from its page, and another viewer's page updates."""

import httpx
import pytest
from playwright.sync_api import Browser, expect

from intents_ui.display.summary.rules import EXPLANATIONS
from tests.browser.conftest import visiting
from tests.waiting import PATIENCE

pytestmark = pytest.mark.browser

OWNER = "0x" + "11" * 20
QUOTE = {
    "ownerAddress": OWNER,
    "originChainId": 8453,
    "originTokenAddress": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
    "originTokenAmount": "300000000",
    "destinationChainId": 42161,
    "destinationTokenAddress": "0xaf88d065e77c8cc2239327c5edb3a432268e5831",
    "destinationToAddress": OWNER,
    "tradeType": "EXACT_INPUT",
}


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_a_quote_is_committed_from_its_page(browser: Browser, server: str, scripts: bool) -> None:
    quoted = httpx.post(f"{server}/rpc/Service/QuoteIntent", json=QUOTE, trust_env=False, timeout=PATIENCE).json()[
        "intent"
    ]
    path = f"/intent/{quoted['intentId']}"
    with (
        visiting(browser, server, theme="light", width=360, scripts=scripts) as operator,
        visiting(browser, server, theme="light", width=1280) as reader,
    ):
        reader.open(path)
        offer = reader.page.get_by_role("link", name="Commit")
        expect(offer).to_be_visible()
        operator.open(path)
        operator.page.get_by_role("link", name="Commit").click()
        expect(operator.page.get_by_role("heading", level=1)).to_have_text("Commit this transfer?")
        operator.page.get_by_role("button", name="Commit", exact=True).click()
        expect(operator.page.get_by_role("heading", level=1)).to_have_text("Committed")
        expect(reader.page.get_by_role("heading", level=1)).to_contain_text(EXPLANATIONS["committed.open"].headline)
        expect(offer).to_have_count(0)
        operator.page.get_by_role("link", name="View transfer").click()
        expect(operator.page.get_by_role("heading", level=1)).to_contain_text(EXPLANATIONS["committed.open"].headline)
        expect(operator.page.get_by_role("link", name="Commit")).to_have_count(0)


def test_an_expired_quote_cannot_be_committed(browser: Browser, server: str) -> None:
    page = httpx.get(f"{server}/demo", trust_env=False, timeout=PATIENCE).text
    expired = page.split("Live transfer of scenario 5")[0].rsplit('href="', 1)[1].split('"')[0]
    finished = page.split("Completed transfer of scenario 5")[0].rsplit('href="', 1)[1].split('"')[0]
    assert expired != finished
    with visiting(browser, server, theme="light", width=360) as visit:
        visit.open(finished)
        expect(visit.page.get_by_role("heading", level=1)).to_contain_text("Quote expired")
        expect(visit.page.get_by_role("link", name="Commit")).to_have_count(0)
