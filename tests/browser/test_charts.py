"""Charts show the values under the pointer, which are those of their table."""

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import fits, visiting


@pytest.mark.browser
def test_a_chart_shows_the_values_under_the_pointer(browser: Browser, server: str) -> None:
    with visiting(browser, server, width=360) as visit:
        page = visit.page
        visit.open("/insight/route/RELAY/8453/42161")
        page.get_by_text("Table of hours").click()
        rows = page.locator(".series tbody tr")
        for chart, labels in ((0, ("Delivered", "Success rate")), (1, ("Median", "p95"))):
            drawing, value = page.locator("svg[data-values]").nth(chart), page.locator(".chart-value").nth(chart)
            drawing.scroll_into_view_if_needed()
            box = drawing.bounding_box()
            assert box
            # The third of the hours, which the table has from the newest on.
            page.mouse.move(box["x"] + box["width"] * 2.5 / rows.count(), box["y"] + 60)
            row = rows.nth(rows.count() - 3)
            cells = [row.locator(f"[data-label='{label}']").inner_text() for label in labels]
            told = ", ".join(f"{label} {cell}" for label, cell in zip(labels, cells, strict=True))
            expect(value).to_have_text(f"{row.locator('th').inner_text()}: {told}")
            assert re.search(r"\d", told)
            assert fits(page)
        page.mouse.move(1, 1)
        expect(page.locator(".chart-value").filter(has_text=re.compile(r"\S"))).to_have_count(0)
