"""Deposit check: every case, exact to the base unit, never contradicting the summary."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intents_ui.service.models import (
    BalanceGroup,
    DepositTransaction,
    IntentProviderQuote,
    TokenBalance,
    TransactionPrecondition,
)
from intents_ui.transfers import deposits
from intents_ui.transfers import summary as summaries
from intents_ui.transfers.rules import MESSAGES
from intents_ui.transfers.statuses import Tone
from intents_ui.transfers.transfer import Transfer
from tests.transfers.builders import (
    ARBITRUM,
    BASE,
    ETHEREUM,
    NOW,
    USDC,
    at,
    before,
    intent,
    named,
    receipt,
    summary,
    transaction,
)

DEPOSIT_ADDRESS = "0x" + "d0" * 20
PLACEHOLDER = "0x" + "0" * 64
FAKE = "0x" + "fa" * 20
ASKED = 100_000_000
EMPTY: tuple[BalanceGroup, ...] = ()


def asking(status="EXECUTING", **members):
    """Return a request for 100 USDC on Arbitrum, valid for 3 minutes."""
    asked = DepositTransaction(
        to_address=DEPOSIT_ADDRESS, token_address=USDC, amount=ASKED, chain_id=ARBITRUM, decimals=6
    )
    usual = {"origin_intent_address": DEPOSIT_ADDRESS, "deposit_transaction": asked}
    return intent(status, **{**usual, **members})


def held(value, *, token=USDC, symbol="USDC", decimals=6, chain_id=ARBITRUM, address=DEPOSIT_ADDRESS):
    found = TokenBalance(contract_address=token, balance=value, decimals=decimals, symbol=symbol, chain_id=0)
    return (BalanceGroup(intent_address=address, chain_id=chain_id, tokens=(found,)),)


def paid(status="SUCCEEDED", value=ASKED, **members):
    usual = {"token_amount": value, "token_address": USDC, "to_address": DEPOSIT_ADDRESS}
    usual |= {"txn_mined_at": before(seconds=30)} if status == "SUCCEEDED" else {}
    return transaction(status, **{**usual, **members})


def watched(status="PENDING"):
    return paid(status, txn_hash=PLACEHOLDER)


def transfer(of_intent, of_receipt, balances=None, *, now=NOW, **more):
    has = None if balances is None else bool(balances)
    return at(of_intent, of_receipt, now=now, has_balance=has, balances=balances, **more)


def examined(*given, **more):
    return deposits.DepositCheck(transfer(*given, **more))


def line(found, label):
    return next(row for row in found.rows if row.label == label)


def results(found):
    return [row.result.word for row in found.rows]


EXPIRED = {"expires_at": before(minutes=2)}
MINED_LATE = {"txn_mined_at": before(minutes=1)}
NOT_SEEN = ["Not seen"] * 4
# The status, the deposit, the on-chain balances if they are known, whether the quote expired, the row of the summary,
# and the results of the check.
CASES = named(
    (
        *("not counted, why unknown", "ABORTED", watched("FAILED"), None, False),
        *("aborted.payment_reported", [*NOT_SEEN, "Ended before", "Placeholder"]),
    ),
    (
        *("not counted, and all of it is there", "ABORTED", watched("FAILED"), held(ASKED), False),
        *("stopped.uncounted", [*["Match"] * 4, "Ended before", "Placeholder"]),
    ),
    (
        *("too much", "EXECUTING", watched(), held(ASKED + 1), False),
        *("executing.uncounted", ["Match", "Match", "Overpaid", "Match", "Open", "Placeholder"]),
    ),
    (
        *("there, and not counted", "EXECUTING", watched(), held(ASKED), False),
        *("executing.uncounted", [*["Match"] * 4, "Open", "Placeholder"]),
    ),
    (
        *("a namesake", "EXECUTING", watched(), held(ASKED, token=FAKE), False),
        *("executing.underpaid", ["Match", "Mismatch", "Not comparable", "Match", "Open", "Placeholder"]),
    ),
    (
        *("on another chain", "EXECUTING", watched(), held(ASKED, chain_id=ETHEREUM), False),
        *("executing.underpaid", ["Mismatch", "Match", "Not comparable", "Match", "Open", "Placeholder"]),
    ),
    ("paid for a quote", "QUOTED", None, held(ASKED), False, "quoted.funded", [*["Match"] * 4, "Open", "Not seen"]),
    (
        *("too little for a quote", "QUOTED", None, held(1), False),
        *("offer.mismatch", ["Match", "Match", "Underpaid", "Match", "Open", "Not seen"]),
    ),
    (
        *("another token for a quote", "COMMITTED", paid(token_address=FAKE), None, False),
        *("offer.mismatch", ["Match", "Mismatch", "Not comparable", "Match", "On time", "Confirmed"]),
    ),
    (
        *("confirmed after the deadline", "QUOTED", paid(**MINED_LATE), None, True),
        *("offer.funded_late", [*["Match"] * 4, "Late", "Confirmed"]),
    ),
    (
        *("confirmed after the deadline, and refused", "INVALID", paid(**MINED_LATE), None, True),
        *("invalid.with_payment", [*["Match"] * 4, "Late", "Confirmed"]),
    ),
    (
        *("confirmed, without a word more", "EXECUTING", paid(txn_hash=None, txn_mined_at=None), None, False),
        *("executing.origin_running", [*["Match"] * 4, "Unknown", "Confirmed"]),
    ),
    (
        *("confirmed too little", "EXECUTING", paid(value=1), None, False),
        *("executing.origin_running", ["Match", "Match", "Underpaid", "Match", "On time", "Confirmed"]),
    ),
    (
        *("reported on another chain", "EXECUTING", paid("MINING", chain_id=ETHEREUM), None, False),
        *("executing.deposit_confirming", ["Mismatch", *["Submitted"] * 3, "Open", "Submitted"]),
    ),
)
# The steps after the deposit, where a transfer with this status can't be without.
LATER = {"ABORTED": {"origin": "ABORTED"}, "SUCCEEDED": {"origin": "SUCCEEDED", "destination": "SUCCEEDED"}}


@pytest.mark.parametrize(("status", "deposit", "balances", "expired", "key", "words"), CASES)
def test_each_case_has_its_rows_and_one_message(status, deposit, balances, expired, key, words):
    updated = {"updated_at": deposit.updated_at} if deposit else {}
    of_receipt = receipt(status, deposit=deposit, **LATER.get(status, {}), **updated) if deposit else None
    of = transfer(asking(status, **(EXPIRED if expired else {})), of_receipt, balances)
    assert (summaries.of(of).key, results(deposits.DepositCheck(of))) == (key, words)
    labels = ["Chain", "Token", "Amount", "Deposit address", "Deadline", "Transaction"]
    assert [row.label for row in deposits.DepositCheck(of).rows] == labels


def test_a_deposit_that_was_not_found_was_not_received():
    for balances, received in ((None, "—"), (EMPTY, "none at the deposit address")):
        for status in ("FAILED", "REVERTED"):
            of_receipt = receipt("INVALID", deposit=paid(status))
            examination = examined(asking("INVALID"), of_receipt, balances)
            assert [line(examination, label).found for label in ("Chain", "Token", "Amount")] == ["—", "—", received]
    submitted = examined(asking(), receipt(deposit=paid("MINING")), EMPTY)
    assert line(submitted, "Amount").found == "100.00 USDC"


def test_a_check_without_a_receipt_that_would_tell_is_not_shown():
    assert examined(asking(), None, unread=True).rows == ()


def test_a_deposit_that_a_later_step_shows_needs_no_check():
    assert examined(asking(), receipt(deposit=watched(), origin="MINING")).rows == ()


AMOUNT = st.integers(1, 2**256 - 1)


@settings(deadline=None)
@given(AMOUNT, AMOUNT)
def test_the_balance_and_the_shortfall_make_the_requested_amount(there, asked):
    asked_for = DepositTransaction(to_address=DEPOSIT_ADDRESS, token_address=USDC, amount=asked, chain_id=ARBITRUM)
    unknown = summary(origin_token_metadata=None)
    of_receipt = receipt(deposit=watched(), summary=unknown)
    found = examined(asking(deposit_transaction=asked_for), of_receipt, held(there, decimals=None, symbol=None))
    amount = line(found, "Amount")
    kinds = {-1: "Underpaid", 0: "Match", 1: "Overpaid"}
    assert amount.result.word == kinds[(there > asked) - (there < asked)]
    if there != asked:
        apart = f": {abs(there - asked):,} base units"
        assert apart in amount.found
        assert amount.found.endswith(" more" if there > asked else " too little")


def test_less_than_the_requested_amount_can_be_enough():
    needed = TransactionPrecondition(
        chain_id=ARBITRUM, owner_address=DEPOSIT_ADDRESS, token_address=USDC, min_amount=99_000_000
    )
    watching = receipt(deposit=watched())
    found = examined(asking(origin_precondition=needed), watching, held(99_000_000))
    assert line(found, "Amount").expected == "100.00 USDC, at least 99.00 USDC"
    assert line(found, "Amount").result.word == "Enough"
    less = transfer(asking(origin_precondition=needed), watching, held(98_999_999))
    assert line(deposits.DepositCheck(less), "Amount").result.word == "Underpaid"
    assert "it is 0.000001 USDC below the minimum of 99.00 USDC." in summaries.of(less).sentence
    elsewhere = asking(origin_precondition=needed.model_copy(update={"owner_address": FAKE}))
    assert line(examined(elsewhere, watching, held(99_000_000)), "Amount").result.word == "Underpaid"
    of_quote = asking(quote=IntentProviderQuote(from_amount_min=99_000_000))
    assert line(examined(of_quote, watching, held(99_000_000)), "Amount").result.word == "Enough"


def test_tokens_with_the_same_symbol_are_told_apart_by_address():
    found = examined(asking(), receipt(deposit=watched()), held(ASKED, token=FAKE))
    assert (line(found, "Token").expected, line(found, "Token").found) == (
        "USDC 0xaf88d0…8e5831",
        "USDC 0xFafafA…fAFaFA (unlisted)",
    )
    assert line(found, "Token").result.word == "Mismatch"
    assert line(found, "Chain").result.word == "Match"


def test_another_token_at_the_address_does_not_hide_the_right_one():
    both = (*held(ASKED), *held(5, token=FAKE, symbol="JUNK", decimals=0))
    found = examined(asking(), receipt(deposit=watched()), both)
    assert results(found)[:4] == ["Match"] * 4
    assert line(found, "Amount").found == "100.00 USDC and 5 JUNK (unlisted: 0xFafafA…fAFaFA)"


def test_one_address_on_both_chains_is_not_a_deposit_on_the_wrong_chain():
    both = asking(destination_intent_address=DEPOSIT_ADDRESS)
    assert examined(both, receipt(deposit=watched()), held(ASKED, chain_id=BASE)).rows == ()


def test_a_deadline_is_exact_to_the_second():
    at = NOW + timedelta(minutes=3)
    offered = asking("QUOTED", expires_at=at)
    for late_by, word, found in ((-1, "On time", "confirmed 1 s before"), (1, "Late", "confirmed 1 s after")):
        of_receipt = receipt("QUOTED", deposit=paid(txn_mined_at=at + timedelta(seconds=late_by)))
        deadline = line(examined(offered, of_receipt, now=at + timedelta(minutes=1)), "Deadline")
        assert (deadline.result.word, deadline.found) == (word, found)


@pytest.mark.parametrize("later", [timedelta(), timedelta(days=1)], ids=["at once", "a day later"])
def test_a_closed_transfers_deadline_is_measured_against_its_end(later):
    for ended, word in ((before(minutes=1), "Passed"), (before(minutes=3), "Ended before")):
        over = receipt("ABORTED", deposit=watched("ABORTED"), summary=summary(finished_at=ended))
        found = examined(asking("ABORTED", **EXPIRED), over, now=NOW + later)
        assert line(found, "Deadline").result.word == word


def test_waiting_for_an_unaccepted_deposit_has_an_end():
    of_receipt = receipt(deposit=watched())
    since = Transfer(asking(), of_receipt, now=NOW).last_change
    until = since + timedelta(minutes=MESSAGES["executing.uncounted"].minutes)
    ahead, come = (
        summaries.of(transfer(asking(), of_receipt, held(ASKED), now=until + timedelta(seconds=seconds))).next_step
        for seconds in (-1, 0)
    )
    assert ahead == "Wait. If nothing has changed by 14:04:51 UTC, contact support."
    assert come == "Contact support now. Nothing has changed for 2 min."
    assert summaries.changes_at(at(asking(), of_receipt, now=until - timedelta(seconds=1))) == until


def test_an_empty_intent_has_an_unknown_status():
    found = examined(intent("QUOTED", origin_chain_id=None, expires_at=None, updated_at=None), None)
    assert [(row.expected, row.found) for row in found.rows[:3]] == [("—", "—")] * 3
    assert line(found, "Deadline").result.word == "Unknown"


def test_untrusted_text_is_sanitized():
    found = examined(asking(), receipt(deposit=watched()), held(5, token=FAKE, symbol="US\u202eDC", decimals=0))
    written = line(found, "Token").found + line(found, "Amount").found
    assert "\u202e" not in written
    assert "⟨U+202E⟩" in written


def test_a_lookalike_of_the_token_is_shown_in_full():
    found = line(
        examined(asking(), receipt(deposit=watched()), held(ASKED, token=USDC[:8] + "0" * 24 + USDC[-10:])), "Token"
    )
    assert (found.result.tone, found.expected == found.found) == (Tone.BAD, False)


@pytest.mark.parametrize(
    ("of_intent", "of_receipt", "balances", "needs_attention"),
    named(
        ("a quote", asking("QUOTED"), None, None, False),
        ("no deposit before the deadline", asking(**EXPIRED), receipt(deposit=watched()), EMPTY, False),
        ("as expected", asking(), receipt(deposit=paid(), origin="ON_HOLD"), None, False),
        ("underpaid", asking(), receipt(deposit=watched()), held(99_500_000), True),
        ("another token", asking(), receipt(deposit=watched()), held(ASKED, token=FAKE), True),
        ("reverted", asking("FAILED"), receipt("FAILED", deposit=paid("REVERTED")), EMPTY, True),
    ),
)
def test_the_deposit_check_needs_attention_only_for_an_unexpected_observation(
    of_intent, of_receipt, balances, needs_attention
):
    assert examined(of_intent, of_receipt, balances).needs_attention is needs_attention
