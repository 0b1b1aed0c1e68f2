"""Several hubs with one Redis: one of them polls for all. Each stands for a process here."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from intents_ui.live.bus import RedisBus
from intents_ui.live.hub import Hub
from intents_ui.live.snapshot import Snapshot
from intents_ui.service.decode import BRAND_OF_INTERFACE
from intents_ui.web.shared_responses import SignedValues
from tests.counted import count
from tests.live.following import CountedService, hub_on, until, viewers

SIGNED, OTHERS = SignedValues("test", key="a key of the test"), SignedValues("test", key="another")


@contextlib.asynccontextmanager
async def hubs_on(service: CountedService, redis, clock, count: int) -> AsyncIterator[list[Hub]]:
    async with contextlib.AsyncExitStack() as stack:
        buses = [RedisBus(redis.url, names=BRAND_OF_INTERFACE, signed=SIGNED) for _ in range(count)]
        yield [await stack.enter_async_context(hub_on(service, bus=bus, clock=clock)) for bus in buses]


async def read_again(hub: Hub, intent_id: str, text: str) -> Snapshot | None:
    """Return what a hub reads after an interrupted connection, if another client of this Redis stored a text."""
    hub.bus._redis.set(hub.bus._key("snapshot", intent_id), text)
    hub.bus._known.clear()
    of_others = await hub.bus.sync({intent_id: hub.newest(intent_id)})
    return of_others[intent_id]


async def test_three_hubs_send_one_poll_and_each_sees_every_change(service, redis, clock, fast):
    async with contextlib.AsyncExitStack() as stack:
        hubs = await stack.enter_async_context(hubs_on(service, redis, clock, 3))
        watching = [(await stack.enter_async_context(viewers(hub, fast)))[0] for hub in hubs]
        await until(lambda: service.waits == 1 and all(viewer.snapshots for viewer in watching))
        clock.forward(8)
        await until(lambda: all(len(viewer.snapshots) == 2 for viewer in watching))
        clock.forward(30)
        await until(lambda: all(viewer.task.done() for viewer in watching))
        assert {viewer.snapshots[-1].receipt.status for viewer in watching} == {"SUCCEEDED"}
    assert service.most_under_way["WaitIntentReceipt"] == 1


async def test_hubs_of_two_installations_with_one_redis_do_not_disturb_each_other(service, redis, clock, fast):
    async with contextlib.AsyncExitStack() as stack:
        watching = []
        for owner in ("one", "another"):
            bus = RedisBus(
                redis.url, names=BRAND_OF_INTERFACE, signed=SignedValues("test", key=owner), prefix=f"{owner}:"
            )
            hub = await stack.enter_async_context(hub_on(service, bus=bus, clock=clock))
            watching += await stack.enter_async_context(viewers(hub, fast))
        await until(lambda: service.waits == 2 and all(viewer.snapshots for viewer in watching))
        clock.forward(38)
        await until(lambda: all(viewer.task.done() for viewer in watching))
        assert {viewer.snapshots[-1].receipt.status for viewer in watching} == {"SUCCEEDED"}


async def test_a_new_hub_gets_the_latest_snapshot_at_once_without_a_request(service, redis, clock, fast):
    async with hubs_on(service, redis, clock, 2) as (one, another), viewers(one, fast) as (first,):
        await until(lambda: service.waits == 1 and first.snapshots)
        asked = sum(service.calls.values())
        async with viewers(another, fast) as (second,):
            await until(lambda: second.snapshots)
        assert second.snapshots[0].id == first.snapshots[0].id
        assert sum(service.calls.values()) == asked


async def test_an_older_snapshot_in_redis_replaces_no_newer_one(service, redis, clock, fast):
    async with hubs_on(service, redis, clock, 2) as (one, another), viewers(one, fast) as (first,):
        await until(lambda: service.waits == 1 and first.snapshots)
        async with viewers(another, fast) as (second,):
            await until(lambda: second.snapshots)
            clock.forward(8)
            await until(lambda: len(first.snapshots) == len(second.snapshots) == 2)
            old = SIGNED.sign(first.snapshots[0].to_text(), place=fast)
            assert await read_again(another, fast, old) is None
            clock.forward(40)
            await until(second.task.done)
    assert len({snapshot.id for snapshot in second.snapshots}) == len(second.snapshots) == 3


async def test_another_hub_takes_over_when_the_polling_one_closes(service, redis, clock, fast):
    async with contextlib.AsyncExitStack() as stack:
        (later,) = await stack.enter_async_context(hubs_on(service, redis, clock, 1))
        async with hubs_on(service, redis, clock, 1) as (first,), viewers(first, fast):
            await until(lambda: service.waits == 1)
            (viewer,) = await stack.enter_async_context(viewers(later, fast))
            await until(lambda: viewer.snapshots)
        await until(lambda: service.waits == 1)
        clock.forward(40)
        await until(viewer.task.done)
        assert viewer.statuses == ["EXECUTING", "SUCCEEDED"]


@pytest.mark.parametrize("is_watched", [True, False], ids=["and goes on", "and has ended"])
async def test_a_process_that_lost_a_lease_while_it_was_suspended_leaves_it_to_its_new_holder(redis, is_watched):
    one, another, third = (RedisBus(redis.url, names=BRAND_OF_INTERFACE, signed=SIGNED) for _ in range(3))
    old, new = (Snapshot("0x12", None, learned_at=datetime(2026, 11, 21, hour, tzinfo=UTC)) for hour in (12, 13))
    await one.sync({"0x12": None})
    one._redis.delete(one._key("lease", "0x12"))  # expires
    for snapshot in (None, new):
        await another.sync({"0x12": snapshot})
    assert await one.sync({"0x12": old} if is_watched else {}) == ({"0x12": new} if is_watched else {})
    assert one._redis.get(one._key("lease", "0x12")) == another._process_id.encode()
    assert await third.sync({"0x12": None}) == {"0x12": new}


async def test_during_a_redis_outage_every_hub_polls_and_afterwards_one_does(service, redis, clock, slow):
    async with contextlib.AsyncExitStack() as stack:
        hubs = await stack.enter_async_context(hubs_on(service, redis, clock, 3))
        watching = [(await stack.enter_async_context(viewers(hub, slow)))[0] for hub in hubs]
        await until(lambda: service.waits == 1 and all(viewer.snapshots for viewer in watching))
        redis.down()
        await until(lambda: service.waits == 3)
        redis.up()
        await until(lambda: service.waits == 1)
        clock.forward(3600)
        await until(lambda: all(viewer.task.done() for viewer in watching))
        assert {viewer.snapshots[-1].receipt.status for viewer in watching} == {"SUCCEEDED"}


def zoneless(snapshot: Snapshot) -> str:
    return snapshot.to_text().replace("+00:00", "")


FOREIGN = {
    "no JSON": ("unreadable", lambda snapshot, place: SIGNED.sign("nonsense", place=place)),
    "deeper than any parser follows": (
        "unreadable",
        lambda snapshot, place: SIGNED.sign('{"receipt":"%s"}' % ("[" * 100_000), place=place),
    ),
    "a time without a zone": ("unreadable", lambda snapshot, place: SIGNED.sign(zoneless(snapshot), place=place)),
    "unsigned": ("unsigned", lambda snapshot, place: snapshot.to_text()),
    "signed with another key": ("unsigned", lambda snapshot, place: OTHERS.sign(snapshot.to_text(), place=place)),
    "signed for another intent": ("unsigned", lambda snapshot, place: SIGNED.sign(snapshot.to_text(), place="0x1")),
    "changed since": ("unsigned", lambda snapshot, place: SIGNED.sign(snapshot.to_text(), place=place) + " "),
}


@pytest.mark.parametrize(("reason", "written"), FOREIGN.values(), ids=FOREIGN)
async def test_a_snapshot_in_redis_that_is_not_ours_is_logged_counted_and_not_shown(
    service, redis, clock, caplog, reason, written, fast
):
    async with hubs_on(service, redis, clock, 2) as (one, another), viewers(one, fast) as (first,):
        await until(lambda: service.waits == 1 and first.snapshots)
        invented = replace(first.snapshots[0], receipt=None, is_unknown=True, is_final=True)
        async with viewers(another, fast) as (second,):
            await until(lambda: second.snapshots)
            before = count("shared_ignored", reason=reason)
            assert await read_again(another, fast, written(invented, fast)) is None
            assert count("shared_ignored", reason=reason) == before + 1
            assert "a snapshot in Redis" in caplog.text
            clock.forward(40)
            await until(second.task.done)
            assert second.statuses == ["EXECUTING", "SUCCEEDED"]
        assert {one.bus.is_disconnected, another.bus.is_disconnected} == {False}
