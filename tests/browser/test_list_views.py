"""Row height, columns and saved views of lists, and their width on a wide screen."""

import json

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import FITS, Visit, fits, visiting, wait_until

pytestmark = pytest.mark.browser

ROWS = "tr[id^=row-]"
HIGHEST_ROW = 36  # pixels
# Whether the page has it when its body begins, so before anything is painted.
AT_FIRST_PAINT = """new MutationObserver((_, observer) => {
  if (!document.body) return;
  observer.disconnect();
  sessionStorage.setItem("early", JSON.stringify({ ...document.documentElement.dataset }));
}).observe(document, { childList: true, subtree: true })"""
EVERY_COLUMN = ["Recipient", "Duration", "Failure reason", "Intent ID"]
NAME = "<b>Failed</b> & stuck"


def compact(page: Page) -> Locator:
    return page.get_by_role("button", name="Compact rows")


def choose(page: Page, *columns: str) -> None:
    page.locator("summary", has_text="Columns").click()
    for column in columns:
        page.get_by_role("checkbox", name=column).click()
    with page.expect_navigation():
        page.get_by_role("button", name="Apply").locator("visible=true").click()


def views(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Saved views").get_by_role("link")


def save_view(page: Page, name: str, menu: str = "Save view") -> None:
    page.locator("summary", has_text=menu).click()
    page.get_by_label("Name of this view").fill(name)
    page.keyboard.press("Enter")


@pytest.mark.slow
def test_twenty_compact_rows_fit_a_laptop_screen_with_the_header(visit: Visit) -> None:
    page = visit.page
    visit.open("/history?status=FAILED&status=SUCCEEDED")
    before = page.locator(ROWS).last.bounding_box()
    assert before
    assert before["y"] > 900
    compact(page).click()
    boxes = [row.bounding_box() for row in page.locator(ROWS).all()]
    assert len(boxes) == 20
    assert all(box and box["height"] <= HIGHEST_ROW for box in boxes)
    assert boxes[-1]
    assert boxes[-1]["y"] + boxes[-1]["height"] <= 900
    headline = page.locator(".row-headline").first
    assert headline.get_attribute("title") == headline.text_content()
    assert fits(page)


def test_columns_and_row_height_are_kept_and_applied_before_the_first_paint(visit: Visit) -> None:
    page = visit.page
    visit.page.add_init_script(AT_FIRST_PAINT)
    visit.open("/history?status=FAILED")
    expect(page.get_by_role("columnheader", name="Intent ID")).to_have_count(0)
    choose(page, "Intent ID", "Provider")
    compact(page).click()
    for path in ("/history?status=FAILED", "/"):
        visit.open(path)
        expect(page.get_by_role("columnheader", name="Intent ID")).to_be_visible()
        expect(page.get_by_role("columnheader", name="Provider")).to_have_count(0)
        early = json.loads(page.evaluate("sessionStorage.early"))
        assert early["density"] == "compact"
    visit.open("/history")
    expect(compact(page)).to_have_attribute("aria-pressed", "true")
    page.locator("summary", has_text="Columns").click()
    expect(page.get_by_role("checkbox", name="Intent ID")).to_be_checked()
    expect(page.get_by_role("checkbox", name="Provider")).not_to_be_checked()


@pytest.mark.slow
def test_a_list_with_every_column_fits_every_screen(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="dark") as visit:
        page = visit.page
        visit.open("/history?balances=1")
        choose(page, *EVERY_COLUMN)
        for width in (360, 900, 1280, 1920):
            page.set_viewport_size({"width": width, "height": 900})
            for _ in range(2 if width > 900 else 1):
                expect(page.locator("td[data-column='Intent ID']").last).to_be_visible()
                wait_until(page, FITS)
                if width > 900:
                    compact(page).click()


@pytest.mark.slow
def test_the_header_of_a_list_stays_in_view(visit: Visit) -> None:
    page = visit.page
    visit.open("/history")
    page.locator(ROWS).last.scroll_into_view_if_needed()
    head = page.get_by_role("columnheader", name="Status").bounding_box()
    assert head
    assert head["y"] == pytest.approx(0, abs=1)
    page.locator(f"{ROWS} .row-link").nth(5).focus()
    link = page.locator(f"{ROWS} .row-link").nth(5).bounding_box()
    assert link
    assert link["y"] >= head["height"]


@pytest.mark.programs
def test_a_view_is_saved_opened_renamed_and_removed(visit: Visit) -> None:
    page = visit.page
    visit.open("/history")
    expect(page.get_by_text("Save view")).to_have_count(0)
    visit.open("/history?status=FAILED")
    save_view(page, NAME)
    expect(views(page)).to_have_text([NAME])
    expect(views(page)).to_have_attribute("aria-current", "page")
    expect(page.locator("summary", has_text="Saved view")).to_be_focused()
    visit.open("/history?status=SUCCEEDED&size=10")
    save_view(page, "Done")
    expect(views(page)).to_have_text([NAME, "Done"])

    # A list that only its part replaces has them, too.
    page.get_by_role("link", name="Older →").click()
    expect(page.get_by_role("link", name="← Newer")).to_be_visible()
    expect(page.locator(".views [aria-current]")).to_have_text("Done")
    page.get_by_role("link", name="Remove filter: Status: succeeded").click()
    expect(page).to_have_url(f"{visit.root}/history?size=10")
    expect(views(page)).to_have_count(2)
    expect(page.locator(".views [aria-current]")).to_have_count(0)

    views(page).filter(has_text="stuck").click()
    expect(page).to_have_url(f"{visit.root}/history?status=FAILED")
    save_view(page, "Stuck", menu="Saved view")
    expect(views(page)).to_have_text(["Done", "Stuck"])
    page.locator("summary", has_text="Saved view").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(views(page)).to_have_text(["Done"])
    visit.open("/saved")
    page.get_by_role("button", name="Remove view: Done").click()
    visit.open("/history")
    expect(page.get_by_role("navigation", name="Saved views")).to_be_hidden()


@pytest.mark.programs
def test_only_paths_of_the_history_become_views(visit: Visit) -> None:
    paths = [
        "javascript:alert(1)",
        "//evil.example/history?a=1",
        "/history?a=1\n",
        "/console?x=1",
        "/history?status=FAILED",
    ]
    visit.open("/saved")
    visit.page.evaluate(
        "paths => storage.write('views', paths.map((path) => ({ path, name: 'x'.repeat(500), at: 1 })))", paths
    )
    visit.open("/history")
    expect(views(visit.page)).to_have_count(1)
    expect(views(visit.page)).to_have_attribute("href", "/history?status=FAILED")
    assert len(views(visit.page).inner_text()) <= 120
    assert fits(visit.page)
