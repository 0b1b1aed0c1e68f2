"""The attention page: each transfer with a problem once, in a group with the same cause and reason."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client

from intents_ui import app
from intents_ui.lists import attention
from intents_ui.service import operations
from intents_ui.service.models import Page
from tests.pages.reading import PARTIAL, rows
from tests.pages.recorded import recorded

pytestmark = pytest.mark.usefixtures("still")


def read(site: Client, path: str = "/attention", status: int = 200, **headers: str) -> str:
    page = site.get(path, headers=headers or None)
    assert page.status_code == status
    return unescape(page.content.decode())


def groups(html: str) -> dict[str, int]:
    """Return the number of transfers in each group."""
    found = re.findall(r'<details id="([a-z0-9-]+)".*?<strong>(\d+)</strong>', html, re.DOTALL)
    return {key: int(count) for key, count in found}


def test_each_transfer_is_in_one_group(site):
    page = read(site)
    counted = re.search(r"<p>(\d+) transfers with a problem", page)
    assert counted
    assert sum(groups(page).values()) == int(counted[1])
    listed = [each for key in groups(page) for each in rows(read(site, f"/attention?group={key}"))]
    assert len(listed) == len({*listed}) == int(counted[1])


def test_all_recoverable_transfers_are_there(site):
    answer = app.current().service.ask(operations.get_intent_history(page=Page.first(size=100), only_recoverable=True))
    page = read(site)
    listed = {each for key in groups(page) for each in rows(read(site, f"/attention?group={key}"))}
    assert {each.intent_id for each in answer.intents} <= listed


def test_a_group_is_unfolded_by_htmx_and_by_a_link(site):
    page = read(site)
    key = next(iter(groups(page)))
    part = read(site, f"/attention?group={key}", **PARTIAL)
    assert "<html" not in part
    whole = read(site, f"/attention?group={key}")
    assert rows(part) == rows(whole)
    assert f'<details id="{key}" open>' in whole
    assert f'href="/attention?group={key}#{key}"' in page


def test_a_group_has_pages_of_fifty(site, emulator):
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


def test_an_open_page_refreshes_its_groups_and_the_rows_of_open_ones(site):
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


def test_what_an_open_page_shows_is_at_most_a_minute_old():
    assert attention.SHOWN_FOR + timedelta(seconds=10) <= timedelta(minutes=1)


def test_filters_by_chain_and_value(site):
    everything = sum(groups(read(site)).values())
    on_base = sum(groups(read(site, "/attention?chain=8453")).values())
    above = sum(groups(read(site, "/attention?min=1000")).values())
    assert 0 < on_base < everything
    assert 0 < above < everything


def test_a_list_that_fails_is_not_an_empty_list(emulator):
    with recorded(emulator) as way:
        way.scripts["GetIntentHistory"] = lambda body: (
            {"status": 500, "code": 0, "msg": "?"} if body.get("byStatus") == "EXECUTING" else None
        )
        page = read(Client())
        assert "Couldn't load open transfers" in page
        assert "No transfers in the lists that were loaded." in page


@pytest.mark.usefixtures("response_cache")
def test_lists_that_fail_are_shown_as_last_received(site, emulator, monkeypatch):
    seconds = 0.0
    monkeypatch.setattr(app.current().service.cache, "clock", lambda: seconds)
    before = read(site)
    assert "Last updated" not in before
    seconds += 60
    emulator.inject("GetIntentHistory", "failing-500", times=40)
    page = read(site)
    assert "Last updated" in page
    assert groups(page) == groups(before)
