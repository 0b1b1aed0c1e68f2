"""Tokens in a real browser: a search while typing, and logos."""

import re

import pytest
from playwright.sync_api import Locator, Page, Request, Route, expect

from tests.browser.conftest import Visit

pytestmark = pytest.mark.browser


def rows(page: Page) -> Locator:
    return page.locator(".tokens tbody tr")


def field(page: Page) -> Locator:
    return page.get_by_role("searchbox", name="Search tokens")


def test_a_search_settles_while_typing_and_cancels_the_earlier_request(visit: Visit) -> None:
    page, held, cancelled = visit.page, list[Route](), list[str]()

    def hold(route: Route) -> None:
        held.append(route)

    visit.open("/tokens")
    page.on("requestfailed", lambda request: cancelled.append(_query_of(request)))
    page.route(re.compile(r"/tokens\?q=us(&|$)"), hold)
    with page.expect_request(lambda request: _query_of(request) == "us"):
        field(page).fill("us")
    field(page).fill("usdc")
    expect(page.locator(".found-head")).to_contain_text("26 tokens found on 24 chains")
    expect(page.locator("#said")).to_have_text("26 tokens found on 24 chains, best matches first.")
    expect(page).to_have_title("Tokens: “usdc” · Intents")
    expect(page).to_have_url(f"{visit.root}/tokens?q=usdc")
    expect(field(page)).to_be_focused()
    expect(field(page)).to_have_value("usdc")
    assert cancelled == ["us"]
    assert len(held) == 1
    expect(rows(page).first).to_contain_text("USDC")


def _query_of(request: Request) -> str:
    found = re.search(r"/tokens\?(?:.*&)?q=([^&]*)", request.url)
    return found[1] if found else ""


@pytest.mark.programs
def test_a_logo_that_fails_to_load_gives_way_to_the_letters(visit: Visit) -> None:
    visit.block("**/logo-*.png")
    visit.page.route("**/help", with_a_failing_logo)
    visit.open("/help")
    expect(visit.page.locator(".coin")).to_have_text("AB")
    expect(visit.page.locator(".coin img")).to_have_count(0)
    visit.page.evaluate("document.querySelector('.coin').append(Object.assign(new Image(), {src: '/logo-late.png'}))")
    expect(visit.page.locator(".coin img")).to_have_count(0)


def with_a_failing_logo(route: Route) -> None:
    answer = route.fetch()
    coin = '<span class="coin"><b>AB</b><img src="/logo-early.png" alt=""></span>'
    route.fulfill(response=answer, body=answer.text().replace("<h1", f"{coin}<h1", 1))
