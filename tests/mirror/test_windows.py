"""The ledger's windows tile the past, and each is read again as it ages."""

import pytest

from intents_ui.mirror import windows
from intents_ui.mirror.models import Window
from intents_ui.mirror.windows import (
    AGES,
    DAY,
    HOUR,
    LONGEST_RETRY,
    MINUTE,
    NEVER,
    WIDTH,
    Condition,
)
from intents_ui.mirror.writer import tile

NOW = 1_800_000_000 - 1_800_000_000 % DAY


@pytest.mark.parametrize("age", [10 * MINUTE - 1, 10 * MINUTE, DAY])
def test_a_window_is_sealed_by_a_complete_read_after_a_quote_s_last_moment(age: int) -> None:
    window = Window(start=NOW, end=NOW + MINUTE, due=NOW)
    window.set_failed("unreadable", at=window.end + age)
    assert window.condition is Condition.HOLE
    window.set_read(rows=1, at=window.end + age)
    assert window.is_sealed is (age >= 10 * MINUTE)


def test_a_window_is_read_at_each_age_and_then_rests() -> None:
    window, ages = next(tile(NOW, NOW + MINUTE, width=WIDTH)), []
    while window.due != NEVER:
        ages.append(window.due - window.end)
        window.set_read(rows=0, at=window.due)
    assert window.condition is Condition.SEALED
    assert len(ages) == len(AGES)
    assert all(age <= found <= age + max(1, age // 6) for age, found in zip(AGES, ages, strict=True))


def test_failures_back_off_and_one_success_ends_the_hole() -> None:
    window, pauses = Window(start=NOW, end=NOW + MINUTE, due=NOW), []
    for _ in range(12):
        window.set_failed("the cursor repeats", at=NOW)
        pauses.append(window.due - NOW)
    assert pauses[:3] == [20, 40, 80]
    assert pauses[-1] == LONGEST_RETRY
    assert (window.condition, window.reason) == (Condition.HOLE, "the cursor repeats")
    window.set_read(rows=0, at=NOW)
    assert window.condition is Condition.OPEN


def test_neighbors_are_read_as_one_list_within_its_limits() -> None:
    at = NOW + HOUR

    def read(start: int, rows: int) -> Window:
        return Window(start=start, end=start + MINUTE, due=at, read_at=at, rows=rows)

    def runs(*found: Window) -> list[tuple[Window, ...]]:
        return list(windows.runs(sorted(found, key=lambda each: -each.start), by=windows.is_sample))

    found = [read(NOW + MINUTE * place, rows) for place, rows in enumerate([10, 20, 30])]
    apart, full = read(NOW + 10 * MINUTE, 1), read(NOW + 3 * MINUTE, 1990)
    assert runs(full, apart, *found) == [(apart,), (full,), tuple(found)]
    unread = Window(start=NOW, end=NOW + MINUTE, due=NOW)
    assert runs(unread, found[1]) == [(found[1],), (unread,)]


def test_one_percent_of_the_windows_are_samples() -> None:
    minutes = [Window(start=NOW + MINUTE * place, end=NOW + MINUTE * (place + 1), due=NOW) for place in range(970)]
    assert sum(map(windows.is_sample, minutes)) == 10
