"""Everybody who follows an intent sees each change, and the service is asked once."""

import asyncio

from tests.live.following import hub_on, until, viewers


async def test_a_thousand_viewers_cost_one_wait_and_all_see_the_last_state(service, clock):
    intent = service.emulator.play("cross-chain-fast", age=22)
    async with hub_on(service, clock=clock) as hub, viewers(hub, intent["intentId"], 1000) as watching:
        await until(lambda: service.waits == 1 and all(viewer.pictures for viewer in watching))
        clock.forward(8)
        await until(lambda: all(len(viewer.pictures) == 2 for viewer in watching))
        await until(lambda: service.waits == 1)
        clock.forward(30)
        await asyncio.gather(*(viewer.task for viewer in watching))
        assert {viewer.pictures[-1].receipt.status for viewer in watching} == {"SUCCEEDED"}
    assert service.most_under_way["WaitIntentReceipt"] == 1
