"""The home page: counts of what needs attention, and a list that is stable while it's viewed: new transfers are
announced, shown ones refreshed.
"""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.test import Client

from intents_ui import wiring
from intents_ui.display.summary import summary
from intents_ui.display.summary.rules import Cause
from intents_ui.emulator.app import Emulator
from intents_ui.service.queries.paging import walk
from intents_ui.service.wire.models import Page
from intents_ui.service.wire.responses import HistoryAnswer
from intents_ui.web.transfers import attention, situations
from intents_ui.web.transfers.attention import CALLS
from tests.pages.recorded import recorded


def rows(html: bytes) -> list[str]:
    return re.findall(r'<tr id="row-(0x[0-9a-f]+)"', html.decode())


def test_the_home_page_shows_the_newest_transfers(site: Client, emulator: Emulator) -> None:
    assert len(rows(site.get("/").content)) == 10


@pytest.mark.usefixtures("still")
def test_new_transfers_are_announced_and_the_list_stays(site: Client, emulator: Emulator) -> None:
    before = rows(site.get("/").content)
    emulator.play(2)  # a quote isn't listed
    assert rows(site.get("/newest", {"top": before[0]}).content) == before
    emulator.play(2, age=26)
    emulator.play(2, age=26)
    after = site.get("/newest", {"top": before[0]})
    assert rows(after.content) == before
    assert "2 new transfers" in after.content.decode()


def test_a_list_that_is_far_behind_restarts(site: Client, emulator: Emulator) -> None:
    answer = site.get("/newest", {"top": "0x" + "12" * 32})
    assert len(rows(answer.content)) == 10
    assert "40+ new transfers" in answer.content.decode()


@pytest.mark.usefixtures("still")
def test_rows_are_refreshed_in_place(site: Client, emulator: Emulator) -> None:
    played = emulator.play(2, age=26)["intentId"]
    first = site.get("/").content.decode()
    assert re.search(rf'row-{played}".*?In progress', first, re.DOTALL)
    emulator.now = lambda before=emulator.now: before() + 120
    later = site.get("/newest", {"top": rows(first.encode())[0]}).content.decode()
    row = later[later.index(f"row-{played}") :]
    assert "Succeeded" in row[: row.index("</tr>")]


@pytest.mark.usefixtures("response_cache")
def test_the_overview_costs_at_most_three_calls_in_two_seconds(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also for the first viewer: the list whose turn hasn't come is loaded two seconds later."""
    monkeypatch.setattr(attention, "PERIOD", 3600.0)  # however slow the machine is
    with recorded(emulator, monkeypatch) as way:
        site = Client()
        home, *_ = [site.get(path).content.decode() for path in ("/", "/overview", "/attention", "/newest", "/")]
        assert len(way.requests("GetIntentHistory")) == CALLS
        assert 'hx-trigger="load delay:2s, every 10s"' in home
        assert "Counting…" in home
        monkeypatch.setattr(attention, "PERIOD", 0.0)
        later = site.get("/overview").content.decode()
        assert len(way.requests("GetIntentHistory")) == CALLS + 1
        assert "Counting…" not in later


OTHERS = {Cause.REFUND_FAILED, Cause.CONFLICT, Cause.LATE}


def counts(html: str) -> list[str]:
    return re.findall(r"<strong>([0-9,+—]+)</strong>", html)


@pytest.mark.usefixtures("still")
def test_the_counts_are_those_of_the_service(site: Client, emulator: Emulator) -> None:
    """Counted from all of the service's transfers, read page by page. They stay right while time passes."""
    for seconds in (0, 1200):
        emulator.now = lambda before=emulator.now, seconds=seconds: before() + seconds
        waiting, late, _, failed = map(int, counts(site.get("/overview").content.decode()))
        assert [waiting, late, failed] == expected()


def expected() -> list[int]:
    """Count waiting, late and lately failed transfers."""
    at = datetime.now(UTC)
    entries = [each for part, _ in walk(read_all, Page.first(size=100)) for each in part]
    rows = situations.of_entries(entries)
    causes = Counter(summary.of(each).cause for each in rows)
    waiting = sum(bool(each.has_balance) and summary.of(each).cause not in OTHERS for each in rows)
    failed = [each.created_at for each in entries if each.status == "FAILED" and each.created_at]
    return [waiting, causes[Cause.LATE], sum(each >= at - timedelta(hours=1) for each in failed)]


def read_all(page: Page) -> HistoryAnswer:
    return wiring.service().get_intent_history(page=page, include_balances=True)


def test_a_failed_count_is_not_a_count_of_none(site: Client, emulator: Emulator) -> None:
    emulator.inject("GetIntentHistory", "failing-500", times=20)
    page = unescape(site.get("/").content.decode())
    assert counts(page) == ["—"] * 4
    assert "Couldn't load the newest transfers" in page
