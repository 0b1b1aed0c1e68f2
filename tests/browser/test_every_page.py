"""Every kind of page, walked through: nothing is wider than the screen, and nothing goes wrong in the browser.

What the other tests of this folder need not look at again is what is proved here, of every page and with everything in
it unfolded:

| claim | where |
|---|---|
| nothing is wider than the screen | 360, 768 and 1280 px; 360 px without scripts too |
| no error in the console, no request to another host | in each of these walks, and in every visit of any test |
| links and buttons of at least 24 px | 360 px, `LARGE` |
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

A new page gets a line in `PAGES`.
"""

import pytest
from playwright.sync_api import Browser, expect

from intents_ui.emulator import names
from intents_ui.emulator.names import Role
from tests.browser.conftest import Visit, fits, some_intent, visiting

pytestmark = pytest.mark.browser

OWNER = f"/address/{names.address_of(Role.OWNER, 0)}"
USDC = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
NOTHING = "0x" + "12" * 32
SPOOF = "/token/8453/0xef5753e624bb76c4daf0c837eff7ec1239cc8e7f"
UNLISTED = f"/token/1/0x{'12' * 20}"
FROM_USDC = f"/routes?from=1&token={USDC}"
ROUTES = ["/routes", "/routes/matrix", FROM_USDC, f"{FROM_USDC}&to=8453&for=0x{'0' * 40}"]

# By the code that they answer with.
PAGES = {
    200: [
        "/",
        "/search",
        "/search?q=0x12",
        "/demo",
        "/help",
        "/kept",
        "/help/status/FAILED",
        "/history?origin=8453",
        "/history?project=1",
        "/recoverable",
        "/triage",
        OWNER,
        f"{OWNER}?status=in-flight",
        f"{OWNER}?status=INVALID",
        f"/address/{USDC}",
        f"/address/0x{'0' * 40}",
        "/chains",
        "/chains?provider=Wormhole",
        "/chain/8453",
        "/tokens?chain=8453",
        "/tokens?q=usd",
        "/tokens?q=nobody",
        f"/token/1/{USDC}",
        SPOOF,
        UNLISTED,
        f"{SPOOF}/routes",
        f"/token/1/{USDC}/intents",
        *ROUTES,
        f"/search?owner={OWNER.rpartition('/')[2]}",
    ],
    400: [
        "/routes?from=1&token=AAVE&to=1&for=0x12",
        "/history?status=LOST&owner=0x12",
        "/recoverable?owner=0x12",
        "/chains?provider=two+words",
        "/tokens?limit=many&without=0x12",
    ],
    404: ["/search?q=nobody", "/nowhere", f"/intent/{NOTHING}", "/chain/424242", "/chain/792703809"],
}
TRIAGED = "the rows of a triage"
TOKENS = ["/tokens?q=usd", f"/token/1/{USDC}", SPOOF, UNLISTED]
LARGE = {"/history?origin=8453", "/recoverable", "/triage", "/chains", "/chain/8453", OWNER, TRIAGED, *ROUTES, *TOKENS}
SCENARIOS = [3, 8, 13, 16, 19, 20, 30]
OF_AN_INTENT = ["balances", "everyone", "reply"]

WALKS = [
    pytest.param("light", 360, True, id="phone"),
    pytest.param("dark", 768, True, id="tablet, dark"),
    pytest.param("light", 1280, True, id="desk"),
    pytest.param("dark", 360, False, id="phone, dark, without scripts"),
]

UNFOLD = """() => {
  const folds = document.querySelectorAll("details");
  folds.forEach((fold) => fold.removeAttribute("name"));
  folds.forEach((fold) => { fold.open = true; });
}"""
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


def look(visit: Visit, path: str) -> list[str]:
    """What is wrong with the page that is open, as it comes and with everything unfolded."""
    wrong = [] if fits(visit.page) else ["wider than the screen"]
    visit.page.evaluate(UNFOLD)
    wrong += [] if fits(visit.page) else ["wider than the screen when unfolded"]
    is_pressed_with_a_finger = path in LARGE and visit.page.evaluate("innerWidth < 400")
    small = visit.page.evaluate(SMALL) if is_pressed_with_a_finger else []
    return [f"{path}: {each}" for each in (*wrong, *small, *visit.faults)]


@pytest.mark.parametrize(("theme", "width", "scripts"), WALKS)
def test_every_page_fits_and_nothing_in_it_goes_wrong(
    browser: Browser, server: str, theme: str, width: int, scripts: bool
) -> None:
    wrong = []
    with visiting(browser, server, theme=theme, width=width, scripts=scripts) as visit:
        intents = [some_intent(visit, scenario) for scenario in SCENARIOS]
        of_intents = [*intents, *(f"{intents[0]}/{part}" for part in OF_AN_INTENT)]
        for status, paths in (PAGES | {200: PAGES[200] + of_intents}).items():
            for path in paths:
                answer = visit.page.goto(server + path)
                assert answer is not None
                assert answer.status == status, path
                if status != 200:
                    visit.forgive(status)
                wrong += look(visit, path)
                visit.faults.clear()
        pasted = f"{' '.join(intents)} {OWNER} 0x{'f' * 64} vitalik.eth {'intent_' + 'x1' * 50}, <b>of</b> {USDC}"
        wrong += look(triaged(visit, pasted), TRIAGED)
        wrong += look(triaged(visit, "0x12"), "a text that came back")
        visit.faults.clear()
    assert wrong == [], "\n".join(wrong)


def triaged(visit: Visit, pasted: str) -> Visit:
    visit.open("/triage")
    visit.page.get_by_label("The whole text").fill(pasted)
    visit.page.get_by_role("button", name="Triage").click()
    expect(visit.page.locator("[data-end], [role=alert]").first).to_be_visible()
    visit.forgive(400)
    return visit
