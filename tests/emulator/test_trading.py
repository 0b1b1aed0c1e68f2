"""QuoteIntent, CommitIntent and ExecuteIntent, and that what they make is there like everything else."""

import pytest

from intents_ui.emulator import population
from tests.emulator.driving import QUOTE_REQUEST, USDC_ON_BASE, call, quote, request

HASH = "0x" + "c0ffee42" * 8
OWNER = "0x" + "ab" * 20


def commit(emulator, intent):
    return request(emulator, "CommitIntent", {"intent": intent})


def execute(emulator, intent, **more):
    return request(emulator, "ExecuteIntent", {"intentId": intent["intentId"]} | more)


def status(emulator, intent):
    return call(emulator, "GetIntent", {"intentId": intent["intentId"]})["intent"]["status"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("quote", "toAmountMin"), "1"),
        (("depositTransaction", "toAddress"), "0x" + "66" * 20),
        (("expiresAt",), "2099-01-01T00:00:00Z"),
        (("originCalls", "calls"), []),
        (("somethingNew",), 1),
        (("fees", "provider", "serviceFeeUsd"), 0.5),
        (("passthrough",), 0),
    ],
    ids=lambda value: ".".join(value) if isinstance(value, tuple) else "",
)
def test_a_modified_intent_is_rejected(emulator, path, value):
    intent = quote(emulator)
    place = intent
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    answer = commit(emulator, intent)
    assert (answer.status, answer.code) == (400, 2000)
    assert path[0] in answer.document["cause"]
    assert status(emulator, intent) == "QUOTED"


def test_a_second_commit_or_execution_is_rejected_with_the_current_status(emulator):
    intent = quote(emulator)
    commit(emulator, intent)
    answer = commit(emulator, intent)
    assert (answer.status, answer.code) == (422, 2004)
    assert "status=COMMITTED" in answer.document["cause"]
    execute(emulator, intent)
    answer = execute(emulator, intent)
    assert (answer.code, "status=EXECUTING" in answer.document["cause"]) == (2004, True)


def test_execution_must_follow_within_ten_minutes(emulator, clock):
    early, late = quote(emulator), quote(emulator)
    clock.forward(200)
    for intent in (early, late):
        assert commit(emulator, intent).status == 200
    clock.forward(599)
    assert execute(emulator, early).status == 200
    clock.forward(2)
    assert (execute(emulator, late).code, status(emulator, late)) == (7001, "COMMITTED")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"ownerAddress": None}, 2000),
        ({"ownerAddress": "me"}, 2000),
        ({"originTokenAmount": None}, 2000),
        ({"originTokenAmount": 0}, 2000),
        ({"originTokenAmount": "7000"}, 2003),
        ({"originTokenAmount": "2000000"}, 7002),
        ({"originChainId": 5}, 8008),
        ({"destinationChainId": 8453, "destinationTokenAddress": USDC_ON_BASE}, 7000),
        ({"originTokenAddress": "0x" + "9" * 40}, 2003),
        ({"destinationCallData": "0xabc"}, 2000),
        ({"options": {"slippageTolerance": 2}}, 2000),
    ],
)
def test_unsupported_quotes_are_rejected(emulator, changes, code):
    asked = QUOTE_REQUEST | {"destinationChainId": 1, "destinationTokenAddress": "0x" + "0" * 40}
    assert request(emulator, "QuoteIntent", asked | changes).code == code


def test_the_number_of_callers_intents_is_bounded(emulator, clock, monkeypatch):
    monkeypatch.setattr(population, "MADE_KEPT", 20)
    first = quote(emulator)
    for _ in range(20):
        clock.forward(0.01)
        quote(emulator)
    assert request(emulator, "GetIntent", {"intentId": first["intentId"]}).code == 8000
