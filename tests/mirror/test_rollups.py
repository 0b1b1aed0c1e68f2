"""Figures are those of the rows, whatever changed in whatever order."""

from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from intents_ui.mirror import entry, windows, writer
from intents_ui.mirror.figures import rollups, tally
from intents_ui.mirror.figures.rollups import Rollups
from intents_ui.mirror.models import Day, DirtyHour, Hour, Lease, Summary, Transfer
from intents_ui.mirror.windows import DAY, HOUR, MINUTE
from intents_ui.service.wire.outcome import Outcome, outcome_of
from tests.mirror.conftest import on_each_engine
from tests.mirror.counted import check_settled, check_settled_hours, of_rows, of_world, stored
from tests.mirror.test_any_order import Killed, killed_after
from tests.mirror.world import NAMES, START, Copy, Made, World

PROVIDERS, CHAINS = ("RELAY", "CCTP"), (10, 42161)


def past(world: World, count: int, *, days: float, seed: int = 1) -> list[Made]:
    """Let transfers have ended in the past, within minutes."""
    draw, made = Random(seed), []  # noqa: S311 - the same in each run
    for _ in range(count):
        each = world.create(age=draw.uniform(HOUR, days * DAY))
        each.owner = f"0x{draw.randrange(1, 9):040x}"
        each.provider, each.destination = draw.choice(PROVIDERS), draw.choice(CHAINS)
        status = draw.choice(["SUCCEEDED"] * 6 + ["FAILED", "REFUNDED", "ABORTED"])
        each.reason = "" if status == "SUCCEEDED" else draw.choice(("out of gas", "slippage"))
        each.changes = [(world.now, status, each.created + int(draw.lognormvariate(10, 1)))]
        each.token = draw.choice(("", *NAMES, *NAMES.values()))
        made.append(each)
    return made


def settled(world: World, *, days: int = 0, width: int = DAY) -> Copy:
    """Return a mirror that has read all. The windows of its past have this width, in seconds."""
    world.page = 100
    mirror = Copy(world, days=days, calls=100)
    with patch.object(windows, "BACKFILL_WIDTH", width):
        mirror.settle(2 * MINUTE)
    return mirror


def stored_days() -> dict[int, dict[str, Any]]:
    return stored(Day.objects.all(), lambda row: row.pk)


@on_each_engine
def test_the_figures_of_a_past_are_those_of_its_transfers(world: World) -> None:
    past(world, 80, days=9)
    mirror = settled(world, days=10)
    mirror.count(is_final=True)
    check_settled([*of_rows()], now=int(world.now))
    check_settled([*of_world(world)], now=int(world.now))


def test_an_hour_with_many_transfers_is_counted_in_parts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollups, "ROWS_AT_ONCE", 5)
    past(world, 40, days=0.1)
    mirror = settled(world, days=1)
    mirror.count(is_final=True)
    assert max(Hour.objects.values_list("delivered", flat=True)) > 2 * rollups.ROWS_AT_ONCE
    check_settled([*of_rows()], now=int(world.now))
    check_settled([*of_world(world)], now=int(world.now))


@on_each_engine
def test_a_change_moves_a_transfer_from_its_old_hour_to_its_new_one(world: World) -> None:
    made = past(world, 10, days=1)[0]
    made.changes[0] = (world.now, "FAILED", int((world.now - 90 * MINUTE) * 1000))
    made.created = int((world.now - 91 * MINUTE) * 1000)
    mirror = settled(world, days=1, width=HOUR)
    mirror.count(is_final=True)
    world.change(made, "REFUNDED")
    mirror.settle(75 * MINUTE, step=120)
    old, new = (at // (HOUR * 1000) * HOUR for at in (made.changes[0][2], made.changes[1][2]))
    assert {old, new} <= {*DirtyHour.objects.values_list("start", flat=True)}
    check_settled_hours()
    mirror.count(is_final=True)
    check_settled([*of_world(world)], now=int(world.now))


def test_a_transfer_that_ends_on_the_hour_is_of_the_hour_that_begins(world: World) -> None:
    ends = [START * 1000 - 1, START * 1000]
    for end in ends:
        made = world.create(age=HOUR)
        made.changes = [(world.now, "SUCCEEDED", end)]
    mirror = settled(world)
    mirror.count(is_final=True)
    counted = Hour.objects.filter(scope__level="service").values_list("start", "delivered")
    assert sorted(counted) == [(START - HOUR, 1), (START, 1)]


def test_open_transfers_and_those_without_a_deposit_are_in_no_hour(world: World) -> None:
    world.create(status="EXECUTING")
    world.create(status="COMMITTED")
    mirror = settled(world)
    mirror.settle(15 * MINUTE, step=60)
    assert {*Transfer.objects.values_list("outcome", "hour")} == {("open", None), ("no_deposit", None)}
    mirror.count(is_final=True)
    assert not Hour.objects.exists()


def test_an_older_hour_waits_until_nothing_changes(world: World) -> None:
    past(world, 5, days=1)
    mirror = settled(world, days=1)
    assert mirror.writer is not None
    counter, now = Rollups(mirror.writer.epoch), int(world.now)
    hours = DirtyHour.objects.filter(start__lt=now - 2 * HOUR)
    hours.update(first=now - 30, last=now - 30)
    started = hours.count()
    counter._last_hour_due = now + DAY
    counter.step(now=now)
    assert hours.count() == started > 0
    counter.step(now=now + 30)
    assert hours.count() == started - 1
    hours.update(first=now - rollups.LONGEST_WAIT, last=now)
    counter.step(now=now)
    assert hours.count() == started - 2


@on_each_engine
def test_a_forgotten_owner_is_no_longer_counted(world: World) -> None:
    made = past(world, 25, days=3)
    mirror = settled(world, days=4)
    mirror.count(is_final=True)
    gone = made[0].owner
    digest = tally.owner_hash(bytes.fromhex(gone[2:])).to_bytes(4)
    assert any(digest in bytes(row.owner_hashes) for row in Hour.objects.all())
    writer.forget(gone)
    mirror.count(is_final=True)
    check_settled([*of_rows()], now=int(world.now))
    for table in (Hour, Day):
        assert not any(digest in bytes(row.owner_hashes) for row in table._default_manager.all())


@on_each_engine
def test_a_figure_of_rows_that_vanished_is_right_when_they_are_back(world: World) -> None:
    past(world, 25, days=1)
    mirror = settled(world, days=1)
    mirror.count(is_final=True)
    Transfer.objects.filter(pk__in=Transfer.objects.values("pk")[:12]).delete()
    mirror.settle(HOUR + 10 * MINUTE, step=120)
    mirror.count(is_final=True)
    check_settled([*of_world(world)], now=int(world.now))


def test_figures_are_counted_again_from_the_rows_at_any_time(world: World) -> None:
    past(world, 25, days=3)
    mirror = settled(world, days=4)
    mirror.count(is_final=True)
    Hour.objects.filter(pk__in=[each.pk for each in Hour.objects.all()[:20]]).update(delivered=99)
    Day.objects.all().delete()
    assert mirror.rollups is not None
    mirror.rollups.rebuild(now=int(world.now))
    mirror.count(is_final=True)
    check_settled([*of_rows()], now=int(world.now))


def test_rows_that_are_judged_by_new_rules_are_counted_by_them(world: World) -> None:
    past(world, 20, days=1)
    mirror = settled(world, days=1)
    mirror.count(is_final=True)

    def judged(found: Any) -> Outcome:
        outcome = outcome_of(found)
        return Outcome.UNCONFIRMED if outcome is Outcome.FAILED else outcome

    with patch.object(writer, "RULES", 2), patch.object(entry, "outcome_of", judged):
        Lease.objects.update(until=0)
        mirror.restart()
        mirror.settle(2 * MINUTE)
        mirror.count(is_final=True)
        assert not Transfer.objects.filter(outcome="failed").exists()
        assert Summary.objects.get(scope__level="service", period="30d").unconfirmed > 0
        check_settled([*of_rows()], now=int(world.now))


@on_each_engine
def test_days_outlive_their_hours_and_their_rows(world: World) -> None:
    past(world, 60, days=8)
    mirror = settled(world, days=8)
    mirror.count(is_final=True)
    before = stored_days()
    assert mirror.writer is not None
    with patch.object(rollups, "HOURS_DAYS", 3):
        mirror.writer.expire(now=int(world.now), days=5)
        mirror.count(is_final=True)
        assert min(Hour.objects.values_list("start", flat=True)) >= START // DAY * DAY - 3 * DAY
        after = stored_days()
        assert {pk: {**each, "reasons": None} for pk, each in after.items()} == {
            pk: {**each, "reasons": None} for pk, each in before.items()
        }
        assert not any(bytes(row.owner_hashes) for row in Day.objects.filter(start__lt=world.now - 6 * DAY))
        # A day whose hours are gone is counted from its rows, one whose rows are gone no more.
        for age in (4, 7):
            rollups.mark({int(world.now) // HOUR * HOUR - age * DAY: 1}, now=0)
        Day.objects.filter(start=START // DAY * DAY - 4 * DAY).update(delivered=99)
        mirror.count(is_final=True)
        assert stored_days() == after
    with patch.object(rollups, "DAYS_DAYS", 2):
        mirror.writer.expire(now=int(world.now))
        assert min(Day.objects.values_list("start", flat=True)) >= world.now - 2 * DAY


@on_each_engine
def test_a_process_that_is_killed_while_it_counts_leaves_nothing_wrong(world: World) -> None:
    past(world, 12, days=1)
    mirror = settled(world, days=1)
    for statements in (0, 20, 50, 90):
        mirror.rollups = None
        rollups.mark_all(now=int(world.now))
        with pytest.raises(Killed), killed_after(statements):
            mirror.count(is_final=True)
        check_settled_hours()
        mirror.rollups = None
        mirror.count(is_final=True)
        check_settled([*of_world(world)], now=int(world.now))
