"""The attention page: each transfer with a problem once, in a group with the same cause and reason."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from html import unescape
from threading import Event
from typing import Any

import pytest
from django.test import Client

from intents_ui import app
from intents_ui.emulator.app import Emulator
from intents_ui.lists import attention
from intents_ui.service import operations
from intents_ui.service.client import data_requests
from intents_ui.service.models import Page
from tests.pages.reading import PARTIAL, rows
from tests.pages.recorded import recorded
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.usefixtures("still")


def read(site: Client, path: str = "/attention", status: int = 200, **headers: str) -> str:
    page = site.get(path, headers=headers or None)
    assert page.status_code == status
    return unescape(page.content.decode())


def groups(html: str) -> dict[str, int]:
    """Return the number of transfers in each group."""
    found = re.findall(r'<details id="([a-z0-9-]+)".*?<strong>(\d+)</strong>', html, re.DOTALL)
    return {key: int(count) for key, count in found}


def test_each_transfer_is_in_one_group(site: Client) -> None:
    page = read(site)
    counted = re.search(r"<p>(\d+) transfers with a problem", page)
    assert counted
    assert sum(groups(page).values()) == int(counted[1])
    listed = [each for key in groups(page) for each in rows(read(site, f"/attention?group={key}"))]
    assert len(listed) == len({*listed}) == int(counted[1])


def test_all_recoverable_transfers_are_there(site: Client) -> None:
    answer = app.current().service.ask(operations.get_intent_history(page=Page.first(size=100), only_recoverable=True))
    page = read(site)
    listed = {each for key in groups(page) for each in rows(read(site, f"/attention?group={key}"))}
    assert {each.intent_id for each in answer.intents} <= listed


def test_a_group_is_unfolded_by_htmx_and_by_a_link(site: Client) -> None:
    page = read(site)
    key = next(iter(groups(page)))
    part = read(site, f"/attention?group={key}", **PARTIAL)
    assert "<html" not in part
    whole = read(site, f"/attention?group={key}")
    assert rows(part) == rows(whole)
    assert f'<details id="{key}" open>' in whole
    assert f'href="/attention?group={key}#{key}"' in page


def test_a_group_has_pages_of_fifty(site: Client, emulator: Emulator) -> None:
    for number in range(60):
        emulator.play(13, age=7200 + number)
    page = read(site)
    key, count = max(groups(page).items(), key=lambda each: each[1])
    assert count > 50
    first = read(site, f"/attention?group={key}")
    assert len(rows(first)) == 50
    assert f"/attention?group={key}&page=2" in first
    second = read(site, f"/attention?group={key}&page=2")
    assert len(rows(first)) + len(rows(second)) == count
    assert not {*rows(first)} & {*rows(second)}
    for odd in ("0", "99", "-1", "x", "²", "9" * 30):
        assert rows(read(site, f"/attention?group={key}&page={odd}")) in (rows(first), rows(second))


def test_an_open_page_refreshes_its_groups_and_the_rows_of_open_ones(site: Client) -> None:
    page = read(site, "/attention?min=1")
    assert '<div id="groups" class="stack" hx-get="/attention?min=1" hx-trigger="every 10s"' in page
    key = next(iter(groups(page)))
    opened = read(site, f"/attention?group={key}&min=1")
    assert f'<div hidden hx-get="/attention?group={key}&min=1" hx-trigger="every 10s" hx-target="#rows-{key}"' in opened
    part = read(site, "/attention?min=1", **PARTIAL)
    assert "<html" not in part
    assert "with a problem, oldest first" in part
    assert groups(part) == groups(page)
    assert f'<div id="rows-{key}" hx-morph-skip-children>' in part


def test_what_an_open_page_shows_is_at_most_a_minute_old() -> None:
    assert attention.SHOWN_FOR + timedelta(seconds=10) <= timedelta(minutes=1)


def test_filters_by_chain_and_value(site: Client) -> None:
    everything = sum(groups(read(site)).values())
    on_base = sum(groups(read(site, "/attention?chain=8453")).values())
    above = sum(groups(read(site, "/attention?min=1000")).values())
    assert 0 < on_base < everything
    assert 0 < above < everything
    assert "Enter an amount in USD" in read(site, "/attention?min=1e3", status=400)
    assert "Unknown chain" in read(site, "/attention?chain=nowhere", status=400)


def test_a_list_that_fails_is_not_an_empty_list(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    with recorded(emulator, monkeypatch) as way:
        way.scripts["GetIntentHistory"] = lambda body: (
            {"status": 500, "code": 0, "msg": "?"} if body.get("byStatus") == "EXECUTING" else None
        )
        page = read(Client())
        assert "Couldn't load open transfers" in page
        assert "No transfers in the lists that were loaded." in page


@pytest.mark.usefixtures("response_cache")
def test_a_list_whose_turn_has_not_come_is_said_to_be_missing(site: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "PERIOD", 3600.0)  # however slow the machine is
    site.get("/")  # three of four lists
    page = read(site)
    assert "Loading failed transfers. They are missing below." in page
    monkeypatch.setattr(attention, "PERIOD", 0.0)
    assert "Loading failed transfers" not in read(site)


@pytest.mark.usefixtures("response_cache")
def test_a_page_waits_for_a_list_that_another_page_reads(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on, coalesced = Event(), Event(), data_requests["coalesced"]

    def hold(body: dict[str, Any]) -> None:
        if body.get("byStatus") == "FAILED":
            begun.set()
            assert go_on.wait(PATIENCE)

    monkeypatch.setattr(attention, "PERIOD", 3600.0)
    with recorded(emulator, monkeypatch) as way, ThreadPoolExecutor(2) as threads:
        Client().get("/")  # three of four lists
        monkeypatch.setattr(attention, "CALLS", 4)
        way.scripts["GetIntentHistory"] = hold
        one, before = threads.submit(read, Client()), coalesced._value.get()
        assert begun.wait(PATIENCE)
        other = threads.submit(read, Client())
        until(lambda: other.done() or coalesced._value.get() > before)
        go_on.set()
        assert "Loading failed transfers" not in one.result() + other.result()


@pytest.mark.usefixtures("response_cache")
def test_a_page_whose_turn_has_not_come_says_that_the_last_call_failed(
    site: Client, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache has dropped the lists, so both pages show what the reader knows."""
    assert "Last updated" not in read(site)
    cache = app.current().service.cache
    monkeypatch.setattr(cache, "peek", lambda call: None)
    monkeypatch.setattr(attention, "PERIOD", 0.0)
    emulator.inject("GetIntentHistory", "failing-500", times=40)
    assert "Last updated" in read(site)
    monkeypatch.setattr(attention, "PERIOD", 3600.0)
    monkeypatch.setattr(attention, "CALLS", 0)
    page = read(site)
    assert "Last updated" in page
    assert sum(groups(page).values()) > 0


def test_if_all_lists_fail_the_page_is_an_error(site: Client, emulator: Emulator) -> None:
    emulator.inject("GetIntentHistory", "failing-500", times=20)
    page = site.get("/attention")
    assert page.status_code in (502, 503)
    assert "with a problem" not in page.content.decode()


@pytest.mark.usefixtures("response_cache")
def test_without_any_list_there_is_no_count(site: Client, emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    """The third list's turn hasn't come, and the two before it failed."""
    monkeypatch.setattr(attention, "PERIOD", 3600.0)  # however slow the machine is
    emulator.inject("GetIntentHistory", "failing-500", times=40)
    site.get("/")
    page = site.get("/attention")
    assert page.status_code in (502, 503)
    assert "with a problem" not in page.content.decode()


def test_an_unknown_group_says_so(site: Client) -> None:
    for key in ("late-00000000", "<b>"):
        assert "This group has no transfers now." in read(site, f"/attention?group={key}")
