"""The mirror follows the service, whatever its lists do."""

import time
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import pairwise
from random import Random
from unittest.mock import patch

import pytest

from intents_ui.mirror import coverage, lease, loop, partitions, reader, windows, writer
from intents_ui.mirror.figures import queries
from intents_ui.mirror.figures.snapshots import SnapshotWriter
from intents_ui.mirror.lease import LeaseLost
from intents_ui.mirror.models import STATUSES, Lease, Transfer, Window, state
from intents_ui.mirror.reader import Task
from intents_ui.mirror.windows import DAY, HOUR, MINUTE, Condition
from intents_ui.mirror.writer import tile
from intents_ui.service.models import End
from tests.mirror.conftest import on_each_engine
from tests.mirror.world import OUTCOMES, OWNER, START, Copy, World, edges, expected, rows


def conditions() -> set[Condition]:
    return {window.condition for window in Window.objects.all()}


@on_each_engine
@pytest.mark.parametrize(
    ("age", "status", "wait", "changed", "sooner", "within"),
    [
        pytest.param(0, "COMMITTED", 20, "EXECUTING", 0, 20, id="executed"),
        pytest.param(0, "EXECUTING", 20, "SUCCEEDED", 0, 20, id="ended"),
        pytest.param(0, "EXECUTING", 13 * MINUTE, "SUCCEEDED", 0, 20, id="late, when it leaves the list of open ones"),
        pytest.param(30 * HOUR, "FAILED", 20 * MINUTE, "REFUNDED", 0, HOUR, id="refunded on the second day"),
        pytest.param(25 * MINUTE, "FAILED", 2 * MINUTE, "REFUNDED", 1000, 10 * MINUTE, id="with an earlier time"),
    ],
)
def test_a_change_is_known_in_time(
    world: World, age: float, status: str, wait: int, changed: str, sooner: int, within: int
) -> None:
    mirror = Copy(world, days=2)
    mirror.settle(60)
    made = world.create(age=age, status=status)
    Window.objects.filter(end__lte=made.created // 1000 + HOUR).update(due=0)
    mirror.settle(wait, step=min(wait, MINUTE))
    assert rows() == expected(world) == {made.intent_id: (status, OUTCOMES[status])}
    window = Window.objects.get(start__lte=made.created // 1000, end__gt=made.created // 1000)
    assert window.is_sealed is (world.now >= window.end + windows.SEALED_FROM)
    made.changes.append((world.now, changed, made.changes[0][2] - sooner if sooner else int(world.now * 1000)))
    mirror.settle(within, step=min(within, MINUTE))
    assert rows() == expected(world) == {made.intent_id: (changed, OUTCOMES[changed])}


@on_each_engine
def test_the_past_is_read_newest_first_sealed_and_then_of_few_windows(world: World) -> None:
    for age in (*range(0, 2 * DAY, 2 * HOUR), *range(DAY - 2600, DAY, 20)):  # of which some are too many for a window
        world.create(age=age, status="SUCCEEDED")
    mirror = Copy(world, days=2)
    mirror.settle(70 * MINUTE, step=35 * MINUTE)
    assert rows() == expected(world)
    starts = [asked["fromTime"] for asked in world.asked if "toTime" in asked and asked["fromTime"] < START - HOUR]
    assert starts[:20] == sorted(starts[:20], reverse=True)
    assert conditions() <= {Condition.SEALED, Condition.OPEN, Condition.DUE}
    assert any(0 < end - start < HOUR for start, end in edges() if end < START - HOUR)
    assert not Window.objects.filter(end__lte=START, is_sealed=False).exists()
    assert sum(Window.objects.values_list("rows", flat=True)) == len(world.transfers)
    assert Window.objects.filter(end__lte=START - DAY).count() <= 2
    assert all(earlier[1] == later[0] for earlier, later in pairwise(edges()))


def test_a_quote_is_not_mirrored_and_an_unknown_status_is_noticed(world: World) -> None:
    mirror = Copy(world)
    mirror.settle(10)
    sample = next(each for each in Window.objects.order_by("start") if each.is_sample)
    world.create(age=world.now - sample.start - 1, status="HALTED")
    world.transfers[0].changes[0] = (0.0, "HALTED", START * 1000)
    with patch.dict("tests.mirror.world.STEPS", QUOTED=(None,) * 4):
        world.create(status="QUOTED")
        Window.objects.update(due=0)
        mirror.settle(20)
    assert rows() == {world.transfers[0].intent_id: ("HALTED", "open")}
    assert [*state(STATUSES)] == ["HALTED"]


def test_a_window_is_read_at_each_age_then_rests_and_after_failures_more_and_more_rarely() -> None:
    window, ages = next(tile(START, START + MINUTE, now=START)), []
    while window.due != windows.NEVER:
        ages.append(window.due - window.end)
        window.set_read(rows=0, at=window.due)
        assert window.is_sealed is (ages[-1] >= 10 * MINUTE)  # after a quote's last moment
    assert len(ages) == len(windows.AGES)
    assert all(age <= found <= age + max(1, age // 6) for age, found in zip(windows.AGES, ages, strict=True))
    window, pauses = next(tile(START, START + MINUTE, now=START)), []
    for _ in range(12):
        window.set_failed("the cursor repeats", at=START)
        pauses.append(window.due - START)
    assert (pauses[:3], pauses[-1]) == ([20, 40, 80], windows.LONGEST_RETRY)


# The failure modes of the service


def test_windows_that_are_not_neighbors_are_read_at_the_same_time(world: World) -> None:
    mirror = Copy(world, days=1)
    mirror.step()
    busy: list[Task] = []
    while task := mirror.mirror.next_task(busy=busy):
        busy.append(task)
    spans = sorted((task.start, task.end) for task in busy if task.end)
    assert len(spans) == loop.SPANS_AT_ONCE
    assert all(earlier[1] < later[0] for earlier, later in pairwise(spans))
    assert len(busy) < loop.READERS + len(loop.OPEN_SETS)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("repeats", reader.LIMIT_ERRORS[End.CIRCLES]),
        ("empty", reader.LIMIT_ERRORS[End.EMPTY_PAGE]),
        pytest.param("lost", reader.LIMIT_ERRORS[End.LOST], marks=pytest.mark.slow),
        ("unreadable", "could not be read"),
        pytest.param("garbled", "Unreadable (HTTP 200), not JSON", marks=pytest.mark.slow),
    ],
)
def test_a_list_that_breaks_off_is_a_hole_with_its_reason_until_it_is_read_to_its_end(
    world: World, fault: str, reason: str
) -> None:
    for age in range(0, 600, 10):
        world.create(age=90 * MINUTE - age, status="SUCCEEDED")
    world.page = 30
    mirror = Copy(world)
    mirror.step()
    world.always = fault
    mirror.settle(2 * MINUTE)
    holes = [window for window in Window.objects.all() if window.condition is Condition.HOLE]
    assert holes
    assert all(reason in window.reason for window in holes)
    if fault in ("repeats", "unreadable"):
        assert rows().items() <= expected(world).items()
        assert rows()
    world.always = ""
    mirror.settle(10 * MINUTE, step=2 * MINUTE)
    assert Condition.HOLE not in conditions()
    assert rows() == expected(world)


# Late corrections


def test_a_replica_that_is_behind_now_and_then_confirms_nothing(world: World) -> None:
    mirror = Copy(world)
    made = world.create(status="EXECUTING")
    mirror.settle(20)
    old = next(each for each in mirror.readings if each.entries)
    world.change(made, "SUCCEEDED")
    mirror.settle(20)
    for _ in range(3):
        mirror.writer.commit(replace(old, at=int(world.now * 1000) + 1), now=int(world.now))
        assert rows() == expected(world)
        mirror.settle(MINUTE)


@on_each_engine
def test_what_changes_without_a_change_of_status_is_written(world: World) -> None:
    made = world.create(age=25 * MINUTE, status="SUCCEEDED")
    made.is_finished = False
    mirror = Copy(world)
    mirror.settle(2 * MINUTE)
    assert Transfer.objects.get().ended is None
    made.is_finished = True
    made.created += 1000
    mirror.settle(10 * MINUTE, step=MINUTE)
    stored = Transfer.objects.get()  # the time of its creation is a part of its key
    assert (stored.created, stored.ended) == (made.created, made.changes[0][2])


@on_each_engine
def test_an_open_transfer_that_is_no_longer_listed_is_late_no_more_unless_it_is_back(world: World) -> None:
    made = world.create(age=5 * MINUTE, status="EXECUTING")
    mirror = Copy(world)
    mirror.settle(20 * MINUTE, step=4 * MINUTE)

    def late() -> list[str]:
        return [each.text_id for each in queries.late(now=mirror.moment()).transfers]

    assert late() == [made.intent_id]
    world.transfers.remove(made)
    mirror.settle(15 * MINUTE, step=3 * MINUTE)
    assert late() == []
    calls = len(world.called)
    mirror.settle(10 * MINUTE, step=2 * MINUTE)
    assert not any(asked["fromTime"] == made.created // 1000 for asked in world.asked[calls:])  # not read alone
    world.transfers.append(made)
    Window.objects.update(due=0)
    mirror.settle(MINUTE)
    assert late() == [made.intent_id]


@on_each_engine
def test_an_audit_counts_what_is_missing_changed_and_no_longer_listed(world: World) -> None:
    made = [world.create(age=age * HOUR + 9, status="SUCCEEDED") for age in range(1, 5)]
    Copy(world, days=1).settle(MINUTE)
    Lease.objects.update(until=0)
    mirror = Copy(world, days=1, calls=1000).mirror

    def audited() -> int:
        with patch.object(loop, "AUDITS", 5000):  # all windows
            return mirror.audit()[1]

    assert audited() == 0
    Transfer.objects.filter(intent_id=bytes.fromhex(made[0].intent_id[2:])).delete()
    world.change(made[1], "ABORTED")
    world.transfers.remove(made[2])
    world.create(status="SUCCEEDED").created = made[3].created
    assert audited() == 4
    assert audited() == 1  # the copy keeps what the service no longer lists


# Upkeep


@on_each_engine
def test_rows_are_deleted_after_their_retention(world: World) -> None:
    world.now = START + 18 * DAY  # on the second of a month, because PostgreSQL deletes months
    mirror = Copy(world, days=3)
    for days in (0, 1, 2):
        made = world.create(age=days * DAY, status="SUCCEEDED")
        made.changes = [(world.now, "SUCCEEDED", made.created)]
    mirror.settle(MINUTE)
    mirror.writer.expire(now=int(world.now), days=1)
    assert {*rows()} == {world.transfers[0].intent_id, world.transfers[1].intent_id}
    assert min(edges())[0] <= world.now - DAY < min(edges())[1] + MINUTE


@pytest.mark.programs
@pytest.mark.parametrize("copy", ["PostgreSQL"], indirect=True)
def test_a_month_begins_without_the_impossible_rows_of_before(world: World) -> None:
    made = world.create(status="SUCCEEDED")
    Copy(world).settle(MINUTE)
    in_a_year = START + 365 * DAY
    Transfer.objects.update(created=in_a_year * 1000)
    assert {*rows()} == {made.intent_id}
    partitions.add_months(in_a_year, in_a_year)
    assert not rows()


@on_each_engine
def test_an_address_that_was_forgotten_stays_forgotten(world: World) -> None:
    made = world.create(status="COMMITTED")
    mirror = Copy(world)
    mirror.settle(MINUTE)
    assert writer.forget("0x" + f"{1:040x}") == 1
    assert writer.forget(OWNER.upper().replace("0X", "0x")) == 1
    world.change(made, "SUCCEEDED")
    mirror.settle(5 * MINUTE, step=MINUTE)
    assert rows() == expected(world)
    stored = Transfer.objects.get()
    assert (stored.owner, stored.recipient, stored.refund) == (None, None, None)


# Leaders


@on_each_engine
def test_what_is_written_again_changes_nothing_and_a_process_that_lost_its_lease_writes_nothing(world: World) -> None:
    mirror, draw = Copy(world), Random(1)
    for _ in range(5):
        world.move(draw)
        world.faults = []
        mirror.settle(20)
    before = rows(), list(Window.objects.order_by("start").values())
    changed = [mirror.writer.commit(each, now=int(world.now)) for each in mirror.readings]
    assert {*changed} == {0}
    assert (rows(), list(Window.objects.order_by("start").values())) == before
    old = mirror.writer
    Lease.objects.update(until=0)
    mirror.restart()
    mirror.step()
    for write in (partial(old.commit, mirror.readings[-1]), SnapshotWriter(old).write):
        with pytest.raises(LeaseLost):
            write(now=int(world.now))


def test_a_process_waits_for_the_lease_and_again_after_another_one_took_it_over(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    mirror = Copy(world).mirror
    Lease.objects.create(pk=1, epoch=7, holder="another", until=2**62)

    def release(_: float) -> None:
        Lease.objects.update(until=0)

    def take_over() -> bool:
        if mirror.writer.epoch == 8:
            Lease.objects.update(epoch=9)
        return mirror.writer.epoch > 9

    mirror.is_done = take_over
    with patch.object(mirror.stop, "wait", release):
        mirror.run()
    assert Lease.objects.get().epoch == mirror.writer.epoch == 10
    assert [each.message for each in caplog.records] == ["Another process has taken over the mirror"]


def test_the_leader_tells_pages_the_service_s_time(world: World) -> None:
    mirror = Copy(world)
    world.now = time.time() + 90
    mirror.mirror.is_done = iter([False, False, True]).__next__
    with patch.object(lease, "RENEWED_EVERY", 0):
        mirror.mirror.run()
    assert abs(coverage.service_now() - mirror.moment()) < timedelta(seconds=60)


def test_a_rate_limited_mirror_waits_as_long_as_the_service_wants(world: World) -> None:
    mirror = Copy(world)
    mirror.settle(60)
    world.faults = ["busy"]
    mirror.settle(60, step=1)
    refused = next(at for at in world.called if at > START + 60)
    after = [at - refused for at in world.called if at > refused]
    assert after[0] >= 7
