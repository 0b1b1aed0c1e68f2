"""SearchIntents, GetIntent and GetIntentReceipt."""

import pytest

from tests.emulator.driving import call, request

LEGS = ("deposit", "origin", "destination", "refund")


def found(emulator, **criteria):
    return [intent["intentId"] for intent in call(emulator, "SearchIntents", criteria)["intents"]]


@pytest.fixture
def refunded(emulator):
    return emulator.finished("refunded-on-destination")


@pytest.mark.parametrize(
    ("criterion", "field"),
    [
        ("byIntentId", "intentId"),
        ("byOriginIntentAddress", "originIntentAddress"),
        ("byDestinationIntentAddress", "destinationIntentAddress"),
        ("byQueryString", "intentId"),
        ("byQueryString", "originIntentAddress"),
    ],
)
def test_one_name_finds_one_intent_in_any_case_and_with_blanks(emulator, refunded, criterion, field):
    for name in (refunded[field], refunded[field].upper(), f"  {refunded[field]} "):
        assert found(emulator, **{criterion: name}) == [refunded["intentId"]]


def test_each_transaction_hash_finds_its_intent(emulator, refunded):
    receipt = call(emulator, "GetIntentReceipt", {"intentId": refunded["intentId"]})["intentReceipt"]
    hashes = [receipt[f"{leg}Transaction"]["txnHash"] for leg in LEGS]
    assert len(set(hashes)) == 4
    for each in hashes:
        assert found(emulator, byTransactionHash=each.upper()) == [refunded["intentId"]]
        assert found(emulator, byQueryString=each) == [refunded["intentId"]]
    assert found(emulator, byDepositTransactionHash=hashes[0]) == [refunded["intentId"]]
    assert found(emulator, byDepositTransactionHash=hashes[1]) == []


def test_an_owner_finds_all_of_its_intents(emulator, refunded):
    owner = refunded["ownerAddress"]
    intents = call(emulator, "SearchIntents", {"byOwnerAddress": owner})["intents"]
    assert refunded["intentId"] in [intent["intentId"] for intent in intents]
    assert {intent["ownerAddress"] for intent in intents} == {owner}
    assert found(emulator, byQueryString=owner) == [intent["intentId"] for intent in intents]


def test_all_criteria_must_hold(emulator, refunded):
    owner, project = refunded["ownerAddress"], refunded["projectId"]
    assert found(emulator, byIntentId=refunded["intentId"], byOwnerAddress=owner, byProjectId=project)
    assert found(emulator, byIntentId=refunded["intentId"], byProjectId=project + 1) == []
    assert found(emulator, byOwnerAddress=owner, byTransactionHash="0x" + "1" * 64) == []


@pytest.mark.parametrize("query", ["ORDER #48213", "a wish nobody wrote", "🧨"])
def test_a_query_searches_memos_ids_and_symbols(emulator, query):
    hits = call(emulator, "SearchIntents", {"byQueryString": query})["intents"]
    assert bool(hits) == (query != "a wish nobody wrote")
    assert len(hits) <= 500


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
