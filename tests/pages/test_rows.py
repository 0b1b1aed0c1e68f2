"""List rows: the headline, the failure reason, and that a transfer is late."""

import html
import re

import pytest
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.transfers import summary
from intents_ui.web import reading

SPACES = re.compile(r"\s+")
ROW = re.compile(r'<tr[^>]*>\s*<td>(<a class="row-link" href="/intent/(0x[0-9a-f]{64})".*?)</td>', re.DOTALL)


def cells(page: str) -> dict[str, str]:
    """Return the status cell of each row, by Intent ID."""
    return {intent_id: cell for cell, intent_id in ROW.findall(page)}


def said(cell: str, part: str) -> str:
    """Return the text of the marked part of a cell, "" if it has none."""
    found = re.search(rf"<span[^>]* data-{part}\b[^>]*>(.*?)</span>(?:<bdi>(.*?)</bdi>)?", cell, re.DOTALL)
    return html.unescape(SPACES.sub(" ", re.sub(r"<[^>]+>", "", found[2] or found[1])).strip()) if found else ""


def test_a_row_has_the_headline_of_its_transfer(site: Client, emulator: Emulator) -> None:
    intent = emulator.finished(25)
    [cell] = [
        cell
        for each, cell in cells(site.get(f"/history?owner={intent['ownerAddress']}").content.decode()).items()
        if each == intent["intentId"]
    ]
    result = summary.of(reading.read(str(intent["intentId"])).without_balances())
    assert said(cell, "headline") == result.headline
    assert said(cell, "reason") == "refund reverted: token paused"
    assert "data-late" not in cell


@pytest.mark.parametrize("path", ["/", "/history?status=FAILED", "/history?status=SUCCEEDED", "/history?order=ASC"])
def test_no_row_shows_its_status_twice(site: Client, path: str) -> None:
    found = cells(site.get(path).content.decode()).values()
    words = [(said(cell, "tone"), said(cell, "headline")) for cell in found]
    assert len(words) >= 10
    assert [(word, headline) for word, headline in words if word.lower() == headline.lower()] == []


def test_a_late_transfer_is_marked_with_an_icon(site: Client) -> None:
    page = site.get("/history?status=EXECUTING&order=ASC").content.decode()
    late = [cell for cell in cells(page).values() if "data-late" in cell]
    assert late
    for cell in late:
        assert said(cell, "late") == "Late"
        assert "#clock" in cell.partition("data-late")[2].partition("</span>")[0]


def test_conclusions_that_balances_could_change_are_not_shown_in_a_list(site: Client, emulator: Emulator) -> None:
    intent = emulator.finished(13)
    owner, intent_id = intent["ownerAddress"], str(intent["intentId"])
    without = said(cells(site.get(f"/history?owner={owner}").content.decode())[intent_id], "headline")
    known = said(cells(site.get(f"/history?owner={owner}&balances=1").content.decode())[intent_id], "headline")
    assert "recoverable" in known
    assert "recoverable" not in without
