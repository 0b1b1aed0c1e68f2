"""A list as a file, in a real browser: menu, download, progress and Cancel."""

import re
from pathlib import Path
from threading import Semaphore

import pytest
from playwright.sync_api import Browser, Download, Page, expect

from tests.browser.conftest import Troubled, fits, visiting
from tests.exported import KINDS, Exported, read
from tests.faults.upstream import Upstream
from tests.service import scripted_server

pytestmark = pytest.mark.browser

NAMES = {"csv": "CSV", "json": "JSON", "ndjson": "NDJSON"}


class Throttle:
    """A fault: it holds each response of the history until the test lets it pass."""

    def __init__(self, service: Upstream) -> None:
        self._service = service
        self._passes = Semaphore(0)
        service.inject(self._wait, "GetIntentHistory")

    def open(self, responses: int) -> None:
        self._passes.release(responses)

    def _wait(self, visit: scripted_server.Visit) -> None:
        while not self._passes.acquire(timeout=0.05):
            if visit.closing.is_set():
                return
        self._service.pass_on(visit)


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


def test_a_list_is_downloaded_in_each_format_and_its_end_announced(browser: Browser, server: str) -> None:
    with visiting(browser, server, width=360) as visit:
        page = visit.page
        visit.open("/history?status=FAILED")
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
        assert page.url == f"{server}/history?status=FAILED"


@pytest.mark.programs
def test_a_user_watches_an_export_pages_on_and_stops_it(browser: Browser, troubled: Troubled) -> None:
    with visiting(browser, troubled.root, theme="dark", width=360) as visit:
        page = visit.page
        visit.open("/history")
        shown, stop = page.locator(".export-standing"), page.get_by_role("button", name="Stop")
        throttle = Throttle(troubled.service)
        throttle.open(1)
        download = follow(page, "csv")
        expect(page.locator(".export-menu")).to_be_hidden()
        expect(page.locator("summary", has_text="Export")).to_be_focused()
        expect(shown).to_have_text("100 rows so far")
        stop.focus()
        throttle.open(1)
        expect(shown).to_have_text("200 rows so far")
        expect(stop).to_be_focused()

        troubled.service.clear_faults()
        page.get_by_role("link", name="Older →").click()
        expect(page.get_by_role("link", name="← Newer")).to_be_visible()
        expect(stop).to_be_in_viewport()
        stop.focus()
        page.keyboard.press("Enter")
        expect(shown).to_have_text(re.compile(r"^Stopped after \d+ rows$"))
        expect(stop).to_have_count(0)
        expect(page.get_by_role("group", name="CSV export")).to_be_focused()
        found = exported(download)
        assert (found.state, found.why) == ("truncated", "canceled by user")
        assert f"Stopped after {found.counted} rows" == shown.inner_text()
        assert len(found.rows) == found.counted
