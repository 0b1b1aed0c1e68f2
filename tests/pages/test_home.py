"""The home page: counts of what needs attention, and a list that is stable while it's viewed: new transfers are
announced, shown ones refreshed.
"""

import re
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import unescape
from threading import Event

import pytest
import time_machine

from intents_ui import app, startup
from intents_ui.emulator.app import Emulator
from intents_ui.service import client, operations
from intents_ui.service.lookup import walk
from intents_ui.service.models import HistoryAnswer, Page
from intents_ui.transfers import summary
from intents_ui.transfers.rules import Cause
from intents_ui.web import reading
from tests.pages.reading import rows
from tests.pages.recorded import recorded
from tests.waiting import PATIENCE, until


@pytest.mark.usefixtures("still")
def test_new_transfers_are_announced_and_the_list_stays(site, emulator):
    before = rows(site.get("/"))
    emulator.play(2)  # a quote isn't listed
    assert rows(site.get("/newest", {"top": before[0]})) == before
    emulator.play(2, age=26)
    emulator.play(2, age=26)
    after = site.get("/newest", {"top": before[0]})
    assert rows(after) == before
    assert "2 new transfers" in after.content.decode()


def test_a_list_that_is_far_behind_restarts(site):
    answer = site.get("/newest", {"top": "0x" + "12" * 32})
    assert len(rows(answer)) == 10
    assert "40+ new transfers" in answer.content.decode()


@pytest.mark.usefixtures("still")
def test_rows_are_refreshed_in_place(site, emulator):
    played = emulator.play(2, age=26)["intentId"]
    first = site.get("/").content.decode()
    assert re.search(rf'row-{played}".*?In progress', first, re.DOTALL)
    emulator.now = lambda before=emulator.now: before() + 120
    later = site.get("/newest", {"top": rows(first)[0]}).content.decode()
    row = later[later.index(f"row-{played}") :]
    assert "Succeeded" in row[: row.index("</tr>")]


def test_the_newest_transfers_have_no_column_that_was_not_chosen(site):
    assert 'data-column="' not in site.get("/").content.decode()
    site.cookies["columns"] = "provider.id"
    assert set(re.findall(r'data-column="([\w ]+)"', site.get("/").content.decode())) == {"Intent ID"}


OTHERS = {Cause.REFUND_FAILED, Cause.CONFLICT, Cause.LATE}


def counts(html: str) -> list[str]:
    return re.findall(r"<strong>([0-9,+—]+)</strong>", html)


@pytest.mark.usefixtures("still")
def test_the_counts_are_those_of_the_service(site):
    """Counted from all of the service's transfers, read page by page."""
    app.use(startup.build(emulator=Emulator(size=1000)))
    waiting, late, unrefunded, _, failed = map(int, counts(site.get("/overview").content.decode()))
    assert [waiting, late, unrefunded, failed] == expected()


def expected() -> list[int]:
    """Count waiting and late transfers, those whose refund failed, and lately failed ones."""
    at = datetime.now(UTC)
    entries = [each for part, _ in walk(read_all, Page.first(size=100)) for each in part]
    rows = reading.of_entries(entries)
    causes = Counter(summary.of(each).cause for each in rows)
    waiting = sum(bool(each.has_balance) and summary.of(each).cause not in OTHERS for each in rows)
    failed = [each.created_at for each in entries if each.status == "FAILED" and each.created_at]
    lately = sum(each >= at - timedelta(hours=1) for each in failed)
    return [waiting, causes[Cause.LATE], causes[Cause.REFUND_FAILED], lately]


def read_all(page: Page) -> HistoryAnswer:
    return app.current().service.ask(operations.get_intent_history(page=page, include_balances=True))


@pytest.mark.usefixtures("still", "response_cache")
def test_while_the_service_is_slow_a_page_opened_after_a_pause_has_no_old_count(site, emulator, monkeypatch):
    seconds, is_answering = 0, Event()
    is_answering.set()
    monkeypatch.setattr(client, "STALE_WAIT", 0.1)
    with recorded(emulator) as way:
        set_clock(monkeypatch, lambda: float(seconds))
        way.changes["GetIntentHistory"] = lambda answer: answer | {"intents": answer["intents"][:20]}  # all are cached
        way.scripts["GetIntentHistory"] = lambda body: None if is_answering.wait(PATIENCE) else {}
        assert "—" not in counts(site.get("/").content.decode())
        seconds += 300
        is_answering.clear()
        with time_machine.travel(datetime.now(UTC) + timedelta(minutes=5), tick=False):
            page = unescape(site.get("/").content.decode())
            assert page.count("Counting…") == 5
            assert "Last updated" not in page
            page = unescape(site.get("/attention").content.decode())
            assert "Loading. " in page
            assert "Loading failed transfers. They are missing below." in page
            is_answering.set()
            until(lambda: "—" not in counts(site.get("/overview").content.decode()))


def set_clock(monkeypatch: pytest.MonkeyPatch, clock: Callable[[], float]) -> None:
    """Set the clock by which responses age."""
    monkeypatch.setattr(app.current().service.cache, "clock", clock)
