"""Calls of event loops: slots of their own, and safe cancellation. test_network_faults.py has their responses."""

import asyncio
import random
from contextlib import aclosing

import pytest

from intents_ui.service import operations
from intents_ui.service.errors import Overloaded, Unreachable
from intents_ui.service.models import Intent
from tests.service.clients import client
from tests.service.scripted_server import Visit, response, serving
from tests.service.test_connections import requests_on

INTENT = '{"intent":{"intentId":"0x1","status":"QUOTED"}}'


async def test_long_polls_do_not_block_other_calls():
    def script(visit: Visit) -> None:
        visit.stay_silent() if visit.operation == "WaitIntentReceipt" else visit.send(response(INTENT))

    with serving(script) as server:
        async with aclosing(client(server.url, total=5.0, held_calls=2, connections=1, connection_wait=0.1)) as service:
            held = [
                asyncio.create_task(service.ask_async(operations.wait_intent_receipt(f"0x{number}")))
                for number in range(2)
            ]
            await _until(lambda: len(server.visits) == 2)
            with pytest.raises(Overloaded):
                await service.ask_async(operations.wait_intent_receipt("0x3"))
            assert (await service.ask_async(operations.get_intent("0x1"))).status == "QUOTED"
            for task in held:
                task.cancel()
            await asyncio.gather(*held, return_exceptions=True)


async def test_a_long_poll_ends_as_soon_as_its_caller_cancels():
    """Its slot is free again, and its connection is closed."""
    closed: list[Visit] = []

    def silent(visit: Visit) -> None:
        visit.stay_silent()
        if not visit.closing.is_set():
            closed.append(visit)

    with serving(silent) as server:
        async with aclosing(client(server.url, total=60.0, held_calls=4, connection_wait=60.0)) as service:
            for asked in (4, 8):
                held = [
                    asyncio.create_task(service.ask_async(operations.wait_intent_receipt(f"0x{number}")))
                    for number in range(4)
                ]
                await _until(lambda asked=asked: len(server.visits) == asked)
                assert not service.can_hold
                for task in held:
                    task.cancel()
                await asyncio.gather(*held, return_exceptions=True)
                await _until(lambda: service.can_hold)
            await _until(lambda: len(closed) == 8)


async def test_calls_canceled_at_any_moment_leak_no_slot_connection_or_task():
    def script(visit: Visit) -> None:
        for each in requests_on(visit):
            each.send(response(INTENT, headers={"Connection": "keep-alive"}))

    draws = random.Random(7)
    with serving(script) as server:
        async with aclosing(client(server.url, total=60.0, connections=4, connection_wait=60.0)) as service:
            before = asyncio.all_tasks()
            asked = [asyncio.create_task(service.ask_async(operations.get_intent("0x1"))) for _ in range(200)]
            for call in draws.sample(asked, 140):
                call.cancel()
                for _ in range(draws.randrange(5)):
                    await asyncio.sleep(0)
            found = await asyncio.gather(*asked, return_exceptions=True)
            assert {type(each) for each in found} == {Intent, asyncio.CancelledError}
            answers = await asyncio.gather(*(service.ask_async(operations.get_intent("0x1")) for _ in range(8)))
            assert [answer.status for answer in answers] == ["QUOTED"] * 8
            assert asyncio.all_tasks() == before


async def test_closing_the_client_ends_pending_calls():
    with serving(Visit.stay_silent) as server:
        service = client(server.url, total=30.0)
        asked = asyncio.create_task(service.ask_async(operations.get_intent("0x1")))
        await _until(lambda: server.visits)
        await service.aclose()
        with pytest.raises(Unreachable):
            await asked


async def _until(condition) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.001)
