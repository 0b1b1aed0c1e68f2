"""What happened, where the funds are, the next step and quote vs. actual are on the first screen."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import some_intent, visiting

pytestmark = pytest.mark.browser

SCREENS = [(360, 740), (1280, 800)]  # a phone and a desktop
TELLING = [
    *((number, "completed") for number in (1, 2, 5, 8, 10, 11, 12, 14, 16, 18, 22, 25, 26, 27, 28, 30)),
    *((number, "live") for number in (3, 5, 7, 23, 27)),
]
ANSWERS = ".answer h1, .answer-point, .promise-line"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("scenario", "copy"), TELLING)
def test_the_four_answers_are_above_the_fold(browser: Browser, server: str, scenario: int, copy: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        path = some_intent(visit, scenario, copy)
        visit.open(path)
        # On a busy machine the data may be stale, with a notice above it.
        while visit.page.locator("#old-answers").inner_text().strip():
            visit.open(path)
        # By then the summary has been updated with the balances.
        expect(visit.page.locator(".answer-finding")).to_have_count(1)
        for wide, high in SCREENS:
            visit.page.set_viewport_size({"width": wide, "height": high})
            bottoms = visit.page.locator(ANSWERS).evaluate_all(
                "all => all.map(each => each.getBoundingClientRect().bottom)"
            )
            assert len(bottoms) == 4
            assert max(bottoms) <= high, (wide, bottoms)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("width", [360, 1280])
def test_a_quoted_amount_is_no_larger_than_the_text_around_it(browser: Browser, server: str, width: int) -> None:
    sizes = "all => all.map(each => parseFloat(getComputedStyle(each).fontSize))"
    with visiting(browser, server, theme="light", width=width) as visit:
        visit.open(some_intent(visit, 25))
        sent, quoted = visit.page.locator(".money .amount").evaluate_all(sizes)
        [text] = visit.page.locator("body").evaluate_all(sizes)
        assert sent > quoted
        assert quoted <= text
        visit.open(some_intent(visit, 2))
        sent, delivered = visit.page.locator(".money .amount").evaluate_all(sizes)
        assert sent == delivered
