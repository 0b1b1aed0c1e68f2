"""Saved items in the browser: recent, starred and labeled; exported, imported and cleared."""

import json
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.browser.conftest import Visit, fits, some_intent, visiting

pytestmark = pytest.mark.browser

LABEL = "<b>customer</b> 4711"
OTHER = "0x" + "ab" * 20
REFUSING = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };"


@pytest.fixture
def visit(browser: Browser, server: str) -> Iterator[Visit]:
    with visiting(browser, server, theme="light", width=1280) as visit:
        yield visit


def stored(page: Page) -> dict[str, object]:
    kept: dict[str, str] = page.evaluate("({ ...localStorage })")
    return {name: json.loads(value) for name, value in kept.items()}


def shown(page: Page, title: str) -> list[str]:
    return page.get_by_role("region", name=title, exact=True).locator("li a").all_inner_texts()


def owner_of(visit: Visit, intent: str) -> str:
    visit.open(intent)
    return str(visit.page.locator("main a[href^='/address/']").first.get_attribute("href"))


def label(page: Page, words: str) -> None:
    page.locator("summary", has_text="Label").click()
    page.get_by_label("Your label for this address").fill(words)
    page.get_by_role("button", name="Save", exact=True).click()


def test_nothing_is_saved_before_the_first_lookup(visit: Visit) -> None:
    for path in ("/", "/history", "/saved", "/search", "/intent/0x" + "12" * 32):
        visit.open(path)
        assert stored(visit.page) == {}
    visit.forgive(404)
    visit.open("/")
    expect(visit.page.get_by_role("heading", name="Recent", exact=True)).to_be_hidden()


def test_recent_lookups_are_on_the_home_page_once_newest_first(visit: Visit) -> None:
    first, second = some_intent(visit, 2), some_intent(visit, 8)
    for path in (first, second, "/search?q=0x12", first):
        visit.open(path)
    visit.forgive(404)
    visit.open("/")
    links = visit.page.get_by_role("region", name="Recent", exact=True).locator("li a")
    assert links.evaluate_all("links => links.map(link => link.getAttribute('href'))") == [
        first,
        "/search?q=0x12",
        second,
    ]
    links.nth(2).click()
    expect(visit.page).to_have_url(visit.root + second)


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


def test_a_label_is_next_to_its_address_on_every_page(visit: Visit) -> None:
    page = visit.page
    intent = some_intent(visit, 8)
    owner = owner_of(visit, intent)
    address = owner.removeprefix("/address/")
    visit.open(owner)
    label(page, LABEL)
    expect(page.locator("summary", has_text="Label")).to_be_focused()
    expect(page.locator("h1 + p .own-label")).to_have_text(LABEL)
    for path in (intent, f"/history?owner={address}", f"/search?owner={address}", "/"):
        visit.open(path)
        expect(page.locator(f"[data-address='{address}'] > .own-label").first).to_have_text(LABEL)
    # On a phone it makes nothing wider than the screen.
    page.set_viewport_size({"width": 360, "height": 800})
    visit.open(f"/history?owner={address}")
    expect(page.locator(".own-label").first).to_be_visible()
    assert fits(page)
    visit.open(owner)
    label(page, "")
    expect(page.locator(".own-label")).to_have_count(0)


def test_a_label_survives_a_live_update(visit: Visit) -> None:
    page = visit.page
    owner = owner_of(visit, some_intent(visit, 8))
    visit.open(f"/history?owner={owner.removeprefix('/address/')}")
    page.evaluate("address => savedItems.label(address, 'mine')", owner.removeprefix("/address/"))
    expect(page.locator("main .own-label").first).to_have_text("mine")
    page.get_by_role("link", name="Balances: hidden").click()
    page.wait_for_url("**balances**")
    expect(page.locator("#list .own-label").first).to_have_text("mine")


def test_saved_items_are_exported_cleared_and_imported(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    intent = some_intent(visit, 8)
    owner = owner_of(visit, intent)
    page.get_by_role("button", name="Star").click()
    visit.open(owner)
    label(page, LABEL)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Toggle dark mode").click()
    page.get_by_label("Unix").check()
    visit.open("/saved")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    saved = tmp_path / "kept.json"
    download.value.save_as(saved)
    before = stored(page)
    page.get_by_role("button", name="Clear all").click()
    page.get_by_role("button", name="Cancel").click()
    assert stored(page) == before
    page.get_by_role("button", name="Clear all").click()
    with page.expect_navigation():
        page.get_by_role("dialog").get_by_role("button", name="Clear all").click()
    expect(page.get_by_text("No starred items")).to_be_visible()
    expect(page.locator("html")).not_to_have_attribute("data-theme", "dark")
    assert stored(page) == {}
    page.get_by_label("Import").set_input_files(saved)
    expect(page.locator("#book-said")).to_have_text("Imported 1 starred, 2 recent, 0 views, 1 label.")
    again = stored(page)
    assert [again[name] for name in ("starred", "looked-up", "labels")] == [
        before[name] for name in ("starred", "looked-up", "labels")
    ]


def test_an_imported_file_is_merged_without_its_invalid_entries(visit: Visit) -> None:
    page = visit.page
    visit.open("/saved")
    page.evaluate("address => savedItems.label(address, 'mine')", OTHER)
    page.evaluate("savedItems.add('starred', { path: '/intent/0x1', name: 'one', at: 1 })")
    good = {"path": "/intent/0x2", "name": "<img src=x onerror=alert(1)>", "at": 2, "more": "x"}
    bad: list[object] = [
        {"path": "javascript:alert(1)", "name": "x", "at": 3},
        {"path": "//evil.example/intent/0x1", "name": "x", "at": 3},
        {"path": "/intent/0x3", "name": 7, "at": 3},
        None,
    ]
    file = {
        "kind": "intents-ui/kept",
        "version": 1,
        "starred": [good, *bad],
        "views": [{"path": "/history?status=FAILED", "name": "Failed", "at": 3}],
        "labels": {OTHER: "theirs", "0x" + "cd" * 20: "x" * 500, "__proto__": "y", "0x" + "ef" * 20: 7},
    }
    give(page, json.dumps(file))
    expect(page.locator("#book-said")).to_contain_text(
        "Imported 1 starred, 0 recent, 1 view, 2 labels. 6 entries were skipped."
    )
    assert shown(page, "Starred") == ["<img src=x onerror=alert(1)>", "one"]
    assert shown(page, "Views") == ["Failed"]
    assert stored(page)["labels"] == {OTHER: "mine", "0x" + "cd" * 20: "x" * 60}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("not json", "isn't a saved-items export"),
        ("null", "isn't a saved-items export"),
        ('{"kind": "other"}', "isn't a saved-items export"),
        (" " * 2_000_001, "larger than 2 MB"),
    ],
    ids=["no JSON", "null", "another kind", "too large"],
)
def test_a_bad_file_is_explained_and_changes_nothing(visit: Visit, text: str, why: str) -> None:
    visit.open("/saved")
    before = stored(visit.page)
    give(visit.page, text)
    expect(visit.page.locator("#book-said")).to_contain_text(why)
    expect(visit.page.locator("#book-said")).to_contain_text("Nothing was changed")
    assert stored(visit.page) == before


def give(page: Page, text: str) -> None:
    page.get_by_label("Import").set_input_files(
        {"name": "kept.json", "mimeType": "application/json", "buffer": text.encode()}
    )


def test_lists_are_bounded(visit: Visit) -> None:
    visit.open("/saved")
    add = """([list, many]) => {
      let problem;
      for (let n = 0; n < many; n++) problem = savedItems.add(list, { path: `/intent/0x${n}`, name: "x", at: 1 });
      return problem;
    }"""
    assert visit.page.evaluate(add, ["looked-up", 60]) == ""
    assert len(shown(visit.page, "Recent")) == 50
    assert visit.page.evaluate(add, ["starred", 201]) == "Limit of 200 reached. Remove a starred item first."


def test_unreadable_local_storage_breaks_no_page(visit: Visit) -> None:
    page = visit.page
    intent = some_intent(visit, 2)
    visit.open("/saved")
    for broken in ("{", '"x"', "[1, null, {}]", '{"a": {}}', "7"):
        page.evaluate(
            "broken => ['looked-up', 'starred', 'labels', 'followed'].forEach(each => localStorage[each] = broken)",
            broken,
        )
        for path in ("/saved", "/", intent):
            visit.open(path)
    expect(page.get_by_role("button", name="Star")).to_have_attribute("aria-pressed", "false")


def test_without_local_storage_every_page_works_and_says_so(visit: Visit) -> None:
    page = visit.page
    page.add_init_script(REFUSING)
    visit.open(some_intent(visit, 2))
    page.get_by_role("button", name="Star").click()
    expect(page.locator("#said")).to_contain_text("Browser storage is full or blocked")
    expect(page.get_by_role("button", name="Star")).to_have_attribute("aria-pressed", "false")
    visit.open("/saved")
    expect(page.get_by_text("nothing can be saved")).to_be_visible()


def test_without_scripts_the_page_says_what_scripts_would_do(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=360, scripts=False) as visit:
        visit.open("/saved")
        expect(visit.page.get_by_text("This page requires JavaScript")).to_be_visible()
        assert visit.page.get_by_role("button").all() == []


def test_labels_are_not_printed(visit: Visit) -> None:
    page = visit.page
    owner = owner_of(visit, some_intent(visit, 8))
    visit.open(owner)
    label(page, LABEL)
    expect(page.locator("h1 + p .own-label")).to_be_visible()
    page.emulate_media(media="print")
    assert not page.locator(".own-label").locator("visible=true").all()
    assert not page.get_by_role("button", name="Star").is_visible()


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
        expect(row.locator("[data-headline]")).to_have_text("Refund failed")
        expect(row.locator("a")).to_contain_text("Quoted: 149.")
        page.set_viewport_size({"width": 360, "height": 800})
        assert fits(page)
        page.set_viewport_size({"width": 1280, "height": 900})
    ids = {path.removeprefix("/intent/") for path in (failed, delivered)}
    for url in asked:
        assert set(re.findall(r"(?:\?|&)id=([^&]+)", url)) <= ids
        assert not re.sub(r"(?:\?|&)id=[^&]+", "", url).partition("/saved/status")[2]


def test_followed_transfers_are_on_the_home_page_and_open_ones_stay_current(visit: Visit) -> None:
    page = visit.page
    page.clock.install()
    visit.open("/demo")
    moving = str(page.get_by_role("link", name="Live transfer of scenario 11").get_attribute("href"))
    closed = some_intent(visit, 2)
    visit.open(moving)
    page.get_by_role("button", name="Follow").click()
    page.evaluate("path => savedItems.add('followed', { path, name: 'x', at: 1 })", closed)
    answers = iter(["Executing", "Failed"])
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        is_open = "data-open" if len(asked) == 1 else ""
        one = f'<div data-status-of="{moving.removeprefix("/intent/")}" {is_open}>{next(answers)}</div>'
        other = f'<div data-status-of="{closed.removeprefix("/intent/")}">Succeeded</div>'
        route.fulfill(body=one + (other if len(asked) == 1 else ""))

    page.route("**/saved/status*", answer)
    visit.open("/")
    rows = page.get_by_role("region", name="Followed").locator(".saved-status")
    expect(rows).to_have_text(["Succeeded", "Executing"])
    page.clock.run_for(10_000)
    expect(rows).to_have_text(["Succeeded", "Failed"])
    page.clock.run_for(20_000)
    assert [url.count("id=") for url in asked] == [2, 1]
    assert moving.removeprefix("/intent/") in asked[1]


def test_a_saved_transfer_whose_status_is_not_loaded_says_so(visit: Visit) -> None:
    page = visit.page
    intent = some_intent(visit, 25)
    visit.open(intent)
    page.get_by_role("button", name="Star").click()
    name = stored(page)["starred"][0]["name"]  # type: ignore[index]  # what is stored is any JSON
    page.route("**/saved/status*", lambda route: route.fulfill(status=503))
    visit.open("/saved")
    row = page.get_by_role("region", name="Starred").locator("li")
    expect(row.locator(".saved-status")).to_have_text("Status not loaded")
    expect(row.locator("a")).to_have_text(name)
    visit.forgive(503)


def test_statuses_are_requested_for_at_most_twenty_rows_per_request(visit: Visit) -> None:
    page = visit.page
    visit.open("/saved")
    asked: list[int] = []
    page.on("request", lambda request: asked.append(request.url.count("id=")) if "/saved/" in request.url else None)
    page.set_viewport_size({"width": 1280, "height": 6000})
    page.evaluate("""() => {
      const id = (n) => "0x" + String(n).padStart(64, "0");
      for (let n = 0; n < 45; n++) savedItems.add("starred", { path: `/intent/${id(n)}`, name: "x", at: 1 });
    }""")
    page.reload()
    expect(page.locator(".saved-status", has_text="Status not loaded:")).to_have_count(45)
    assert sum(asked) >= 45
    assert max(asked) <= 20
