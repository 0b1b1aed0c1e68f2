"""A recoverable balance has the same row in the recoverable list and on its owner's page."""

import re

from django.test import Client

from intents_ui.emulator.app import Emulator

AGO = re.compile(r"\d+ \w+ ago")
OWNER = re.compile(r'\s*<td data-label="Owner">.*?</td>', re.DOTALL)


def rows(page: str) -> dict[str, str]:
    """Return rows by Intent ID, without the parts that differ: the owner column, the row's `id`, and the time."""
    table = page.partition('<table class="rows intents worklist">')[2].partition("</table>")[0]
    found = re.findall(r"<tr[^>]*>(\s*<td>.*?)</tr>", table, re.DOTALL)
    result = [re.sub(r"\s+", " ", AGO.sub("", OWNER.sub("", row))) for row in found]
    return {row.partition('href="/intent/')[2][:66]: row for row in result}


def test_a_row_is_the_same_in_every_list(site: Client, emulator: Emulator) -> None:
    page = site.get("/recoverable").content.decode()
    owners = list(dict.fromkeys(re.findall(r'href="/address/(0x[0-9a-f]{40})"', page)))[::4]
    with_reason = next(row for row in rows(page).values() if 'class="reason"' in row)
    result: dict[str, str] = {}
    for owner in owners:
        own = rows(site.get(f"/address/{owner}").content.decode())
        assert own == rows(site.get("/recoverable", {"owner": owner}).content.decode())
        result |= own
    assert with_reason in result.values()
