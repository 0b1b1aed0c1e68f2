"""WaitIntentReceipt: when it responds at once, when it holds the request, and when it releases it."""

import asyncio

import pytest

from intents_ui.emulator import Emulator, lookups
from tests.emulator.driving import send_request


@pytest.mark.parametrize("slug", ["cross-chain-fast", "refund-failed", "refunded-on-origin", "aborted-by-owner"])
async def test_a_final_status_is_returned_at_once_for_any_cursor(clock, slug):
    emulator, cursor = Emulator(now=clock, hold=600), []
    asked = {"intentId": emulator.finished(slug)["intentId"]}
    async with asyncio.timeout(60):
        for _ in range(2):
            body = asked | {"lastReceiptStates": cursor}
            answer = (await send_request(emulator, "WaitIntentReceipt", body)).document
            cursor = answer["receiptStates"]
            assert answer["done"] is True


async def waiting(emulator, intent, cursor):
    """Return a request that is held."""
    body = {"intentId": intent["intentId"], "lastReceiptStates": cursor}
    held = asyncio.ensure_future(send_request(emulator, "WaitIntentReceipt", body))
    await asyncio.sleep(0)
    return held


async def test_releases_at_the_next_step_of_the_script_and_not_before(clock, monkeypatch):
    monkeypatch.setattr(lookups, "LOOK_SECONDS", 0.002)
    emulator = Emulator(now=clock, hold=600)
    intent = emulator.play("cross-chain-fast", age=23.999)
    held = await waiting(emulator, intent, ["MINING", "ON_HOLD", "ON_HOLD"])
    assert not held.done()
    clock.forward(0.001)
    async with asyncio.timeout(60):
        assert (await held).document["receiptStates"] == ["SUCCEEDED", "PENDING", "ON_HOLD"]


async def test_ends_when_the_caller_leaves(clock):
    emulator, leave = Emulator(now=clock, hold=20.0), asyncio.Event()
    intent = emulator.play("expired-quote")
    held = asyncio.ensure_future(
        send_request(emulator, "WaitIntentReceipt", {"intentId": intent["intentId"]}, leave=leave)
    )
    await asyncio.sleep(0)
    leave.set()
    async with asyncio.timeout(60):
        assert (await held).status == 0
