"""Figures are those of the rows, whatever changed in whatever order."""

from itertools import pairwise
from random import Random
from typing import Any
from unittest.mock import patch

from intents_ui.mirror import entry, windows, writer
from intents_ui.mirror.figures import facts
from intents_ui.mirror.figures.snapshots import Period
from intents_ui.mirror.models import Audit, Day, DayFact, Lease, Transfer, Window
from intents_ui.mirror.windows import DAY, HOUR, MINUTE
from intents_ui.service.outcome import Outcome, outcome_of
from tests.mirror.conftest import on_each_engine
from tests.mirror.counted import check_facts, check_figures, of_world
from tests.mirror.world import NAMES, START, Copy, Made, World, edges


def past(world: World, count: int, *, days: float, seed: int = 1) -> list[Made]:
    """Let transfers have ended in the past, within minutes."""
    draw, made = Random(seed), []  # noqa: S311 - the same in each run
    for _ in range(count):
        status = draw.choice(["SUCCEEDED"] * 6 + ["FAILED", "REFUNDED", "ABORTED"])
        each = world.draw(draw, draw.uniform(HOUR, days * DAY), status)
        each.changes = [(world.now, status, each.created + int(draw.lognormvariate(10, 1)))]
        each.token = draw.choice(("", *NAMES, *NAMES.values()))
        made.append(each)
    return made


def settled(world: World, *, days: int = 0, width: int = DAY) -> Copy:
    """Return a mirror that has read all. The windows of its past have this width, in seconds."""
    world.page = 100
    mirror = Copy(world, days=days, calls=100)
    with patch.object(windows, "BACKFILL_WIDTH", width):
        mirror.settle(2 * MINUTE, step=2 * MINUTE)
    return mirror


@on_each_engine
def test_the_figures_of_a_past_are_those_of_its_transfers(world: World) -> None:
    past(world, 80, days=9)
    mirror = settled(world, days=10)
    check_figures([*of_world(world)], now=int(world.now))  # from rows
    mirror.count(is_final=True)
    assert Day.objects.count() >= 8
    check_facts()
    check_figures([*of_world(world)], now=int(world.now))  # from facts


@on_each_engine
def test_a_change_lets_its_day_be_counted_from_rows_until_its_facts_are_written_again(world: World) -> None:
    made = past(world, 20, days=5)[0]
    made.created = int((world.now - 3 * DAY) * 1000)
    made.changes[0] = (world.now, "FAILED", made.created + 1000)
    mirror = settled(world, days=6)
    mirror.count(is_final=True)
    days = Day.objects.count()
    world.change(made, "REFUNDED")
    Window.objects.update(due=0)
    mirror.settle(MINUTE)
    assert Day.objects.count() < days
    check_figures([*of_world(world)], now=int(world.now))
    mirror.count(is_final=True)
    assert Day.objects.count() == days
    check_facts()
    check_figures([*of_world(world)], now=int(world.now))


def test_a_transfer_that_ends_on_the_hour_is_of_the_hour_that_begins(world: World) -> None:
    for end in (START * 1000 - 1, START * 1000):
        made = world.create(age=HOUR)
        made.changes = [(world.now, "SUCCEEDED", end)]
    settled(world)
    assert facts.count("start", parts=((), [(0, 2**40)]), length=HOUR) == {(START - HOUR,): 1, (START,): 1}


@on_each_engine
def test_deleted_rows_and_windows_are_found_and_read_again(world: World) -> None:
    past(world, 25, days=1)
    mirror = settled(world, days=1)
    mirror.count(is_final=True)
    Transfer.objects.filter(pk__in=Transfer.objects.values("pk")[:12]).delete()
    Window.objects.filter(start=START // DAY * DAY).delete()
    mirror.settle(HOUR, step=10 * MINUTE)
    assert all(earlier[1] == later[0] for earlier, later in pairwise(edges()))
    assert Audit.objects.exists()
    mirror.count(is_final=True)
    check_figures([*of_world(world)], now=int(world.now))


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
        assert facts.count("outcome", parts=facts.divided(Period.MONTH.span(int(world.now))))["unconfirmed",] > 0
        check_facts()


@on_each_engine
def test_facts_are_deleted_with_their_rows(world: World) -> None:
    past(world, 60, days=8)
    mirror = settled(world, days=8)
    mirror.count(is_final=True)
    assert mirror.writer is not None
    mirror.writer.expire(now=int(world.now), days=5)
    for table, column in ((Day, "start"), (DayFact, "day")):
        assert min(table._default_manager.values_list(column, flat=True)) >= START // DAY * DAY - 6 * DAY
