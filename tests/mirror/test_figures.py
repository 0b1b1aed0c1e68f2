"""Figures are those of the rows, whatever changed, and pages get none of a time that is incomplete."""

import math
from collections import Counter
from datetime import timedelta
from itertools import product
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection
from hypothesis import example, given
from hypothesis import strategies as st

from intents_ui.mirror import entry, windows, writer
from intents_ui.mirror.entry import RouteKey
from intents_ui.mirror.figures import queries, snapshots, statistics
from intents_ui.mirror.figures.queries import PeriodFigures, Sort, count_open
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName, scope_of_token, scopes_of
from intents_ui.mirror.figures.snapshots import Adder, Basis, Period, SnapshotWriter
from intents_ui.mirror.figures.statistics import BUCKETS, share
from intents_ui.mirror.models import ENDED, Lease, Route, Token, Transfer, Window
from intents_ui.mirror.windows import DAY, HOUR, MINUTE, utc
from intents_ui.service.outcome import RULES, Outcome, outcome_of
from tests.mirror import past
from tests.mirror.conftest import on_each_engine
from tests.mirror.counted import check_pages, of_world
from tests.mirror.world import NAMES, SENT_TOKEN, SLOW, START, Copy, Made, World

RELAY = ScopeName(Level.ROUTE, "RELAY", "1", "10")


def past_of(world: World, count: int, *, days: float, seed: int = 1) -> list[Made]:
    """Let transfers have ended in the past, within minutes."""
    draw, made = Random(seed), []
    for _ in range(count):
        status = draw.choice(["SUCCEEDED"] * 6 + ["FAILED", "REFUNDED", "ABORTED"])
        each = world.draw(draw, draw.uniform(HOUR, days * DAY), status)
        each.changes = [(world.now, status, each.created + int(draw.lognormvariate(10, 1)))]
        each.token = draw.choice(("", *NAMES, *NAMES.values()))
        made.append(each)
    # On the hour, which begins with it, and just before it.
    for each, end in zip(made, (START * 1000, START * 1000 - 1), strict=False):
        each.created, each.changes = min(each.created, end), [(world.now, each.changes[0][1], end)]
    return made


def settled(world: World, *, days: int) -> Copy:
    """Return a mirror that has read all."""
    world.page = 100
    mirror = Copy(world, days=days, calls=100)
    with patch.object(windows, "BACKFILL_WIDTH", DAY):
        mirror.settle(2 * MINUTE, step=2 * MINUTE)
    return mirror


def counted(world: World, *, days: int) -> Copy:
    mirror = settled(world, days=days)
    mirror.count(is_final=True)
    return mirror


def deliver(world: World, count: int, *, seconds: float = 60, provider: str = "RELAY", age: float = 2 * DAY) -> None:
    """Let transfers have been delivered at this age, within about these seconds."""
    draw = Random(count)
    for number in range(count):
        made = world.create(age=age + number)
        made.provider = provider
        made.changes = [(world.now, "SUCCEEDED", made.created + int(draw.uniform(0.5, 1) * seconds * 1000))]


def total_of(mirror: Copy, period: Period = Period.DAY) -> PeriodFigures:
    return queries.overview(period, count_open(now=mirror.moment())).total


# Figures


@on_each_engine
def test_each_outcome_of_a_scope_has_its_list_and_a_route_the_other_routes(world: World) -> None:
    deliver(world, 30)
    deliver(world, 3, provider="CCTP")
    failed = world.create(age=DAY)
    failed.changes, failed.reason = [(world.now, "FAILED", failed.created + 1000)], "Reverted with 17"
    mirror = counted(world, days=3)
    found, span = queries.report(RELAY, Period.WEEK, count_open(now=mirror.moment())), Period.WEEK.span(int(world.now))
    assert (found.total.in_time, found.total.decided) == (30, 31)
    assert [(each.scope.providers, each.ended, each.in_time) for each in found.rows] == [("CCTP", 3, 3)]
    reason = "reverted with #"
    failures, count = queries.listed(RELAY, span, outcomes=[Outcome.FAILED], reason=reason, sort=Sort.NEWEST)
    assert ([each.text_id for each in failures], count) == ([failed.intent_id], 1)
    parts = (EVERYTHING, ScopeName(Level.PROVIDER, "RELAY"), ScopeName(Level.PROVIDER_ON_CHAIN, "RELAY", "10"))
    for part, delivered in zip(parts, (33, 30, 30), strict=True):
        some = ([Outcome.DELIVERED], delivered), ([Outcome.DELIVERED, Outcome.REFUNDED], delivered)
        for (outcomes, wanted), sort in product(((ENDED, delivered + 1), ([Outcome.FAILED], 1), *some), Sort):
            first, count = queries.listed(part, span, outcomes=outcomes, sort=sort)
            assert len(first) == count == wanted, (part, outcomes, sort)


# The past


@on_each_engine
def test_the_figures_of_a_past_are_those_of_its_transfers_whatever_changes(world: World) -> None:
    made = past_of(world, 80, days=9)[0]
    made.created = int((world.now - 3 * DAY) * 1000)
    made.changes[0] = (world.now, "FAILED", made.created + 1000)
    mirror, of_rows, are_locked, read = settled(world, days=10), snapshots.of_rows, set[bool](), set[snapshots.Span]()

    def noted(span: snapshots.Span) -> Any:
        are_locked.add(connection.in_atomic_block)
        read.add(span)
        return of_rows(span)

    with patch.object(snapshots, "of_rows", noted):
        mirror.count(is_final=True)
        assert are_locked == {False}  # PostgreSQL ends idle transactions, so that a frozen process blocks no other
        refunded = total_of(mirror, Period.MONTH).counts["refunded"]
        check_pages([*of_world(world)], now=int(world.now))
        complete = [each for each in Period if total_of(mirror, each).is_complete]
        assert complete == [Period.HOUR, Period.DAY, Period.WEEK]
        world.change(made, "REFUNDED")
        Window.objects.update(due=0)
        mirror.settle(MINUTE)
        read.clear()
        mirror.count(is_final=True)
    # Of the past, only its day is read again, and the days on which the other periods begin.
    changed = made.created // 1000 // DAY * DAY
    assert [start for start, end in read if end - start == DAY and start < START // DAY * DAY] == [changed]
    assert total_of(mirror, Period.MONTH).counts["refunded"] == refunded + 1
    check_pages([*of_world(world)], now=int(world.now))


def test_rows_that_are_judged_by_new_rules_are_counted_by_them(world: World) -> None:
    past_of(world, 20, days=1)
    mirror = counted(world, days=1)

    def judged(found: Any) -> Outcome:
        outcome = outcome_of(found)
        return Outcome.UNCONFIRMED if outcome is Outcome.FAILED else outcome

    with patch.object(writer, "RULES", RULES + 1), patch.object(entry, "outcome_of", judged):
        Lease.objects.update(until=0)
        mirror.restart()
        mirror.settle(2 * MINUTE)
        mirror.count(is_final=True)
        assert not Transfer.objects.filter(outcome="failed").exists()
        assert Adder(int(world.now)).of(Period.MONTH)[EVERYTHING].counts["unconfirmed"] > 0


@on_each_engine
def test_what_the_mirror_writes_while_figures_are_added_up_counts(world: World) -> None:
    past_of(world, 60, days=9)
    mirror, read = counted(world, days=10), snapshots.of_rows

    def changed_meanwhile(span: snapshots.Span) -> Any:
        rows = read(span)
        if not Transfer.objects.filter(route__providers="NEW").exists():
            made = past.ended(span[0] + HOUR, past.route(RouteKey("NEW", "1", "10")), None)
            past.add([made])
            mirror.writer.changed_days.add(span[0] // DAY * DAY)
        return rows

    mirror.writer.changed_days |= {START // DAY * DAY - 3 * DAY}
    with patch.object(snapshots, "of_rows", changed_meanwhile):
        mirror.count(is_final=True)
    mirror.count(is_final=True)
    found = queries.overview(Period.MONTH, count_open(now=mirror.moment()), level=Level.PROVIDER)
    assert found.total.ended == len([*of_world(world)]) + 1
    assert [row.ended for row in found.rows if row.scope.providers == "NEW"] == [1]


# Completeness


def test_a_time_is_complete_while_its_windows_are_sealed_or_fresh(world: World) -> None:
    past_of(world, 50, days=1)
    mirror = counted(world, days=1)
    now = mirror.moment()

    def day() -> queries.Report:
        return queries.overview(Period.DAY, count_open(now=now))

    for skew in (-90, 0, 90):  # of the dashboard's clock
        assert queries.late(now=now + timedelta(seconds=skew)).is_complete
        assert queries.overview(Period.HOUR, count_open(now=now + timedelta(seconds=skew))).total.is_complete
    month = queries.report(EVERYTHING, Period.MONTH, count_open(now=now))
    assert [each.is_complete for each in month.series[-3:]] == [False, False, True]
    windows = Window.objects.filter(start=START // DAY * DAY - DAY)
    windows.update(is_sealed=False, read_at=START - 10 * MINUTE)
    assert day().total.is_complete
    windows.update(read_at=START - 2 * HOUR)
    assert not day().total.is_complete
    mirror.count(is_final=True)
    windows.update(is_sealed=True)
    assert {each.is_complete for each in (day().total, *day().rows)} == {False}  # as when the table was written
    mirror.count(is_final=True)
    assert day().total.success
    Window.objects.update(read_at=START + HOUR)
    now += timedelta(minutes=6)
    assert (day().total.ended > 20, day().total.success, day().total.median) == (True, None, None)  # the table is old
    world.sleep(3 * HOUR)
    today = queries.report(EVERYTHING, Period.DAY, count_open(now=mirror.moment()))
    assert [each.is_complete for each in today.series[-6:]] == [True] + [False] * 5


def test_figures_are_as_complete_as_the_counts_of_late_transfers_beside_them(world: World) -> None:
    before = count_open(now=utc(START))
    past_of(world, 50, days=1)
    world.create(age=12 * HOUR, status="EXECUTING")
    now = counted(world, days=1).moment()
    page, whole = queries.overview(Period.DAY, before), queries.overview(Period.DAY, count_open(now=now))
    assert (whole.total.late, whole.total.is_complete) == (1, True)
    assert (page.total.late, page.total.is_complete) == (0, False)


def test_the_days_that_were_asked_for_are_complete_after_midnight_and_none_without_a_ledger(world: World) -> None:
    world.now = START // DAY * DAY + 10 * MINUTE
    assert not total_of(Copy(world)).is_complete
    assert total_of(counted(world, days=1)).is_complete


def test_a_table_of_half_a_backfill_is_not_complete_above_rows_or_in_them(world: World) -> None:
    past_of(world, 60, days=0.9)
    mirror = Copy(world, days=2)
    while Transfer.objects.count() < 20:
        mirror.step()
    mirror.count(is_final=True)

    def states() -> set[tuple[bool, bool]]:
        found = queries.overview(Period.DAY, count_open(now=mirror.moment()))
        assert 0 < found.total.ended == sum(row.ended for row in found.rows)
        return {(each.is_complete, each.success is not None) for each in (found.total, *found.rows)}

    assert states() == {(False, False)}
    mirror.settle(2 * MINUTE)
    assert states() == {(False, False)}  # all was read, and the table is of before
    mirror.count(is_final=True)
    assert {is_complete for is_complete, _ in states()} == {True}


# Late transfers


@on_each_engine
def test_open_transfers_are_counted_like_those_that_are_listed(world: World) -> None:
    deliver(world, 200, seconds=1200)
    for number, age in enumerate((2, 9, 16, 21, 31, 41, 120, 600)):
        for provider in ("RELAY", "CCTP", "LIFI"):
            made = world.create(age=age * MINUTE, status="COMMITTED" if number % 3 == 0 else "EXECUTING")
            made.provider = provider
            made.token = "0x" + "Ee" * 20 if number in (1, 2, 5) else ""
    mirror = counted(world, days=3)
    for hours in (0, 3):
        now = mirror.moment() + timedelta(hours=hours)
        found, counts = queries.late(now=now).transfers, count_open(now=now)
        for scope in (EVERYTHING, RELAY, ScopeName(Level.PROVIDER, "CCTP"), ScopeName(Level.CHAIN, "", "1")):
            figures = queries.report(scope, Period.DAY, counts).total
            part = [each for each in found if scope in scopes_of(each.route.key)]
            assert figures.late == len(part) == queries.late(now=now, where=queries.is_of(scope)).count > 0
        native = scope_of_token("10", "0x" + "00" * 20)
        sent, delivered = (
            queries.report(scope, Period.DAY, counts).total for scope in (scope_of_token("1", SENT_TOKEN), native)
        )
        total = queries.report(EVERYTHING, Period.DAY, counts).total
        assert (sent.open, sent.late) == (total.open, total.late)
        assert delivered.open == Transfer.objects.filter(destination_token__isnull=False, outcome="open").count() == 9
        tokens = queries.overview(Period.WEEK, counts, level=Level.TOKEN).rows
        assert {each.scope: each.open for each in tokens} == {sent.scope: sent.open}  # nothing ended with the other
        assert total.open >= total.late
    assert {each.status for each in found} == {"COMMITTED", "EXECUTING"}


def test_durations_of_repaired_transfers_make_no_other_one_less_late(world: World) -> None:
    deliver(world, 200, seconds=12)
    failed = [world.create(age=10 * MINUTE, status="FAILED") for _ in range(30)]
    mirror = settled(world, days=3)
    world.now += 8 * HOUR
    for made in failed:
        world.change(made, "SUCCEEDED")
    mirror.settle(20 * MINUTE, step=10 * MINUTE)
    mirror.count(is_final=True)
    found = total_of(mirror, Period.WEEK)
    assert (found.delivered, found.timed) == (230, 230)
    assert Route.objects.get().late_after == 5 * MINUTE * 1000


@pytest.mark.parametrize(
    ("own", "others", "limit", "basis"),
    [
        pytest.param({1200: 200}, {}, 1200, Basis.ROUTE, id="p99"),
        pytest.param({12: 200}, {}, 300, Basis.ROUTE, id="five minutes at least"),
        pytest.param({12: 200, 8 * HOUR: 5}, {}, 300, Basis.ROUTE, id="four times p95, whatever a few took"),
        pytest.param({12: 190, 8 * HOUR: 20}, {12: 4100}, 300, Basis.ROUTE, id="at most that of the provider"),
        pytest.param({HOUR: 200}, {12: 4100}, HOUR, Basis.ROUTE, id="unless the route is usually slower"),
        pytest.param({3000: 199}, {3000: 1}, 3000, Basis.PROVIDER, id="with few deliveries, that of the provider"),
        pytest.param({3000: 199}, {}, 1800, Basis.RULE, id="else the maximum of a slow provider"),
    ],
)
def test_the_limit_of_a_route(
    copy: None, own: dict[int, int], others: dict[int, int], limit: int, basis: Basis
) -> None:
    route, other = (past.route(RouteKey("CCTP", "1", each)) for each in ("10", "8453"))
    end = START - DAY
    Token.objects.bulk_create(Token(chain=each, address="0x" + "11" * 20, symbol="USDC") for each in ("1", "10"))
    for each, durations in ((route, own), (other, others)):
        past.add(past.ended(end, each, None, seconds=took) for took, n in durations.items() for _ in range(n))
    SnapshotWriter(past.lead(START), SLOW).write(now=START)
    route.refresh_from_db()
    assert route.late_by == basis
    assert abs(route.limit.total_seconds() / limit - 1) < 0.06


def test_a_transfer_without_a_deposit_is_not_late(world: World) -> None:
    mirror = Copy(world)
    mirror.settle(MINUTE)
    made = world.create(age=9 * MINUTE, status="COMMITTED")
    mirror.settle(20)
    later = mirror.moment() + timedelta(hours=2)
    assert not count_open(now=mirror.moment()).counts
    # If it isn't expired long after its quote's end, something was deposited.
    assert [each.text_id for each in queries.late(now=later).transfers] == [made.intent_id]


def test_if_many_are_late_p95_is_a_minimum(world: World) -> None:
    deliver(world, 100, age=2 * HOUR)
    for _ in range(6):
        world.create(age=20 * HOUR, status="EXECUTING")
    mirror = counted(world, days=3)
    total = total_of(mirror)
    assert (total.is_p95_minimum, total.p95) == (True, timedelta(milliseconds=statistics.middle(max(total.durations))))
    assert (total.in_time, total.decided) == (100, 106)
    last_hour = total_of(mirror, Period.HOUR)
    assert (last_hour.late, last_hour.is_p95_minimum) == (6, False)


DURATIONS = st.lists(st.integers(1, 90 * 86_400_000), min_size=200, max_size=400)


def of(durations: list[int]) -> Counter[int]:
    return Counter(map(statistics.bucket, durations))


@given(DURATIONS, st.integers(1, 100))
@example([11] * 200, 100)
@example([*range(1000, 201_000, 1000)], 95)
def test_a_quantile_is_at_most_five_percent_off(durations: list[int], percent: int) -> None:
    exact = sorted(durations)[math.ceil(len(durations) * percent / 100) - 1]
    found = statistics.quantile(of(durations), percent)
    assert found is not None
    assert abs(found - exact) <= 0.052 * exact + 0.5  # in whole milliseconds


@given(DURATIONS, st.integers(1, 90 * 86_400_000))
def test_those_that_were_shorter_are_never_overstated(durations: list[int], elapsed: int) -> None:
    found = statistics.shorter(of(durations), elapsed)
    assert sum(each * 1.11 < elapsed for each in durations) <= found <= sum(each < elapsed for each in durations)


def test_statistics_of_few_or_odd_durations() -> None:
    assert statistics.quantile({}, 50) is None
    assert (share(19, 19), share(20, 20) is not None) == (None, True)
    found = share(15, 148)  # Newcombe (1998). In R: `prop.test(15, 148, correct = FALSE)`
    assert found is not None
    assert (round(found.low, 4), round(found.high, 4)) == (0.0624, 0.1605)
    assert [*map(statistics.bucket, (-5, 0, 1, 1000, 2**62))] == [0, 0, 0, 69, BUCKETS - 1]
