"""List rows: the headline, the reason, that a transfer is late, and the optional columns that a user has chosen."""

import html
import re

import pytest
from django.test import Client

EVERY_COLUMN = "usd.recipient.provider.duration.reason.id"
TAGS = re.compile(r"<b>.*?</b>|<[^>]+>", re.DOTALL)


def key(title: str) -> str:
    return title.lower().split()[-1]


def values(site: Client, path: str, intent_id: object) -> dict[str, str]:
    """Return the text of the optional cells of a transfer's row, by column."""
    site.cookies["columns"] = EVERY_COLUMN
    page = site.get(path).content.decode()
    row = page.partition(f'id="row-{intent_id}"')[2].partition("</tr>")[0]
    cells = re.findall(r'<td [^>]*data-column="([\w ]+)"[^>]*>(.*?)(?=<td|$)', row, re.DOTALL)
    return {key(column): " ".join(html.unescape(TAGS.sub(" ", cell)).split()) for column, cell in cells}


def test_a_failed_transfer_has_its_reason(site, emulator):
    intent = emulator.finished(25)
    found = values(site, f"/history?owner={intent['ownerAddress']}", intent["intentId"])
    assert found["reason"] == "refund reverted: token paused"
    assert found["recipient"] == "to the owner"
    assert re.fullmatch(r"\d+ s|\d+ min(?: \d+ s)?", found["duration"])
    assert found["id"].startswith(str(intent["intentId"])[:8])


def test_another_recipient_is_shortened_and_can_be_copied(site):
    site.cookies["columns"] = "recipient"
    page = site.get("/history?status=SUCCEEDED&size=100").content.decode()
    recipients = re.findall(r'<td data-column="Recipient">(.*?)<(?:td|/tr)', page, re.DOTALL)
    others = [each for each in recipients if "data-address" in each]
    assert 0 < len(others) < len(recipients) == 100
    assert all("Copy recipient address" in each for each in others)


def test_unknown_values_are_a_dash(site, emulator):
    intent = emulator.play("expired-quote")
    found = values(site, f"/history?owner={intent['ownerAddress']}", intent["intentId"])
    assert (found["reason"], found["duration"]) == ("—", "—")


def test_usd_is_the_value_sent_where_quotes_are_known(site, emulator):
    intent = emulator.finished(8)
    owner = intent["ownerAddress"]
    found = values(site, f"/search?owner={owner}", intent["intentId"])
    assert re.fullmatch(r"\$[\d,]+\.\d\d", found["usd"])
    assert 'value="usd"' in site.get(f"/search?owner={owner}").content.decode()
    assert "usd" not in values(site, f"/history?owner={owner}", intent["intentId"])


@pytest.mark.parametrize(
    ("written", "columns"),
    [
        (None, ["provider", "duration"]),
        ("", []),
        ("id.recipient", ["recipient", "id"]),
        ("ID.<b>.provider.provider", ["provider"]),
        (f"x.{EVERY_COLUMN}", ["recipient", "provider", "duration", "reason", "id"]),
    ],
)
def test_only_chosen_columns_are_drawn(site, written, columns):
    if written is not None:
        site.cookies["columns"] = written
    page = site.get("/history").content.decode()
    assert [key(title) for title in re.findall(r'<th scope="col" data-column="([\w ]+)"', page)] == columns
    assert {key(title) for title in re.findall(r'<td [^>]*data-column="([\w ]+)"', page)} == {*columns}
    assert re.findall(r'name="columns" value="(\w+)" checked', page) == columns


@pytest.mark.parametrize("written", [None, EVERY_COLUMN, ""])
@pytest.mark.parametrize("path", ["/history", "/history?status=FAILED&balances=1", "/"])
def test_a_head_has_a_cell_for_each_cell_of_a_row(site, path, written):
    if written is not None:
        site.cookies["columns"] = written
    page = site.get(path).content.decode()
    table = page.partition('<table class="rows intents">')[2].partition("</table>")[0]
    heads = table.count("<th ")
    rows = re.findall(r"<tr id=.*?</tr>", table, re.DOTALL)
    assert rows
    assert {row.count("<td") for row in rows} == {heads}


SPACES = re.compile(r"\s+")
ROW = re.compile(r'<tr[^>]*>\s*<td>(<a class="row-link" href="/intent/(0x[0-9a-f]{64})".*?)<td', re.DOTALL)


def cells(page: str) -> dict[str, str]:
    """Return the status cell of each row, by Intent ID."""
    return {intent_id: cell for cell, intent_id in ROW.findall(page)}


def said(cell: str, part: str) -> str:
    """Return the text of the marked part of a cell, "" if it has none."""
    found = re.search(rf'<span[^>]* (?:data-|class="){part}\b[^>]*>(.*?)</span>', cell, re.DOTALL)
    return html.unescape(SPACES.sub(" ", re.sub(r"<[^>]+>", "", found[1])).strip()) if found else ""


@pytest.mark.parametrize("path", ["/", "/history?status=FAILED", "/history?status=SUCCEEDED", "/history?order=ASC"])
def test_no_row_shows_its_status_twice(site, path):
    found = cells(site.get(path).content.decode()).values()
    words = [(said(cell, "tone"), said(cell, "row-headline")) for cell in found]
    assert len(words) >= 10
    assert [(word, headline) for word, headline in words if word.lower() == headline.lower()] == []


def test_a_late_transfer_is_marked_with_an_icon(site):
    page = site.get("/history?status=EXECUTING&order=ASC").content.decode()
    late = [cell for cell in cells(page).values() if "data-late" in cell]
    assert late
    for cell in late:
        assert said(cell, "late") == "Late"
        assert "#clock" in cell.partition("data-late")[2].partition("</span>")[0]


def test_conclusions_that_balances_could_change_are_not_shown_in_a_list(site, emulator):
    intent = emulator.finished(13)
    owner, intent_id = intent["ownerAddress"], str(intent["intentId"])
    without = said(cells(site.get(f"/history?owner={owner}").content.decode())[intent_id], "row-headline")
    known = said(cells(site.get(f"/history?owner={owner}&balances=1").content.decode())[intent_id], "row-headline")
    assert "recoverable" in known
    assert "recoverable" not in without


@pytest.mark.parametrize("back", ["/history?status=FAILED", "https://elsewhere.example/", "//elsewhere.example"])
def test_chosen_columns_are_kept_and_lead_back_to_the_list(site, back):
    answer = site.get("/columns", {"columns": ["id", "reason", "nothing"], "next": back})
    assert (answer.status_code, answer["Location"]) == (302, "/history" if "elsewhere" in back else back)
    assert site.cookies["columns"].value == "reason.id"
    page = site.get("/history").content.decode()
    assert 'data-column="Intent ID"' in page
    assert 'data-column="Provider"' not in page
