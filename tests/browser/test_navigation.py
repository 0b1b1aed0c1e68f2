"""The main navigation is one line on every screen, and shows the current page."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import visiting

pytestmark = pytest.mark.browser

SCROLLS = "each => each.scrollWidth > each.clientWidth"
LEAST_SEARCH = 280


@pytest.mark.parametrize(("width", "scrolls"), [(360, True), (1280, False)])
def test_the_current_page_is_visible_in_the_navigation(
    browser: Browser, server: str, width: int, scrolls: bool
) -> None:
    with visiting(browser, server, theme="light", width=width) as visit:
        visit.open("/chain/8453")
        navigation = visit.page.get_by_role("navigation", name="Main")
        here = navigation.locator("[aria-current]")
        expect(here).to_have_text("Chains")
        expect(here).to_be_in_viewport(ratio=1)
        places = [link.bounding_box() for link in navigation.get_by_role("link").all()]
        assert len({place["y"] for place in places if place}) == 1
        assert navigation.evaluate(SCROLLS) is scrolls
        search = visit.page.get_by_role("search").bounding_box()
        assert search
        assert search["width"] > LEAST_SEARCH
