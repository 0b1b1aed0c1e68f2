"""Every kind of page can be read and used by everybody: WCAG 2.2 AA, as far as a program can tell.

axe-core looks at every kind with everything unfolded, in both themes; what it does not look at, or not on a phone, is
looked at beside it. What a reader hears of a transfer that runs is listened to while it runs.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from tests.browser import kinds
from tests.browser.conftest import Visit, fits, visiting
from tests.browser.test_live import STATES, Transfer, watched
from tests.service.scripted_server import serving
from tests.serving import dashboard

pytestmark = pytest.mark.browser

AXE: Final = Axe()
RULES: Final[dict[str, Any]] = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
    "preload": False,
}


# The rows of a long list are made alike: the first of them stand for the rest, which would take axe most of its time.
SHORTEN: Final = "() => document.querySelectorAll('tbody > tr:nth-child(n + 13)').forEach((row) => row.remove())"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """One on which a visitor may write more often than people do."""
    with dashboard(INTENTS_CONSOLE_WRITES="1000", INTENTS_CONSOLE_READS="1000") as root:
        yield root


@pytest.fixture(scope="module")
def troubled() -> Iterator[str]:
    with serving(kinds.in_trouble) as service, dashboard(INTENTS_SERVICE_URL=service.url, SECRET_KEY="k") as root:
        yield root


def walk(browser: Browser, server: str, troubled: str, **window: Any) -> Iterator[tuple[str, Visit]]:
    """Every kind of page, open and unfolded."""
    for root, all_kinds in ((server, kinds.every(server)), (troubled, kinds.TROUBLED)):
        with visiting(browser, root, **window) as visit:
            for kind in all_kinds:
                kind.open(visit)
                kinds.unfold(visit.page)
                yield kind.name, visit


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(browser: Browser, server: str, troubled: str, theme: str) -> None:
    found = defaultdict(list)
    for name, visit in walk(browser, server, troubled, theme=theme, width=1280):
        visit.page.emulate_media(reduced_motion="reduce")
        visit.page.evaluate(SHORTEN)
        for violation in AXE.run(visit.page, options=RULES).response["violations"]:
            for node in violation["nodes"]:
                found[violation["id"], node["html"][:200], node["failureSummary"]].append(name)
    assert not found, "\n".join(f"{rule}: {html}\n  {why}\n  {on}" for (rule, html, why), on in found.items())


# What a program can tell of how a page is built: one of each landmark, headings in order, tables with their names,
# every error told of the control that it is about, nothing that ticks in a region that is read out.
BUILT: Final = """() => {
  const wrong = [];
  const shown = (all) => Array.from(document.querySelectorAll(all)).filter((one) => one.checkVisibility());
  const one = (what, all) => { if (shown(all).length !== 1) wrong.push(`${shown(all).length} of ${what}`); };
  const framed = !document.body.matches(".embedded");
  one("main", "main");
  one("h1", "h1");
  if (framed) one("header", "body > header"), one("footer", "body > footer");
  if (!document.documentElement.lang) wrong.push("no language");
  let level = 1;
  for (const heading of shown("h1, h2, h3, h4, h5, h6")) {
    const its = Number(heading.localName[1]);
    if (its > level + 1) wrong.push(`h${its} after h${level}: ${heading.textContent.trim().slice(0, 40)}`);
    level = its;
  }
  for (const table of document.querySelectorAll("table")) {
    if (!table.caption?.textContent.trim()) wrong.push(`no caption: ${table.className}`);
    if (!table.querySelector("th")) wrong.push(`no header: ${table.className}`);
    for (const head of table.querySelectorAll("th:not([scope])"))
      wrong.push(`no scope: ${head.outerHTML.slice(0, 60)}`);
  }
  for (const ids of document.querySelectorAll("[aria-describedby], [aria-labelledby], [aria-controls]"))
    for (const id of ["describedby", "labelledby", "controls"].flatMap((kind) =>
      (ids.getAttribute(`aria-${kind}`) ?? "").split(" ").filter(Boolean)))
      if (!document.getElementById(id)) wrong.push(`${id} is nowhere: ${ids.outerHTML.slice(0, 80)}`);
  for (const control of document.querySelectorAll("[aria-invalid=true]"))
    if (!control.closest("[aria-describedby]")) wrong.push(`not said what is wrong: ${control.outerHTML.slice(0, 80)}`);
  for (const live of document.querySelectorAll("[role=status], [aria-live]:not([aria-live=off])"))
    if (live.querySelector("[data-since], [data-until], [data-clock], [data-ago]"))
      wrong.push(`ticks where it is read out: ${live.outerHTML.slice(0, 100)}`);
  return wrong;
}"""
# A region that is scrolled by itself can be reached by keyboard and has a name (WCAG 1.4.10, 2.1.1).
SCROLLED: Final = """() => Array.from(document.querySelectorAll("body *"))
  .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 1)
  .filter((one) => /auto|scroll/.test(getComputedStyle(one).overflowX))
  .filter((one) => !one.matches("input, textarea, select"))
  .filter((one) => !(one.tabIndex >= 0 || one.querySelector("a, button, input, summary, [tabindex]")))
  .map((one) => `scrolled without a keyboard: ${one.outerHTML.slice(0, 100)}`)"""
MOVING: Final = """() => document.getAnimations()
  .filter((one) => one.effect.getComputedTiming().activeDuration > 10)
  .map((one) => `moves: ${one.animationName ?? one.transitionProperty} ${one.effect.target.outerHTML.slice(0, 60)}`)"""
CUT: Final = """() => Array.from(document.querySelectorAll("body *"))
  .filter((one) => one.checkVisibility() && !one.closest(".unseen, svg") && one.innerText?.trim())
  .filter((one) => /hidden|clip/.test(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth + 2)
  .filter((one) => getComputedStyle(one).textOverflow !== "ellipsis" && getComputedStyle(one).clipPath === "none")
  .map((one) => `cut off: ${one.outerHTML.slice(0, 110)}`)"""
LARGE_WORDS: Final = "() => { document.documentElement.style.fontSize = '200%'; }"


def test_every_page_is_built_and_flows_for_everybody(browser: Browser, server: str, troubled: str) -> None:
    """At 320 px, which is 1280 px at 400 %, and with words of twice the size at 640 px; nothing moves that need not."""
    wrong: list[str] = []
    for name, visit in walk(browser, server, troubled, theme="light", width=320):
        page = visit.page
        page.emulate_media(reduced_motion="reduce")
        found = [*page.evaluate(BUILT), *page.evaluate(SCROLLED), *page.evaluate(MOVING), *page.evaluate(CUT)]
        found += [] if fits(page) else ["wider than 320 px"]
        page.set_viewport_size({"width": 640, "height": 900})
        page.evaluate(LARGE_WORDS)
        found += [] if fits(page) else ["wider than the screen with large words"]
        found += page.evaluate(CUT)
        page.set_viewport_size({"width": 320, "height": 900})
        if page.title().startswith("·"):
            found.append("no title of its own")
        wrong += [f"{name}: {each}" for each in found]
    assert wrong == [], "\n".join(wrong)


# What is read out of the regions that speak, as it comes.
LISTEN: Final = """() => {
  window.readOut = [];
  const regions = "[role=status], [role=alert], [aria-live=polite], [aria-live=assertive]";
  new MutationObserver((changes) => {
    const spoke = new Set();
    for (const { target, addedNodes } of changes)
      for (const node of [target, ...addedNodes]) {
        const region = (node.closest ? node : node.parentElement)?.closest(regions);
        if (region?.isConnected && region.textContent.trim()) spoke.add(region.textContent.trim());
      }
    window.readOut.push(...spoke);
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""


def test_of_a_transfer_that_runs_each_state_is_said_once_and_nothing_else(browser: Browser, server: str) -> None:
    transfer = Transfer(server)
    with visiting(browser, server, theme="light", width=1280) as visit:
        visit.open(transfer.path)
        # What comes later by itself says so; that is not the transfer's.
        expect(visit.page.locator("#said")).not_to_be_empty()
        visit.page.evaluate(LISTEN)
        visit.page.wait_for_timeout(3_000)
        assert visit.page.evaluate("readOut") == []
        watched(transfer, visit)
        expect(visit.page.get_by_role("heading", level=1)).to_contain_text("Returned")
        heard = visit.page.evaluate("readOut")
    assert len(set(heard)) == len(heard)
    assert [state for state, _ in groupby(sentence.partition(":")[0] for sentence in heard)] == STATES[1:]
