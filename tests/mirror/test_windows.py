"""The ledger's windows tile the past, and each is read again as it ages."""

from dataclasses import replace
from typing import Any

import pytest

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
    Window,
)

NOW = 1_800_000_000 - 1_800_000_000 % DAY


@pytest.mark.parametrize("age", [SEALED_FROM - 1, SEALED_FROM, DAY])
def test_a_window_is_sealed_by_a_complete_read_after_a_quote_s_last_moment(age: int) -> None:
    window = Window(start=NOW, end=NOW + MINUTE, due=NOW)
    broken = windows.after_failure(window, "unreadable", at=window.end + age)
    assert broken.condition is Condition.HOLE
    found = windows.after_read(broken, rows=1, at=window.end + age)
    assert found.is_sealed is (age >= SEALED_FROM)


def test_a_window_is_read_at_each_age_and_then_rests() -> None:
    window, at, ages = next(windows.tile(NOW, NOW + MINUTE, width=WIDTH)), 0, []
    while window.due != NEVER:
        at = window.due
        ages.append(at - window.end)
        window = windows.after_read(window, rows=0, at=at)
    assert window.condition is Condition.SEALED
    assert len(ages) == len(AGES)
    assert all(age <= found <= age + max(1, age // 6) for age, found in zip(AGES, ages, strict=True))


@pytest.mark.parametrize(("age", "wanted"), [(3 * HOUR, DAY), (2 * DAY, 7 * DAY)])
def test_a_sealed_window_is_read_again_after_a_day_and_a_week(age: int, wanted: int) -> None:
    window = Window(start=NOW, end=NOW + MINUTE, due=NOW)
    window = windows.after_read(window, rows=1, at=window.end + age)
    assert window.condition is Condition.SEALED
    assert wanted <= window.due - window.end <= wanted + wanted // 6


def test_the_past_is_read_once() -> None:
    window = next(windows.tile(NOW - 30 * DAY, NOW, width=BACKFILL_WIDTH, due=NOW))
    once = windows.after_read(window, rows=5, at=NOW)
    assert (once.condition, once.due) == (Condition.SEALED, NEVER)


def test_failures_back_off_and_one_success_ends_the_hole() -> None:
    window, pauses = Window(start=NOW, end=NOW + MINUTE, due=NOW), []
    for _ in range(12):
        window = windows.after_failure(window, "the cursor repeats", at=NOW)
        pauses.append(window.due - NOW)
    assert pauses[:3] == [20, 40, 80]
    assert pauses[-1] == LONGEST_RETRY
    assert (window.condition, window.reason) == (Condition.HOLE, "the cursor repeats")
    assert windows.after_read(window, rows=0, at=NOW).condition is Condition.OPEN


def test_neighbors_are_read_as_one_list_within_its_limits() -> None:
    at = NOW + HOUR

    def read(start: int, rows: int) -> Window:
        return Window(start=start, end=start + MINUTE, due=at, read_at=at, rows=rows)

    found = [read(NOW + MINUTE * place, rows) for place, rows in enumerate([10, 20, 30])]
    apart, full = read(NOW + 10 * MINUTE, 1), read(NOW + 3 * MINUTE, 1990)
    assert runs([full, apart, *found]) == [(apart,), (full,), tuple(found)]
    unread = Window(start=NOW, end=NOW + MINUTE, due=NOW)
    assert runs([unread, found[1]]) == [(found[1],), (unread,)]


def runs(due: list[Window]) -> list[tuple[Window, ...]]:
    """Return all runs of these windows, the newest first."""
    found, left = [], sorted(due, key=lambda each: each.start, reverse=True)
    while left:
        found.append(windows.newest_run(left, page_size=100))
        left = left[len(found[-1]) :]
    return found


def test_sealed_neighbors_are_merged_if_they_are_read_again_at_the_same_time() -> None:
    def window(place: int, **given: Any) -> Window:
        start = NOW + place * HOUR
        return Window(
            **{"start": start, "end": start + HOUR, "due": NEVER, "read_at": start, "rows": 5, "is_sealed": True}
            | given
        )

    same, due, still_open = [window(place) for place in range(3)], window(3, due=NOW), window(4, is_sealed=False)
    after, long, last, tomorrow = window(22), window(21, rows=1999), window(23), window(24)
    runs = list(windows.mergeable([*same, due, still_open, long, after, last, tomorrow], page_size=100))
    assert runs == [tuple(same), (after, last)]
    assert windows.merged(runs[1]) == replace(after, end=last.end, rows=10)


@pytest.mark.parametrize(("age", "soonest"), [(0, 0), (HOUR, HOUR // 10), (DAY, DAY // 10)])
def test_a_changed_transfer_makes_its_window_due_but_not_again_and_again(age: int, soonest: int) -> None:
    window = Window(start=NOW - MINUTE - age, end=NOW - age, due=NEVER, read_at=NOW, is_sealed=True)
    assert windows.sooner(window, now=NOW).due == NOW + soonest


def test_one_percent_of_the_windows_are_samples() -> None:
    minutes = [Window(start=NOW + MINUTE * place, end=NOW + MINUTE * (place + 1), due=NOW) for place in range(970)]
    assert sum(map(windows.is_sample, minutes)) == 10
