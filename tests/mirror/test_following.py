"""The mirror follows the service, whatever its lists do."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from random import Random
from threading import Event
from typing import Any
from unittest.mock import patch

import pytest

from intents_ui.mirror import entry, reader, windows, writer
from intents_ui.mirror.loop import Mirror
from intents_ui.mirror.models import Audit, Lease, Reason, Transfer, TransferAddress, UnknownStatus, Window
from intents_ui.mirror.reader import CallLimiter, Reader, Reading, Span, Task
from intents_ui.mirror.windows import DAY, HOUR, MINUTE, Condition
from intents_ui.mirror.writer import OtherSource, Writer, load, state
from intents_ui.service.queries.paging import End
from intents_ui.service.wire.outcome import Outcome
from tests.mirror.world import CALLS, OWNER, START, Copy, World, edges, expected, rows


@pytest.fixture
def world(copy: object) -> World:
    return World()


def conditions() -> set[Condition]:
    return {window.condition for window in load()}


def test_what_happens_is_known_soon(world: World) -> None:
    mirror = Copy(world)
    mirror.settle(60)
    made = world.create()
    for status in ("EXECUTING", "SUCCEEDED"):
        mirror.settle(20)
        assert rows() == expected(world)
        world.change(made, status)
    mirror.settle(20)
    assert rows() == expected(world) == {made.intent_id: ("SUCCEEDED", "delivered")}


def test_a_transfer_that_ends_late_is_read_when_it_leaves_the_list_of_open_ones(world: World) -> None:
    mirror = Copy(world)
    mirror.settle(10)
    made = world.create(status="EXECUTING")
    mirror.settle(13 * MINUTE)
    world.change(made, "SUCCEEDED")
    mirror.settle(20)
    assert rows() == expected(world)


def test_an_old_transfer_that_is_no_longer_open_is_read_alone(world: World) -> None:
    world.page = 100
    mirror = Copy(world)
    mirror.settle(10)
    made = world.create(status="EXECUTING")
    for age in range(1, 60):
        world.create(age=age, status="SUCCEEDED")
    mirror.settle(13 * MINUTE)
    world.change(made, "SUCCEEDED")
    before = len(world.asked)
    mirror.settle(20)
    assert rows() == expected(world)
    since = made.created // 1000
    reads = [asked for asked in world.asked[before:] if asked.get("toTime", 0) > since >= asked["fromTime"]]
    assert [(asked["fromTime"], asked["toTime"]) for asked in reads] == [(since, since + 2)]


def test_a_transfer_that_vanishes_from_all_lists_is_looked_for_ever_more_rarely(world: World) -> None:
    mirror = Copy(world)
    made = world.create(status="EXECUTING")
    mirror.settle(5 * MINUTE)
    world.transfers.clear()
    before = len(world.asked)
    mirror.settle(8 * MINUTE)
    alone = made.created // 1000 + 2
    assert 3 <= len([asked for asked in world.asked[before:] if asked.get("toTime") == alone]) <= 16


@pytest.mark.slow
def test_endings_are_known_within_seconds_at_less_than_a_third_of_a_call_per_transfer(world: World) -> None:
    draw, ends = Random(1), {}  # noqa: S311 - the same in each run
    world.page = 100
    for number in range(4 * 6 * MINUTE):
        world.now = START + number / 4
        made = world.create(age=draw.uniform(2, 60))
        world.change(made, "EXECUTING", delay=draw.uniform(2, 15))
        ends[made.intent_id] = made.changes[-1][0] + draw.lognormvariate(3.3, 0.8)
        made.changes.append((ends[made.intent_id], "SUCCEEDED", int(ends[made.intent_id] * 1000)))
    world.now = START
    mirror, known = Copy(world), dict[str, float]()
    while world.now < START + 8 * MINUTE:
        world.now += 0.1 if mirror.step() else 1
        for each in mirror.readings[-1].entries:
            if each.outcome is Outcome.DELIVERED:
                known.setdefault(f"0x{each.intent_id.hex()}", world.now)
    late = sorted(known[each] - end for each, end in ends.items() if end < START + 7 * MINUTE)
    assert late[len(late) // 2] <= 15
    assert late[len(late) * 95 // 100] <= 30
    assert late[len(late) * 99 // 100] <= 120
    assert len(world.called) < 0.3 * len(ends)


def test_a_quote_that_is_committed_late_is_not_missed(world: World) -> None:
    mirror = Copy(world)
    mirror.settle(10 * MINUTE)
    for age in (30, 200, 599):
        world.create(age=age, status="EXECUTING")
    mirror.settle(10 * MINUTE)
    assert rows() == expected(world)


def test_the_past_is_read_newest_first_and_sealed(world: World) -> None:
    for age in range(0, 2 * DAY, 3 * HOUR):
        world.create(age=age, status="SUCCEEDED")
    mirror = Copy(world, days=2)
    mirror.settle(30 * MINUTE)
    assert rows() == expected(world)
    starts = [asked["fromTime"] for asked in world.asked if "toTime" in asked and asked["fromTime"] < START - HOUR]
    assert starts[:20] == sorted(starts[:20], reverse=True)
    assert conditions() <= {Condition.SEALED, Condition.OPEN, Condition.DUE}
    old = Window.objects.filter(end__lte=START)
    assert old.filter(is_sealed=True).count() == old.count()


def test_a_window_that_is_too_long_is_split(world: World) -> None:
    for age in range(300):
        world.create(age=2 * DAY - age * 10, status="SUCCEEDED")
    mirror = Copy(world, days=2)
    mirror.settle(40 * MINUTE)
    assert rows() == expected(world)
    assert all(earlier[1] == later[0] for earlier, later in pairwise(edges()))
    assert Window.objects.filter(end__lte=START, is_sealed=False).count() == 0
    assert any(0 < end - start < HOUR for start, end in edges() if end < START - DAY)


def test_a_quote_is_not_mirrored_and_an_unknown_status_is_noticed(world: World) -> None:
    mirror = Copy(world)
    mirror.settle(10)
    sample = next(each for each in load("ORDER BY start") if windows.is_sample(each))
    world.create(age=world.now - sample.start - 1, status="HALTED")
    world.transfers[0].changes[0] = (0.0, "HALTED", START * 1000)
    with patch.dict("tests.mirror.world.STEPS", QUOTED=(None,) * 4):
        world.create(status="QUOTED")
        mirror.settle(3 * HOUR, step=300)
    assert rows() == {world.transfers[0].intent_id: ("HALTED", "open")}
    assert UnknownStatus.objects.get().status == "HALTED"


@pytest.mark.parametrize("fault", ["duplicates", "reordered"])
def test_duplicates_and_the_order_of_entries_make_no_difference(world: World, fault: str) -> None:
    world.always = fault
    mirror = Copy(world)
    for _ in range(8):
        world.create(status="SUCCEEDED")
    mirror.settle(15 * MINUTE)
    assert rows() == expected(world)
    assert Condition.HOLE not in conditions()


# The failure modes of the service


def test_while_the_service_is_down_windows_stay_due_and_are_read_when_it_is_back(world: World) -> None:
    mirror = Copy(world)
    mirror.settle(60)
    world.always = "refused"
    world.create(status="SUCCEEDED")
    mirror.settle(10 * MINUTE)
    assert Condition.HOLE not in conditions()
    assert Window.objects.filter(due__lte=world.now).count() >= 9
    assert len([at for at in world.called if at > world.now - MINUTE]) < MINUTE  # the circuit breaker is open
    world.always = ""
    mirror.settle(2 * MINUTE)
    assert rows() == expected(world)


def test_entries_that_are_received_again_unchanged_are_not_parsed_again(world: World) -> None:
    for age in range(12):
        world.create(age=DAY + age, status="SUCCEEDED" if age % 2 else "COMMITTED")
    parsed = Counter[str]()

    def counted(intent_id: str, listed: Mapping[str, Any]) -> Any:
        parsed[intent_id] += 1
        return columns(intent_id, listed)

    columns = entry._columns
    mirror = Copy(world, days=2)
    with patch.object(entry, "_columns", counted):
        mirror.settle(30 * MINUTE)
    assert rows() == expected(world)
    assert set(parsed.values()) == {1}
    assert len(parsed) == 12


def test_a_window_is_written_before_the_next_one_is_read(world: World) -> None:
    for age in range(0, DAY, 10 * MINUTE):
        world.create(age=DAY - age, status="SUCCEEDED")
    unwritten: list[Task] = []
    begun: list[int] = []
    read, commit = Reader.read, Writer.commit

    def noted_read(self: Reader, task: Task) -> Reading:
        if isinstance(task, Span):
            unwritten.append(task)
            begun.append(len(unwritten))
        return read(self, task)

    def noted_commit(self: Writer, reading: Reading, *, now: int) -> int:
        changed = commit(self, reading, now=now)
        if isinstance(reading.task, Span):
            unwritten.remove(reading.task)
        return changed

    copied = Copy(world)
    mirror = Mirror(
        copied.mirror.reader,
        source="world",
        now=copied.moment,
        stop=Event(),
        days=1,
        is_done=lambda: len(begun) > 20,
    )
    with patch.object(Reader, "read", noted_read), patch.object(Writer, "commit", noted_commit):
        assert mirror.run(waits=False)
    assert len(begun) > 20
    assert set(begun) == {1}


def test_a_rate_limited_mirror_waits_as_long_as_the_service_wants(world: World) -> None:
    mirror = Copy(world)
    mirror.settle(60)
    world.faults = ["busy"]
    mirror.settle(60, step=1)
    refused = next(at for at in world.called if at > START + 60)
    after = [at - refused for at in world.called if at > refused]
    assert after[0] >= 7


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("repeats", reader.LACKS[End.CIRCLES]),
        ("empty", reader.LACKS[End.EMPTY_PAGE]),
        ("lost", reader.LACKS[End.LOST]),
        ("unreadable", "could not be read"),
        ("garbled", "Unreadable (HTTP 200), not JSON"),
    ],
)
def test_a_list_that_breaks_off_is_a_hole_with_its_reason_until_it_is_read_to_its_end(
    world: World, fault: str, reason: str
) -> None:
    for age in range(0, 600, 10):
        world.create(age=DAY - age, status="SUCCEEDED")
    world.page = 30
    mirror = Copy(world, days=1)
    mirror.step()
    world.always = fault
    mirror.settle(5 * MINUTE)
    holes = [window for window in load() if window.condition is Condition.HOLE]
    assert holes
    assert all(reason in window.reason for window in holes)
    if fault in ("repeats", "unreadable"):
        assert rows().items() <= expected(world).items()
        assert rows()
    world.always = ""
    mirror.settle(35 * MINUTE, step=120)
    assert Condition.HOLE not in conditions()
    assert rows() == expected(world)


def test_rows_of_older_rules_are_read_again(world: World) -> None:
    mirror = Copy(world)
    world.create(age=HOUR, status="SUCCEEDED")
    mirror.settle(20 * MINUTE)
    with patch.object(writer, "RULES", 2):
        mirror.mirror.schedule._upkeep_due = 0
        mirror.restart()
        Lease.objects.update(until=0)
        mirror.settle(MINUTE)
    assert set(Transfer.objects.values_list("rules", flat=True)) == {2}


@pytest.mark.parametrize("is_replica_late", [False, True], ids=["read earlier", "changed earlier"])
def test_an_older_reading_never_replaces_a_newer_one(world: World, is_replica_late: bool) -> None:
    mirror = Copy(world)
    made = world.create(status="EXECUTING")
    mirror.settle(20)
    old = next(each for each in mirror.readings if each.entries)
    world.change(made, "SUCCEEDED")
    mirror.settle(20)
    assert mirror.writer is not None
    later = int(world.now * 1000) + 1
    mirror.writer.commit(replace(old, at=later) if is_replica_late else old, now=int(world.now))
    assert rows() == expected(world)


def test_writing_readings_again_changes_nothing(world: World) -> None:
    mirror = Copy(world)
    for age in range(0, 100, 10):
        world.create(age=age, status="SUCCEEDED")
    mirror.settle(3 * MINUTE)
    before = list(load("ORDER BY start"))
    assert mirror.writer is not None
    for reading in reversed(mirror.readings):
        if isinstance(reading.task, Span):
            assert mirror.writer.commit(reading, now=int(world.now)) == 0
    assert list(load("ORDER BY start")) == before


# Upkeep


def test_deleted_transfers_and_windows_are_found_and_read_again(world: World) -> None:
    for age in range(300):
        world.create(age=age * 120, status="SUCCEEDED")
    world.page = 100
    mirror = Copy(world, days=1)
    mirror.settle(20 * MINUTE)
    Transfer.objects.filter(pk__in=list(Transfer.objects.order_by("?").values_list("pk", flat=True)[:100])).delete()
    Window.objects.filter(start=START - 5 * HOUR).delete()
    mirror.settle(HOUR)
    assert rows() == expected(world)
    assert all(earlier[1] == later[0] for earlier, later in pairwise(edges()))


def test_a_missing_transfer_makes_its_window_a_hole(world: World) -> None:
    world.create(age=HOUR, status="SUCCEEDED")
    mirror = Copy(world)
    mirror.settle(20 * MINUTE)
    Transfer.objects.all().delete()
    assert mirror.writer is not None
    assert mirror.writer.verify(now=int(world.now)) == 1
    hole = next(window for window in load() if window.condition is Condition.HOLE)
    assert (hole.reason, hole.due) == (writer.ROWS_MISSING, int(world.now))


def test_an_audit_counts_what_the_copy_had_wrong(world: World) -> None:
    made = world.create(age=90 * MINUTE, status="FAILED")
    mirror = Copy(world)
    mirror.settle(20 * MINUTE)
    world.change(made, "REFUNDED")
    mirror.settle(70 * MINUTE, step=120)
    assert rows() == expected(world)
    assert sum(Audit.objects.values_list("differing", flat=True)) <= 1
    assert Audit.objects.count() >= 10


def test_rows_are_deleted_after_their_retention(world: World) -> None:
    mirror = Copy(world, days=3)
    for days in (0, 1, 2):
        made = world.create(age=days * DAY, status="SUCCEEDED")
        made.changes = [(world.now, "SUCCEEDED", made.created)]
    mirror.settle(MINUTE)
    assert mirror.writer is not None
    mirror.writer.expire(now=int(world.now), days=1)
    assert {*rows()} == {world.transfers[0].intent_id, world.transfers[1].intent_id}
    assert min(edges())[0] <= START - DAY < min(edges())[1]
    assert TransferAddress.objects.count() == 2


def test_an_address_that_was_forgotten_stays_forgotten(world: World) -> None:
    made = world.create(status="COMMITTED")
    mirror = Copy(world)
    mirror.settle(MINUTE)
    assert writer.forget("0x" + f"{1:040x}") == 1
    assert writer.forget(OWNER.upper().replace("0X", "0x")) == 1
    world.change(made, "SUCCEEDED")
    mirror.settle(5 * MINUTE)
    assert rows() == expected(world)
    stored = Transfer.objects.get()
    assert (stored.owner, stored.recipient, TransferAddress.objects.count()) == (None, None, 0)


def test_a_copy_of_another_service_is_refused(world: World) -> None:
    mirror = Copy(world)
    mirror.step()
    assert mirror.writer is not None
    with pytest.raises(OtherSource):
        mirror.writer.begin("another", start=START, now=START)


def test_a_reason_is_stored_once_without_its_numbers(world: World) -> None:
    with patch.dict("tests.mirror.world.STEPS", FAILED=("SUCCEEDED", "FAILED", None, None)):
        mirror = Copy(world)
        for number in range(3):
            made = world.create(status="FAILED")
            made.reason = f"Reverted with {number} at 0x{number:040x}"
        mirror.settle(MINUTE)
    assert Reason.objects.get().text == "reverted with # at #"


def test_calls_never_exceed_the_limit_in_any_ten_seconds(world: World) -> None:
    world.page = 1
    for age in range(200):
        world.create(age=age * 60, status="SUCCEEDED")
    mirror = Copy(world, days=1)
    mirror.settle(10 * MINUTE)
    assert len(world.called) > 500
    assert all(later - earlier >= 1 for earlier, later in zip(world.called, world.called[CALLS:], strict=False))
    assert sum(state("calls").values()) == len(world.called)


def test_half_as_many_calls_are_made_while_the_service_is_slow() -> None:
    at = [0.0]
    made = []

    def sleep(seconds: float) -> None:
        at[0] += seconds

    limiter = CallLimiter(4, clock=lambda: at[0], sleep=sleep)
    for _ in range(20):
        limiter.acquire(is_halved=True)
        made.append(at[0])
    assert made[-1] >= 9
