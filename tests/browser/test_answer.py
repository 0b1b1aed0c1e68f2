"""What happened, where the funds are, the next step and quote vs. actual are on the first screen."""

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import some_intent, visiting
from tests.serving import dashboard
from tests.waiting import PATIENCE

pytestmark = pytest.mark.browser

SCREENS = [(360, 740), (1280, 800)]  # a phone and a desktop
TELLING = [
    *((number, "completed") for number in (1, 2, 5, 8, 10, 11, 12, 14, 16, 18, 22, 25, 26, 27, 28, 30)),
    *((number, "live") for number in (3, 5, 7, 23, 27)),
]
ANSWERS = ".answer h1, .answer-point, .promise-line"
WORST = re.compile(r'href="([^"]+)" aria-label="Scenario (\d+) at its worst"')
HELD = re.compile(r"^On-chain balances: ([\d,.]+ \S+) at ")
# The text of each part that is inside the window and above the action bar.
SEEN = """(parts) => {
  const bar = document.querySelector(".bar-actions").getBoundingClientRect();
  return Object.fromEntries(Object.entries(parts).map(([name, selector]) => {
    const part = document.querySelector(selector);
    const box = part.getBoundingClientRect();
    const isSeen = box.height > 0 && box.top >= 0 && box.bottom <= bar.top && box.right <= innerWidth;
    return [name, isSeen ? part.innerText : ""];
  }));
}"""
PARTS = {
    "headline": ".answer h1",
    "amount": ".answer-amount",
    "place": ".answer > :nth-child(2) > .answer-point",
    "next step": ".answer > :nth-child(3) > .answer-point",
}


@pytest.fixture(scope="module")
def patient() -> Iterator[str]:
    """Yield a dashboard whose pages wait for the balances, however busy the machine is."""
    with dashboard(INTENTS_BALANCE_TIMEOUT="5") as root:
        yield root


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


def test_a_phone_shows_headline_amount_next_step_and_actions_of_each_scenario_at_its_worst(
    browser: Browser, patient: str
) -> None:
    worst = WORST.findall(httpx.get(f"{patient}/demo", trust_env=False, timeout=PATIENCE).text)
    assert len(worst) == 30
    held = 0
    with visiting(browser, patient, theme="light", width=360) as visit:
        visit.page.set_viewport_size({"width": 360, "height": 740})
        for path, number in worst:
            visit.open(path)
            seen = first_screen(visit.page)
            assert all(seen.values()), (number, seen)
            finding = HELD.match(visit.page.locator(".answer-finding").inner_text())
            if finding:
                held += 1
                assert finding[1] in seen["place"] + seen["amount"], (number, seen)
    assert held >= 5


def first_screen(page: Page) -> dict[str, str]:
    """Return what the first screen shows of each part, "" if it isn't whole or the action bar covers it."""
    box = page.get_by_role("group", name="Actions").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] == 740
    assert box["height"] <= 56
    seen: dict[str, str] = page.evaluate(SEEN, PARTS)
    return seen
