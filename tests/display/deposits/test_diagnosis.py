"""Deposit check: every case, exact to the base unit, never contradicting the summary."""

import re
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intents_ui.display.deposits import diagnosis
from intents_ui.display.deposits import diagnosis as display
from intents_ui.display.deposits.diagnosis import DIAGNOSES, MessageKey
from intents_ui.display.summary import summary as summaries
from intents_ui.display.transfers.statuses import Tone
from intents_ui.display.transfers.transfer_data import Facts
from intents_ui.service.models import (
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
    USDC,
    at,
    before,
    intent,
    named,
    receipt,
    summary,
    transaction,
)
from tests.display.scenes import MOMENTS, scene
from tests.display.states import combined, pairs

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


SIGNED = paid("RELAYING", txn_hash=None, meta_txn_id="m")


def examined(of_intent, of_receipt, balances=None, *, now=NOW, **more):
    has = None if balances is None else bool(balances)
    return display.of(at(of_intent, of_receipt, now=now, has_balance=has, balances=balances, **more))


def line(found, label):
    return next(finding for finding in found.findings if finding.label == label)


EXPIRED = {"expires_at": before(minutes=2)}
LONG_AGO = {"updated_at": before(hours=2)}
MINED_LATE = {"txn_mined_at": before(minutes=1)}
# The status, the deposit, the on-chain balances if they are known, whether the quote expired, and the diagnosis.
CASES = named(
    ("a quote", "QUOTED", None, None, False, MessageKey.OFFERED),
    ("a quote that was accepted", "COMMITTED", None, None, False, MessageKey.OFFERED),
    ("an expired quote", "QUOTED", None, None, True, MessageKey.EXPIRED),
    ("nothing arrived", "EXECUTING", paid("PENDING", txn_hash=None), None, False, MessageKey.NOTHING),
    ("a placeholder hash", "EXECUTING", watched(), None, False, MessageKey.WATCHED),
    ("a placeholder hash, and an empty address", "EXECUTING", watched(), EMPTY, False, MessageKey.WATCHED),
    ("still watched, too late", "EXECUTING", watched(), None, True, MessageKey.PAST_DEADLINE),
    ("never came", "ABORTED", watched("ABORTED"), None, False, MessageKey.EXPIRED),
    ("being confirmed", "EXECUTING", paid("MINING"), None, False, MessageKey.CONFIRMING),
    ("signed and relayed", "EXECUTING", SIGNED, None, False, MessageKey.CONFIRMING),
    ("reported two hours ago", "EXECUTING", paid("MINING", **LONG_AGO), None, False, MessageKey.UNCONFIRMED),
    ("a hash that was not found", "INVALID", paid("FAILED"), None, False, MessageKey.NOT_FOUND),
    ("the deposit reverted", "FAILED", paid("REVERTED"), None, False, MessageKey.REVERTED),
    ("mined, and failed", "FAILED", paid("FAILED", **MINED_LATE), None, False, MessageKey.REVERTED),
    ("not counted, why unknown", "ABORTED", watched("FAILED"), None, False, MessageKey.NOT_COUNTED),
    ("not counted, as nothing came", "ABORTED", watched("FAILED"), EMPTY, False, MessageKey.EXPIRED),
    ("not counted, as too little came", "ABORTED", watched("FAILED"), held(99_500_000), False, MessageKey.TOO_LITTLE),
    ("not counted, and all of it is there", "ABORTED", watched("FAILED"), held(ASKED), False, MessageKey.TOO_LATE),
    ("too little", "EXECUTING", watched(), held(99_500_000), False, MessageKey.TOO_LITTLE),
    ("too much", "EXECUTING", watched(), held(ASKED + 1), False, MessageKey.TOO_MUCH),
    ("there, and not counted", "EXECUTING", watched(), held(ASKED), False, MessageKey.UNCOUNTED),
    ("a namesake", "EXECUTING", watched(), held(ASKED, token=FAKE), False, MessageKey.WRONG_TOKEN),
    ("on another chain", "EXECUTING", watched(), held(ASKED, chain_id=BASE), False, MessageKey.WRONG_CHAIN),
    ("at another address", "EXECUTING", watched(), held(ASKED, address=FAKE), False, MessageKey.WATCHED),
    ("paid for a quote", "QUOTED", None, held(ASKED), False, MessageKey.NOT_STARTED),
    ("paid, and not started", "COMMITTED", paid(), None, False, MessageKey.NOT_STARTED),
    ("confirmed after the deadline", "QUOTED", paid(**MINED_LATE), None, True, MessageKey.TOO_LATE),
    ("confirmed after the deadline, and refused", "INVALID", paid(**MINED_LATE), None, True, MessageKey.TOO_LATE),
    ("late, and taken", "EXECUTING", paid(**MINED_LATE), None, True, MessageKey.WAITING),
    ("arrived and waiting", "EXECUTING", paid(), None, False, MessageKey.WAITING),
    ("arrived, and moved on a moment ago", "EXECUTING", paid(), EMPTY, False, MessageKey.WAITING),
    ("confirmed too little", "EXECUTING", paid(value=1), None, False, MessageKey.TOO_LITTLE),
    ("confirmed too much", "EXECUTING", paid(value=ASKED + 5), None, False, MessageKey.TOO_MUCH),
    ("confirmed namesake", "EXECUTING", paid(token_address=FAKE), None, False, MessageKey.WRONG_TOKEN),
    ("confirmed on another chain", "EXECUTING", paid(chain_id=ETHEREUM), None, False, MessageKey.WRONG_CHAIN),
    ("reported on another chain", "EXECUTING", paid("MINING", chain_id=ETHEREUM), None, False, MessageKey.WRONG_CHAIN),
    ("as expected, and stopped", "ABORTED", paid(), None, False, MessageKey.AS_EXPECTED),
    ("as expected, stopped, and taken back", "ABORTED", paid(), EMPTY, False, MessageKey.GONE),
    ("paid twice", "SUCCEEDED", paid(), held(ASKED), False, MessageKey.TOO_MUCH),
    ("an unknown word", "EXECUTING", paid("QUEUED", txn_hash=None), None, False, MessageKey.UNKNOWN),
)
# The steps after the deposit, where a transfer with this status can't be without.
LATER = {"ABORTED": {"origin": "ABORTED"}, "SUCCEEDED": {"origin": "SUCCEEDED", "destination": "SUCCEEDED"}}


@pytest.mark.parametrize(("status", "deposit", "balances", "expired", "key"), CASES)
def test_each_case_has_its_diagnosis(status, deposit, balances, expired, key):
    updated = {"updated_at": deposit.updated_at} if deposit else {}
    of_receipt = receipt(status, deposit=deposit, **LATER.get(status, {}), **updated) if deposit else None
    found = examined(asking(status, **(EXPIRED if expired else {})), of_receipt, balances)
    assert found is not None
    assert found.key is key
    assert found.shown.word == DIAGNOSES[key]["headline"]
    assert "{" not in found.sentence + found.next


def test_every_diagnosis_has_a_case():
    assert {case.values[-1] for case in CASES} | {MessageKey.UNREAD} == set(MessageKey) == set(DIAGNOSES)


def test_an_unreadable_receipt_leaves_the_result_open():
    found = examined(asking(), None, unread=True)
    assert found.key is MessageKey.UNREAD
    assert [finding.shown.word for finding in found.findings][:4] == ["Not seen"] * 4


@pytest.mark.parametrize(
    ("of_receipt", "balances"),
    named(
        ("done", receipt("SUCCEEDED", deposit=paid(), origin="SUCCEEDED", destination="SUCCEEDED"), None),
        ("returned", receipt("REFUNDED", deposit=paid(), origin="REVERTED", refund="SUCCEEDED"), None),
        ("going on", receipt(deposit=paid(), origin="MINING"), None),
        ("failed later on", receipt("FAILED", deposit=paid(), origin="REVERTED"), None),
        ("a later step shows that it came", receipt(deposit=watched(), origin="MINING"), None),
    ),
)
def test_a_used_deposit_needs_no_check(of_receipt, balances):
    assert examined(asking(of_receipt.status), of_receipt, balances) is None


BEYOND = 2**64 * 10**9
TOKENS = named(
    ("0 decimals", 0, "18,446,744,073,709,551,616,000,000,000 USDC", "7 USDC"),
    ("18 decimals", 18, "18,446,744,073.709551616 USDC", "0.000000000000000007 USDC"),
    ("unknown", None, "18,446,744,073,709,551,616,000,000,000 base units of USDC", "7 base units of USDC"),
)


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
    watching = receipt(deposit=watched())
    found = examined(asking(origin_precondition=needed), watching, held(99_000_000))
    assert (found.key, line(found, "Amount").shown.word) == (MessageKey.UNCOUNTED, "Enough")
    less = examined(asking(origin_precondition=needed), watching, held(98_999_999))
    assert less.key is MessageKey.TOO_LITTLE
    elsewhere = asking(origin_precondition=needed.model_copy(update={"owner_address": FAKE}))
    assert examined(elsewhere, watching, held(99_000_000)).key is MessageKey.TOO_LITTLE
    of_quote = asking(quote=IntentProviderQuote(from_amount_min=99_000_000))
    assert examined(of_quote, watching, held(99_000_000)).key is MessageKey.UNCOUNTED


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


LINES = named(
    ("nothing", watched(), ["Not seen", "Not seen", "Not seen", "Not seen", "Open", "Placeholder"]),
    ("reported", paid("MINING"), ["Submitted"] * 4 + ["Open", "Submitted"]),
    ("confirmed", paid(), ["Match"] * 4 + ["On time", "Confirmed"]),
    ("through the relayer", paid(to_address=FAKE, meta_txn_id="m"), ["Match"] * 4 + ["On time", "Confirmed"]),
    (
        "confirmed, without a word more",
        paid(txn_hash=None, txn_mined_at=None),
        ["Match"] * 4 + ["Unknown", "Confirmed"],
    ),
)


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


def test_a_row_holds_the_warning_as_a_flag_and_a_wait_as_minutes():
    for key, row in DIAGNOSES.items():
        words = f"{row['next']} {row['after']}"
        assert "deposit again" not in words.lower(), key
        assert not re.search(r"more than \d+ minutes|(in|within|wait) (two|\d+) minutes", words, re.IGNORECASE), key
        assert bool(row.get("minutes")) == ("{escalation}" in words), key


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


@pytest.mark.parametrize("minutes", [0, 6, 180])
def test_no_scenario_differs_from_its_expected_summary(minutes):
    for moment in MOMENTS:
        result, now = scene(*moment), NOW + timedelta(minutes=minutes)
        found = display.of(result.at(now))
        summary = result.story(now)
        assert found is None or summary.key in STORIES[found.key], (moment, found.key, summary.key)
        assert found or not summary.key.startswith(ASKING), (moment, summary.key)


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
    named(
        ("watched", 7, 13, "A"),
        ("watched in vain", 7, 914, "A"),
        ("underpaid", 27, 61, "A"),
        ("underpaid and stopped", 27, 961, "A"),
        ("stopped after the payment", 13, 631, "A"),
        ("an offer", 5, 1, "A"),
        ("an offer that ran out", 5, 302, "A"),
        ("paid twice", 29, 3601, "A"),
    ),
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


BALANCES = {
    "unknown": None,
    "none": EMPTY,
    "all": held(ASKED),
    "less": held(1),
    "other": held(1, token=FAKE),
    "other chain": held(ASKED, chain_id=BASE),
    "namesake": held(ASKED, token=FAKE),
    "lookalike": held(ASKED, token=USDC[:8] + "0" * 24 + USDC[-10:]),
    "leftover": (*held(ASKED), *held(1, token=FAKE)),
}
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


@combined(pairs)
@pytest.mark.parametrize("status", [*IntentStatus, "HALTED"])
def test_every_combination_has_a_summary_that_its_facts_do_not_contradict(status, combine):
    legs = [None, "PENDING", "MINING", "SUCCEEDED", "FAILED", "ABORTED"]
    for deposit, origin, balance, expired in combine([*DEPOSITS], legs, [*BALANCES], (False, True)):
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
        for row in found.findings:
            is_mismatch = row.shown.tone is Tone.BAD or row.shown is diagnosis.MISMATCH
            assert not (is_mismatch and row.expected == row.found), (which, row)


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
