"""Deposit check: every case, exact to the base unit, never contradicting the summary."""

import itertools
import re
import string
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intents_ui.display.deposits import checks
from intents_ui.display.deposits import diagnosis as display
from intents_ui.display.deposits.diagnosis import DIAGNOSES, MessageKey
from intents_ui.display.summary import summary as summaries
from intents_ui.display.transfers.statuses import StatusLabel, Tone
from intents_ui.display.transfers.transfer_data import Facts
from intents_ui.service.wire.models import (
    BalanceGroup,
    DepositTransaction,
    IntentProviderQuote,
    IntentStatus,
    TokenBalance,
    TokenMetadata,
    TransactionPrecondition,
)
from tests.display.builders import (
    ARBITRUM,
    BASE,
    ETHEREUM,
    NOW,
    TXN_HASH,
    USDC,
    at,
    before,
    intent,
    receipt,
    summary,
    transaction,
)
from tests.display.scenes import MOMENTS, scene

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


def examined(of_intent, of_receipt, balances=None, *, now=NOW, **more):
    has = None if balances is None else bool(balances)
    return display.of(at(of_intent, of_receipt, now=now, has_balance=has, balances=balances, **more))


def line(found, label):
    return next(finding for finding in found.findings if finding.label == label)


EXPIRED = {"expires_at": before(minutes=2)}
CASES = [
    pytest.param(asking("QUOTED"), None, None, MessageKey.OFFERED, id="an offer"),
    pytest.param(asking("COMMITTED"), None, None, MessageKey.OFFERED, id="an offer that was accepted"),
    pytest.param(asking("QUOTED", **EXPIRED), None, None, MessageKey.EXPIRED, id="an offer that ran out"),
    pytest.param(
        asking(), receipt(deposit=paid("PENDING", txn_hash=None)), None, MessageKey.NOTHING, id="nothing arrived"
    ),
    pytest.param(asking(), receipt(deposit=watched()), None, MessageKey.WATCHED, id="a placeholder hash"),
    pytest.param(
        asking(), receipt(deposit=watched()), EMPTY, MessageKey.WATCHED, id="a placeholder hash, and an empty address"
    ),
    pytest.param(
        asking(**EXPIRED), receipt(deposit=watched()), None, MessageKey.PAST_DEADLINE, id="still watched, too late"
    ),
    pytest.param(
        asking("ABORTED"), receipt("ABORTED", deposit=watched("ABORTED")), None, MessageKey.EXPIRED, id="never came"
    ),
    pytest.param(asking(), receipt(deposit=paid("MINING")), None, MessageKey.CONFIRMING, id="being confirmed"),
    pytest.param(
        asking(), receipt(deposit=paid("PENDING")), None, MessageKey.CONFIRMING, id="a hash that nobody has seen yet"
    ),
    pytest.param(
        asking(),
        receipt(deposit=paid("RELAYING", txn_hash=None, meta_txn_id="m")),
        None,
        MessageKey.CONFIRMING,
        id="signed and relayed",
    ),
    pytest.param(
        asking(),
        receipt(deposit=paid("MINING", updated_at=before(hours=2)), updated_at=before(hours=2)),
        None,
        MessageKey.UNCONFIRMED,
        id="reported two hours ago",
    ),
    pytest.param(
        asking("INVALID"),
        receipt("INVALID", deposit=paid("FAILED")),
        None,
        MessageKey.NOT_FOUND,
        id="a hash that was not found",
    ),
    pytest.param(
        asking("FAILED"),
        receipt("FAILED", deposit=paid("REVERTED")),
        None,
        MessageKey.REVERTED,
        id="the deposit reverted",
    ),
    pytest.param(
        asking("FAILED"),
        receipt("FAILED", deposit=paid("FAILED", txn_mined_at=before(minutes=1))),
        None,
        MessageKey.REVERTED,
        id="mined, and failed",
    ),
    pytest.param(
        asking("ABORTED"),
        receipt("ABORTED", deposit=watched("FAILED")),
        None,
        MessageKey.NOT_COUNTED,
        id="not counted, why unknown",
    ),
    pytest.param(
        asking("ABORTED"),
        receipt("ABORTED", deposit=watched("FAILED")),
        EMPTY,
        MessageKey.EXPIRED,
        id="not counted, as nothing came",
    ),
    pytest.param(
        asking("ABORTED"),
        receipt("ABORTED", deposit=watched("FAILED")),
        held(99_500_000),
        MessageKey.TOO_LITTLE,
        id="not counted, as too little came",
    ),
    pytest.param(
        asking("ABORTED"),
        receipt("ABORTED", deposit=watched("FAILED")),
        held(ASKED),
        MessageKey.TOO_LATE,
        id="not counted, and all of it is there",
    ),
    pytest.param(asking(), receipt(deposit=watched()), held(99_500_000), MessageKey.TOO_LITTLE, id="too little"),
    pytest.param(asking(), receipt(deposit=watched()), held(ASKED + 1), MessageKey.TOO_MUCH, id="too much"),
    pytest.param(asking(), receipt(deposit=watched()), held(ASKED), MessageKey.UNCOUNTED, id="there, and not counted"),
    pytest.param(
        asking(), receipt(deposit=watched()), held(ASKED, token=FAKE), MessageKey.WRONG_TOKEN, id="a namesake"
    ),
    pytest.param(
        asking(), receipt(deposit=watched()), held(ASKED, chain_id=BASE), MessageKey.WRONG_CHAIN, id="on another chain"
    ),
    pytest.param(
        asking(),
        receipt(deposit=watched()),
        held(ASKED, address=FAKE),
        MessageKey.WATCHED,
        id="at an address of somebody else",
    ),
    pytest.param(asking("QUOTED"), None, held(ASKED), MessageKey.NOT_STARTED, id="paid for an offer"),
    pytest.param(
        asking("COMMITTED"),
        receipt("COMMITTED", deposit=paid()),
        None,
        MessageKey.NOT_STARTED,
        id="paid, and not started",
    ),
    pytest.param(
        asking("QUOTED", **EXPIRED),
        receipt("QUOTED", deposit=paid(txn_mined_at=before(minutes=1))),
        None,
        MessageKey.TOO_LATE,
        id="confirmed after the deadline",
    ),
    pytest.param(
        asking("INVALID", **EXPIRED),
        receipt("INVALID", deposit=paid(txn_mined_at=before(minutes=1))),
        None,
        MessageKey.TOO_LATE,
        id="confirmed after the deadline, and refused",
    ),
    pytest.param(
        asking(**EXPIRED),
        receipt(deposit=paid(txn_mined_at=before(minutes=1)), origin="PENDING"),
        None,
        MessageKey.WAITING,
        id="late, and taken",
    ),
    pytest.param(
        asking(), receipt(deposit=paid(), origin="ON_HOLD"), None, MessageKey.WAITING, id="arrived and waiting"
    ),
    pytest.param(asking(), receipt(deposit=paid()), EMPTY, MessageKey.WAITING, id="arrived, and moved on a moment ago"),
    pytest.param(
        asking(),
        receipt(deposit=paid(value=1), origin="ON_HOLD"),
        None,
        MessageKey.TOO_LITTLE,
        id="confirmed too little",
    ),
    pytest.param(
        asking(),
        receipt(deposit=paid(value=ASKED + 5), origin="ON_HOLD"),
        None,
        MessageKey.TOO_MUCH,
        id="confirmed too much",
    ),
    pytest.param(
        asking(),
        receipt(deposit=paid(token_address=FAKE), origin="ON_HOLD"),
        None,
        MessageKey.WRONG_TOKEN,
        id="confirmed namesake",
    ),
    pytest.param(
        asking(),
        receipt(deposit=paid(chain_id=ETHEREUM)),
        None,
        MessageKey.WRONG_CHAIN,
        id="confirmed on another chain",
    ),
    pytest.param(
        asking(),
        receipt(deposit=paid("MINING", chain_id=ETHEREUM)),
        None,
        MessageKey.WRONG_CHAIN,
        id="reported on another chain",
    ),
    pytest.param(
        asking("ABORTED"),
        receipt("ABORTED", deposit=paid(), origin="ABORTED"),
        None,
        MessageKey.AS_EXPECTED,
        id="as expected, and stopped",
    ),
    pytest.param(
        asking("ABORTED"),
        receipt("ABORTED", deposit=paid(), origin="ABORTED"),
        EMPTY,
        MessageKey.GONE,
        id="as expected, stopped, and taken back",
    ),
    pytest.param(
        asking("SUCCEEDED"),
        receipt("SUCCEEDED", deposit=paid(), origin="SUCCEEDED", destination="SUCCEEDED"),
        held(ASKED),
        MessageKey.TOO_MUCH,
        id="paid twice",
    ),
    pytest.param(
        asking(), receipt(deposit=paid("QUEUED", txn_hash=None)), None, MessageKey.UNKNOWN, id="a word nobody knows"
    ),
]


@pytest.mark.parametrize(("of_intent", "of_receipt", "balances", "key"), CASES)
def test_each_case_has_its_diagnosis(of_intent, of_receipt, balances, key):
    found = examined(of_intent, of_receipt, balances)
    assert found is not None
    assert found.key is key
    assert found.shown.word == DIAGNOSES[key]["headline"]
    assert "{" not in found.sentence + found.next


def test_every_diagnosis_has_a_case():
    assert {case.values[3] for case in CASES} | {MessageKey.UNREAD} == set(MessageKey) == set(DIAGNOSES)


def test_an_unreadable_receipt_leaves_the_result_open():
    found = examined(asking(), None, unread=True)
    assert found.key is MessageKey.UNREAD
    assert [finding.shown.word for finding in found.findings][:4] == ["Not seen"] * 4


@pytest.mark.parametrize(
    ("of_receipt", "balances"),
    [
        pytest.param(
            receipt("SUCCEEDED", deposit=paid(), origin="SUCCEEDED", destination="SUCCEEDED"), None, id="done"
        ),
        pytest.param(receipt("SUCCEEDED", deposit=paid(value=1), origin="SUCCEEDED"), None, id="done with less"),
        pytest.param(receipt("REFUNDED", deposit=paid(), origin="REVERTED", refund="SUCCEEDED"), None, id="returned"),
        pytest.param(receipt(deposit=paid(), origin="MINING"), None, id="going on"),
        pytest.param(receipt(deposit=paid(), origin="SUCCEEDED", destination="ON_HOLD"), EMPTY, id="crossing"),
        pytest.param(receipt("FAILED", deposit=paid(), origin="REVERTED"), None, id="failed later on"),
        pytest.param(receipt(deposit=watched(), origin="MINING"), None, id="a later step shows that it came"),
    ],
)
def test_a_used_deposit_needs_no_check(of_receipt, balances):
    assert examined(asking(of_receipt.status), of_receipt, balances) is None


BEYOND = 2**64 * 10**9
TOKENS = [
    pytest.param(0, "18,446,744,073,709,551,616,000,000,000 USDC", "7 USDC", id="0 decimals"),
    pytest.param(6, "18,446,744,073,709,551,616,000.00 USDC", "0.000007 USDC", id="6 decimals"),
    pytest.param(8, "184,467,440,737,095,516,160.00 USDC", "0.00000007 USDC", id="8 decimals"),
    pytest.param(18, "18,446,744,073.709551616 USDC", "0.000000000000000007 USDC", id="18 decimals"),
    pytest.param(
        None, "18,446,744,073,709,551,616,000,000,000 base units of USDC", "7 base units of USDC", id="unknown"
    ),
]


def beyond(decimals):
    asked = DepositTransaction(to_address=DEPOSIT_ADDRESS, token_address=USDC, amount=BEYOND, chain_id=ARBITRUM)
    known = TokenMetadata(chain_id=ARBITRUM, token_address=USDC, symbol="USDC", decimals=decimals)
    return asking(deposit_transaction=asked), receipt(
        deposit_transaction=None, deposit=watched(), summary=summary(origin_token_metadata=known)
    )


@pytest.mark.parametrize(("decimals", "asked", "apart"), TOKENS)
def test_too_little_and_too_much_are_exact_whatever_the_token(decimals, asked, apart):
    of_intent, of_receipt = beyond(decimals)
    less = examined(of_intent, of_receipt, held(BEYOND - 7, decimals=decimals))
    more = examined(of_intent, of_receipt, held(BEYOND + 7, decimals=decimals))
    assert (less.key, more.key) == (MessageKey.TOO_LITTLE, MessageKey.TOO_MUCH)
    assert f", {apart} below the minimum of {asked}." in less.sentence
    assert more.sentence.endswith(f", {apart} more than requested.")
    assert line(less, "Amount").expected == asked
    assert line(less, "Amount").found.endswith(f": {apart} too little")
    assert line(more, "Amount").found.endswith(f": {apart} more")


AMOUNT = st.integers(1, 2**256 - 1)


@settings(deadline=None)
@given(AMOUNT, AMOUNT)
def test_the_balance_and_the_shortfall_make_the_requested_amount(there, asked):
    asked_for = DepositTransaction(to_address=DEPOSIT_ADDRESS, token_address=USDC, amount=asked, chain_id=ARBITRUM)
    unknown = summary(origin_token_metadata=None)
    of_receipt = receipt(deposit=watched(), summary=unknown)
    found = examined(asking(deposit_transaction=asked_for), of_receipt, held(there, decimals=None, symbol=None))
    kinds = {-1: MessageKey.TOO_LITTLE, 0: MessageKey.UNCOUNTED, 1: MessageKey.TOO_MUCH}
    assert found.key is kinds[(there > asked) - (there < asked)]
    if there != asked:
        assert f", {abs(there - asked):,} base units {'more than' if there > asked else 'below'}" in found.sentence


def test_less_than_the_requested_amount_can_be_enough():
    needed = TransactionPrecondition(
        chain_id=ARBITRUM, owner_address=DEPOSIT_ADDRESS, token_address=USDC, min_amount=99_000_000
    )
    found = examined(asking(origin_precondition=needed), receipt(deposit=watched()), held(99_000_000))
    assert (found.key, line(found, "Amount").shown.word) == (MessageKey.UNCOUNTED, "Enough")
    assert (
        examined(asking(origin_precondition=needed), receipt(deposit=watched()), held(98_999_999)).key
        is MessageKey.TOO_LITTLE
    )
    elsewhere = asking(origin_precondition=needed.model_copy(update={"owner_address": FAKE}))
    assert examined(elsewhere, receipt(deposit=watched()), held(99_000_000)).key is MessageKey.TOO_LITTLE
    of_quote = asking(quote=IntentProviderQuote(from_amount_min=99_000_000))
    assert examined(of_quote, receipt(deposit=watched()), held(99_000_000)).key is MessageKey.UNCOUNTED


def test_tokens_with_the_same_symbol_are_told_apart_by_address():
    found = examined(asking(), receipt(deposit=watched()), held(ASKED, token=FAKE))
    assert (line(found, "Token").expected, line(found, "Token").found) == (
        "USDC 0xaf88d0…8e5831",
        "USDC 0xFafafA…fAFaFA (unlisted)",
    )
    assert line(found, "Token").shown.word == "Mismatch"
    assert line(found, "Chain").shown.word == "Match"


def test_another_token_at_the_address_does_not_hide_the_right_one():
    both = (*held(ASKED), *held(5, token=FAKE, symbol="JUNK", decimals=0))
    found = examined(asking(), receipt(deposit=watched()), both)
    assert found.key is MessageKey.UNCOUNTED
    assert line(found, "Amount").found == "100.00 USDC and 5 JUNK (unlisted: 0xFafafA…fAFaFA)"


def test_one_address_on_both_chains_is_not_a_deposit_on_the_wrong_chain():
    both = asking(destination_intent_address=DEPOSIT_ADDRESS)
    assert examined(both, receipt(deposit=watched()), held(ASKED, chain_id=BASE)).key is MessageKey.WATCHED


LINES = [
    pytest.param(watched(), ["Not seen", "Not seen", "Not seen", "Not seen", "Open", "Placeholder"], id="nothing"),
    pytest.param(paid("MINING"), ["Submitted"] * 4 + ["Open", "Submitted"], id="reported"),
    pytest.param(paid(), ["Match"] * 4 + ["On time", "Confirmed"], id="confirmed"),
    pytest.param(
        paid(to_address=FAKE),
        ["Match"] * 3 + ["Different address", "On time", "Confirmed"],
        id="to another address",
    ),
    pytest.param(
        paid(to_address=FAKE, meta_txn_id="m"), ["Match"] * 4 + ["On time", "Confirmed"], id="through the relayer"
    ),
    pytest.param(
        paid(txn_hash=None, txn_mined_at=None),
        ["Match"] * 4 + ["Unknown", "Confirmed"],
        id="confirmed, without a word more",
    ),
]


@pytest.mark.parametrize(("deposit", "words"), LINES)
def test_each_row_of_the_deposit_check_is_as_expected(deposit, words):
    found = examined(asking(), receipt(deposit=deposit))
    assert [finding.shown.word for finding in found.findings] == words
    labels = ["Chain", "Token", "Amount", "Deposit address", "Deadline", "Transaction"]
    assert [finding.label for finding in found.findings] == labels


def test_a_deadline_is_exact_to_the_second():
    at = NOW + timedelta(minutes=3)
    offered = asking("QUOTED", expires_at=at)
    for late_by, word, found in ((-1, "On time", "confirmed 1 s before"), (1, "Late", "confirmed 1 s after")):
        of_receipt = receipt("QUOTED", deposit=paid(txn_mined_at=at + timedelta(seconds=late_by)))
        deadline = line(examined(offered, of_receipt, now=at + timedelta(minutes=1)), "Deadline")
        assert (deadline.shown.word, deadline.found) == (word, found)


@pytest.mark.parametrize("later", [timedelta(), timedelta(days=1)], ids=["at once", "a day later"])
def test_a_closed_transfers_deadline_is_measured_against_its_end(later):
    for ended, word in ((before(minutes=1), "Passed"), (before(minutes=3), "Ended before")):
        over = receipt("ABORTED", deposit=watched("ABORTED"), summary=summary(finished_at=ended))
        found = examined(asking("ABORTED", **EXPIRED), over, now=NOW + later)
        assert line(found, "Deadline").shown.word == word


def test_a_stalled_deposit_waits_for_support():
    long_ago = {"updated_at": before(hours=2)}
    of_receipt = receipt(deposit=paid(**long_ago), origin=transaction("PENDING", **long_ago), **long_ago)
    assert examined(asking(), of_receipt).next == "Contact support with the intent ID."


@pytest.mark.parametrize("row", DIAGNOSES.values(), ids=DIAGNOSES)
def test_a_row_holds_the_warning_as_a_flag_and_a_wait_as_minutes(row):
    words = f"{row['next']} {row['after']}"
    assert "deposit again" not in words.lower()
    assert not re.search(r"more than \d+ minutes|(in|within|wait) (two|\d+) minutes", words, re.IGNORECASE)
    assert bool(row.get("minutes")) == ("{escalation}" in words)


def test_waiting_for_an_unaccepted_deposit_has_an_end():
    of_receipt = receipt(deposit=watched())
    since = Facts.of(asking(), of_receipt).last_change
    until = timedelta(minutes=DIAGNOSES[MessageKey.UNCOUNTED]["minutes"])
    ahead, come = (
        examined(asking(), of_receipt, held(ASKED), now=since + until + timedelta(seconds=seconds)).next
        for seconds in (-1, 0)
    )
    assert ahead == "Wait. If nothing has changed by 14:04:51 UTC, contact support."
    assert come == "Contact support now. Nothing has changed for 2 min."
    assert summaries.changes_at(at(asking(), of_receipt, now=since + until - timedelta(seconds=1))) == since + until


def test_an_empty_intent_has_an_unknown_status():
    found = examined(intent("QUOTED", origin_chain_id=None, expires_at=None, updated_at=None), None)
    assert [(finding.expected, finding.found) for finding in found.findings[:3]] == [("—", "—")] * 3
    assert line(found, "Deadline").shown.word == "Unknown"


def test_untrusted_text_is_sanitized():
    found = examined(asking(), receipt(deposit=watched()), held(5, token=FAKE, symbol="US\u202eDC", decimals=0))
    assert "\u202e" not in found.sentence
    assert "⟨U+202E⟩" in found.sentence
    strange = examined(asking(), receipt(deposit=paid("\u202eQ", txn_hash=None)))
    assert "⟨U+202E⟩" in strange.sentence


WORDS = {"chain", "foundChain", "expected", "least", "lacking", "excess", "found", "deadline", "looked", "late", "age"}
WORDS |= {"status", "escalation"}


def test_the_texts_use_existing_placeholders_only():
    fields = {
        field
        for row in DIAGNOSES.values()
        for text in (row["sentence"], row["next"], row["after"])
        for _, field, _, _ in string.Formatter().parse(text)
        if field
    }
    assert fields <= WORDS
    assert all(row["tone"] in Tone and row["when"] for row in DIAGNOSES.values())
    sprite = (Path(__file__).parents[3] / "static" / "img" / "icons.svg").read_text()
    icons = {row["icon"] for row in DIAGNOSES.values()}
    icons |= {each.icon for each in vars(checks).values() if isinstance(each, StatusLabel)}
    assert all(f'<symbol id="{icon}"' in sprite for icon in icons)


FUNDED = ("quoted.funded", "committed.funded", "offer.funded_late")
# The possible summaries for each diagnosis.
STORIES = {
    MessageKey.OFFERED: {"quoted.open", "committed.open"},
    MessageKey.EXPIRED: {"quoted.expired", "committed.overdue", "aborted.nothing_moved", "invalid.nothing_moved"},
    MessageKey.WATCHED: {"executing.wait_deposit"},
    MessageKey.NOTHING: {"executing.wait_deposit"},
    MessageKey.PAST_DEADLINE: {"executing.wait_deposit_late"},
    MessageKey.CONFIRMING: {"executing.deposit_confirming"},
    MessageKey.UNCONFIRMED: {"executing.stalled"},
    MessageKey.NOT_FOUND: {"invalid.with_payment"},
    MessageKey.REVERTED: {"failed.deposit", "executing.step_failed"},
    MessageKey.NOT_COUNTED: {"aborted.payment_reported", "failed.deposit_not_counted", "invalid.with_payment"},
    MessageKey.WAITING: {"executing.origin_running", "executing.stalled"},
    MessageKey.AS_EXPECTED: {"aborted.after_payment"},
    MessageKey.TOO_LITTLE: {"executing.underpaid", "stopped.uncounted", *FUNDED},
    MessageKey.UNCOUNTED: {"executing.uncounted"},
    MessageKey.GONE: {"aborted.deposit_seen"},
    MessageKey.TOO_LATE: {"stopped.uncounted", "invalid.recoverable", *FUNDED},
    MessageKey.NOT_STARTED: {"quoted.funded", "committed.funded"},
    MessageKey.TOO_MUCH: {"succeeded.leftover"},
}


# Situations in which an owner may wonder about the deposit.
ASKING = ("quoted", "committed", "executing.wait", "executing.deposit", "aborted", "invalid", "failed.deposit")


@pytest.mark.parametrize(
    "later", [timedelta(), timedelta(minutes=6), timedelta(hours=3)], ids=["now", "later", "long after"]
)
@pytest.mark.parametrize(("which", "at", "variant"), MOMENTS)
def test_no_scenario_differs_from_its_expected_summary(which, at, variant, later):
    result, now = scene(which, at, variant), NOW + later
    found = display.of(result.at(now))
    summary = result.story(now)
    assert found is None or summary.key in STORIES[found.key], (found.key, summary.key)
    assert found or not summary.key.startswith(ASKING), summary.key


HELD = {
    "nothing": lambda told: EMPTY,
    "all of it": lambda told: _of(told, 1, 1),
    "less": lambda told: _of(told, 995, 1000),
}


def _of(told, share, whole):
    asked = told.intent.deposit_transaction
    found = TokenBalance(
        contract_address=asked.token_address, balance=asked.amount * share // whole, decimals=asked.decimals
    )
    return (BalanceGroup(intent_address=asked.to_address, chain_id=asked.chain_id, tokens=(found,)),)


@pytest.mark.parametrize("balance", HELD)
@pytest.mark.parametrize(
    ("which", "at", "variant"),
    [
        pytest.param(7, 13, "A", id="watched"),
        pytest.param(7, 914, "A", id="watched in vain"),
        pytest.param(27, 61, "A", id="underpaid"),
        pytest.param(27, 961, "A", id="underpaid and stopped"),
        pytest.param(13, 631, "A", id="stopped after the payment"),
        pytest.param(5, 1, "A", id="an offer"),
        pytest.param(5, 302, "A", id="an offer that ran out"),
        pytest.param(29, 3601, "A", id="paid twice"),
    ],
)
def test_with_a_balance_the_summary_agrees_too(which, at, variant, balance):
    result = scene(which, at, variant)
    balances = HELD[balance](result)
    found = display.of(result.at(has_balance=bool(balances), balances=balances))
    summary = result.story(has_balance=bool(balances), balances=balances)
    allowed = STORIES[found.key] if found else {"succeeded.cross_chain"}
    assert summary.key in allowed | (
        {"aborted.recoverable"} if found and found.key is MessageKey.AS_EXPECTED else set()
    )


def test_the_underfunded_scenario_is_exactly_half_a_token_short():
    result = scene(27, 961)
    found = display.of(result.at(balances=_of(result, 995, 1000)))
    assert found.sentence == ("99.50 USDC is at the deposit address, 0.5 USDC below the minimum of 100.00 USDC.")


BALANCES = {"unknown": None, "none": EMPTY, "all": held(ASKED), "less": held(1), "other": held(1, token=FAKE)}
DEPOSITS = {
    "none": None,
    "watched": watched(),
    "reported": paid("PENDING"),
    "strange": paid("QUEUED", txn_hash=PLACEHOLDER),
    "done": paid(),
    "not counted": watched("FAILED"),
    "reverted": paid("REVERTED"),
    "given up": watched("ABORTED"),
}
# An owner who may have deposited is never told to deposit. These may be said of a transfer without a deposit.
UNPAID = {
    MessageKey.OFFERED,
    MessageKey.NOTHING,
    MessageKey.WATCHED,
    MessageKey.PAST_DEADLINE,
    MessageKey.EXPIRED,
    MessageKey.UNREAD,
    MessageKey.UNKNOWN,
}


@pytest.mark.parametrize("status", [*IntentStatus, "HALTED"])
def test_every_combination_has_a_summary_that_its_facts_do_not_contradict(status):
    legs = [None, "PENDING", "MINING", "SUCCEEDED", "FAILED", "ABORTED"]
    for deposit, origin, balance, expired in itertools.product(DEPOSITS, legs, BALANCES, (False, True)):
        of_intent = asking(status, **(EXPIRED if expired else {}))
        of_receipt = receipt(status, deposit=DEPOSITS[deposit], origin=origin)
        found = examined(of_intent, of_receipt, BALANCES[balance])
        summary = summaries.of(at(of_intent, of_receipt))
        which = f"{status} {deposit} {origin} {balance} {expired}: {found and found.key} {summary.key}"
        if found is None:
            continue
        assert "{" not in found.sentence + found.next, which
        if found.key in UNPAID:
            assert deposit not in ("done", "reverted"), which
            assert balance in ("unknown", "none"), which
        if deposit == "done" and origin is None:
            assert found.key not in UNPAID | {MessageKey.NOT_COUNTED, MessageKey.CONFIRMING, MessageKey.REVERTED}, which
        if found.key in (MessageKey.WAITING, MessageKey.UNCOUNTED, MessageKey.CONFIRMING):
            assert not summary.is_over, which
        assert found.warn_second_deposit or found.key is MessageKey.EXPIRED, which


@pytest.mark.parametrize(("which", "at", "variant"), MOMENTS)
def test_the_clock_changes_nothing_about_a_closed_transfer(which, at, variant):
    result = scene(which, at, variant)
    if summaries.changes_at(result.at()) is None:
        found, after = (display.of(result.at(now)) for now in (NOW, NOW + timedelta(hours=3)))
        assert (found and found.key) == (after and after.key)
        assert not found or [each.shown for each in found.findings] == [each.shown for each in after.findings]


@settings(deadline=None)
@given(st.sampled_from(MOMENTS), st.timedeltas(timedelta(), timedelta(hours=2)), st.floats(0, 1, exclude_max=True))
def test_no_diagnosis_changes_before_its_next_time(moment, later, share):
    which, at, variant = moment
    result, now = scene(which, at, variant), NOW + later
    until = summaries.changes_at(result.at(now))
    between = now + ((until - now) if until else timedelta(days=300)) * share

    def said(now):
        found = display.of(result.at(now))
        return found and (found.key, found.next, [finding.shown for finding in found.findings])

    if between != until:
        assert said(between) == said(now)


def test_the_hashes_of_these_tests_are_not_placeholders():
    assert line(examined(asking(), receipt(deposit=paid())), "Transaction").found == TXN_HASH


BALANCES_AND_STRAYS = {
    **BALANCES,
    "other chain": held(ASKED, chain_id=BASE),
    "namesake": held(ASKED, token=FAKE),
    "lookalike": held(ASKED, token=USDC[:8] + "0" * 24 + USDC[-10:]),
    "leftover": (*held(ASKED), *held(1, token=FAKE)),
}


@pytest.mark.parametrize("status", [*IntentStatus, "HALTED"])
def test_no_row_calls_equal_values_a_mismatch(status):
    legs = [None, "PENDING", "SUCCEEDED", "FAILED", "ABORTED"]
    for deposit, origin, balances, expired in itertools.product(DEPOSITS, legs, BALANCES_AND_STRAYS, (False, True)):
        of_intent = asking(status, **(EXPIRED if expired else {}))
        of_receipt = receipt(status, deposit=DEPOSITS[deposit], origin=origin)
        found = examined(of_intent, of_receipt, BALANCES_AND_STRAYS[balances])
        for row in found.findings if found else ():
            is_equal = row.expected == row.found
            assert not (is_equal and row.shown.tone is Tone.BAD), (deposit, origin, balances, row)
            assert not (is_equal and row.shown is checks.MISMATCH), (deposit, origin, balances, row)


@pytest.mark.parametrize(
    ("status", "deposit", "word"),
    [
        pytest.param("FAILED", paid("REVERTED"), "Not accepted", id="reverted"),
        pytest.param("INVALID", paid("FAILED"), "Not accepted", id="not found"),
        pytest.param("EXECUTING", paid("MINING"), "Submitted", id="waiting for confirmation"),
    ],
)
def test_the_amount_of_a_reported_deposit_reads_like_its_neighbors_when_the_address_is_empty(status, deposit, word):
    found = examined(asking(status), receipt(status, deposit=deposit), EMPTY)
    assert [line(found, label).shown.word for label in ("Chain", "Token", "Amount", "Deposit address")] == [word] * 4


@pytest.mark.parametrize(
    ("of_intent", "of_receipt", "balances", "needs_attention"),
    [
        pytest.param(asking("QUOTED"), None, None, False, id="a quote"),
        pytest.param(asking("QUOTED", **EXPIRED), None, None, False, id="an expired quote"),
        pytest.param(asking(**EXPIRED), receipt(deposit=watched()), EMPTY, False, id="no deposit before the deadline"),
        pytest.param(asking(), receipt(deposit=paid("MINING")), EMPTY, False, id="submitted"),
        pytest.param(asking(), receipt(deposit=paid(), origin="ON_HOLD"), None, False, id="as expected"),
        pytest.param(asking(), receipt(deposit=watched()), held(99_500_000), True, id="underpaid"),
        pytest.param(asking(), receipt(deposit=watched()), held(ASKED, token=FAKE), True, id="another token"),
        pytest.param(asking("FAILED"), receipt("FAILED", deposit=paid("REVERTED")), EMPTY, True, id="reverted"),
        pytest.param(asking("INVALID"), receipt("INVALID", deposit=paid("FAILED")), EMPTY, True, id="not found"),
    ],
)
def test_the_deposit_check_needs_attention_only_for_an_unexpected_observation(
    of_intent, of_receipt, balances, needs_attention
):
    assert examined(of_intent, of_receipt, balances).needs_attention is needs_attention
