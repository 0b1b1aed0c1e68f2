"""Pages can tell what the mirror knows, and for which times it doesn't."""

from datetime import UTC, datetime, time, timedelta

from intents_ui.mirror import coverage
from intents_ui.mirror.addresses import Role, transfers_to
from intents_ui.mirror.windows import HOUR, MINUTE, Condition
from tests.mirror.conftest import on_each_engine
from tests.mirror.world import OWNER, START, Copy, World

OTHER = "0x" + "0b" * 20


@on_each_engine
def test_a_mirror_in_step_knows_its_past(world: World) -> None:
    world.create(age=26 * HOUR, status="SUCCEEDED")
    mirror = Copy(world, days=2)
    mirror.settle(15 * MINUTE, step=MINUTE)
    found = coverage.current(now=mirror.moment())
    days = [datetime.fromtimestamp(START, UTC).date() - timedelta(days=each) for each in (2, 1, 0)]
    assert [each.day for each in found.days] == days
    assert [each.lengths.get(Condition.SEALED) for each in found.days[:2]] == [timedelta(days=1)] * 2
    assert [each.transfers for each in found.days] == [0, 1, 0]
    assert found.complete_since == datetime.combine(days[0], time(1), UTC)  # what ended before may have begun earlier
    assert found.lag < timedelta(minutes=1)
    assert found.calls == len(world.called)
    assert found.holes == []


def test_a_mirror_that_reads_nothing_to_its_end_is_complete_since_never(world: World) -> None:
    world.always = "empty"
    mirror = Copy(world)
    mirror.settle(MINUTE)
    assert coverage.current(now=mirror.moment()).complete_since is None


def test_the_lag_grows_while_nothing_is_read(world: World) -> None:
    mirror = Copy(world)
    mirror.settle(MINUTE)
    later = mirror.moment() + timedelta(minutes=30)
    assert coverage.current(now=later).lag > timedelta(minutes=28)


@on_each_engine
def test_who_was_paid_is_found_by_the_address_in_any_case_newest_first(world: World) -> None:
    for age in (100, 50, 0):
        world.create(age=age, status="REFUNDED").refund_to = OTHER
    Copy(world).settle(20)
    found, count = transfers_to(OTHER.upper().replace("0X", "0x"), role=Role.REFUND, most=2)
    assert [each.text_id for each in found] == [made.intent_id for made in world.transfers[:0:-1]]
    assert count == 3
    for other in (OTHER, OWNER, ""):
        assert transfers_to(other, role=Role.RECIPIENT, most=2) == ([], 0)
    ((paid,), _) = transfers_to("0x" + f"{1:040x}", role=Role.RECIPIENT, most=2)
    assert paid.text_id == world.transfers[0].intent_id
