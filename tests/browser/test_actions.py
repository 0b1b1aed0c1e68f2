"""The action bar of a transfer's page: in reach at any place of the page, and what its buttons do."""

import re
from functools import partial

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit, copied, expect_copied, loaded, some_intent
from tests.waiting import until

pytestmark = pytest.mark.browser

REFUSED = "Couldn't copy. The browser refused access to the clipboard."
# A clipboard that takes a text only before the event's handlers have returned, and nothing unless `canCopy`.
GESTURE_ONLY = """let isGesture = false;
for (const kind of ["click", "keydown"])
  addEventListener(kind, () => { isGesture = true; setTimeout(() => (isGesture = false)); }, { capture: true });
navigator.clipboard.writeText = async () => {
  if (!isGesture || !canCopy) throw new DOMException("", "NotAllowedError");
};
document.execCommand = () => false;"""


@pytest.mark.parametrize(
    ("path", "button", "element"),
    [("/help", "Copy bookmark", "#bookmarklet"), ("/search?q=100+USDC+never+arrived", "Copy question", "#question")],
)
def test_a_text_of_a_page_is_copied(visit: Visit, path: str, button: str, element: str) -> None:
    page = visit.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.open(path)
    page.get_by_role("button", name=button).click()
    expect_copied(page, page.locator(element).text_content() or "")
    visit.forgive(404)  # of a search without a result


@pytest.mark.programs
def test_the_bar_stays_in_view_while_the_page_scrolls(visit: Visit) -> None:
    page = visit.page
    visit.open(some_intent(visit, 10))
    loaded(page)
    reply, answer = page.get_by_role("link", name="Copy reply"), page.locator(".bar-answer strong")
    heading = page.get_by_role("heading", level=1)
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("scrollTo(0, 0)")
        expect(reply).to_be_in_viewport()
        expect(answer).not_to_be_visible()
        page.get_by_text("All fields").last.scroll_into_view_if_needed()
        expect(heading).not_to_be_in_viewport()
        expect(reply).to_be_in_viewport()
    expect(answer).to_be_visible()
    expect(answer).to_have_text(heading.inner_text())


def test_copy_buttons_copy_and_say_what(visit: Visit) -> None:
    page = visit.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    path = some_intent(visit, 10)
    visit.open(f"{path}?tx=0x00")
    toast = page.locator("#toast")
    page.get_by_role("button", name="Copy link").click()
    expect(toast).to_have_text("Copied link")
    expect_copied(page, f"{visit.root}{path}")
    page.get_by_role("button", name="Copy intent ID").click()
    intent_id = path.removeprefix("/intent/")
    expect(toast).to_have_text(f"Copied intent ID {intent_id[:10]}…{intent_id[-8:]}")
    expect_copied(page, intent_id)
    page.locator("#reply > summary").click()
    loaded(page)
    shown = {name: page.get_by_role("textbox", name=name).input_value() for name in ("Reply", "Escalation")}
    visit.block("**/intent/**")
    for press, words, text in (
        (page.get_by_role("link", name="Copy reply").click, "Copied customer reply", shown["Reply"]),
        (partial(copy_escalation, page), "Copied escalation", shown["Escalation"]),
        (partial(page.keyboard.press, "y"), "Copied customer reply", shown["Reply"]),
    ):
        press()
        expect(toast).to_have_text(words)
        expect(page.get_by_role("status").filter(has_text=words)).to_have_count(1)
        until(lambda text=text: same(copied(page), text))


def test_a_copy_that_fails_says_why(visit: Visit) -> None:
    """The clipboard may be closed, or open only within the click or key press, as in Safari."""
    page = visit.page
    visit.page.add_init_script(GESTURE_ONLY)
    visit.open(some_intent(visit, 10))
    for said, can_copy in (("Copied customer reply", True), (REFUSED, False)):
        page.evaluate("can => { window.canCopy = can; }", can_copy)
        for press in (page.get_by_role("link", name="Copy reply").click, partial(page.keyboard.press, "y")):
            press()
            expect(page.locator("#toast")).to_have_text(said)
            expect(page.get_by_role("status").filter(has_text=said)).to_have_count(1)


def copy_escalation(page: Page) -> None:
    page.get_by_role("group", name="Actions").get_by_text("More").click()
    page.get_by_role("link", name="Copy escalation").click()


def same(one: str, other: str) -> bool:
    """Return whether two texts are the same but for the time that they are of, and statistics that load later."""
    times = re.compile(r"(?m) as of .*? UTC|^Recent transfers.*\n")
    return times.sub("", one) == times.sub("", other)
