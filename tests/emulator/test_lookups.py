"""SearchIntents, GetIntent and GetIntentReceipt."""

import pytest

from tests.emulator.driving import call, request

LEGS = ("deposit", "origin", "destination", "refund")


def found(emulator, **criteria):
    return [intent["intentId"] for intent in call(emulator, "SearchIntents", criteria)["intents"]]


@pytest.fixture
def refunded(emulator):
    return emulator.finished("refunded-on-destination")


def test_each_transaction_hash_finds_its_intent(emulator, refunded):
    receipt = call(emulator, "GetIntentReceipt", {"intentId": refunded["intentId"]})["intentReceipt"]
    hashes = [receipt[f"{leg}Transaction"]["txnHash"] for leg in LEGS]
    assert len(set(hashes)) == 4
    for each in hashes:
        assert found(emulator, byTransactionHash=each.upper()) == [refunded["intentId"]]
        assert found(emulator, byQueryString=each) == [refunded["intentId"]]
    assert found(emulator, byDepositTransactionHash=hashes[0]) == [refunded["intentId"]]
    assert found(emulator, byDepositTransactionHash=hashes[1]) == []


def test_all_criteria_must_hold(emulator, refunded):
    owner, project = refunded["ownerAddress"], refunded["projectId"]
    assert found(emulator, byIntentId=refunded["intentId"], byOwnerAddress=owner, byProjectId=project)
    assert found(emulator, byIntentId=refunded["intentId"], byProjectId=project + 1) == []
    assert found(emulator, byOwnerAddress=owner, byTransactionHash="0x" + "1" * 64) == []


def test_an_empty_search_finds_nothing(emulator):
    assert found(emulator) == []
    assert found(emulator, byOwnerAddress="  ", byQueryString="") == []
    emulator.inject("SearchIntents", "empty-search-refused")
    assert request(emulator, "SearchIntents", {}).code == 2000


@pytest.mark.parametrize("operation", ["GetIntent", "GetIntentReceipt", "WaitIntentReceipt"])
def test_an_unknown_intent_is_not_found_with_status_400(emulator, operation):
    for intent_id in ("0x" + "12" * 32, "intent_123abc", "☃"):
        answer = request(emulator, operation, {"intentId": intent_id})
        assert (answer.status, answer.code, answer.document["error"]) == (400, 8000, "NotFound")


@pytest.mark.parametrize("operation", ["GetIntent", "GetIntentReceipt", "WaitIntentReceipt", "ExecuteIntent"])
def test_a_missing_field_is_named(emulator, operation):
    for body in ({}, {"intentId": ""}, {"intentId": None}):
        answer = request(emulator, operation, body)
        assert (answer.status, answer.code) == (400, 2000)
        assert "intentId" in answer.document["cause"]
