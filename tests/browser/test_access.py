"""Announcements of a running transfer for screen readers. Each page's structure is checked in test_every_page.py."""

from itertools import groupby
from typing import Final

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import loaded, visiting
from tests.browser.kinds import OWNER
from tests.browser.test_live import STATES, Transfer, watched

pytestmark = pytest.mark.browser

# Records the announcements of live regions.
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


@pytest.mark.slow
def test_each_state_of_a_running_transfer_is_announced_once(browser: Browser, server: str) -> None:
    transfer = Transfer(server)
    with visiting(browser, server, theme="light", width=1280) as visit:
        visit.open(transfer.path)
        # Parts that load later may announce themselves.
        loaded(visit.page)
        visit.page.wait_for_timeout(100)
        visit.page.evaluate(LISTEN)
        visit.page.wait_for_timeout(3_000)
        assert visit.page.evaluate("readOut") == []
        watched(transfer, visit)
        expect(visit.page.get_by_role("heading", level=1)).to_contain_text("Refunded")
        heard = visit.page.evaluate("readOut")
    assert len(set(heard)) == len(heard)
    assert [state for state, _ in groupby(sentence.partition(":")[0] for sentence in heard)] == STATES[1:]


# How the selected option differs from the others in forced colors.
CHOSEN: Final = """(chosen) => {
  const look = (one) => {
    const { color, backgroundColor, borderColor, borderWidth, outlineStyle, textDecorationLine, fontWeight }
      = getComputedStyle(one);
    return [color, backgroundColor, borderColor, borderWidth, outlineStyle, textDecorationLine, fontWeight].join();
  };
  const all = Array.from(chosen.closest("nav, [role=group], ul, p").querySelectorAll("a:not([aria-current])"));
  return all.length > 0 && all.every((each) => look(each) !== look(chosen));
}"""
RING: Final = "(one) => [getComputedStyle(one).outlineStyle, parseFloat(getComputedStyle(one).outlineWidth)]"


@pytest.mark.parametrize("path", ["/chains", OWNER, "/routes/matrix", "/console/GetChains"])
def test_selection_and_focus_are_visible_in_forced_colors(browser: Browser, server: str, path: str) -> None:
    with visiting(browser, server, theme="dark", width=1280) as visit:
        page = visit.page
        page.emulate_media(forced_colors="active", reduced_motion="reduce")
        visit.open(path)
        for chosen in page.locator("[aria-current]").all():
            assert chosen.evaluate(CHOSEN), chosen.evaluate("(one) => one.outerHTML.slice(0, 120)")
        page.locator("main a").first.focus()
        page.keyboard.press("Tab")
        style, width = page.locator(":focus").evaluate(RING)
        assert (style, width >= 2) == ("solid", True)
        assert page.evaluate("document.getAnimations().length") == 0
