"""Lookup of a pasted identifier where the service finds it by a second criterion only, or fails in between."""

import json

from intents_ui.service import lookup, results
from tests.service.scripted_server import Visit, response
from tests.service.upstream import Upstream, no

HASH = "0x" + "ab" * 32
OTHER = "0x" + "cd" * 32
NOT_FOUND = no(8000, "NotFound", 400)
INVALID = no(2000, "InvalidArgument", 400)


class Deposits:
    """Finds all of its intents by any deposit hash and none by other criteria. `receipts` are the actual hashes."""

    def __init__(self, receipts: dict[str, str | None]) -> None:
        self.receipts = receipts

    def __call__(self, visit: Visit) -> None:
        request = json.loads(visit.body)
        if visit.operation == "SearchIntents":
            ids = self.receipts if "byDepositTransactionHash" in request else ()
            visit.send(response({"intents": [{"intentId": each} for each in ids]}))
            return
        intent_id = request["intentId"]
        deposit = self.receipts[intent_id]
        if deposit is None:
            NOT_FOUND(visit)
        else:
            receipt = {"intentId": intent_id, "depositTransaction": {"txnHash": deposit}}
            visit.send(response({"intentReceipt": receipt}))


def found(service: Upstream) -> list[str]:
    (question,) = lookup.as_any([results.TRANSACTION_HASH], HASH)
    return [intent.intent_id for intent in lookup.answer_to(question, service=service.service).intents]


def test_a_hit_by_deposit_hash_counts_only_if_its_receipt_has_that_hash(service: Upstream) -> None:
    service.does = Deposits({"0x1": HASH, "0x2": OTHER, "0x3": None})
    assert found(service) == ["0x1"]


def test_at_most_three_hits_by_deposit_hash_are_verified(service: Upstream) -> None:
    service.does = Deposits({f"0x{number}": HASH for number in range(5)})
    assert found(service) == ["0x0", "0x1", "0x2"]
    assert service.requested.count("GetIntentReceipt") == lookup.MAX_VERIFIED


def test_hits_by_transaction_are_doubted_unless_a_receipt_that_was_read_has_it(service: Upstream) -> None:
    many = {f"0x{number}": HASH if number else OTHER for number in range(lookup.MAX_RECEIPTS + 1)}

    def find_all(visit: Visit) -> None:
        ids = [{"intentId": each} for each in many]
        visit.send(response({"intents": ids})) if visit.operation == "SearchIntents" else Deposits(dict(many))(visit)

    service.does = find_all
    result = lookup.in_turn(service.service, lambda: lookup.as_any([results.TRANSACTION_HASH], HASH))
    assert {each for hit in result.hits for each in hit.doubts} == {
        results.Doubt(HASH, "0x0"),
        results.Doubt(HASH, f"0x{lookup.MAX_RECEIPTS}", checked=False),
    }


def test_a_service_without_search_by_deposit_hash_finds_none(service: Upstream) -> None:
    def refuse_deposit_hashes(visit: Visit) -> None:
        INVALID(visit) if b"byDepositTransactionHash" in visit.body else visit.send(response({"intents": []}))

    service.does = refuse_deposit_hashes
    assert found(service) == []
