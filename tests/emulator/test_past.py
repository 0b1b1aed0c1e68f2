"""The past beyond the lists of the newest transfers: windows of it are complete, cheap and stay the same."""

import pytest

from intents_ui.emulator import lookups
from intents_ui.emulator.documents import MICROSECONDS
from intents_ui.emulator.population import PAST
from tests.emulator.driving import NOW, call, request

DAY = 86_400
MONTH_AGO = int(NOW) // 60 * 60 - 30 * DAY
DIRECTIONS = [(column, order) for column in ("id", "createdAt") for order in ("ASC", "DESC")]


def read(emulator, since, until, *, size=100, column="id", order="ASC", **filters):
    """Return the rows of a window, of all of its pages."""
    asked = {"fromTime": since, "toTime": until} | filters
    page, rows = {"pageSize": size, "sort": [{"column": column, "order": order}]}, []
    while page:
        answer = call(emulator, "GetIntentHistory", asked | {"page": page})
        rows += answer["intents"]
        page = answer["nextPage"]
    return rows


def ids(rows):
    return [row["receipt"]["id"] for row in rows]


@pytest.mark.parametrize(("column", "order"), DIRECTIONS)
def test_a_minute_a_month_ago_is_the_same_in_pages_of_any_size_and_order(emulator, column, order):
    whole = ids(read(emulator, MONTH_AGO, MONTH_AGO + 60))
    assert 8 < len(whole) < 24
    assert whole == sorted(set(whole))
    assert all(MONTH_AGO * MICROSECONDS <= each <= (MONTH_AGO + 60) * MICROSECONDS for each in whole)
    for size in (1, 4, 100):
        read_so = ids(read(emulator, MONTH_AGO, MONTH_AGO + 60, size=size, column=column, order=order))
        assert read_so == (whole if order == "ASC" else whole[::-1])


def test_windows_tile_the_past_without_loss(emulator):
    hour = ids(read(emulator, MONTH_AGO, MONTH_AGO + 600))
    minutes = [ids(read(emulator, MONTH_AGO + 60 * n, MONTH_AGO + 60 * n + 60)) for n in range(10)]
    assert sorted({each for minute in minutes for each in minute}) == hour


def test_intents_stay_in_windows_after_they_left_the_lists(emulator, clock):
    since = int(NOW) - 60
    before = {row["intentId"] for row in read(emulator, since, int(NOW))}
    for seconds in (2 * 3600, 3 * DAY, 30 * DAY):
        clock.now = NOW + seconds
        assert {row["intentId"] for row in read(emulator, since, int(NOW))} == before


def test_the_past_begins_forty_days_ago(emulator):
    first = read(emulator, 1, int(NOW) - 40 * DAY + 60)
    assert 40 * DAY * MICROSECONDS == PAST
    assert all(0 <= each - round((NOW - 40 * DAY) * MICROSECONDS) <= 60 * MICROSECONDS for each in ids(first))
    assert first


def test_a_list_that_examines_too_much_times_out(emulator, monkeypatch):
    asked = {"fromTime": MONTH_AGO, "originChainId": 12345}
    monkeypatch.setattr(lookups, "MAX_EXAMINED", 1000)
    answer = request(emulator, "GetIntentHistory", asked)
    assert (answer.status, answer.code) == (408, 1900)
    assert request(emulator, "GetIntentHistory", asked | {"toTime": MONTH_AGO + 60}).document["intents"] == []
