from itertools import combinations

import pytest

from tests.transfers.builders import MERCHANT, OWNER, at, intent, named, receipt, refund, summary, transaction

# As long as an address, with the same first and last four digits as the owner's.
TWIN = OWNER[:6] + "7" * 32 + OWNER[-4:]
TRIPLET = OWNER[:6] + "8" * 32 + OWNER[-4:]


def pairs(of_intent=None, of_receipt=None):
    found = at(of_intent or intent(), of_receipt).lookalikes
    return [(one, other) for (one, _), (other, _) in found]


PLACES = named(
    ("recipient", {"of_receipt": receipt(summary=summary(destination_to_address=TWIN))}, "recipient"),
    ("deposit address", {"of_intent": intent(origin_intent_address=TWIN)}, "deposit address"),
    (
        "destination intent address",
        {"of_intent": intent(destination_intent_address=TWIN)},
        "destination intent address",
    ),
    (
        "payer",
        {"of_receipt": receipt(deposit=transaction("SUCCEEDED", from_address=TWIN))},
        "address that sent the deposit",
    ),
    ("refund", {"of_receipt": receipt(refund=refund("SUCCEEDED", to_address=TWIN))}, "refund address"),
)


@pytest.mark.parametrize(("given", "role"), PLACES)
def test_an_address_that_resembles_the_owners_is_flagged(given, role):
    assert pairs(**given) == [("owner", role)]


def test_the_same_address_in_two_parts_is_no_lookalike():
    assert pairs(of_receipt=receipt(summary=summary(destination_to_address=OWNER.upper().replace("X", "x")))) == []


@pytest.mark.parametrize(
    "other",
    named(
        ("quite different", MERCHANT),
        ("three digits at the start", OWNER[:5] + "f" + TWIN[6:]),
        ("no hex", "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV"),
    ),
)
def test_others_are_not(other):
    assert pairs(of_receipt=receipt(summary=summary(destination_to_address=other))) == []


def test_each_lookalike_pair_is_named_once():
    of_intent = intent(origin_intent_address=TWIN, destination_intent_address=TRIPLET)
    of_receipt = receipt(summary=summary(destination_to_address=TWIN))
    roles = ["owner", "recipient", "destination intent address"]
    assert pairs(of_intent, of_receipt) == list(combinations(roles, 2))
