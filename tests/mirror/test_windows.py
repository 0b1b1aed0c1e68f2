"""The ledger's windows tile the past, and a sealed one was read twice with the same result."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.mirror import windows
from intents_ui.mirror.windows import (
    AGES,
    BACKFILL_WIDTH,
    DAY,
    HOUR,
    LONGEST_RETRY,
    MINUTE,
    NEVER,
    SEALED_FROM,
    WIDTH,
    Condition,
    Order,
    Window,
)

NOW = 1_800_000_000 - 1_800_000_000 % DAY
TIMES = st.integers(NOW - 3 * DAY, NOW)


def tiles(found: list[Window], start: int, end: int) -> bool:
    found = sorted(found, key=lambda each: each.start)
    edges = [start, *(each.end for each in found)]
    return [each.start for each in found] == edges[:-1] and edges[-1] == end


@given(start=TIMES, spans=st.lists(st.integers(0, 5 * HOUR), max_size=20))
def test_windows_tile_the_past_however_long_the_mirror_was_off(start: int, spans: list[int]) -> None:
    found: list[Window] = []
    end, now = start, start
    for span in spans:
        now += span
        found += windows.extended(end, now=now)
        end = max([end, *(each.end for each in found)])
        assert tiles(found, start, end)
        assert now < end <= now + WIDTH
        assert all(each.end - each.start <= BACKFILL_WIDTH for each in found)


@given(start=TIMES, cuts=st.lists(st.integers(0, 10**6), max_size=30))
def test_halves_of_windows_tile_their_time(start: int, cuts: list[int]) -> None:
    found = list(windows.tile(start, NOW + 1, width=BACKFILL_WIDTH, due=NOW))
    for cut in cuts:
        window = found.pop(cut % len(found))
        found += windows.split(window, at=NOW) or (window,)
        assert tiles(found, start, NOW + 1)


def test_a_second_cannot_be_split() -> None:
    assert windows.split(Window(start=NOW, end=NOW + 1, due=0), at=NOW) is None


@given(start=TIMES, lost=st.sets(st.integers(0, 10**6), max_size=10))
def test_lost_windows_are_found_and_read_again(start: int, lost: set[int]) -> None:
    found = list(windows.tile(start, NOW + MINUTE, width=WIDTH))
    inner = [each for place, each in enumerate(found) if place in (0, len(found) - 1) or place not in lost]
    added = list(windows.gaps(inner, now=NOW))
    assert tiles(inner + added, start, NOW + MINUTE)
    assert all(each.due == NOW for each in added)


READS = st.lists(
    st.one_of(
        st.tuples(st.integers(0, 2), st.integers(1, 2 * HOUR)),  # digest, seconds since the last read
        st.tuples(st.none(), st.integers(1, 2 * HOUR)),  # a failure
    ),
    max_size=12,
)


@given(reads=READS)
def test_a_sealed_window_has_two_equal_digests_in_opposite_orders(reads: list[tuple[int | None, int]]) -> None:
    window, at, past = Window(start=NOW, end=NOW + MINUTE, due=NOW), NOW, []
    for digest, later in reads:
        at += later
        if digest is None:
            window = windows.after_failure(window, "unreadable", at=at)
            assert at < window.due <= at + LONGEST_RETRY
            continue
        past.append((digest, window.next_order, at))
        window = windows.after_read(window, window.next_order, bytes([digest]), rows=1, has_dead=False, at=at)
        assert window.due >= at
        proof = past[-2:]
        is_proven = len(proof) == 2 and proof[0][0] == proof[1][0] and proof[0][1] is not proof[1][1]
        assert window.is_sealed == (is_proven and at >= window.end + SEALED_FROM)


def test_a_window_is_read_at_each_age_and_then_rests() -> None:
    window, at, ages = next(windows.tile(NOW, NOW + MINUTE, width=WIDTH)), 0, []
    while window.due != NEVER:
        at = window.due
        ages.append(at - window.end)
        window = windows.after_read(window, window.next_order, b"", rows=0, has_dead=False, at=at)
    assert window.condition is Condition.SEALED
    assert len(ages) == len(AGES)
    assert all(age <= found <= age + max(1, age // 6) for age, found in zip(AGES, ages, strict=True))


def test_a_window_with_transfers_that_failed_is_read_once_more_after_a_month() -> None:
    window = Window(start=NOW, end=NOW + MINUTE, due=NOW)
    for at in (NOW + 7 * DAY, NOW + 10 * DAY):
        window = windows.after_read(window, window.next_order, b"", rows=1, has_dead=True, at=at)
    assert NOW + 30 * DAY < window.due <= NOW + 35 * DAY + MINUTE


def test_the_past_is_read_in_both_orders_at_once() -> None:
    window = next(windows.tile(NOW - 30 * DAY, NOW, width=BACKFILL_WIDTH, due=NOW))
    once = windows.after_read(window, window.next_order, b"a", rows=5, has_dead=False, at=NOW)
    assert (once.condition, once.due) == (Condition.OPEN, NOW)
    twice = windows.after_read(once, once.next_order, b"a", rows=5, has_dead=False, at=NOW)
    assert (twice.condition, twice.due) == (Condition.SEALED, NEVER)


def test_a_window_that_keeps_changing_is_not_read_in_a_loop() -> None:
    window, at, reads = Window(start=NOW - DAY, end=NOW - HOUR, due=NOW), NOW, 0
    while at < NOW + DAY:
        window = windows.after_read(window, window.next_order, str(reads).encode(), rows=1, has_dead=False, at=at)
        at, reads = max(window.due, at + 1), reads + 1
    assert reads < 100


def test_failures_back_off_and_one_success_ends_the_hole() -> None:
    window, pauses = Window(start=NOW, end=NOW + MINUTE, due=NOW), []
    for _ in range(12):
        window = windows.after_failure(window, "the cursor repeats", at=NOW)
        pauses.append(window.due - NOW)
    assert pauses[:3] == [20, 40, 80]
    assert pauses[-1] == LONGEST_RETRY
    assert (window.condition, window.reason) == (Condition.HOLE, "the cursor repeats")
    assert windows.after_read(window, Order.ASCENDING, b"", rows=0, has_dead=False, at=NOW).condition is Condition.OPEN


def test_neighbors_are_read_as_one_list_within_its_limits() -> None:
    at = NOW + HOUR

    def read(start: int, rows: int, order: Order = Order.ASCENDING) -> Window:
        return Window(start=start, end=start + MINUTE, due=at, read_at=at, order=order, rows=rows)

    found = [read(NOW + MINUTE * place, rows) for place, rows in enumerate([10, 20, 30])]
    apart, full, turned = (
        read(NOW + 10 * MINUTE, 1),
        read(NOW + 3 * MINUTE, 1990),
        read(NOW - MINUTE, 1, Order.DESCENDING),
    )
    assert runs([full, apart, turned, *found]) == [(apart,), (full,), tuple(found), (turned,)]
    young = [replace(each, read_at=NOW) for each in (turned, *found)]
    assert runs(young) == [tuple(young)]
    unread = Window(start=NOW, end=NOW + MINUTE, due=NOW)
    assert runs([unread, found[1]]) == [(found[1],), (unread,)]


def runs(due: list[Window]) -> list[tuple[Window, ...]]:
    """Return all runs of these windows, the newest first."""
    found, left = [], sorted(due, key=lambda each: each.start, reverse=True)
    while left:
        found.append(windows.newest_run(left, page_size=100))
        left = left[len(found[-1]) :]
    return found


@pytest.mark.parametrize(("age", "soonest"), [(0, 0), (HOUR, HOUR // 10), (DAY, DAY // 10)])
def test_a_changed_transfer_makes_its_window_due_but_not_again_and_again(age: int, soonest: int) -> None:
    window = Window(start=NOW - MINUTE - age, end=NOW - age, due=NEVER, read_at=NOW, is_sealed=True)
    assert windows.sooner(window, now=NOW).due == NOW + soonest


def test_one_percent_of_the_windows_are_samples() -> None:
    minutes = [Window(start=NOW + MINUTE * place, end=NOW + MINUTE * (place + 1), due=NOW) for place in range(970)]
    assert sum(map(windows.is_sample, minutes)) == 10
