"""Saved items in the browser: recent and starred; cleared."""

import json
import re
from io import BytesIO
from urllib.parse import urlencode

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.conftest import Visit, fits, show_times, some_intent

pytestmark = pytest.mark.browser

REFUSING = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };"


def stored(page: Page) -> dict[str, object]:
    kept: dict[str, str] = page.evaluate("({ ...localStorage })")
    return {name: json.loads(value) for name, value in kept.items()}


def shown(page: Page, title: str) -> list[str]:
    return page.get_by_role("region", name=title, exact=True).locator("li a").all_inner_texts()


@pytest.mark.programs
def test_recent_lookups_are_on_the_home_page_once_newest_first(visit: Visit) -> None:
    first, second = some_intent(visit, 2), some_intent(visit, 8)
    missing = f"/search?q=0x{'12' * 32}"
    for path in (first, second, missing, first):
        visit.open(path)
    visit.forgive(404)
    visit.open("/")
    links = visit.page.get_by_role("region", name="Recent", exact=True).locator("li a")
    assert links.evaluate_all("links => links.map(link => link.getAttribute('href'))") == [
        first,
        missing,
        second,
    ]
    links.nth(2).click()
    expect(visit.page).to_have_url(visit.root + second)


def test_of_a_message_only_its_identifiers_are_remembered(visit: Visit) -> None:
    missing = "0x" + "cd" * 32
    for text in (f"Hello, Jane Doe here, where is {missing}? My number is 555-0100", "where is my money"):
        visit.open("/search?" + urlencode({"q": text}))
        visit.forgive(404)
        visit.forgive(400)
    assert [each["path"] for each in stored(visit.page)["looked-up"]] == [f"/search?q={missing}"]
    visit.open("/")
    assert shown(visit.page, "Recent") == [missing]
    assert "Jane" not in visit.page.content()


@pytest.mark.programs
def test_recent_searches_can_be_turned_off(visit: Visit) -> None:
    page = visit.page
    visit.open(some_intent(visit, 2))
    visit.open("/saved")
    page.get_by_label("Don't save recent searches").check()
    assert shown(page, "Recent") == []
    visit.open(some_intent(visit, 8))
    assert stored(page)["looked-up"] == []
    visit.open("/saved")
    expect(page.get_by_label("Don't save recent searches")).to_be_checked()


def test_a_star_is_set_and_removed_and_other_tabs_follow(visit: Visit) -> None:
    page, other = visit.page, visit.page.context.new_page()
    visit.open(some_intent(visit, 2))
    other.goto(visit.root + "/saved")
    star = page.locator("[data-star]")
    expect(star).to_have_accessible_name("Star")
    star.click()
    expect(star).to_have_attribute("aria-pressed", "true")
    expect(star).to_have_accessible_name("Starred")
    assert filled(star)
    expect(other.get_by_role("region", name="Starred").locator("li a")).to_have_count(1)
    page.reload()
    expect(star).to_have_attribute("aria-pressed", "true")
    other.get_by_role("region", name="Starred").get_by_role("button", name="Remove").click()
    expect(star).to_have_attribute("aria-pressed", "false")
    expect(star).to_have_accessible_name("Star")
    assert not filled(star)


def filled(button: Locator) -> bool:
    """Return whether the middle of its icon is filled, unlike its corner."""
    icon = Image.open(BytesIO(button.locator(".icon").screenshot())).convert("RGB")
    return icon.getpixel((icon.width // 2, icon.height // 2)) != icon.getpixel((0, 0))


@pytest.mark.slow
def test_saved_items_are_cleared(visit: Visit) -> None:
    page = visit.page
    visit.open(some_intent(visit, 8))
    page.get_by_role("button", name="Star").click()
    page.get_by_role("button", name="Toggle dark mode").click()
    show_times(page, "Unix")
    visit.open("/saved")
    before = stored(page)
    page.get_by_role("button", name="Clear all").click()
    page.get_by_role("button", name="Cancel").click()
    assert stored(page) == before
    page.get_by_role("button", name="Clear all").click()
    with page.expect_navigation():
        page.get_by_role("dialog").get_by_role("button", name="Clear all").click()
    expect(page.get_by_text("Nothing saved yet")).to_be_visible()
    expect(page.locator("html")).not_to_have_attribute("data-theme", "dark")
    assert stored(page) == {}


@pytest.mark.programs
def test_the_limit_of_stars_is_said_and_none_is_dropped(visit: Visit) -> None:
    page = visit.page
    visit.open("/saved")
    starred = [{"path": f"/intent/0x{number}", "name": str(number), "at": 1} for number in range(200)]
    page.evaluate("starred => localStorage.starred = JSON.stringify(starred)", starred)
    visit.open(some_intent(visit, 8))
    page.get_by_role("button", name="Star").click()
    expect(page.get_by_text("Limit of 200 reached. Remove a starred item first.")).to_be_visible()
    assert stored(page)["starred"] == starred


@pytest.mark.programs
def test_a_stored_link_to_another_site_is_not_shown(visit: Visit) -> None:
    paths = ("//site.example/intent/0x12", "javascript:0/intent/0x1", "/intent/0x2")
    visit.open("/saved")
    starred = [{"path": path, "name": path, "at": 1} for path in paths]
    visit.page.evaluate("starred => localStorage.starred = JSON.stringify(starred)", starred)
    visit.open("/saved")
    assert shown(visit.page, "Starred") == ["/intent/0x2"]


@pytest.mark.slow
def test_unreadable_local_storage_breaks_no_page(visit: Visit) -> None:
    page = visit.page
    intent = some_intent(visit, 2)
    visit.open("/saved")
    for broken in ("{", "[1, null, {}]"):
        page.evaluate(
            "broken => ['looked-up', 'starred', 'followed'].forEach(each => localStorage[each] = broken)",
            broken,
        )
        for path in ("/saved", intent):
            visit.open(path)
    expect(page.get_by_role("button", name="Star")).to_have_attribute("aria-pressed", "false")


@pytest.mark.programs
def test_without_local_storage_every_page_works_and_says_so(visit: Visit) -> None:
    page = visit.page
    visit.page.add_init_script(REFUSING)
    visit.open(some_intent(visit, 2))
    page.get_by_role("button", name="Star").click()
    expect(page.locator("#said")).to_contain_text("Browser storage is full or blocked")
    expect(page.get_by_role("button", name="Star")).to_have_attribute("aria-pressed", "false")
    visit.open("/saved")
    expect(page.get_by_text("nothing can be saved")).to_be_visible()


@pytest.mark.slow
def test_saved_transfers_show_their_status(visit: Visit) -> None:
    page = visit.page
    failed, delivered = some_intent(visit, 25), some_intent(visit, 2)
    for path in (failed, delivered):
        visit.open(path)
        page.get_by_role("button", name="Star").click()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/saved/" in request.url else None)
    for path in ("/", "/saved"):
        visit.open(path)
        row = page.get_by_role("region", name="Starred").locator("li", has=page.locator(f"a[href='{failed}']"))
        expect(row.locator(".status")).to_have_text("Failed")
        expect(row.locator(".row-headline")).to_have_text("Refund failed")
        expect(row.locator("a")).to_contain_text("Quoted: 149.")
        page.set_viewport_size({"width": 360, "height": 800})
        assert fits(page)
        page.set_viewport_size({"width": 1280, "height": 900})
    ids = {path.removeprefix("/intent/") for path in (failed, delivered)}
    for url in asked:
        assert set(re.findall(r"(?:\?|&)id=([^&]+)", url)) <= ids
        assert not re.sub(r"(?:\?|&)id=[^&]+", "", url).partition("/saved/status")[2]


@pytest.mark.slow
def test_a_saved_transfer_whose_status_is_not_loaded_says_so(visit: Visit) -> None:
    page = visit.page
    intent = some_intent(visit, 25)
    visit.open(intent)
    page.get_by_role("button", name="Star").click()
    name = stored(page)["starred"][0]["name"]  # type: ignore[index]  # what is stored is any JSON
    page.route("**/saved/status*", lambda route: route.fulfill(status=503))
    visit.open("/saved")
    row = page.get_by_role("region", name="Starred").locator("li")
    expect(row.get_by_text("Status not loaded")).to_be_visible()
    expect(row.locator("a")).to_have_text(name)
    visit.forgive(503)


def test_a_new_status_leaves_the_focus_on_the_button_of_a_row(visit: Visit) -> None:
    page = visit.page
    visit.page.clock.install()
    visit.open(some_intent(visit, 2))
    page.get_by_role("button", name="Star").click()
    word = "Executing"

    def answer(route: Route) -> None:
        again = f'<span hx-get="{route.request.url}" hx-trigger="every 10s" hx-target="closest .saved-status"></span>'
        route.fulfill(content_type="text/html", body=word + again)

    page.route("**/saved/status*", answer)
    visit.open("/saved")
    row = page.get_by_role("region", name="Starred").locator("li")
    expect(row.locator(".saved-status")).to_have_text("Executing")
    row.get_by_role("button").focus()
    word = "Succeeded"
    page.clock.run_for(10_000)
    expect(row.locator(".saved-status")).to_have_text("Succeeded")
    expect(row.get_by_role("button")).to_be_focused()
