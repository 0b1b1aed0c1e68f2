"""A long list on a phone, and forced colors."""

from typing import Final

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import looks
from tests.browser.conftest import visiting
from tests.browser.kinds import OWNER

pytestmark = pytest.mark.browser

CHOSEN: Final = looks.function("isDistinct")
RING: Final = "(one) => [getComputedStyle(one).outlineStyle, parseFloat(getComputedStyle(one).outlineWidth)]"


def test_a_phone_shows_the_first_rows_of_a_long_list_and_without_scripts_all_on_request(
    browser: Browser, server: str
) -> None:
    with visiting(browser, server, theme="light", width=360, scripts=False) as visit:
        page = visit.page
        visit.open("/help/status/FAILED")
        cases = page.locator(".situations").first.locator(".situation")
        shown = cases.locator("visible=true")
        expect(shown).to_have_count(10)
        page.get_by_text(f"Show all {cases.count()}").click()
        expect(shown).to_have_count(cases.count())
        page.get_by_text("Show the first 10").click()
        expect(shown).to_have_count(10)
        last = cases.last.get_attribute("id")
        visit.open(f"/help/status/FAILED#{last}")
        expect(cases.last).to_be_visible()
        page.set_viewport_size({"width": 1280, "height": 900})
        visit.open("/help/status/FAILED")
        expect(shown).to_have_count(cases.count())
        expect(page.get_by_text("Show all")).to_be_hidden()


@pytest.mark.programs
def test_selection_and_focus_are_visible_in_forced_colors(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="dark") as visit:
        page = visit.page
        page.emulate_media(forced_colors="active", reduced_motion="reduce")
        for path in ("/chains", OWNER, "/console/GetChains"):
            visit.open(path)
            for chosen in page.locator("[aria-current]").all():
                assert chosen.evaluate(CHOSEN), chosen.evaluate("(one) => one.outerHTML.slice(0, 120)")
            page.locator("main a").first.focus()
            page.keyboard.press("Tab")
            style, width = page.locator(":focus").evaluate(RING)
            assert (style, width >= 2) == ("solid", True)
            assert page.evaluate("document.getAnimations().length") == 0


@pytest.mark.programs
def test_a_phone_zooms_into_no_field_and_its_buttons_fit_a_finger(browser: Browser, server: str) -> None:
    """iOS zooms into a field whose text is smaller than 16 pixels."""
    context = browser.new_context(has_touch=True, is_mobile=True, viewport={"width": 360, "height": 740})
    page = context.new_page()
    size = "all => all.map((each) => parseFloat(getComputedStyle(each).fontSize))"
    height = "all => all.map((each) => each.getBoundingClientRect().height)"
    area = "all => all.map((each) => parseFloat(getComputedStyle(each, '::after').height))"
    areas = []
    try:
        for path in ("/", "/search", "/history", "/triage", "/tokens", "/routes", "/console/GetIntentHistory"):
            page.goto(server + path)
            sizes = page.locator("input, select, textarea").evaluate_all(size)
            assert sizes
            assert min(sizes) >= 16, path
            heights = page.locator("header .button:visible, main .button:visible").evaluate_all(height)
            assert min(heights) >= 44, path
            areas += page.locator(".copy:visible").evaluate_all(area)
        assert min(areas) >= 44
    finally:
        context.close()
