"""Times that go on while a page is open: clocks of lists, ages, and countdowns by the service's clock."""

import re
import time
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.conftest import Visit, some_intent, visiting
from tests.browser.test_live import Transfer

pytestmark = pytest.mark.browser


@pytest.fixture
def visit(browser: Browser, server: str) -> Iterator[Visit]:
    with visiting(browser, server) as visit:
        visit.page.clock.install()
        yield visit
        visit.page.close()
        visit.faults.clear()  # requests time out when the clock is moved


def move(visit: Visit, place: Locator, seconds: float) -> None:
    """Set the browser's clock, and that of the server for it, to so many seconds after the time of a place."""
    written = place.get_attribute("datetime") or place.evaluate(
        "ago => ago.dataset.ago || ago.nextElementSibling.dateTime"
    )
    assert written
    visit.page.clock.set_fixed_time(datetime.fromisoformat(written) + timedelta(seconds=seconds))
    # Its difference to the server's clock depends on how long the page took to arrive. `tick()`: sooner than by itself.
    visit.page.evaluate("serverClock.ahead = 0; tick()")


def test_clocks_and_ages_go_on_in_their_largest_units(visit: Visit) -> None:
    for path, kind, words in (
        (
            "/history?status=EXECUTING",
            "time[data-since]",
            {42: "42 s", 432: "7 min 12 s", 3725: "1 h 2 min", 90_000: "1 d 1 h"},
        ),
        (
            Transfer(visit.root).path,
            "[data-ago]",
            {0: "just now", 42: "42 s ago", 3599: "59 min ago", 7500: "2 h ago", 86_400: "1 d ago"},
        ),
    ):
        visit.open(path)
        place = visit.page.locator(kind).first
        for seconds, word in words.items():
            move(visit, place, seconds + 0.5)
            expect(place).to_have_text(word)


def test_a_countdown_is_by_the_clock_of_the_service(visit: Visit) -> None:
    visit.open(Transfer(visit.root).path)
    place = visit.page.locator("time[data-until]").first
    tick = "(place) => { place.dataset.ahead = 40; tick(); return place.textContent; }"
    for seconds, words in {-100.5: "1 min", -60.5: "20 s", -30: "0 s", 5: "0 s"}.items():
        move(visit, place, seconds)
        assert place.evaluate(tick) == words


@pytest.mark.parametrize("ahead", [-86_400, pytest.param(3_600, marks=pytest.mark.programs)])
def test_a_wrong_clock_of_the_device_changes_no_time(browser: Browser, server: str, ahead: int) -> None:
    with visiting(browser, server) as visit:
        visit.page.add_init_script(f"{{ const now = Date.now; Date.now = () => now() + {ahead * 1000}; }}")
        visit.open(Transfer(server).path)
        expect(visit.page.locator("[data-ago]").first).to_have_text(re.compile("^just now$|^[0-9]+ s ago$"))
        left = visit.page.locator("time[data-until]").first
        deadline = datetime.fromisoformat(str(left.get_attribute("datetime"))).timestamp() - time.time()
        expect(left).to_have_text(re.compile(f"^{int(deadline // 60)} min|^{int(deadline // 60) - 1} min"))


@pytest.mark.programs
def test_ages_go_on_when_back_shows_an_old_page(browser: Browser, server: str) -> None:
    """The browser's cache has it, with the server's time of then."""
    later = "{ const now = Date.now; Date.now = () => now() + (sessionStorage.getItem('later') ?? 0) * 86_400_000; }"
    with visiting(browser, server) as visit:
        visit.page.add_init_script(later)
        visit.open(some_intent(visit, 8))
        place = visit.page.locator("[data-ago]").first
        expect(place).to_have_text(re.compile("(s|min|h) ago|just now"))
        visit.page.get_by_role("link", name="Help", exact=True).first.click()
        visit.page.wait_for_url("**/help")
        visit.page.evaluate("sessionStorage.setItem('later', 5)")
        visit.page.go_back()
        expect(place).to_have_text("5 d ago")
