"""A list as a file, in a real browser: menu, download, progress and Cancel."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Download, Page, expect

from intents_ui.emulator import names
from intents_ui.emulator.names import Role
from tests.browser.conftest import fits, visiting
from tests.exported import KINDS, Exported, read
from tests.serving import dashboard, free_port, running

pytestmark = pytest.mark.browser

NAMES = {"csv": "CSV", "json": "JSON", "ndjson": "NDJSON"}


@pytest.fixture(scope="module")
def slow() -> Iterator[str]:
    """Yield a dashboard with a service that takes 0.3 s per page."""
    port = free_port()
    command = ("-m", "intents_ui.emulator", "--port", str(port), "--fault", "GetIntentHistory=slow-0.3")
    with (
        running(*command, url=f"http://127.0.0.1:{port}") as url,
        dashboard(INTENTS_SERVICE_URL=url, SECRET_KEY="a key of the test") as root,
    ):
        yield root


def content(download: Download) -> bytes:
    return Path(download.path()).read_bytes()


def exported(download: Download) -> Exported:
    return read(download.suggested_filename.rpartition(".")[2], content(download))


def follow(page: Page, kind: str) -> Download:
    """Follow a link of the menu, which then closes."""
    page.locator("summary", has_text="Export").click()
    with page.expect_download() as coming:
        page.get_by_role("link", name=re.compile(f"^{NAMES[kind]} ")).click()
    return coming.value


@pytest.mark.parametrize(
    ("path", "theme", "width"), [("/history?status=FAILED", "light", 360), ("/history?recoverable=1", "dark", 1280)]
)
def test_a_list_is_downloaded_in_each_format_and_its_end_announced(
    browser: Browser, server: str, path: str, theme: str, width: int
) -> None:
    with visiting(browser, server, theme=theme, width=width) as visit:
        page = visit.page
        visit.open(path)
        page.locator("summary", has_text="Export").click()
        expect(page.get_by_text("Up to 10,000 rows")).to_be_visible()
        assert fits(page)
        page.locator("summary", has_text="Export").click()
        for kind in KINDS:
            found = exported(follow(page, kind))
            assert found.state == "complete"
            said = f"Complete: {found.counted} rows"
            expect(page.get_by_role("group", name=f"{NAMES[kind]} export")).to_contain_text(said)
            expect(page.locator("#said")).to_have_text(said)
        expect(page.get_by_role("button", name="Stop")).to_have_count(0)
        assert page.url == server + path


def test_a_user_watches_the_export_and_cancels_it(browser: Browser, slow: str) -> None:
    with visiting(browser, slow, theme="dark", width=1280) as visit:
        page = visit.page
        visit.open("/history")
        download = follow(page, "csv")
        expect(page.locator(".export-menu")).to_be_hidden()
        expect(page.locator("summary", has_text="Export")).to_be_focused()
        shown = page.locator(".export-standing")
        expect(shown).to_have_text(re.compile(r"^[1-9]00 rows so far$"))
        stop = page.get_by_role("button", name="Stop")
        stop.focus()
        before = shown.inner_text()
        expect(shown).not_to_have_text(before)
        expect(stop).to_be_focused()
        page.keyboard.press("Enter")
        expect(shown).to_have_text(re.compile(r"^Stopped after \d{3} rows$"))
        expect(stop).to_have_count(0)
        expect(page.get_by_role("group", name="CSV export")).to_be_focused()
        found = exported(download)
        assert (found.state, found.why) == ("truncated", "canceled by user")
        assert f"Stopped after {found.counted} rows" == shown.inner_text()
        assert len(found.rows) == found.counted


def test_a_repeated_click_on_a_link_works(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        visit.open("/history?recoverable=1")
        for _ in range(2):
            assert exported(follow(visit.page, "csv")).state == "complete"
            expect(visit.page.locator("#said")).to_have_text(re.compile("Complete"))
            expect(visit.page.locator(".export-run")).to_have_count(1)


def test_paging_keeps_a_running_exports_counter_and_cancel_button(browser: Browser, slow: str) -> None:
    with visiting(browser, slow, theme="light", width=360) as visit:
        page = visit.page
        visit.open("/history")
        download = follow(page, "ndjson")
        shown, stop = page.locator(".export-standing"), page.get_by_role("button", name="Stop")
        expect(shown).to_have_text(re.compile("rows so far$"))
        page.get_by_role("link", name="Older →").click()
        expect(page).to_have_url(re.compile("cursor="))
        expect(page.get_by_role("link", name="← Newer")).to_be_visible()
        expect(stop).to_be_in_viewport()
        heading = page.get_by_role("heading", level=1).bounding_box()
        bar = page.locator(".export-runs").bounding_box()
        assert heading
        assert bar
        assert heading["y"] >= bar["y"] + bar["height"]
        before = shown.inner_text()
        expect(shown).not_to_have_text(before)
        page.go_back()
        expect(page.get_by_role("link", name="← Newer")).to_have_count(0)
        stop.click()
        expect(shown).to_have_text(re.compile("^Stopped after"))
        assert exported(download).why == "canceled by user"


def test_an_owners_page_keeps_an_exports_result(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        page = visit.page
        visit.open(f"/address/{names.address_of(Role.OWNER, 0)}")
        follow(page, "json")
        shown = page.get_by_role("group", name="JSON export")
        expect(shown).to_contain_text("Complete")
        page.get_by_role("link", name="Older").first.click()
        expect(page).to_have_url(re.compile("cursor="))
        expect(page.locator("#list :is(h1, h2)").first).to_be_focused()
        expect(shown).to_contain_text("Complete")


def test_an_export_that_cannot_start_is_a_page_not_a_file(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        visit.open("/export/history.csv?status=LOST")
        expect(visit.page.get_by_role("heading", level=1)).to_have_text("Invalid filters")
        visit.forgive(400)


def test_without_scripts_the_link_downloads_and_another_shows_the_progress(browser: Browser, slow: str) -> None:
    with visiting(browser, slow, theme="light", width=360, scripts=False) as visit:
        page = visit.page
        visit.open("/history")
        download = follow(page, "csv")
        page.get_by_role("link", name="View progress").first.click()
        expect(page.get_by_text(re.compile("rows so far"))).to_be_visible()
        page.get_by_role("button", name="Stop").click()
        # The page refreshes automatically.
        expect(page.get_by_text(re.compile("Stopped after"))).to_be_visible()
        assert exported(download).why == "canceled by user"


def test_the_menu_closes_after_a_selection(browser: Browser, server: str) -> None:
    with visiting(browser, server, theme="light", width=1280) as visit:
        visit.open("/history")
        page, menu = visit.page, visit.page.locator(".export-menu")
        button = page.locator("summary", has_text="Export")
        button.click()
        expect(menu).to_be_visible()
        page.get_by_role("heading", level=1).click()
        expect(menu).to_be_hidden()
        button.click()
        expect(menu).to_be_visible()
        page.keyboard.press("Escape")
        expect(menu).to_be_hidden()
        expect(button).to_be_focused()
