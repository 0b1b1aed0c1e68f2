"""What is pressed with a finger is large enough for one, and what is wrong with a field is seen in its colour."""

import pytest
from playwright.sync_api import Browser, expect

from intents_ui.emulator import names
from intents_ui.emulator.names import Role
from tests.browser.conftest import visiting

pytestmark = pytest.mark.browser

OWNER = names.address_of(Role.OWNER, 0)

# A link within a sentence has the height of its line (WCAG 2.5.8). What is not on the screen is not pressed.
SMALL = """() => {
  const inSentence = (target) => target.matches("p a") && getComputedStyle(target).display === "inline"
    && target.parentElement.textContent.trim() !== target.textContent.trim();
  const area = (target) => {
    const own = target.getBoundingClientRect();
    const row = target.matches(".row-link") && target.closest("tr").getBoundingClientRect();
    return row && getComputedStyle(target, "::after").position === "absolute" ? row : own;
  };
  return Array.from(document.querySelectorAll("a[href], button, summary"))
    .filter((target) => target.checkVisibility({ visibilityProperty: true }) && !target.closest(".skip, .unseen"))
    .filter((target) => !inSentence(target))
    .map((target) => [target, area(target)])
    .filter(([, { width, height }]) => width < 23.9 || height < 23.9)
    .map(([target, { width, height }]) =>
      `${target.outerHTML.slice(0, 90)} ${target.innerText.slice(0, 30)} ${width.toFixed(1)}x${height.toFixed(1)}`);
}"""


@pytest.mark.parametrize("path", ["/history?origin=8453", "/recoverable", f"/address/{OWNER}", "/triage"])
def test_every_link_and_button_is_large_enough_on_a_telephone(browser: Browser, server: str, path: str) -> None:
    with visiting(browser, server, theme="light", width=360) as visit:
        visit.open(path)
        if path == "/triage":
            visit.page.locator("textarea").fill(OWNER)
            visit.page.locator("main").get_by_role("button").first.click()
            expect(visit.page.locator("[data-end]")).to_be_visible()
        visit.page.evaluate("document.querySelectorAll('details').forEach(each => each.removeAttribute('name'))")
        visit.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert visit.page.evaluate(SMALL) == []
        assert visit.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize(("query", "name"), [("status=LOST", "status"), ("order=x", "order"), ("size=x", "size")])
def test_what_is_wrong_with_a_field_is_seen_in_its_colour(
    browser: Browser, server: str, theme: str, query: str, name: str
) -> None:
    with visiting(browser, server, theme=theme, width=1280) as visit:
        visit.open(f"/history?{query}")
        problem = visit.page.locator(f"#about-{name}")
        expect(problem).to_be_visible()
        bad = visit.page.locator(".note[data-tone=bad] > .icon").first.evaluate("each => getComputedStyle(each).color")
        expect(problem).to_have_css("color", bad)
        visit.faults = [fault for fault in visit.faults if "status of 400" not in fault]
