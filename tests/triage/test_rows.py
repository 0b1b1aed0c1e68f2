"""Triage rows for each result of an identifier, their urgency, and the values that a shortened ID may be."""

from dataclasses import replace

import pytest

from intents_ui.formatting import hashes
from intents_ui.search.identifiers import Finding, Kind
from intents_ui.service import results
from intents_ui.service.errors import Unreachable
from intents_ui.service.results import Hit, LookupQuestion, LookupResult
from intents_ui.transfers import statuses
from intents_ui.transfers import summary as summaries
from intents_ui.transfers.transfer import Transfer
from intents_ui.triage import rows
from intents_ui.triage.rows import Link, Reading, TriageOutcome, TriageRow, Value
from tests.transfers.builders import (
    INTENT_ID,
    MERCHANT,
    NOW,
    OWNER,
    TXN_HASH,
    at,
    before,
    intent,
    receipt,
    summary,
    transaction,
)

BY_HASH = Finding(Kind.HASH, TXN_HASH)
BY_ADDRESS = Finding(Kind.ADDRESS, OWNER)
FAILED = receipt("FAILED", deposit="SUCCEEDED", origin="FAILED")


def found(*hits, keys=(results.OWNER,), value=OWNER, failed=(), capped=False) -> LookupResult:
    """Return intents found by the same keys."""
    questions = tuple(LookupQuestion(key, value) for key in keys)
    return LookupResult(tuple(Hit(hit, questions) for hit in hits), questions, failed, capped)


def one(finding, of_intent, of_receipt=None, trouble=None, **how) -> rows.TriageRow:
    of_found = found(of_intent, **how)
    [hit] = of_found.hits
    return rows.one(rows.begin(7, finding, now=NOW), of_found, read(hit, of_receipt, trouble))


def read(hit, of_receipt=None, trouble=None) -> Reading:
    return Reading(hit, at(hit.intent, of_receipt, unread=trouble is not None), trouble)


def several(of_found: LookupResult, *listed: Reading) -> rows.TriageRow:
    return rows.several(rows.begin(7, BY_ADDRESS, now=NOW), of_found, listed)


def test_the_amounts_and_the_time_of_the_quote_are_at_the_bottom():
    sums = summary(destination_token_amount=99_500_000)
    done = receipt("SUCCEEDED", deposit="SUCCEEDED", origin="SUCCEEDED", destination="SUCCEEDED", summary=sums)
    row = one(BY_HASH, intent("SUCCEEDED"), done)
    assert row.details == ("100.00 USDC on Arbitrum → 99.50 USDC on Base, quoted 14:01:11 UTC",)
    assert row.address == hashes.checksum(OWNER)
    fake = summary(origin_token_address="0xbad")
    assert "100.00 USDC (unlisted: 0xbad) on Arbitrum (quoted) → " in one(
        BY_HASH, intent("SUCCEEDED"), receipt("SUCCEEDED", summary=fake)
    ).details[0]  # fmt: skip


def test_a_transaction_that_is_in_no_step_has_no_name_of_one():
    elsewhere = receipt(deposit=transaction("SUCCEEDED", txn_hash="0x12"))
    found = one(BY_HASH, intent(), elsewhere, keys=(results.TRANSACTION_HASH,), value=TXN_HASH)
    assert found.what == "transaction"


MANY = [
    intent("QUOTED"),
    intent("QUOTED", expires_at=before(minutes=1)),
    intent("SUCCEEDED"),
    intent("EXECUTING"),
    intent("FAILED"),
    intent("SUCCEEDED"),
    intent("MIGRATING_2"),
]


def test_an_owners_row_has_the_statuses_and_the_newest_transfer_to_check():
    of_found = found(*MANY)
    newest, *others = rows.to_look_at(of_found.hits, now=NOW)
    assert [newest, *others] == [of_found.hits[place] for place in (3, 4, 6)]
    row = several(of_found, read(newest, receipt(deposit="SUCCEEDED", origin="PENDING")))
    assert row.what == "owner of 7 transfers"
    assert row.headline == "7 transfers: 2 succeeded, 1 quoted, 1 expired, 1 in progress, 1 failed, 1 MIGRATING_2"
    assert row.details[0].startswith("Most urgent transfer: 0x7c1f4ab2…90cd9e2b (")
    assert row.status.word == "In progress"
    assert row.where
    assert row.intent_id == ""  # other rows may show that transfer in full
    assert [link.path for link in row.links] == [f"/intent/{INTENT_ID}", f"/address/{OWNER}"]


def test_other_transfers_to_check_are_listed_below():
    of_found = found(*MANY)
    readings = [read(of_found.hits[3], None, Unreachable()), read(of_found.hits[4], FAILED)]
    row = several(of_found, *readings)
    assert row.details[-1] == "2 other transfers are open or failed. 1 linked here."
    headline = summaries.of(readings[1].transfer).headline
    assert row.links[1] == Link(f"0x7c1f4ab2…90cd9e2b ({headline})", f"/intent/{INTENT_ID}")
    assert [link.path for link in row.links] == [*[f"/intent/{INTENT_ID}"] * 2, f"/address/{OWNER}"]
    assert row.transfers == tuple(each.transfer for each in readings)
    both = several(found(*MANY[3:5]), *readings)
    assert both.details[-1] == "1 other transfer is open or failed."
    unread = several(of_found, *reversed(readings))
    assert [note.partition(" (")[0] for note in unread.notes] == ["Couldn't load the receipt"]


@pytest.mark.parametrize("status", ["EXECUTING", "COMMITTED", "FAILED", "SOMETHING_NEW"])
def test_open_and_failed_transfers_need_a_look(status):
    hits = found(intent("SUCCEEDED"), intent(status)).hits
    assert rows.to_look_at(hits, now=NOW) == [hits[1]]


@pytest.mark.parametrize(
    "settled",
    [
        *(intent(status) for status in ("SUCCEEDED", "REFUNDED", "ABORTED", "INVALID", "QUOTED")),
        intent("COMMITTED", expires_at=before(seconds=1)),
    ],
    ids=lambda each: each.status,
)
def test_closed_and_quoted_transfers_need_no_attention(settled):
    hits = found(settled).hits
    assert rows.to_look_at(hits, now=NOW) == []
    row = several(found(settled, settled))
    assert (row.status.word, row.where) == ("No open transfers", "")
    assert row.details == ("No open or failed transfers.",)
    assert [link.path for link in row.links] == [f"/address/{OWNER}"]


FIRST, SECOND = hashes.checksum(OWNER), hashes.checksum(MERCHANT)


def transfer(number: int, status: str = "SUCCEEDED", owner: str = OWNER) -> Transfer:
    """Return a transfer with its own ID. One that failed needs action, one that succeeded doesn't."""
    update = {"intent_id": f"0x{number:064x}", "owner_address": owner}
    legs = {"deposit": "SUCCEEDED", "origin": status, "destination": status}
    return at(intent(status).model_copy(update=update), receipt(status, **legs).model_copy(update=update))


def row(number: int, owner: str, *transfers: Transfer, same_as: int = 0) -> TriageRow:
    begun = rows.begin(number, BY_ADDRESS, now=NOW)
    return replace(
        begun, outcome=TriageOutcome.FOUND, status=statuses.INTENTS["SUCCEEDED"],
        transfers=transfers, owner=owner, same_as=same_as,
    )  # fmt: skip


def covered(*told: TriageRow) -> dict[str, list[int]]:
    """Return the transfers that the reply to each owner covers."""
    return {
        each.owner: [int(one.intent.intent_id, 16) for about in each.replies.values() for one in about]
        for each in rows.groups(told)
    }


def test_a_reply_covers_the_owners_transfers_in_rows_of_several_owners():
    shared = row(2, "", transfer(2), transfer(3, owner=MERCHANT), transfer(4, owner="0x" + "5" * 40))
    assert covered(row(1, FIRST, transfer(1)), shared) == {FIRST: [1, 2], "": [3, 4]}
    assert covered(row(1, FIRST, transfer(1, owner=MERCHANT))) == {FIRST: [1]}


def test_a_value_with_two_roles_is_listed_once_for_a_shortened_id():
    of_receipt = receipt("SUCCEEDED", summary=summary(destination_to_address=OWNER))
    told = one(BY_ADDRESS, intent("SUCCEEDED"), of_receipt)
    shortened = rows.begin(8, Finding(Kind.SHORTENED, "0x…", head=OWNER[2:6], tail=OWNER[-4:]), now=NOW)
    found = rows.in_ticket(shortened, [told])
    assert found
    assert found.headline == "Possible match: same transfer as row 7"
    assert found.details[0] == f"It matches the owner and recipient {hashes.short_id(OWNER)}."


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
