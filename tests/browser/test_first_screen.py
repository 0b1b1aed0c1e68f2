"""What happened, where the funds are, and the next step are on the first screen, and nothing that loads later changes
the headline.
"""

import re
from typing import Final

import pytest
from playwright.sync_api import Browser, Page

from tests.browser import looks
from tests.browser.conftest import client, loaded, visiting

pytestmark = pytest.mark.browser

LINK = re.compile(r'href="([^"]+)" aria-label="Scenario (\d+) at its worst"')
HELD = re.compile(r": ([\d,.]+ \S+)\.")
ANSWERS = ".answer h1, .answer-point, .estimate-line"
BOTTOMS = "all => all.map(each => each.getBoundingClientRect().bottom)"
SEEN: Final = looks.function("seen")
PARTS = {
    "headline": ".answer h1",
    "amount": ".answer-amount",
    "place": ".answer > :nth-child(2) > .answer-point",
    "next step": ".answer > :nth-child(3) > .answer-point",
}
ALL = {str(number) for number in range(1, 31)}


@pytest.mark.parametrize(
    "scenarios",
    [pytest.param({"2", "11", "25"}, id="chosen"), pytest.param(ALL, id="all", marks=pytest.mark.slow)],
)
def test_the_first_screen_has_the_answers_of_a_transfer_at_its_worst(
    browser: Browser, server: str, scenarios: set[str]
) -> None:
    worst = [path for path, number in LINK.findall(client().get(f"{server}/demo").text) if number in scenarios]
    assert len(worst) == len(scenarios)
    held = 0
    with visiting(browser, server, width=360) as visit:
        page = visit.page
        for path in worst:
            page.set_viewport_size({"width": 360, "height": 740})
            visit.open(path)
            seen = first_screen(page)
            assert all(seen.values()), (path, seen)
            if page.locator(".answer-finding").inner_text() == "Confirmed by the on-chain balance.":
                held += 1
                assert HELD.search(seen["place"]), (path, seen)
            loaded(page)
            assert page.locator(PARTS["headline"]).inner_text() == seen["headline"]
            page.set_viewport_size({"width": 1280, "height": 800})
            bottoms = page.locator(ANSWERS).evaluate_all(BOTTOMS)
            assert len(bottoms) == 3 + page.locator(".estimate-line").count()
            assert max(bottoms) <= 800, (path, bottoms)
    assert held


def first_screen(page: Page) -> dict[str, str]:
    """Return what the first screen shows of each part, "" if it isn't whole or the action bar covers it."""
    box = page.get_by_role("group", name="Actions").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] == 740
    assert box["height"] <= 56
    seen: dict[str, str] = page.evaluate(SEEN, PARTS)
    return seen
