"""The suggestions below the search box: what they offer, what they send, and how they are used by key and by touch."""

import re
from urllib.parse import unquote_plus, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import looks
from tests.browser.conftest import Visit, copied, fits, some_intent, visiting
from tests.browser.kinds import OWNER

pytestmark = pytest.mark.browser

SUGGEST = re.compile(r"/suggest\?")
ADDRESS = OWNER.removeprefix("/address/")


@pytest.fixture
def visit(visit: Visit) -> Visit:
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    return visit


def box(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Search by")


def panel(page: Page) -> Locator:
    return page.get_by_role("listbox", name="Suggestions")


def options(page: Page, group: str = "") -> Locator:
    return (panel(page).get_by_role("group", name=group, exact=True) if group else panel(page)).get_by_role("option")


def active(page: Page) -> Locator:
    """Return the option that the box names as active."""
    return page.locator(f"#{box(page).get_attribute('aria-activedescendant')}")


@pytest.mark.parametrize(
    "key", ["Control+k", *(pytest.param(each, marks=pytest.mark.slow) for each in ("/", "Meta+k"))]
)
def test_a_key_focuses_the_box_and_offers_actions_pages_and_saved_items(visit: Visit, key: str) -> None:
    page, first, second = visit.page, some_intent(visit, 8), some_intent(visit, 1)
    visit.open(first)
    page.keyboard.press("s")
    visit.open(second)
    page.keyboard.press(key)
    expect(box(page)).to_be_focused()
    expect(box(page)).to_have_attribute("aria-expanded", "true")
    assert panel(page).get_by_role("group").evaluate_all("all => all.map((each) => each.ariaLabel)") == [
        "Actions",
        "Pages",
        "Recent and starred",
    ]
    expect(options(page, "Actions").first).to_have_accessible_name("Copy customer reply")
    expect(options(page, "Pages")).to_have_count(5)
    # once, though it is in both lists, and without the page itself
    expect(options(page, "Recent and starred")).to_have_count(1)
    expect(options(page, "Recent and starred")).to_have_attribute("href", first)


@pytest.mark.programs
def test_typing_filters_and_loads_tokens_and_chains(visit: Visit) -> None:
    page = visit.page
    visit.open("/help")
    page.keyboard.press("/")
    for typed, name in (("late", "Late"), ("incid", "Incidents"), ("tok", "Tokens")):
        box(page).fill(typed)
        expect(options(page, "Pages")).to_have_text([name])
    box(page).fill("tok zebra")
    expect(options(page, "Pages")).to_have_count(0)
    box(page).fill("usdc base")
    expect(options(page, "Matches")).to_have_text(["USDCUSD Coin on Base", re.compile(".")])
    expect(options(page).nth(-2)).to_have_text("Search for “usdc base”")
    expect(options(page).last).to_have_text("Search all tokens for “usdc base”")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/token/8453/0x833589"))


PRIVATE = ["0x83358", f"where is {ADDRESS[:30]}", "a b " * 11]


def test_identifiers_and_messages_are_never_sent(visit: Visit) -> None:
    """A request for another text comes after all that could be sent for these."""
    page = visit.page
    visit.open("/help")
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    visit.page.clock.install()
    box(page).click()
    expect(panel(page)).to_be_visible()
    for text in PRIVATE:
        box(page).fill(text)
        page.clock.run_for(5_000)
    box(page).fill("usdc")
    with page.expect_response(SUGGEST):
        page.clock.run_for(5_000)
    assert [urlsplit(url).query for url in urls if SUGGEST.search(url)] == ["q=usdc"]
    assert not [url for url in urls for text in PRIVATE if text.lower() in unquote_plus(url).lower()]


@pytest.mark.slow
def test_a_failure_to_load_is_not_an_empty_list(visit: Visit) -> None:
    page = visit.page
    visit.open("/help")
    page.route(SUGGEST, lambda route: route.fulfill(status=503, body="{}"))
    box(page).click()
    page.keyboard.type("usdc")
    failed = options(page, "Matches").first
    expect(failed).to_have_text("Couldn't load tokens and chains")
    expect(failed).to_be_disabled()
    page.keyboard.press("ArrowDown")
    expect(active(page)).to_have_text("Search for “usdc”")
    visit.forgive(503)


@pytest.mark.slow
def test_enter_submits_the_text_unless_an_option_is_active(visit: Visit) -> None:
    page, found = visit.page, some_intent(visit, 1)
    visit.open("/help")
    page.keyboard.press("/")
    page.keyboard.insert_text(found.removeprefix("/intent/"))
    expect(options(page).first).to_have_text(f"Look up {found.removeprefix('/intent/')}")
    page.keyboard.press("ArrowDown")
    expect(active(page)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    expect(box(page)).not_to_have_attribute("aria-activedescendant", re.compile("."))
    page.keyboard.press("Enter")
    expect(page).to_have_url(visit.root + found)
    visit.open("/help")
    page.keyboard.press("/")
    page.keyboard.insert_text(found.removeprefix("/intent/"))
    expect(options(page).first).to_have_text(f"Look up {found.removeprefix('/intent/')}")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(visit.root + found)


@pytest.mark.programs
def test_an_action_copies_the_reply_and_another_stars_the_transfer(visit: Visit) -> None:
    page, path = visit.page, some_intent(visit, 1)
    visit.open(path)
    page.keyboard.press("/")
    page.keyboard.type("reply")
    expect(options(page, "Actions")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    expect(panel(page)).to_be_hidden()
    expect(box(page)).to_have_value("")
    expect(page.locator("#toast")).to_have_text("Copied customer reply")
    assert copied(page).endswith(f"{path}\n")
    for name, pressed in (("Star", "true"), ("Unstar", "false")):
        page.keyboard.press("/")
        options(page, "Actions").get_by_text(name, exact=True).click()
        expect(page.locator("main [data-star]")).to_have_attribute("aria-pressed", pressed)


@pytest.mark.slow
def test_actions_are_only_those_of_the_page(visit: Visit) -> None:
    page = visit.page
    for path, offered in (("/help", []), (OWNER, ["Open block explorer", "Star", "Follow"])):
        offered += ["Toggle dark mode", "Print this page"]
        visit.open(path)
        page.keyboard.press("/")
        expect(options(page, "Pages").first).to_be_visible()
        expect(options(page, "Actions").locator("bdi")).to_have_text(offered)


@pytest.mark.slow
def test_escape_closes_the_suggestions_and_then_clears_the_box(visit: Visit) -> None:
    page = visit.page
    visit.open("/help")
    page.keyboard.press("/")
    page.keyboard.type("token")
    expect(panel(page)).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel(page)).to_be_hidden()
    expect(box(page)).to_have_value("token")
    expect(box(page)).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Escape")
    expect(box(page)).to_have_value("")
    expect(box(page)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(panel(page)).to_be_visible()
    page.keyboard.press("Tab")
    expect(panel(page)).to_be_hidden()


@pytest.mark.slow
@pytest.mark.parametrize(("path", "theme", "width"), [("/history", "dark", 360), ("/", "light", 1280)])
def test_the_panel_fits_the_screen_and_axe_finds_nothing(
    browser: Browser, server: str, path: str, theme: str, width: int
) -> None:
    with visiting(browser, server, theme=theme, width=width) as visit:
        page = visit.page
        visit.open(path)
        box(page).click()
        box(page).fill("eth")
        expect(options(page, "Matches").nth(7)).to_be_visible()
        page.keyboard.press("ArrowDown")
        assert fits(page)
        edges = panel(page).bounding_box()
        assert edges
        assert edges["x"] >= 0
        assert edges["x"] + edges["width"] <= width
        assert looks.look(page, "tooSmall") == []
        shapes = looks.new_shapes(page, set())
        assert looks.axe(page, shapes, is_whole=True) == []
