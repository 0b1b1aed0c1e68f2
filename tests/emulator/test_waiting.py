"""WaitIntentReceipt: when it responds at once, when it holds the request, and when it releases it."""

import asyncio

from intents_ui.emulator import Emulator, lookups
from tests.emulator.driving import send_request


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
