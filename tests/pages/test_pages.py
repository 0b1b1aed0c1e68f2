"""Pages of one transfer, and small pages: the table is `pages.toml`."""

import html
import re

import pytest

from tests.pages.cases import cases


@pytest.mark.parametrize("case", cases("pages"))
def test_a_page_says(pages, case):
    pages.check(case)


@pytest.mark.parametrize("scenario", [2, 8, 20, 28])
def test_a_saved_transfer_has_the_name_it_was_saved_with(site, emulator, scenario):
    intent_id = emulator.finished(scenario)["intentId"]
    saved = re.search(r'data-name="([^"]+)"', site.get(f"/intent/{intent_id}").content.decode())
    assert saved
    status = site.get("/saved/status", {"id": intent_id}).content.decode()
    assert html.unescape(saved[1]) in html.unescape(re.sub(r"<[^>]+>", "|", status))
