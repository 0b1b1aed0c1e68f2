"""Full values that a shortened ID may represent."""

import pytest

from intents_ui.triage import rows
from intents_ui.triage.rows import Value
from tests.transfers.builders import INTENT_ID, MERCHANT, OWNER, at, intent, receipt, summary, transaction

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
    values = rows.values_of(at(intent(), WHOLE))
    for head, tail in (
        (value[2:6], value[-4:]),
        (value[2:6].upper(), value[-4:].upper()),
        ("", value[-6:]),
        (value[2:10], ""),
    ):
        assert rows.matching(values, head=head, tail=tail) == [Value(value, what, INTENT_ID)]


@pytest.mark.parametrize(
    ("head", "tail"),
    [("7c1f", "9e2c"), ("7c2f", "9e2b"), ("", "4ab2"), ("9e2b", ""), (INTENT_ID[2:], "9e2b"), ("x", "9e2b")],
)
def test_values_with_other_ends_do_not_match(head, tail):
    assert rows.matching(rows.values_of(at(intent(), WHOLE)), head=head, tail=tail) == []


@pytest.mark.parametrize("value", ["0x" + "0" * 64, "0x" + "f" * 64, "", None])
def test_a_placeholder_matches_nothing(value):
    found = rows.values_of(at(intent(), receipt(deposit=transaction("PENDING", txn_hash=value))))
    assert [each.what for each in found] == ["intent ID", "owner"]
