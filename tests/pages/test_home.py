"""The home page's list is stable while it's viewed: new transfers are announced, shown ones refreshed."""

import re

from django.test import Client

from intents_ui.emulator.app import Emulator


def rows(html: bytes) -> list[str]:
    return re.findall(r'<tr id="row-(0x[0-9a-f]+)"', html.decode())


def test_the_home_page_shows_the_newest_transfers(site: Client, emulator: Emulator) -> None:
    assert len(rows(site.get("/").content)) == 10


def test_new_transfers_are_announced_and_the_list_stays(site: Client, emulator: Emulator) -> None:
    before = rows(site.get("/").content)
    emulator.play(2)
    emulator.play(3)
    after = site.get("/newest", {"top": before[0]})
    assert rows(after.content) == before
    assert "2 new transfers" in after.content.decode()


def test_a_list_that_is_far_behind_restarts(site: Client, emulator: Emulator) -> None:
    answer = site.get("/newest", {"top": "0x" + "12" * 32})
    assert len(rows(answer.content)) == 10
    assert "40+ new transfers" in answer.content.decode()


def test_rows_are_refreshed_in_place(site: Client, emulator: Emulator) -> None:
    played = emulator.play(2, age=10)["intentId"]
    first = site.get("/").content.decode()
    assert re.search(rf'row-{played}".*?Committed', first, re.DOTALL)
    emulator.now = lambda before=emulator.now: before() + 120
    later = site.get("/newest", {"top": rows(first.encode())[0]}).content.decode()
    row = later[later.index(f"row-{played}") :]
    assert "Succeeded" in row[: row.index("</tr>")]
