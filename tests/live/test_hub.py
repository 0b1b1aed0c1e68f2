"""The live hub: one poll per intent, every viewer sees each change, and an outage with its age."""

import asyncio
import logging

import pytest

from intents_ui.emulator import Emulator, lookups
from intents_ui.emulator.scenario_engine import scenario_named
from intents_ui.service import operations
from tests.live.following import CountedService, hub_on, until, viewers
from tests.live.tcp_service import served


@pytest.mark.parametrize("slug", ["refunded-on-origin", "cross-chain-fast", "invalid-then-repaired"])
async def test_every_status_is_shown_in_order_from_quote_to_final(service, clock, slug):
    intent = service.emulator.play(slug)["intentId"]
    script = scenario_named(slug).script
    async with hub_on(service, clock=clock) as hub, viewers(hub, intent) as (viewer,):
        began = clock()
        for place, step in enumerate(script):
            clock.now = began + step.at + 0.01
            await until(lambda place=place: len(viewer.snapshots) == place + 1)
    assert [snapshot.receipt.status for snapshot in viewer.snapshots] == [step.status for step in script]


async def test_the_long_poll_ends_when_the_last_viewer_leaves(service, clock, slow):
    async with served(service) as front, hub_on(front.url, clock=clock) as hub:
        async with viewers(hub, slow, 3):
            await until(lambda: service.waits == 1)
        await until(lambda: service.waits == 0)
        await until(lambda: not hub.watched)
        await until(lambda: not front.connections)


async def test_a_refund_that_leaves_the_cursor_unchanged_is_seen(service, clock):
    """FAILED to REFUNDED changes only the status (docs/contract.md#long-polling)."""
    service.emulator.inject("WaitIntentReceipt", "states-without-refund")
    intent = service.emulator.play("refunded-on-origin", age=40)["intentId"]
    async with hub_on(service, clock=clock) as hub, viewers(hub, intent) as (viewer,):
        await until(lambda: viewer.statuses == ["FAILED"])
        clock.forward(60)
        await until(viewer.task.done)
    assert viewer.statuses == ["FAILED", "REFUNDED"]


async def test_our_own_write_triggers_an_immediate_request(clock, monkeypatch):
    """The service may not respond to a held call when only the status changes (docs/contract.md#long-polling)."""
    monkeypatch.setattr(lookups, "LOOK_SECONDS", 60.0)
    service = CountedService(Emulator(now=clock, hold=60.0))
    quoted = service.emulator.play("expired-quote")
    async with hub_on(service, clock=clock) as hub, viewers(hub, quoted["intentId"]) as (viewer,):
        await until(lambda: service.waits == 1 and viewer.statuses == ["QUOTED"])
        await hub.service.ask_async(
            operations.commit_intent(await hub.service.ask_async(operations.get_intent(quoted["intentId"])))
        )
        await asyncio.to_thread(hub.poll_now, quoted["intentId"])
        await until(lambda: viewer.statuses == ["QUOTED", "COMMITTED"])
        await until(lambda: service.waits == 1)
        hub.poll_now("0x" + "00" * 32)  # not watched


@pytest.mark.parametrize("faults", [(), ("quoted-not-found",)], ids=["with a receipt", "without"])
async def test_an_expired_quote_becomes_final_after_two_minutes(clock, faults):
    service = CountedService(Emulator(now=clock, hold=0.1))
    if faults:
        service.emulator.inject("*", *faults)
    quoted = service.emulator.play("expired-quote")
    async with hub_on(service, clock=clock) as hub, viewers(hub, quoted["intentId"]) as (viewer,):
        await until(lambda: viewer.snapshots)
        assert (viewer.snapshots[0].receipt is None) == bool(faults)
        clock.forward(300 + 110)
        asked = sum(service.calls.values())
        await until(lambda: sum(service.calls.values()) > asked + 3)
        assert not viewer.task.done()
        clock.forward(20)
        await until(viewer.task.done)
        assert viewer.snapshots[-1].is_final


async def test_a_nonexistent_intent_is_reported_and_not_cached(service, clock):
    async with hub_on(service, clock=clock) as hub:
        async with viewers(hub, "0x" + "0" * 64) as (viewer,):
            await until(viewer.task.done)
            (only,) = viewer.snapshots
            assert only.is_unknown
            assert only.is_final
        await until(lambda: not hub.watched)


async def test_an_unknown_status_is_not_final(service, clock):
    intent = service.emulator.play(17, age=20)["intentId"]
    async with hub_on(service, clock=clock) as hub, viewers(hub, intent) as (viewer,):
        await until(lambda: viewer.snapshots and service.waits)
        assert not viewer.snapshots[-1].is_final


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
