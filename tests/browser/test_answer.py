"""The four answers (what happened, where the money is, what to do, was the promise kept) stand on the first screen."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Visit, visiting

pytestmark = pytest.mark.browser

SCREENS = [pytest.param(360, 740, id="phone"), pytest.param(1280, 800, id="desk")]
TELLING = [
    *((number, "finished") for number in (1, 2, 5, 8, 10, 11, 12, 14, 16, 18, 22, 25, 26, 27, 28, 30)),
    *((number, "fresh") for number in (3, 5, 7, 23, 27)),
]
ANSWERS = ".answer h1, .answer-point, .promise-line"


def intents(visit: Visit) -> dict[tuple[int, str], str]:
    visit.open("/demo")
    labels = {(number, copy): f"{copy.capitalize()} copy of scenario {number}" for number, copy in TELLING}
    return {
        each: str(visit.page.get_by_label(label, exact=True).get_attribute("href")) for each, label in labels.items()
    }


@pytest.mark.parametrize(("wide", "high"), SCREENS)
def test_the_four_answers_are_above_the_fold(browser: Browser, server: str, wide: int, high: int) -> None:
    with visiting(browser, server, theme="light", width=wide) as visit:
        visit.page.set_viewport_size({"width": wide, "height": high})
        for which, path in intents(visit).items():
            visit.open(path)
            # By then the answer has been told anew, with what the addresses hold.
            expect(visit.page.locator(".answer-finding")).to_have_count(1)
            bottoms = visit.page.locator(ANSWERS).evaluate_all(
                "all => all.map(each => each.getBoundingClientRect().bottom)"
            )
            assert len(bottoms) == 4, which
            assert max(bottoms) <= high, (which, bottoms)
