"""The main navigation: in the header, and on a phone five places at the bottom of the screen."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import some_intent, visiting
from tests.waiting import until

pytestmark = pytest.mark.browser

MIN_SEARCH = 280
PLACES = ["Overview", "Transfers", "Attention", "Triage"]


@pytest.mark.programs
@pytest.mark.parametrize(
    ("width", "menus", "scripts"),
    [
        pytest.param(1280, ["Network", "Tools"], True, id="desktop"),
        pytest.param(360, ["More"], False, id="phone without scripts"),
        pytest.param(768, ["Network", "Tools"], False, id="tablet without scripts", marks=pytest.mark.slow),
        pytest.param(360, ["More"], True, id="phone", marks=pytest.mark.slow),
    ],
)
def test_every_kind_of_page_is_two_steps_away(
    browser: Browser, server: str, width: int, menus: list[str], scripts: bool
) -> None:
    with visiting(browser, server, width=width, scripts=scripts) as visit:
        visit.open("/chain/8453")
        navigation = visit.page.get_by_role("navigation", name="Main")
        for name, link in zip(PLACES, navigation.get_by_role("link").all(), strict=True):
            expect(link).to_contain_text(name)
            expect(link).to_be_in_viewport(ratio=1)
        expect(navigation.locator("[aria-current]:visible")).to_have_text(menus[0])
        places = [each.bounding_box() for each in navigation.locator("> a, > details > summary").all()]
        assert len({place["y"] + place["height"] for place in places if place}) == 1
        search = visit.page.get_by_role("search").bounding_box()
        assert search
        assert search["width"] > MIN_SEARCH
        names = []
        for menu in menus:
            navigation.locator("summary", has_text=menu).click()
            names += navigation.locator("details[open] a:visible").all_inner_texts()
            navigation.locator("summary", has_text=menu).click()
        network = ["Insight", "Late", "Incidents", "Routes", "Chains", "Tokens"]
        assert names[:9] == [*network, "Advanced search", "Console", "Demo"]
        navigation.locator("summary", has_text=menus[0]).click()
        expect(navigation.get_by_role("link", name="Chains")).to_have_attribute("aria-current", "true")
        navigation.get_by_role("link", name="Routes").click()
        expect(visit.page).to_have_url(f"{server}/routes")
        for name, path in (("Late", "/late"), ("Incidents", "/insight/incidents")):
            navigation.locator("summary", has_text=menus[0]).click()
            navigation.get_by_role("link", name=name).click()
            expect(visit.page).to_have_url(f"{server}{path}")


def test_on_a_phone_the_bottom_of_the_screen_is_for_the_navigation_or_a_transfers_actions(
    browser: Browser, server: str
) -> None:
    with visiting(browser, server, theme="light", width=360) as visit:
        bottom = "element => innerHeight - element.getBoundingClientRect().bottom"
        navigation = visit.page.get_by_role("navigation", name="Main")
        visit.open("/history")
        assert navigation.evaluate(bottom) == 0
        visit.page.keyboard.press("End")
        footer = visit.page.locator("footer.frame-foot")
        until(lambda: visit.page.evaluate("scrollY + innerHeight >= document.documentElement.scrollHeight - 1"))
        height = navigation.evaluate("element => element.offsetHeight")
        assert footer.evaluate(bottom) >= height - 2  # positions, heights and scrolling are rounded
        visit.open(some_intent(visit, 13))
        actions = visit.page.get_by_role("group", name="Actions")
        assert actions.evaluate(bottom) == 0
        expect(navigation).to_be_in_viewport(ratio=1)
        for link in navigation.get_by_role("link").all():
            box = link.bounding_box()
            assert box
            assert min(box["width"], box["height"]) >= 24
