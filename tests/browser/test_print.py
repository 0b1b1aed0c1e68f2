"""A transfer's page prints on one sheet, with every hash in full."""

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import some_intent, visiting

pytestmark = pytest.mark.browser

PAGE = re.compile(rb"/Type\s*/Page\b(?!s)")


@pytest.mark.parametrize(
    "scenario", [4, *(pytest.param(each, marks=pytest.mark.slow) for each in (2, 9, 12, 14, 20, 22, 26))]
)
def test_a_transfer_is_printed_on_one_sheet_with_full_hashes_and_no_controls(
    browser: Browser, server: str, scenario: int
) -> None:
    with visiting(browser, server, theme="dark") as visit:
        visit.open(some_intent(visit, scenario))
        assert len(PAGE.findall(visit.page.pdf(format="A4", print_background=True))) == 1
        visit.page.emulate_media(media="print")
        visit.page.set_viewport_size({"width": 703, "height": 1032})  # of A4 without its margins
        expect(visit.page.get_by_role("button", name="Copy reply")).to_be_hidden()
        shown = visit.page.locator(".timeline .hash > [title]").first
        assert shown.evaluate("node => getComputedStyle(node, '::after').content").strip('"') == shown.get_attribute(
            "title"
        )
        expect(visit.page.locator("[data-search]")).to_be_hidden()
        expect(visit.page.locator("#proof")).to_be_hidden()
        expect(visit.page.locator("#old-answers")).to_have_css("display", "none")
        expect(visit.page.locator("#old-parts")).to_have_css("display", "none")
        expect(visit.page.locator(".on-paper")).to_contain_text("/intent/0x")
        assert visit.page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
