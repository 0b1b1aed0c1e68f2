"""The ledger's windows tile the past, and a sealed one was read twice with the same result."""

from dataclasses import replace

import pytest
from hypothesis import example, given
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


READS = st.lists(
    st.one_of(
        st.tuples(st.integers(0, 2), st.integers(1, 2 * HOUR)),  # digest, seconds since the last read
        st.tuples(st.none(), st.integers(1, 2 * HOUR)),  # a failure
    ),
    max_size=12,
)


@given(reads=READS)
@example(reads=[(0, 100), (0, 100)])  # the same, but before a quote's last moment
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


@pytest.mark.parametrize(("age", "wanted"), [(3 * HOUR, DAY), (2 * DAY, 7 * DAY)])
def test_a_sealed_window_is_read_again_after_a_day_and_a_week(age: int, wanted: int) -> None:
    window = Window(start=NOW, end=NOW + MINUTE, due=NOW)
    for _ in range(2):
        window = windows.after_read(window, window.next_order, b"", rows=1, has_dead=False, at=window.end + age)
    assert window.condition is Condition.SEALED
    assert wanted <= window.due - window.end <= wanted + wanted // 6


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
