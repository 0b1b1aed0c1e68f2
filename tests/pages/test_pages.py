"""Pages of one transfer, and small pages: the table is `pages.toml`."""

import html
import re
from typing import Any

import pytest
from django.test import Client

from intents_ui.emulator.app import Emulator
from tests.pages.cases import Pages, cases


@pytest.mark.parametrize("case", cases("pages"))
def test_a_page_says(pages: Pages, case: list[dict[str, Any]]) -> None:
    pages.check(case)


@pytest.mark.parametrize("scenario", [2, 8, 20, 28])
def test_a_saved_transfer_has_the_name_it_was_saved_with(site: Client, emulator: Emulator, scenario: int) -> None:
    intent_id = emulator.finished(scenario)["intentId"]
    saved = re.search(r'data-name="([^"]+)"', site.get(f"/intent/{intent_id}").content.decode())
    assert saved
    status = site.get("/saved/status", {"id": intent_id}).content.decode()
    assert html.unescape(saved[1]) in html.unescape(re.sub(r"<[^>]+>", "|", status))
