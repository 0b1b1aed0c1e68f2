"""GetIntentHistory: filters, sorts and pages. Windows of the past are complete, cheap and stay the same."""

import pytest

from intents_ui.emulator import Emulator
from intents_ui.emulator.documents import MICROSECONDS
from tests.emulator.driving import NOW, call, quote

SORTS = [(column, order) for column in ("id", "createdAt") for order in ("ASC", "DESC")]


def rows(emulator, **asked):
    return call(emulator, "GetIntentHistory", {"page": {"pageSize": 100}} | asked)["intents"]


def ids(page):
    return [row["receipt"]["id"] for row in page]


@pytest.mark.parametrize(("column", "order"), SORTS)
def test_paging_neither_skips_nor_repeats_rows_while_new_ones_arrive(clock, column, order):
    emulator = Emulator(now=clock, size=400)
    page = {"pageSize": 100, "sort": [{"column": column, "order": order}]}
    there = {row.transfer.born for row in emulator.ledger.entries(round(NOW * 1e6), descending=True)}
    seen = []
    while page:
        answer = call(emulator, "GetIntentHistory", {"page": page})
        seen += ids(answer["intents"])
        page = answer["nextPage"]
        clock.forward(0.5)
        quote(emulator)
    assert seen == sorted(set(seen), reverse=order == "DESC")
    # What the lists no longer show at the end may have been missed; nothing else.
    still = {row.transfer.born for row in emulator.ledger.entries(round(clock.now * 1e6), descending=True)}
    assert there & still <= set(seen)


def test_times_are_seconds_and_inclusive(emulator):
    newest = ids(rows(emulator))[0]
    since, until = int(NOW) - 7200, int(NOW) - 3600
    found = ids(rows(emulator, fromTime=since, toTime=until))
    assert found
    assert all(since * 1_000_000 <= each <= until * 1_000_000 for each in found)
    assert newest in ids(rows(emulator, fromTime=newest // 1_000_000))
    assert newest not in ids(rows(emulator, fromTime=newest // 1_000_000 + 1))
    assert newest in ids(rows(emulator, toTime=newest // 1_000_000 + 1))
    assert rows(emulator, fromTime=int(NOW) + 10) == []


DAY = 86_400
MONTH_AGO = int(NOW) // 60 * 60 - 30 * DAY


def read(emulator, since, until, *, size=100, column="id", order="ASC", **filters):
    """Return the rows of a window, of all of its pages."""
    asked = {"fromTime": since, "toTime": until} | filters
    page, rows = {"pageSize": size, "sort": [{"column": column, "order": order}]}, []
    while page:
        answer = call(emulator, "GetIntentHistory", asked | {"page": page})
        rows += answer["intents"]
        page = answer["nextPage"]
    return rows


@pytest.mark.parametrize(("column", "order"), SORTS)
def test_a_minute_a_month_ago_is_the_same_in_pages_of_any_size_and_order(emulator, column, order):
    whole = ids(read(emulator, MONTH_AGO, MONTH_AGO + 60))
    assert 8 < len(whole) < 24
    assert whole == sorted(set(whole))
    assert all(MONTH_AGO * MICROSECONDS <= each <= (MONTH_AGO + 60) * MICROSECONDS for each in whole)
    for size in (1, 4, 100):
        read_so = ids(read(emulator, MONTH_AGO, MONTH_AGO + 60, size=size, column=column, order=order))
        assert read_so == (whole if order == "ASC" else whole[::-1])


def test_intents_stay_in_windows_after_they_left_the_lists(emulator, clock):
    since = int(NOW) - 60
    before = {row["intentId"] for row in read(emulator, since, int(NOW))}
    for seconds in (2 * 3600, 3 * DAY, 30 * DAY):
        clock.now = NOW + seconds
        assert {row["intentId"] for row in read(emulator, since, int(NOW))} == before
