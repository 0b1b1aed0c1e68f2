"""Charts show the values under the pointer, which are those of their table."""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import fits, visiting


@pytest.mark.browser
def test_a_chart_shows_the_values_under_the_pointer(browser: Browser, server: str) -> None:
    with visiting(browser, server, width=360) as visit:
        page = visit.page
        visit.open("/insight/route/RELAY/8453/42161")
        page.get_by_text("Table of hours").click()
        rows = page.locator(".series tbody tr")
        for chart, labels in ((0, ("Delivered", "Success rate")), (1, ("Median", "p95"))):
            drawing = page.locator(".chart > svg").nth(chart)
            drawing.scroll_into_view_if_needed()
            box = drawing.bounding_box()
            assert box
            # The third of the hours, which the table has from the newest on.
            at = [box["x"] + box["width"] * 2.5 / rows.count(), box["y"] + 60]
            told = page.evaluate("([x, y]) => document.elementFromPoint(x, y).querySelector('title').textContent", at)
            row = rows.nth(rows.count() - 3)
            utc = row.locator("time").get_attribute("datetime")
            assert utc
            date = "" if utc[:10] == datetime.now(UTC).date().isoformat() else f"{utc[:10]} "  # only of other days
            assert told.startswith(f"{date}{utc[11:16]} UTC: ")
            for label in labels:
                cell = row.locator(f"[data-label='{label}']").inner_text()
                assert f"{label} {cell}".lower() in told.lower()
            assert fits(page)
