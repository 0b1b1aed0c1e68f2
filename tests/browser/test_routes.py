"""Route searches in a real browser: selected, swapped and searched, by keyboard and without scripts."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit

pytestmark = pytest.mark.browser

NATIVE = "0x" + "0" * 40
FROM_BASE = f"/routes?from=8453&token={NATIVE}"
TO_OPTIMISM = f"{FROM_BASE}&to=10"
ONE = f"{TO_OPTIMISM}&for={NATIVE}"
REFUND_PLACES = f"/routes?from=10&token={NATIVE}&to=8453&for={NATIVE}"


def side(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def answer(page: Page) -> Locator:
    return page.locator("#answer")


def by_keyboard(page: Page, field: Locator, keys: str) -> None:
    """Type into the field or press the control, as a user without a mouse."""
    field.focus()
    page.keyboard.type(keys)


def test_routes_are_selected_searched_and_swapped_by_keyboard(visit: Visit) -> None:
    page = visit.page
    visit.open("/routes")
    origin, destination = side(page, "From"), side(page, "To")
    by_keyboard(page, origin.get_by_label("Chain"), "Base")
    expect(origin.get_by_label("Token", exact=True)).to_contain_text("USDC · USD Coin")
    by_keyboard(page, origin.get_by_label("Token", exact=True), "ETH")
    by_keyboard(page, destination.get_by_label("Chain"), "Optimism")
    by_keyboard(page, page.get_by_role("button", name="Find routes"), "\n")
    expect(page).to_have_url(visit.root + TO_OPTIMISM)
    expect(answer(page)).to_have_text("8 tokens on Optimism reachable from ETH on Base")

    by_keyboard(page, page.get_by_role("link", name="Is there a route to ETH on Optimism?"), "\n")
    expect(page).to_have_url(visit.root + ONE)
    expect(answer(page)).to_have_text("Yes: a route from ETH on Base to ETH on Optimism is listed")

    by_keyboard(page, page.get_by_role("link", name="Swap"), "\n")
    expect(page).to_have_url(visit.root + REFUND_PLACES)
    expect(answer(page)).to_have_text("Yes: a route from ETH on Optimism to ETH on Base is listed")

    by_keyboard(page, destination.locator("summary"), "\n")
    by_keyboard(page, destination.get_by_label("Or enter another token"), "usdc\n")
    expect(answer(page)).to_contain_text("from ETH on Optimism to USDC on Base")

    for url in (REFUND_PLACES, ONE, TO_OPTIMISM):
        page.go_back()
        expect(page).to_have_url(visit.root + url)
    expect(answer(page)).to_contain_text("reachable from ETH on Base")
