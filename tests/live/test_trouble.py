"""Live updates during service failures: the last snapshot with its age, then a quick recovery."""

import asyncio
import contextlib
import logging

from intents_ui.emulator import Emulator
from intents_ui.service import health, operations
from tests.counted import count
from tests.live.following import CountedService, hub_on, until, viewers
from tests.live.tcp_service import served


async def test_an_outage_keeps_the_snapshot_shows_its_age_and_ends_with_recovery(service, clock, slow):
    async with served(service) as front, hub_on(front.url, clock=clock) as hub, viewers(hub, slow) as (viewer,):
        await until(lambda: viewer.snapshots and service.waits)
        before = viewer.snapshots[-1]
        clock.forward(10)
        await front.down()
        await until(lambda: viewer.snapshots[-1].stale_since)
        stale = viewer.snapshots[-1]
        assert stale.receipt == before.receipt
        assert stale.stale_since > stale.learned_at
        clock.forward(60)
        await front.up()
        await until(lambda: not viewer.snapshots[-1].stale_since)
        assert viewer.snapshots[-1].learned_at > stale.stale_since
        await until(lambda: service.waits == 1)


async def test_a_viewer_who_arrives_during_an_outage_sees_that_nothing_is_known(service, clock, slow):
    async with served(service) as front, hub_on(front.url, clock=clock) as hub:
        await front.down()
        async with viewers(hub, slow) as (viewer,):
            await until(lambda: viewer.snapshots)
            assert viewer.snapshots[0].receipt is None
            assert viewer.snapshots[0].stale_since
            await front.up()
            await until(lambda: viewer.snapshots[-1].receipt)
            assert not viewer.snapshots[-1].stale_since


def sent() -> float:
    """Return the number of requests since the start of the process."""
    [family] = health.call_seconds.collect()
    return sum(sample.value for sample in family.samples if sample.name.endswith("_count"))


async def test_one_poller_probes_during_an_outage_and_all_recover_afterwards(service, clock):
    intents = [service.emulator.play("cctp-slow", age=60)["intentId"] for _ in range(20)]
    async with contextlib.AsyncExitStack() as all_of:
        front = await all_of.enter_async_context(served(service))
        hub = await all_of.enter_async_context(hub_on(front.url, clock=clock, open_seconds=1.0))
        watching = [(await all_of.enter_async_context(viewers(hub, intent)))[0] for intent in intents]
        await until(lambda: all(viewer.snapshots for viewer in watching) and service.waits == 20, within=20)
        await front.down()
        await until(lambda: all(viewer.snapshots[-1].stale_since for viewer in watching), within=20)
        await until(lambda: count("upstream_short_circuited") > 60, within=20)  # and the calls before them have ended
        before, held_back = sent(), count("upstream_short_circuited")
        await until(lambda: count("upstream_short_circuited") > held_back + 20, within=20)
        assert sent() - before < 20
        await front.up()
        await until(lambda: not any(viewer.snapshots[-1].stale_since for viewer in watching), within=20)


async def test_every_failure_is_reported_and_recovered_from(clock):
    service = CountedService(Emulator(now=clock, hold=0.2))
    intent = service.emulator.play("cctp-slow", age=60)["intentId"]
    async with hub_on(service, clock=clock) as hub, viewers(hub, intent) as (viewer,):
        await until(lambda: viewer.snapshots and service.waits)
        for trouble in ("failing-500", "broken-json", "geoblocked", "cut-body", "not-found"):
            service.emulator.inject("*", trouble)
            clock.forward(60)
            await until(lambda: viewer.snapshots[-1].stale_since)
            service.emulator.reset()
            await until(lambda: not viewer.snapshots[-1].stale_since)
            await until(lambda: service.waits)


async def test_an_internal_error_is_reported_and_polling_restarts(service, clock, monkeypatch, caplog, slow):
    async with hub_on(service, clock=clock) as hub, viewers(hub, slow) as (viewer,):
        await until(lambda: viewer.snapshots and service.waits)
        broken = asyncio.Event()

        def fails(*_: object, **__: object) -> None:
            broken.set()
            raise ZeroDivisionError

        with monkeypatch.context() as patched, caplog.at_level(logging.CRITICAL, "intents_ui.live.hub"):
            patched.setattr(operations, "wait_intent_receipt", fails)
            clock.forward(900)
            await broken.wait()
            await until(lambda: viewer.snapshots[-1].stale_since)
        await until(lambda: not viewer.snapshots[-1].stale_since)
        await until(lambda: service.waits)


async def test_all_pollers_obey_retry_after(service, clock):
    intents = [service.emulator.play("cctp-slow", age=60)["intentId"] for _ in range(3)]
    async with hub_on(service, clock=clock) as hub, viewers(hub, intents[0]) as (first,):
        await until(lambda: first.snapshots and service.waits)
        service.emulator.inject("GetIntentReceipt", "busy-1", times=1)
        async with viewers(hub, intents[1]) as (second,), viewers(hub, intents[2]) as (third,):
            await until(lambda: second.snapshots or third.snapshots)
            refused = second if second.snapshots else third
            assert refused.snapshots[0].stale_since
            limited_at = next(moment for moment, _ in reversed(service.requested))
            await until(lambda: refused.snapshots[-1].receipt, within=4)
            quiet = [moment for moment, _ in service.requested if limited_at + 0.1 < moment < limited_at + 1.0]
            assert quiet == []
