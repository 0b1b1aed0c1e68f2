"""Was the promise kept: every kind of course, to the last base unit and the last second."""

import itertools
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intents_ui.display import promise as display
from intents_ui.display import story, verdicts
from intents_ui.display.facts import Facts
from intents_ui.display.outcomes import Course, course
from intents_ui.display.places import Place
from intents_ui.display.statuses import Shown
from intents_ui.display.verdicts import Verdict
from intents_ui.service.wire import (
    DepositTransaction,
    IntentFees,
    IntentProviderQuote,
    IntentStatus,
    QuoteIntentRequest,
    QuoteOptions,
    TokenMetadata,
)
from tests.display.builders import (
    ARBITRUM,
    BASE,
    CATALOGUE,
    NOW,
    USDC,
    USDC_ON_BASE,
    before,
    intent,
    receipt,
    refund,
    summary,
    transaction,
)
from tests.display.scenes import CATALOG, MOMENTS, scene

OTHER_TOKEN = "0x" + "d1" * 20
QUOTE = IntentProviderQuote(
    from_amount=100_000_000,
    from_amount_min=100_000_000,
    to_amount=99_850_000,
    to_amount_min=99_350_000,
    estimated_duration=Decimal(60),
)
SUCCEEDED = {"deposit": "SUCCEEDED", "origin": "SUCCEEDED", "destination": "SUCCEEDED"}


def promised(of_intent, of_receipt, *, now=NOW, **more):
    return display.promise(of_intent, of_receipt, now=now, using=CATALOGUE, **more)


def row(found, label):
    return next(row for row in found.rows if row.label.startswith(label))


def quoted(**members):
    return intent("SUCCEEDED", quote=QUOTE.model_copy(update=members))


def delivered(value, **members):
    """A transfer that took 40 s and brought so many base units."""
    usual = {"destination_token_amount": value, "started_at": before(seconds=60), "finished_at": before(seconds=20)}
    return receipt("SUCCEEDED", **SUCCEEDED, summary=summary(**{**usual, **members}))


AMOUNTS = [
    pytest.param(99_850_000, Verdict.KEPT, "as quoted, 0.5 USDC above the minimum", id="as quoted"),
    pytest.param(
        99_760_000, Verdict.KEPT, "0.09 USDC less than quoted, 0.41 USDC above the minimum", id="less, and enough"
    ),
    pytest.param(99_350_000, Verdict.KEPT, "0.5 USDC less than quoted, exactly the minimum", id="the minimum"),
    pytest.param(
        99_349_999,
        Verdict.NOT_KEPT,
        "0.500001 USDC less than quoted, 0.000001 USDC below the minimum",
        id="one unit below the minimum",
    ),
    pytest.param(
        99_850_001, Verdict.KEPT, "0.000001 USDC more than quoted, 0.500001 USDC above the minimum", id="more"
    ),
    pytest.param(0, Verdict.NOT_KEPT, "99.85 USDC less than quoted, 99.35 USDC below the minimum", id="nothing"),
    pytest.param(None, Verdict.UNKNOWN, "how much was delivered was not reported", id="not reported"),
]


@pytest.mark.parametrize(("value", "verdict", "difference"), AMOUNTS)
def test_an_amount_against_what_was_quoted_and_the_minimum(value, verdict, difference):
    found = promised(quoted(), delivered(value))
    received = row(found, "Received on Base")
    assert (received.verdict, received.difference) == (verdict, difference)
    assert (received.promised, received.least) == ("99.85 USDC", "99.35 USDC")
    assert found.verdict is verdict


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


@pytest.mark.parametrize(("decimals", "promise", "apart"), TOKENS)
def test_amounts_beyond_64_bits_are_exact_whatever_the_token(decimals, promise, apart):
    known = TokenMetadata(chain_id=BASE, token_address=USDC_ON_BASE, symbol="USDC", decimals=decimals)
    came = delivered(BEYOND - 7, destination_token_metadata=known)
    found = row(promised(quoted(to_amount=BEYOND, to_amount_min=BEYOND - 14), came), "Received")
    assert found.promised == promise
    assert found.difference == f"{apart} less than quoted, {apart} above the minimum"
    short = row(promised(quoted(to_amount=BEYOND, to_amount_min=BEYOND), came), "Received")
    assert short.verdict is Verdict.NOT_KEPT
    assert short.difference == f"{apart} less than quoted, {apart} below the minimum"


@pytest.mark.parametrize(
    ("value", "verdict", "difference"),
    [
        pytest.param(99_850_000, Verdict.KEPT, "as quoted", id="as quoted is enough"),
        pytest.param(
            99_849_999, Verdict.UNKNOWN, "0.000001 USDC less than quoted; the minimum was not given", id="less"
        ),
    ],
)
def test_without_a_minimum_less_than_quoted_is_not_judged(value, verdict, difference):
    received = row(promised(quoted(to_amount_min=None), delivered(value)), "Received")
    assert (received.verdict, received.difference) == (verdict, difference)


def test_nothing_is_judged_without_a_quote():
    found = promised(intent("SUCCEEDED"), delivered(99_850_000))
    assert row(found, "Received").difference == "what was promised was not given"
    assert (found.verdict, found.text) == (Verdict.UNKNOWN, "99.85 USDC")


EXACT_OUTPUT = QuoteIntentRequest(
    trade_type="EXACT_OUTPUT",
    destination_chain_id=BASE,
    destination_token_address=USDC_ON_BASE,
    destination_token_amount=50_000_000,
    origin_token_amount=0,
)
OUTPUTS = [
    pytest.param(50_000_000, Verdict.KEPT, "as promised", id="exactly"),
    pytest.param(50_000_001, Verdict.KEPT, "0.000001 USDC more than promised", id="more"),
    pytest.param(
        49_999_999, Verdict.NOT_KEPT, "0.000001 USDC less than promised", id="less, above the quote's minimum"
    ),
]


@pytest.mark.parametrize(("value", "verdict", "difference"), OUTPUTS)
def test_exact_output_promises_an_exact_amount(value, verdict, difference):
    of_intent = intent("SUCCEEDED", quote=QUOTE.model_copy(update={"to_amount_min": 1}), quote_request=EXACT_OUTPUT)
    received = row(promised(of_intent, delivered(value)), "Received")
    assert (received.promised, received.least) == ("50.00 USDC", "exactly that")
    assert (received.verdict, received.difference) == (verdict, difference)


@pytest.mark.parametrize(
    ("paid", "verdict", "difference"),
    [
        pytest.param(100_000_000, Verdict.KEPT, "as quoted", id="as quoted"),
        pytest.param(99_000_000, Verdict.KEPT, "1.00 USDC less than quoted", id="less"),
        pytest.param(100_000_001, Verdict.NOT_KEPT, "0.000001 USDC more than quoted", id="more"),
        pytest.param(None, Verdict.UNKNOWN, "what was paid, or what was asked for, was not given", id="not known"),
    ],
)
def test_exact_output_promises_what_goes_in(paid, verdict, difference):
    of_intent = intent("SUCCEEDED", quote=QUOTE, quote_request=EXACT_OUTPUT)
    deposit = transaction("SUCCEEDED", token_amount=paid, token_address=USDC)
    came = delivered(50_000_000).model_copy(update={"deposit_transaction": deposit})
    found = promised(of_intent, came)
    assert (row(found, "Paid on Arbitrum").verdict, row(found, "Paid").difference) == (verdict, difference)
    assert (found.verdict is Verdict.NOT_KEPT) == (verdict is Verdict.NOT_KEPT)


def test_exact_input_promises_nothing_of_what_goes_in():
    assert not [row for row in promised(quoted(), delivered(99_850_000)).rows if row.label.startswith("Paid")]


def test_the_other_side_of_a_request_is_zero_and_no_promise():
    request = QuoteIntentRequest(trade_type="EXACT_INPUT", destination_token_amount=0)
    of_intent = intent("SUCCEEDED", quote=QUOTE, quote_request=request)
    assert row(promised(of_intent, delivered(99_850_000)), "Received").promised == "99.85 USDC"


def test_another_token_is_never_compared():
    request = QuoteIntentRequest(destination_chain_id=BASE, destination_token_address=OTHER_TOKEN)
    found = promised(intent("SUCCEEDED", quote=QUOTE, quote_request=request), delivered(99_850_000))
    received = row(found, "Received")
    assert (received.verdict, received.actual) == (Verdict.NOT_KEPT, "99.85 USDC")
    assert received.difference == "it is another token than was promised, so they are not compared"
    assert found.text == "99.85 USDC, another token than was promised"
    assert row(promised(tolerant(request), delivered(99_850_000)), "Slippage").verdict is Verdict.UNKNOWN


def tolerant(request):
    return intent("SUCCEEDED", quote=QUOTE.model_copy(update={"max_slippage": Decimal(1)}), quote_request=request)


def test_two_names_of_a_chains_own_coin_are_one_token():
    request = QuoteIntentRequest(destination_chain_id=BASE, destination_token_address="0x" + "0" * 40)
    came = delivered(99_850_000, destination_token_address="0x" + "Ee" * 20)
    received = row(promised(intent("SUCCEEDED", quote=QUOTE, quote_request=request), came), "Received")
    assert received.verdict is Verdict.KEPT


DURATIONS = [
    pytest.param(60, 40, Verdict.KEPT, "20 s shorter than promised", "Kept", id="shorter"),
    pytest.param(40, 40, Verdict.KEPT, "as promised", "Kept", id="to the second"),
    pytest.param(39, 40, Verdict.NOT_KEPT, "1 s longer than promised", "Kept", id="longer, within the margin"),
    pytest.param(60, 102, Verdict.NOT_KEPT, "42 s longer than promised", "Kept", id="longer, still within it"),
    pytest.param(60, 120, Verdict.NOT_KEPT, "1 min longer than promised", "Kept, but late", id="late"),
    pytest.param(None, 40, Verdict.UNKNOWN, "no duration was promised", "Kept", id="none promised"),
]


@pytest.mark.parametrize(("estimate", "took", "verdict", "difference", "word"), DURATIONS)
def test_a_duration_to_the_second(estimate, took, verdict, difference, word):
    of_intent = quoted(estimated_duration=None if estimate is None else Decimal(estimate))
    came = delivered(99_850_000, started_at=before(seconds=took), finished_at=NOW)
    found = promised(of_intent, came)
    assert (row(found, "Duration").verdict, row(found, "Duration").difference) == (verdict, difference)
    assert (found.verdict, found.shown.word) == (Verdict.KEPT, word)


def test_without_an_end_the_last_transaction_is_the_end():
    last = transaction("SUCCEEDED", chain_id=BASE, txn_mined_at=before(seconds=30))
    came = delivered(99_850_000, finished_at=None).model_copy(update={"destination_transaction": last})
    assert row(promised(quoted(), came), "Duration").actual == "30 s"
    unmined = came.model_copy(update={"destination_transaction": transaction("SUCCEEDED", chain_id=BASE)})
    assert row(promised(quoted(), unmined), "Duration").verdict is Verdict.UNKNOWN


RUNNING = {"deposit": "SUCCEEDED", "origin": "SUCCEEDED", "destination": "ON_HOLD"}
SO_FAR = [
    pytest.param(59, Verdict.SO_FAR, "Kept so far", "at least 99.35 USDC within 1 min", id="within the time"),
    pytest.param(60, Verdict.NOT_KEPT, "Slower than promised", "due by 14:03 UTC, not late yet", id="to the second"),
    pytest.param(119, Verdict.NOT_KEPT, "Slower than promised", "not late yet", id="within the margin"),
    pytest.param(120, Verdict.NOT_KEPT, "Late so far", "at least 99.35 USDC, due by 14:02 UTC", id="late"),
]


@pytest.mark.parametrize(("seconds", "verdict", "word", "words"), SO_FAR)
def test_so_far(seconds, verdict, word, words):
    running = receipt(**RUNNING, summary=summary(started_at=before(seconds=seconds)))
    found = promised(intent(quote=QUOTE), running)
    assert (found.verdict, found.shown.word) == (verdict, word)
    assert words in found.text
    assert row(found, "Received").verdict is Verdict.NOT_YET
    assert row(found, "Duration").since == before(seconds=seconds)


def test_an_amount_in_the_summary_counts_only_once_it_was_delivered():
    running = receipt(**RUNNING, summary=summary(destination_token_amount=99_850_000))
    assert row(promised(intent(quote=QUOTE), running), "Received").actual == "—"


BEFORE = [
    pytest.param("QUOTED", receipt("QUOTED"), "at least 99.35 USDC within 1 min", id="an offer"),
    pytest.param("EXECUTING", receipt(deposit="MINING"), "at least 99.35 USDC within 1 min", id="being paid"),
    pytest.param(
        "EXECUTING",
        receipt(deposit="SUCCEEDED", origin="REVERTED"),
        "at least 99.35 USDC; a step did not work, the outcome is open",
        id="a step did not work",
    ),
]


@pytest.mark.parametrize(("status", "of_receipt", "text"), BEFORE)
def test_before_anything_is_due_nothing_is_known(status, of_receipt, text):
    found = promised(intent(status, quote=QUOTE), of_receipt)
    assert (found.verdict, found.text) == (Verdict.NOT_YET, text)


PAID = transaction("SUCCEEDED", token_amount=100_000_000, token_address=USDC)
REFUNDS = [
    pytest.param(
        refund("SUCCEEDED"),
        "Returned",
        "0.5 USDC less than was paid",
        "99.50 USDC came back, 0.5 less than was paid",
        id="on the origin chain",
    ),
    pytest.param(
        refund("SUCCEEDED", token_amount=100_000_000),
        "Returned",
        "as much as was paid",
        "100.00 USDC came back, as much as was paid",
        id="all of it",
    ),
    pytest.param(
        refund("SUCCEEDED", chain_id=BASE, token_address=USDC_ON_BASE),
        "Returned",
        "0.35 USDC less than was quoted to arrive",
        "99.50 USDC came back, 0.35 less than was quoted to arrive",
        id="on the destination chain",
    ),
    pytest.param(
        refund("SUCCEEDED", token_address=OTHER_TOKEN),
        "Returned",
        "not comparable: another token, or an amount that was not reported",
        "99,500,000 base units (not on the service's list: 0xD1d1d1…D1d1d1) came back",
        id="another token",
    ),
    pytest.param(
        refund("SUCCEEDED", token_amount=None),
        "Returned",
        "not comparable: another token, or an amount that was not reported",
        "at least 99.35 USDC; it was returned instead",
        id="how much is not known",
    ),
    pytest.param(
        refund("SUCCEEDED", to_address=OTHER_TOKEN),
        "Not confirmed",
        "not to the owner, or on another chain than those of the transfer",
        "at least 99.35 USDC; a return is reported, not to the owner",
        id="to somebody else",
    ),
    pytest.param(
        refund("MINING"),
        "On its way",
        "99.50 USDC is to be returned",
        "at least 99.35 USDC; the money is on its way back",
        id="on its way",
    ),
    pytest.param(
        refund("REVERTED"),
        "Not returned",
        "99.50 USDC is to be returned",
        "at least 99.35 USDC; nothing arrived, and the return failed",
        id="the return failed",
    ),
]


@pytest.mark.parametrize(("returned", "word", "difference", "text"), REFUNDS)
@pytest.mark.parametrize("status", ["FAILED", "REFUNDED", "EXECUTING"])
def test_what_came_back_is_no_promise_kept(status, returned, word, difference, text):
    of_receipt = receipt(
        status,
        deposit_transaction=PAID,
        origin="REVERTED",
        refund=returned,
        summary=summary(destination_token_amount=99_850_000),
    )
    found = promised(intent(status, quote=QUOTE), of_receipt)
    assert (found.verdict, found.text) == (Verdict.NOT_KEPT, text)
    back = row(found, "Returned on")
    assert (back.shown.word, back.difference, back.verdict) == (word, difference, None)
    assert row(found, "Received").actual == "nothing"


def test_a_return_without_a_transaction_says_that_nobody_knows_how_much():
    found = promised(intent("REFUNDED", quote=QUOTE), receipt("REFUNDED", deposit="SUCCEEDED", origin="FAILED"))
    assert (found.verdict, found.text) == (Verdict.NOT_KEPT, "at least 99.35 USDC; it was returned instead")
    assert row(found, "Returned").difference == "how much came back is not reported"


LAPSED = [
    pytest.param(intent("QUOTED", quote=QUOTE, expires_at=before(minutes=1)), None, id="an offer that ran out"),
    pytest.param(intent("ABORTED", quote=QUOTE), receipt("ABORTED"), id="stopped, unpaid"),
    pytest.param(
        intent("INVALID", quote=QUOTE),
        receipt("INVALID", deposit=transaction("ABORTED", txn_hash="0x" + "0" * 64)),
        id="watched in vain",
    ),
]


@pytest.mark.parametrize(("of_intent", "of_receipt"), LAPSED)
def test_nothing_is_due_to_whoever_did_not_pay(of_intent, of_receipt):
    found = promised(of_intent, of_receipt)
    assert (found.verdict, found.text) == (Verdict.LAPSED, "No payment was seen, so nothing was due.")


DISPUTED = [
    pytest.param("FAILED", SUCCEEDED, id="failed, and the last step succeeded"),
    pytest.param("SUCCEEDED", {**SUCCEEDED, "origin": "REVERTED"}, id="succeeded, and a step did not"),
    pytest.param("SUCCEEDED", {**SUCCEEDED, "refund": "SUCCEEDED"}, id="succeeded, and returned"),
    pytest.param("REFUNDED", {**SUCCEEDED, "refund": "SUCCEEDED"}, id="returned, and delivered"),
]


@pytest.mark.parametrize(("status", "legs"), DISPUTED)
def test_where_the_sources_disagree_nothing_is_judged(status, legs):
    of_receipt = receipt(status, **legs, summary=summary(destination_token_amount=99_850_000))
    found = promised(intent(status, quote=QUOTE), of_receipt)
    assert (found.verdict, found.text) == (
        Verdict.UNKNOWN,
        "at least 99.35 USDC; the service and its steps disagree",
    )
    assert row(found, "Received").actual == "—"


@pytest.mark.parametrize(("status", "unread"), [("EXECUTING", True), ("SUCCEEDED", True), ("SUCCEEDED", False)])
def test_without_a_receipt_that_there_should_be_nothing_is_known(status, unread):
    found = promised(intent(status, quote=QUOTE), None, unread=unread)
    assert (found.verdict, found.text) == (Verdict.UNKNOWN, "at least 99,350,000 base units")


GIANT = 2**64 * 1_000
SLIPPAGES = [
    pytest.param(0, Verdict.KEPT, "0%", "0.5 percentage points to spare", id="none"),
    pytest.param(GIANT // 200, Verdict.KEPT, "0.5%", "0 percentage points to spare", id="all that is tolerated"),
    pytest.param(GIANT // 200 + 1, Verdict.NOT_KEPT, "0.5%", "<0.0001 percentage points too much", id="one unit more"),
    pytest.param(GIANT // 100, Verdict.NOT_KEPT, "1%", "0.5 percentage points too much", id="twice as much"),
    pytest.param(-GIANT // 100, Verdict.KEPT, "1% better", "1.5 percentage points to spare", id="better than quoted"),
]


@pytest.mark.parametrize(("lost", "verdict", "actual", "difference"), SLIPPAGES)
def test_slippage_against_the_tolerance(lost, verdict, actual, difference):
    of_intent = quoted(to_amount=GIANT, to_amount_min=0, max_slippage=Decimal("0.005"))
    found = promised(of_intent, delivered(GIANT - lost))
    slippage = row(found, "Slippage")
    assert (slippage.verdict, slippage.actual, slippage.difference) == (verdict, actual, difference)
    assert slippage.least == "at most 0.5%"
    assert found.verdict is verdict


def test_a_tolerance_is_that_of_the_quote_or_else_the_one_asked_for():
    asked = QuoteIntentRequest(options=QuoteOptions(slippage_tolerance=Decimal("0.01")))
    found = promised(intent("SUCCEEDED", quote=QUOTE, quote_request=asked), delivered(99_850_000))
    assert row(found, "Slippage").least == "at most 1%"
    assert not [row for row in promised(quoted(), delivered(99_850_000)).rows if row.label == "Slippage"]


def test_fees_are_promised_and_what_was_taken_is_not_on_the_wire():
    of_intent = quoted().model_copy(update={"fees": IntentFees(total_fee_usd=Decimal("5.409508"))})
    fees = row(promised(of_intent, delivered(99_850_000)), "Fees")
    assert (fees.promised, fees.verdict, fees.difference) == (
        "$5.409508",
        Verdict.UNKNOWN,
        "what was taken is not reported",
    )


def test_the_deposit_names_the_decimals_that_nobody_else_knows():
    bare = summary(origin_token_metadata=None, destination_token_amount=50_000_000)
    asked = DepositTransaction(token_address=USDC, chain_id=ARBITRUM, amount=100_000_000, decimals=6)
    of_intent = intent("SUCCEEDED", quote=QUOTE, quote_request=EXACT_OUTPUT, deposit_transaction=asked)
    of_receipt = receipt("SUCCEEDED", deposit_transaction=PAID, **{**SUCCEEDED, "deposit": None}, summary=bare)
    of_receipt = of_receipt.model_copy(update={"deposit_transaction": PAID})
    assert row(promised(of_intent, of_receipt), "Paid").actual == "100.00"


AMOUNT = st.integers(0, 2**256 - 1)


@settings(deadline=None)
@given(AMOUNT, AMOUNT, AMOUNT)
def test_what_came_is_the_minimum_and_the_difference(came, quote, least):
    unknown = TokenMetadata(chain_id=BASE, token_address=USDC_ON_BASE, symbol="X")
    of_receipt = delivered(came, destination_token_metadata=unknown)
    received = row(promised(quoted(to_amount=quote, to_amount_min=least), of_receipt), "Received")
    assert (received.verdict is Verdict.KEPT) == (came >= least)
    words = received.difference.split(", ")
    against_quote, against_least = _signed(", ".join(words[:-1])), _signed(words[-1])
    assert (quote + against_quote, least + against_least) == (came, came)


def _signed(words: str) -> int:
    """`7 base units of X less than quoted` is -7."""
    if words in ("as quoted", "exactly the minimum"):
        return 0
    number = int(words.split(" ", 1)[0].replace(",", ""))
    return -number if "less than" in words or "below" in words else number


def test_icons_are_those_of_the_sprite():
    sprite = (Path(__file__).parents[2] / "static" / "img" / "icons.svg").read_text()
    shown = [each for each in vars(verdicts).values() if isinstance(each, Shown)] + [*verdicts.SHOWN.values()]
    assert len(shown) > 10
    assert all(f'<symbol id="{each.icon}"' in sprite for each in shown)


COURSES = {
    "succeeded.": {Course.DELIVERED},
    "succeeded.contradiction": {Course.DISPUTED},
    "refunded.": {Course.NOT_DELIVERED},
    "failed.": {Course.NOT_DELIVERED},
    "failed.delivered": {Course.DISPUTED},
    "quoted.open": {Course.OPEN},
    "quoted.expired": {Course.LAPSED},
    "committed.open": {Course.OPEN},
    "committed.overdue": {Course.LAPSED},
    "executing.": {Course.OPEN},
    "executing.refunding": {Course.NOT_DELIVERED},
    "aborted.": {Course.NOT_DELIVERED},
    "aborted.nothing_moved": {Course.LAPSED},
    "invalid.nothing_moved": {Course.LAPSED},
    "invalid.with_payment": {Course.NOT_DELIVERED},
    "stopped.": {Course.NOT_DELIVERED},
}


@pytest.mark.parametrize(("which", "at", "variant"), MOMENTS)
def test_every_scenario_agrees_with_its_story(which, at, variant):
    told = scene(which, at, variant)
    key = told.story().key
    longest = max((each for each in COURSES if key.startswith(each)), key=len)
    assert course(Facts.of(told.intent, told.receipt), now=NOW) in COURSES[longest]


@pytest.mark.parametrize("status", [*IntentStatus, "HALTED"])
def test_no_combination_is_kept_where_the_story_denies_it(status):
    legs = [None, "PENDING", "MINING", "SUCCEEDED", "FAILED", "ABORTED"]
    for deposit, origin, destination, back in itertools.product(legs, legs, legs, [None, "MINING", "SUCCEEDED"]):
        came = summary(destination_token_amount=99_850_000)
        of_receipt = receipt(status, deposit=deposit, origin=origin, destination=destination, refund=back, summary=came)
        found = promised(intent(status, quote=QUOTE), of_receipt)
        told = story.story(intent(status, quote=QUOTE), of_receipt, now=NOW, using=CATALOGUE)
        which = f"{status} {deposit} {origin} {destination} {back}: {told.key} {found.text}"
        if found.verdict is Verdict.KEPT:
            assert told.place is Place.RECIPIENT or told.key == "unknown.status", which
        if found.verdict is Verdict.SO_FAR:
            assert not told.is_over, which
        if found.verdict is Verdict.LAPSED:
            assert told.place in (Place.OWNER, Place.UNKNOWN), which
        if told.place in (Place.RETURNING, Place.RETURNED):
            assert found.verdict in (Verdict.NOT_KEPT, Verdict.UNKNOWN), which


@settings(deadline=None)
@given(st.sampled_from(MOMENTS), st.timedeltas(timedelta(), timedelta(hours=2)), st.floats(0, 1, exclude_max=True))
def test_until_the_next_moment_nothing_is_judged_otherwise(moment, later, share):
    which, at, variant = moment
    told, now = scene(which, at, variant), NOW + later
    until = story.changes_at(told.intent, told.receipt, now=now)
    between = now + ((until - now) if until else timedelta(days=300)) * share

    def judged(now):
        found = display.promise(told.intent, told.receipt, now=now, using=CATALOG)
        return found.verdict, found.shown, [(row.verdict, row.shown) for row in found.rows]

    if between != until:
        assert judged(between) == judged(now)
