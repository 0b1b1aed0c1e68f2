"""Full values that a shortened ID may represent."""

import pytest

from intents_ui.display.search import shortened
from intents_ui.display.search.shortened import Candidate
from intents_ui.service.wire.models import IntentHistory
from tests.display.builders import INTENT_ID, MERCHANT, OWNER, TXN_HASH, intent, receipt, summary, transaction

OTHER = "0x7c1f" + "00" * 28 + "9e2b"  # starts and ends like INTENT_ID
DEPOSIT_ADDRESS = "0x" + "d1" * 20
DESTINATION_ADDRESS = "0x" + "d2" * 20


def hash_of(number: int) -> str:
    return f"0x{number:04x}{'5' * 56}{number:04x}"


WHOLE = receipt(
    deposit=transaction("SUCCEEDED", txn_hash=hash_of(1)),
    origin=transaction("SUCCEEDED", txn_hash=hash_of(2)),
    destination=transaction("SUCCEEDED", txn_hash=hash_of(3)),
    refund=transaction("SUCCEEDED", txn_hash=hash_of(4)),
    summary=summary(
        destination_to_address=MERCHANT,
        origin_intent_address=DEPOSIT_ADDRESS,
        destination_intent_address=DESTINATION_ADDRESS,
    ),
)
VALUES = {
    "intent ID": INTENT_ID,
    "deposit transaction": hash_of(1),
    "origin transaction": hash_of(2),
    "destination transaction": hash_of(3),
    "refund transaction": hash_of(4),
    "owner": OWNER,
    "recipient": MERCHANT,
    "deposit address": DEPOSIT_ADDRESS,
    "destination intent address": DESTINATION_ADDRESS,
}


@pytest.mark.parametrize(("what", "value"), VALUES.items(), ids=VALUES)
def test_each_value_of_a_transfer_is_found_by_its_head_and_tail_in_any_letter_case(what, value):
    entry = IntentHistory(intent_id=INTENT_ID, receipt=WHOLE)
    for candidates in (shortened.of_transfer(intent(), WHOLE), shortened.of_entry(entry)):
        for head, tail in (
            (value[2:6], value[-4:]),
            (value[2:6].upper(), value[-4:].upper()),
            ("", value[-6:]),
            (value[2:10], ""),
        ):
            (found,) = shortened.by_transfer(shortened.matching(candidates, head=head, tail=tail))[INTENT_ID]
            assert (found.value, found.what, found.intent_id) == (value, what, INTENT_ID)


@pytest.mark.parametrize(
    ("head", "tail"),
    [("7c1f", "9e2c"), ("7c2f", "9e2b"), ("", "4ab2"), ("9e2b", ""), (INTENT_ID[2:], "9e2b"), ("x", "9e2b")],
    ids=["other tail", "other head", "inside", "a tail as head", "more digits than it has", "no digit"],
)
def test_values_with_other_ends_do_not_match(head, tail):
    assert shortened.matching(shortened.of_transfer(intent(), WHOLE), head=head, tail=tail) == ()


def test_all_matches_of_a_shortened_id_are_listed():
    candidates = (Candidate(INTENT_ID, "intent ID", "a"), Candidate(OTHER, "intent ID", "b"))
    assert shortened.matching(candidates, head="7c1f", tail="9e2b") == candidates
    assert list(shortened.by_transfer(candidates)) == ["a", "b"]


def test_one_value_with_two_roles_is_listed_once():
    own = receipt(summary=summary(destination_to_address=OWNER))
    found = shortened.matching(shortened.of_transfer(intent(), own), head=OWNER[2:6], tail="")
    assert shortened.by_transfer(found) == {INTENT_ID: (Candidate(OWNER, "owner and recipient", INTENT_ID),)}


@pytest.mark.parametrize("value", ["0x" + "0" * 64, "0x" + "f" * 64, "", None])
def test_a_placeholder_matches_nothing(value):
    found = shortened.of_transfer(intent(), receipt(deposit=transaction("PENDING", txn_hash=value)))
    assert [each.what for each in found] == ["intent ID", "owner"]


def test_values_that_are_not_hex_are_nothing_to_match():
    solana = receipt(deposit=transaction("SUCCEEDED", txn_hash="5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbabcd"))
    assert shortened.matching(shortened.of_transfer(intent(), solana), head="", tail="abcd") == ()
    assert shortened.of_value("intent_12abcd", what="intent ID") == ()


def test_values_that_look_the_same_are_named_in_full():
    same = (Candidate(INTENT_ID, "intent ID"), Candidate(INTENT_ID[:30] + "a" * 20 + INTENT_ID[50:], "owner"))
    assert shortened.named(same[0], among=same) == f"intent ID {INTENT_ID}"
    assert shortened.named(same[0], among=same[:1]) == "intent ID 0x7c1f4ab2…90cd9e2b"


@pytest.mark.parametrize(
    ("count", "sentence"),
    [
        (0, "No transfers to search yet."),
        (1, "Searched the newest transfer."),
        (100, "Searched the 100 newest transfers."),
    ],
)
def test_the_number_of_searched_transfers_is_stated(count, sentence):
    assert shortened.searched(count) == sentence


def test_each_candidate_is_compared_once():
    class Counted(str):
        compared = 0

        def lower(self):
            Counted.compared += 1
            return super().lower()

    candidates = [Candidate(Counted(TXN_HASH), "deposit transaction", str(number)) for number in range(1000)]
    assert len(shortened.matching(candidates, head="9b21", tail="ad01")) == 1000
    assert Counted.compared == 1000
