"""Several processes with one Redis: one of them asks. Here each is a hub of its own in this process."""

import contextlib
from collections.abc import AsyncIterator

import pytest

from intents_ui.live.bus import RedisBus
from intents_ui.live.hub import Hub
from intents_ui.service.brand import BRAND_OF_INTERFACE
from tests.live.following import CountedService, hub_on, until, viewers


@contextlib.asynccontextmanager
async def hubs_on(service: CountedService, redis, clock, count: int) -> AsyncIterator[list[Hub]]:
    async with contextlib.AsyncExitStack() as stack:
        buses = [RedisBus(redis.url, names=BRAND_OF_INTERFACE) for _ in range(count)]
        yield [await stack.enter_async_context(hub_on(service, bus=bus, clock=clock)) for bus in buses]


async def test_three_hubs_ask_once_and_each_sees_every_change(service, redis, clock):
    intent = service.emulator.play("cross-chain-fast", age=22)["intentId"]
    async with contextlib.AsyncExitStack() as stack:
        hubs = await stack.enter_async_context(hubs_on(service, redis, clock, 3))
        watching = [(await stack.enter_async_context(viewers(hub, intent)))[0] for hub in hubs]
        await until(lambda: service.waits == 1 and all(viewer.pictures for viewer in watching))
        clock.forward(8)
        await until(lambda: all(len(viewer.pictures) == 2 for viewer in watching))
        clock.forward(30)
        await until(lambda: all(viewer.task.done() for viewer in watching))
        assert {viewer.pictures[-1].receipt.status for viewer in watching} == {"SUCCEEDED"}
    assert service.most_under_way["WaitIntentReceipt"] == 1


async def test_a_hub_that_comes_later_has_the_picture_at_once_and_asks_nothing(service, redis, clock):
    intent = service.emulator.play("cross-chain-fast", age=22)["intentId"]
    async with hubs_on(service, redis, clock, 2) as (one, another), viewers(one, intent) as (first,):
        await until(lambda: service.waits == 1 and first.pictures)
        asked = sum(service.calls.values())
        async with viewers(another, intent) as (second,):
            await until(lambda: second.pictures)
        assert second.pictures[0].id == first.pictures[0].id
        assert sum(service.calls.values()) == asked


async def test_when_the_asking_hub_closes_another_takes_over(service, redis, clock):
    intent = service.emulator.play("cross-chain-fast", age=22)["intentId"]
    async with contextlib.AsyncExitStack() as stack:
        (later,) = await stack.enter_async_context(hubs_on(service, redis, clock, 1))
        async with hubs_on(service, redis, clock, 1) as (first,), viewers(first, intent):
            await until(lambda: service.waits == 1)
            (viewer,) = await stack.enter_async_context(viewers(later, intent))
            await until(lambda: viewer.pictures)
        await until(lambda: service.waits == 1)
        clock.forward(40)
        await until(viewer.task.done)
        assert viewer.statuses == ["EXECUTING", "SUCCEEDED"]


async def test_while_redis_is_away_each_asks_and_afterwards_one_does_again(service, redis, clock):
    intent = service.emulator.play("cctp-slow", age=60)["intentId"]
    async with contextlib.AsyncExitStack() as stack:
        hubs = await stack.enter_async_context(hubs_on(service, redis, clock, 3))
        watching = [(await stack.enter_async_context(viewers(hub, intent)))[0] for hub in hubs]
        await until(lambda: service.waits == 1 and all(viewer.pictures for viewer in watching))
        redis.down()
        await until(lambda: service.waits == 3)
        redis.up()
        await until(lambda: service.waits == 1)
        clock.forward(3600)
        await until(lambda: all(viewer.task.done() for viewer in watching))
        assert {viewer.pictures[-1].receipt.status for viewer in watching} == {"SUCCEEDED"}


async def test_redis_that_was_never_there_keeps_nobody_from_seeing(service, clock):
    intent = service.emulator.play("cross-chain-fast", age=22)["intentId"]
    bus = RedisBus("redis://127.0.0.1:1/0", names=BRAND_OF_INTERFACE)
    async with hub_on(service, bus=bus, clock=clock) as hub, viewers(hub, intent) as (viewer,):
        await until(lambda: viewer.pictures)
        clock.forward(40)
        await until(viewer.task.done)
        assert viewer.statuses == ["EXECUTING", "SUCCEEDED"]


async def test_listening_takes_one_connection_however_many_intents(service, redis, clock):
    intents = [service.emulator.play("cctp-slow", age=60)["intentId"] for _ in range(30)]
    async with contextlib.AsyncExitStack() as stack:
        hubs = await stack.enter_async_context(hubs_on(service, redis, clock, 1))
        for intent in intents:
            await stack.enter_async_context(viewers(hubs[0], intent))
        await until(lambda: len(hubs[0].bus._subscribed) == 30)
        listening = [client for client in await hubs[0].bus._redis.client_list() if int(client["sub"])]
        assert [int(client["sub"]) for client in listening] == [31]
    await until(lambda: service.waits == 0)


@pytest.mark.parametrize("text", [b"", b"{}", b"nonsense", b'{"receipt":"[]"}'])
async def test_what_cannot_be_read_in_redis_harms_nobody(service, redis, clock, text):
    intent = service.emulator.play("cross-chain-fast", age=22)["intentId"]
    async with hubs_on(service, redis, clock, 1) as (hub,), viewers(hub, intent) as (viewer,):
        await until(lambda: viewer.pictures)
        await hub.bus._redis.publish(hub.bus._channel(intent), b"0" * 16 + text)
        clock.forward(40)
        await until(viewer.task.done)
        assert viewer.statuses == ["EXECUTING", "SUCCEEDED"]
