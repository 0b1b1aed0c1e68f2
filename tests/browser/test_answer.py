"""The four answers (what happened, where the money is, what to do, was the promise kept) stand on the first screen."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import some_intent, visiting

pytestmark = pytest.mark.browser

SCREENS = [(360, 740), (1280, 800)]  # a phone and a desk
TELLING = [
    *((number, "finished") for number in (1, 2, 5, 8, 10, 11, 12, 14, 16, 18, 22, 25, 26, 27, 28, 30)),
    *((number, "fresh") for number in (3, 5, 7, 23, 27)),
]
ANSWERS = ".answer h1, .answer-point, .promise-line"


def test_the_four_answers_are_above_the_fold(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        for scenario, copy in TELLING:
            visit.open(some_intent(visit, scenario, copy))
            # By then the answer has been told anew, with what the addresses hold.
            expect(visit.page.locator(".answer-finding"), f"{copy} {scenario}").to_have_count(1)
            for wide, high in SCREENS:
                visit.page.set_viewport_size({"width": wide, "height": high})
                bottoms = visit.page.locator(ANSWERS).evaluate_all(
                    "all => all.map(each => each.getBoundingClientRect().bottom)"
                )
                assert len(bottoms) == 4, (scenario, copy)
                assert max(bottoms) <= high, (scenario, copy, wide, bottoms)
