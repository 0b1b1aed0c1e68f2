"""WaitIntentReceipt: when it responds at once, when it holds the request, and when it releases it."""

import asyncio
import threading
import time

import pytest

from intents_ui.emulator import Emulator
from tests.emulator.driving import call, quote, receipt_at, request, send_request, wait


def test_responds_at_once_to_an_outdated_cursor(emulator, clock):
    intent = emulator.newest("cross-chain-fast")
    receipt_at(emulator, clock, intent, 23)
    for cursor in (None, [], ["PENDING"]):
        answer, is_held = wait(emulator, intent, cursor)
        assert answer["receiptStates"] == ["MINING", "ON_HOLD", "ON_HOLD"]
        assert (answer["done"], is_held) == (False, False)


def test_holds_and_then_returns_the_cursor_unchanged(emulator, clock):
    intent = emulator.newest("cross-chain-fast")
    receipt_at(emulator, clock, intent, 23)
    answer, is_held = wait(emulator, intent, ["MINING", "ON_HOLD", "ON_HOLD"])
    assert is_held
    assert (answer["done"], answer["receiptStates"]) == (False, ["MINING", "ON_HOLD", "ON_HOLD"])


def test_a_quoted_intent_has_an_empty_cursor_and_is_held(emulator):
    answer, is_held = wait(emulator, emulator.play("expired-quote"), [])
    assert is_held
    assert (answer["receiptStates"], answer["done"]) == ([], False)
    assert answer["intentReceipt"]["summary"]["status"] == "QUOTED"


@pytest.mark.parametrize(
    ("slug", "done"),
    [("cross-chain-fast", True), ("refund-failed", True), ("refunded-on-origin", True), ("aborted-by-owner", True)],
)
def test_a_final_status_is_returned_at_once_for_any_cursor(emulator, slug, done):
    intent = emulator.finished(slug)
    first, _ = wait(emulator, intent)
    again, is_held = wait(emulator, intent, first["receiptStates"])
    assert (again["done"], is_held) == (done, False)


def test_invalid_is_done_by_default(emulator, clock):
    intent = emulator.newest("invalid-then-repaired")
    receipt_at(emulator, clock, intent, 90)
    assert wait(emulator, intent)[0]["done"] is True
    emulator.inject("WaitIntentReceipt", "done-only-success-or-failure")
    assert wait(emulator, intent)[0]["done"] is False


def test_releases_at_the_next_step_of_the_script_and_not_before():
    emulator = Emulator(hold=600)
    intent = emulator.play("cross-chain-fast", age=23.6)
    answer, is_held = wait(emulator, intent, ["MINING", "ON_HOLD", "ON_HOLD"])
    assert is_held
    assert answer["receiptStates"] == ["SUCCEEDED", "PENDING", "ON_HOLD"]
    assert time.time() >= intent["id"] / 1_000_000 + 24


def test_is_woken_by_callers_changes():
    emulator = Emulator(hold=600)
    intent = quote(emulator)
    commit = threading.Timer(0.1, request, (emulator, "CommitIntent", {"intent": intent}))
    commit.start()
    answer, _ = wait(emulator, intent, [])
    commit.join()
    assert answer["intentReceipt"]["status"] == "COMMITTED"


async def test_ends_when_the_caller_leaves(clock):
    emulator, leave = Emulator(now=clock, hold=20.0), asyncio.Event()
    intent = emulator.play("expired-quote")
    held = asyncio.ensure_future(
        send_request(emulator, "WaitIntentReceipt", {"intentId": intent["intentId"]}, leave=leave)
    )
    await asyncio.sleep(0.05)
    leave.set()
    async with asyncio.timeout(60):
        assert (await held).status == 0


async def test_many_wait_at_once(clock):
    emulator = Emulator(now=clock, hold=0.2)
    intent = emulator.play("expired-quote")
    body = {"intentId": intent["intentId"]}
    async with asyncio.timeout(60):
        answers = await asyncio.gather(*(send_request(emulator, "WaitIntentReceipt", body) for _ in range(200)))
    assert {answer.status for answer in answers} == {200}


def test_a_refund_moves_the_cursor_by_default(emulator, clock):
    intent = emulator.newest("refunded-on-origin")
    receipt_at(emulator, clock, intent, 41)
    assert wait(emulator, intent)[0]["receiptStates"] == ["SUCCEEDED", "REVERTED", "ABORTED", "MINING"]
    emulator.inject("WaitIntentReceipt", "states-without-refund")
    assert wait(emulator, intent)[0]["receiptStates"] == ["SUCCEEDED", "REVERTED", "ABORTED"]


def test_serves_several_threads_and_loops_at_once(emulator):
    problems = []

    def ask():
        try:
            for _ in range(20):
                call(emulator, "GetIntentHistory", {"page": {"pageSize": 5}})
                quote(emulator)
        except AssertionError as problem:
            problems.append(problem)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    owned = call(emulator, "GetIntentHistory", {"byOwnerAddress": "0x" + "ab" * 20, "page": {"pageSize": 100}})
    assert len({row["receipt"]["id"] for row in owned["intents"]}) == 100
