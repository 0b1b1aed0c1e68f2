"""Every kind of page, walked through: nothing is wider than the screen, and nothing goes wrong in the browser.

What the other tests of this folder need not look at again is what is proved here, of every page and with everything in
it unfolded:

| claim | where |
|---|---|
| nothing is wider than the screen | 360, 768 and 1280 px; 360 px without scripts too |
| no error in the console, no request to another host | in each of these walks, and in every visit of any test |
| links and buttons of at least 24 px | 360 px |
| light and dark | a walk each; the colours that a theme gives, and that it is kept: test_look_up.py, test_history.py |

A journey (search, filter, page, export, follow) is made once with scripts and once without where both lead there, in
the two themes and on the two widths that differ most, and not in each product of these. How each is made:

| page | with scripts | without |
|---|---|---|
| search, an intent, its raw JSON | test_look_up.py | test_look_up.py |
| an intent that moves | test_live.py: stream, polling | test_live.py: refresh |
| what its addresses hold | test_recoverable.py | test_recoverable.py |
| the answer on the first screen; on paper | test_answer.py; test_print.py | |
| history: filters, pages, the way back | test_history.py | test_history.py |
| recoverable: order, filters | test_recoverable.py | test_recoverable.py |
| an address | test_address.py | test_address.py |
| triage | test_triage.py | test_triage.py |
| exports | test_export.py | test_export.py |
| routes: chosen, swapped, asked; chains against chains | test_routes.py | test_routes.py |

Which pages there are is told in kinds.py; a new page gets a line there.
"""

import pytest
from playwright.sync_api import Browser

from tests.browser import kinds
from tests.browser.conftest import Visit, fits, visiting

pytestmark = pytest.mark.browser

WALKS = [
    pytest.param("light", 360, True, id="phone"),
    pytest.param("dark", 768, True, id="tablet, dark"),
    pytest.param("light", 1280, True, id="desk"),
    pytest.param("dark", 360, False, id="phone, dark, without scripts"),
]

# A link within a sentence has the height of its line (WCAG 2.5.8). What is not on the screen is not pressed.
SMALL = """() => {
  const inSentence = (target) => target.matches(":is(p, li) a") && getComputedStyle(target).display === "inline"
    && target.parentElement.textContent.trim() !== target.textContent.trim();
  const area = (target) => {
    const own = target.getBoundingClientRect();
    const row = target.closest("tr, li")?.getBoundingClientRect();
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


def look(visit: Visit, name: str) -> list[str]:
    """What is wrong with the page that is open, as it comes and with everything unfolded."""
    wrong = [] if fits(visit.page) else ["wider than the screen"]
    kinds.unfold(visit.page)
    wrong += [] if fits(visit.page) else ["wider than the screen when unfolded"]
    small = visit.page.evaluate(SMALL) if visit.page.evaluate("innerWidth < 400") else []
    return [f"{name}: {each}" for each in (*wrong, *small, *visit.faults)]


@pytest.mark.parametrize(("theme", "width", "scripts"), WALKS)
def test_every_page_fits_and_nothing_in_it_goes_wrong(
    browser: Browser, server: str, theme: str, width: int, scripts: bool
) -> None:
    wrong = []
    with visiting(browser, server, theme=theme, width=width, scripts=scripts) as visit:
        for kind in kinds.every(server):
            kind.open(visit)
            wrong += look(visit, kind.name)
            visit.faults.clear()
    assert wrong == [], "\n".join(wrong)
