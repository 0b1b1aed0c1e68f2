"""The async client of live updates: same responses and errors as the sync one, and safe cancellation."""

import asyncio

import pytest

from intents_ui.service.errors import Flaw, NotFound, Overloaded, Reason, Unreachable, Unreadable
from tests.service.clients import async_client
from tests.service.scripted_server import Visit, answering, response, serving

INTENT = '{"intent":{"intentId":"0x1","status":"QUOTED"}}'


async def test_an_awaited_operation_returns_the_same_response():
    with serving(answering(INTENT)) as server:
        async with async_client(server.url) as service:
            intent = await service.get_intent("0x1")
    assert (intent.intent_id, intent.received) == ("0x1", '{"intentId":"0x1","status":"QUOTED"}')


async def test_errors_are_the_same_and_name_the_call():
    with serving(answering({"error": "NotFound", "code": 8000, "msg": "?"}, status=400)) as server:
        async with async_client(server.url) as service:
            with pytest.raises(NotFound) as caught:
                await service.get_intent_receipt("0x1")
    assert caught.value.operation == "GetIntentReceipt"
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(Visit.stay_silent, id="no first byte"),
        pytest.param(
            lambda visit: visit.drip(b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 99, every=0.02), id="dripped headers"
        ),
    ],
)
async def test_a_slow_response_is_cut_off_at_the_total_deadline(script):
    with serving(script) as server:
        async with async_client(server.url, total=0.3) as service:
            with pytest.raises(Unreachable) as caught:
                await service.get_intent("0x1")
    assert caught.value.reason is Reason.TIMEOUT


async def test_a_broken_connection_is_reported_as_such():
    with serving(Visit.reset) as server:
        async with async_client(server.url) as service:
            with pytest.raises(Unreachable) as caught:
                await service.get_intent("0x1")
    assert caught.value.reason is Reason.BROKEN


async def test_an_oversized_response_is_cut_off():
    with serving(answering(" " * 2**20)) as server:
        async with async_client(server.url) as service:
            with pytest.raises(Unreadable) as caught:
                await service.get_intent("0x1")
    assert caught.value.flaw is Flaw.TOO_LARGE


async def test_a_large_response_is_read():
    memo = "x" * 2**19
    with serving(answering(f'{{"intentReceipt":{{"intentId":"0x1","summary":{{"memo":"{memo}"}}}}}}')) as server:
        async with async_client(server.url, size=2**20, total=5.0) as service:
            receipt = await service.get_intent_receipt("0x1")
    assert receipt.summary
    assert receipt.summary.memo == memo


async def test_long_polls_do_not_block_other_calls():
    def script(visit: Visit) -> None:
        visit.stay_silent() if visit.operation == "WaitIntentReceipt" else visit.send(response(INTENT))

    with serving(script) as server:
        async with async_client(server.url, total=5.0, held_calls=2, connections=1, connection_wait=0.1) as service:
            held = [asyncio.create_task(service.wait_intent_receipt(f"0x{number}")) for number in range(2)]
            await _until(lambda: len(server.visits) == 2)
            with pytest.raises(Overloaded):
                await service.wait_intent_receipt("0x3")
            assert (await service.get_intent("0x1")).status == "QUOTED"
            for task in held:
                task.cancel()
            await asyncio.gather(*held, return_exceptions=True)


@pytest.mark.slow
async def test_mass_cancellation_leaves_the_client_usable():
    """With a limited pool, each plainly canceled connection would cost a slot and the last calls would fail."""

    def script(visit: Visit) -> None:
        visit.closing.wait(0.002)
        visit.send(response(INTENT))

    with serving(script) as server:
        async with async_client(server.url, total=20.0, connections=10, connection_wait=20.0) as service:
            for round_ in range(10):
                asked = [asyncio.create_task(service.get_intent("0x1")) for _ in range(40)]
                await asyncio.sleep(0.001 * round_)
                for task in asked:
                    task.cancel()
                await asyncio.gather(*asked, return_exceptions=True)
            answers = await asyncio.gather(*(service.get_intent("0x1") for _ in range(20)))
            assert [answer.status for answer in answers] == ["QUOTED"] * 20
            await _until(lambda: not service._pending)
            assert service._short_calls._value == 10


async def test_a_long_poll_ends_as_soon_as_its_caller_cancels():
    """Its slot is free again, its connection is closed, and httpcore remembers nothing of it."""
    with serving(Visit.stay_silent) as server:
        async with async_client(server.url, total=30.0, held_calls=20, connection_wait=0.1) as service:
            for round_ in range(5):
                held = [asyncio.create_task(service.wait_intent_receipt(f"0x{number}")) for number in range(20)]
                await asyncio.sleep(0.002 * round_)  # some are still connecting when their callers leave
                for task in held:
                    task.cancel()
                await asyncio.gather(*held, return_exceptions=True)
                await _until(lambda: not service._pending)
                assert service._held_calls._value == 20
            pool = service._http._transport._pool
            assert (len(pool._requests), len(pool.connections)) == (0, 0)
            await _until(lambda: not any(visitor.is_alive() for visitor in server._threads[1:]))


async def test_closing_the_client_ends_pending_calls():
    with serving(Visit.stay_silent) as server:
        service = async_client(server.url, total=30.0)
        asked = asyncio.create_task(service.get_intent("0x1"))
        await _until(lambda: server.visits)
        await service.aclose()
        with pytest.raises(asyncio.CancelledError):
            await asked


async def _until(condition) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.001)
