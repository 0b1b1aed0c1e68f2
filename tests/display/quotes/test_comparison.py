"""Quote vs. actual: every outcome, exact to the base unit and the second."""

import itertools
import json
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intents_ui.display.quotes import comparison as display
from intents_ui.display.quotes.comparison_status import SHOWN, Result
from intents_ui.display.quotes.outcome import Course, QuoteOutcome, course
from intents_ui.display.summary import summary as summaries
from intents_ui.display.summary.rules import Certainty
from intents_ui.display.transfers.locations import Place
from intents_ui.display.transfers.statuses import Tone
from intents_ui.service.wire.models import (
    BalanceGroup,
    DepositTransaction,
    IntentFees,
    IntentProviderQuote,
    IntentStatus,
    QuoteIntentRequest,
    QuoteOptions,
    TokenBalance,
    TokenMetadata,
)
from tests.display.builders import (
    ARBITRUM,
    BASE,
    NOW,
    USDC,
    USDC_ON_BASE,
    at,
    before,
    intent,
    receipt,
    refund,
    summary,
    transaction,
)
from tests.display.scenes import MOMENTS, scene

OTHER_TOKEN = "0x" + "d1" * 20
QUOTE = IntentProviderQuote(
    from_amount=100_000_000,
    from_amount_min=100_000_000,
    to_amount=99_850_000,
    to_amount_min=99_350_000,
    estimated_duration=Decimal(60),
)
SUCCEEDED = {"deposit": "SUCCEEDED", "origin": "SUCCEEDED", "destination": "SUCCEEDED"}


def compared(of_intent, of_receipt, *, now=NOW, **more):
    return display.of(at(of_intent, of_receipt, now=now, **more))


def row(found, label):
    return next(row for row in found.rows if row.label.startswith(label))


def quoted(**members):
    return intent("SUCCEEDED", quote=QUOTE.model_copy(update=members))


def delivered(value, **members):
    """Return a transfer that took 40 s and delivered this number of base units."""
    usual = {"destination_token_amount": value, "started_at": before(seconds=60), "finished_at": before(seconds=20)}
    return receipt("SUCCEEDED", **SUCCEEDED, summary=summary(**{**usual, **members}))


AMOUNTS = [
    pytest.param(99_850_000, Result.AS_QUOTED, "as quoted, 0.5 USDC above the minimum", id="as quoted"),
    pytest.param(
        99_760_000,
        Result.WITHIN_LIMIT,
        "0.09 USDC less than quoted, 0.41 USDC above the minimum",
        id="less, and enough",
    ),
    pytest.param(
        99_350_000, Result.WITHIN_LIMIT, "0.5 USDC less than quoted, exactly the minimum", id="exactly the minimum"
    ),
    pytest.param(
        99_349_999,
        Result.BELOW_MINIMUM,
        "0.500001 USDC less than quoted, 0.000001 USDC below the minimum",
        id="one unit below the minimum",
    ),
    pytest.param(
        99_850_001, Result.AS_QUOTED, "0.000001 USDC more than quoted, 0.500001 USDC above the minimum", id="more"
    ),
    pytest.param(0, Result.BELOW_MINIMUM, "99.85 USDC less than quoted, 99.35 USDC below the minimum", id="nothing"),
    pytest.param(None, Result.UNKNOWN, "delivered amount not reported", id="not reported"),
]


@pytest.mark.parametrize(("value", "result", "difference"), AMOUNTS)
def test_an_amount_is_compared_with_the_quote_and_the_minimum(value, result, difference):
    found = compared(quoted(), delivered(value))
    received = row(found, "Received on Base")
    assert (received.result, received.difference) == (result, difference)
    assert (received.quoted, received.limit) == ("99.85 USDC", "min. 99.35 USDC")
    assert found.result is result


LINES = [
    pytest.param(99_850_000, 40, "Received 99.85 USDC as quoted · 40 s (estimate 1 min)", id="as quoted"),
    pytest.param(
        99_760_000, 66, "Received 99.76 USDC (0.09 USDC less than quoted) · 1 min 6 s (estimate 1 min)", id="less"
    ),
    pytest.param(
        99_850_001,
        40,
        "Received 99.850001 USDC (0.000001 USDC more than quoted) · 40 s (estimate 1 min)",
        id="more",
    ),
    pytest.param(
        99_300_000,
        14_400,
        "Received 99.30 USDC (0.05 USDC less than the minimum) · 4 h (estimate 1 min)",
        id="below the minimum",
    ),
]


@pytest.mark.parametrize(("value", "took", "line"), LINES)
def test_the_line_says_what_was_received_and_how_long_it_took(value, took, line):
    came = delivered(value, started_at=before(seconds=took), finished_at=NOW)
    assert compared(quoted(), came).text == line


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


@pytest.mark.parametrize(("decimals", "quote", "apart"), TOKENS)
def test_amounts_beyond_64_bits_are_exact_whatever_the_token(decimals, quote, apart):
    known = TokenMetadata(chain_id=BASE, token_address=USDC_ON_BASE, symbol="USDC", decimals=decimals)
    came = delivered(BEYOND - 7, destination_token_metadata=known)
    found = row(compared(quoted(to_amount=BEYOND, to_amount_min=BEYOND - 14), came), "Received")
    assert found.quoted == quote
    assert found.difference == f"{apart} less than quoted, {apart} above the minimum"
    short = row(compared(quoted(to_amount=BEYOND, to_amount_min=BEYOND), came), "Received")
    assert short.result is Result.BELOW_MINIMUM
    assert short.difference == f"{apart} less than quoted, {apart} below the minimum"


@pytest.mark.parametrize(
    ("value", "result", "difference"),
    [
        pytest.param(99_850_000, Result.AS_QUOTED, "as quoted, no minimum reported", id="as quoted is enough"),
        pytest.param(
            99_849_999, Result.UNKNOWN, "0.000001 USDC less than quoted, no minimum reported", id="less than quoted"
        ),
    ],
)
def test_without_a_minimum_less_than_quoted_is_unknown(value, result, difference):
    received = row(compared(quoted(to_amount_min=None), delivered(value)), "Received")
    assert (received.result, received.difference) == (result, difference)


def test_without_a_quote_the_result_is_unknown():
    found = compared(intent("SUCCEEDED"), delivered(99_850_000))
    assert row(found, "Received").difference == "no amount quoted"
    assert (found.result, found.text) == (Result.UNKNOWN, "Received 99.85 USDC · 40 s")


EXACT_OUTPUT = QuoteIntentRequest.model_validate(
    json.loads(f"""{{
        "tradeType": "EXACT_OUTPUT",
        "destinationChainId": {BASE},
        "destinationTokenAddress": "{USDC_ON_BASE}",
        "destinationTokenAmount": 50000000,
        "originTokenAmount": 0
    }}""")
)
OUTPUTS = [
    pytest.param(50_000_000, Result.AS_QUOTED, "as quoted", id="exactly"),
    pytest.param(50_000_001, Result.AS_QUOTED, "0.000001 USDC more than quoted", id="more"),
    pytest.param(
        49_999_999, Result.BELOW_MINIMUM, "0.000001 USDC less than quoted", id="less, above the quote's minimum"
    ),
]


@pytest.mark.parametrize(("value", "result", "difference"), OUTPUTS)
def test_exact_output_quotes_an_exact_amount(value, result, difference):
    of_intent = intent("SUCCEEDED", quote=QUOTE.model_copy(update={"to_amount_min": 1}), quote_request=EXACT_OUTPUT)
    received = row(compared(of_intent, delivered(value)), "Received")
    assert (received.quoted, received.limit) == ("50.00 USDC", "quoted amount")
    assert (received.result, received.difference) == (result, difference)


@pytest.mark.parametrize(
    ("paid", "result", "difference"),
    [
        pytest.param(100_000_000, Result.AS_QUOTED, "as quoted", id="as quoted"),
        pytest.param(99_000_000, Result.AS_QUOTED, "1.00 USDC less than quoted", id="less"),
        pytest.param(100_000_001, Result.OVER_LIMIT, "0.000001 USDC more than quoted", id="more"),
        pytest.param(None, Result.UNKNOWN, "deposited or quoted amount not reported", id="not known"),
    ],
)
def test_exact_output_limits_the_deposit(paid, result, difference):
    of_intent = intent("SUCCEEDED", quote=QUOTE, quote_request=EXACT_OUTPUT)
    deposit = transaction("SUCCEEDED", token_amount=paid, token_address=USDC)
    came = delivered(50_000_000).model_copy(update={"deposit_transaction": deposit})
    found = compared(of_intent, came)
    deposited = row(found, "Deposited on Arbitrum")
    assert (deposited.result, deposited.difference) == (result, difference)
    assert (found.result is Result.OVER_LIMIT) == (result is Result.OVER_LIMIT)
    assert ("Deposited on Arbitrum: 0.000001 USDC more" in found.text) == (result is Result.OVER_LIMIT)


def test_exact_input_does_not_limit_the_deposit():
    assert not [row for row in compared(quoted(), delivered(99_850_000)).rows if row.label.startswith("Deposited")]


def test_the_zero_on_the_open_side_of_a_request_is_not_an_amount():
    request = QuoteIntentRequest(trade_type="EXACT_INPUT", destination_token_amount=0)
    of_intent = intent("SUCCEEDED", quote=QUOTE, quote_request=request)
    assert row(compared(of_intent, delivered(99_850_000)), "Received").quoted == "99.85 USDC"


def test_another_token_is_never_compared():
    request = QuoteIntentRequest(destination_chain_id=BASE, destination_token_address=OTHER_TOKEN)
    found = compared(intent("SUCCEEDED", quote=QUOTE, quote_request=request), delivered(99_850_000))
    received = row(found, "Received")
    assert (received.result, received.actual) == (Result.MISMATCH, "99.85 USDC")
    assert received.difference == "different token from the quote, not comparable"
    assert found.text == "Received 99.85 USDC, different token from the quote"
    assert row(compared(tolerant(request), delivered(99_850_000)), "Slippage").result is Result.UNKNOWN


def tolerant(request):
    return intent("SUCCEEDED", quote=QUOTE.model_copy(update={"max_slippage": Decimal(1)}), quote_request=request)


def test_both_addresses_of_the_native_token_are_one_token():
    request = QuoteIntentRequest(destination_chain_id=BASE, destination_token_address="0x" + "0" * 40)
    came = delivered(99_850_000, destination_token_address="0x" + "Ee" * 20)
    received = row(compared(intent("SUCCEEDED", quote=QUOTE, quote_request=request), came), "Received")
    assert received.result is Result.AS_QUOTED


DURATIONS = [
    pytest.param(60, 40, Result.WITHIN_ESTIMATE, "20 s under estimate", "As quoted", id="under"),
    pytest.param(40, 40, Result.WITHIN_ESTIMATE, "as estimated", "As quoted", id="to the second"),
    pytest.param(12, 18, Result.OVER_ESTIMATE, "6 s over estimate", "As quoted", id="over, within the grace"),
    pytest.param(60, 119, Result.OVER_ESTIMATE, "59 s over estimate", "As quoted", id="over, at the end of the grace"),
    pytest.param(60, 120, Result.LATE, "1 min over estimate", "Delivered late", id="beyond the grace"),
    pytest.param(900, 14_400, Result.LATE, "3 h 45 min over estimate", "Delivered late", id="hours late"),
    pytest.param(None, 40, Result.UNKNOWN, "no estimate", "As quoted", id="no estimate"),
]


@pytest.mark.parametrize(("estimate", "took", "result", "difference", "word"), DURATIONS)
def test_a_missed_estimate_never_contradicts_the_heading(estimate, took, result, difference, word):
    of_intent = quoted(estimated_duration=None if estimate is None else Decimal(estimate))
    came = delivered(99_850_000, started_at=before(seconds=took), finished_at=NOW)
    found = compared(of_intent, came)
    time = row(found, "Time")
    assert (time.result, time.difference, found.shown.word) == (result, difference, word)
    assert time.shown.tone is not Tone.BAD


def test_without_an_end_the_last_transaction_is_the_end():
    last = transaction("SUCCEEDED", chain_id=BASE, txn_mined_at=before(seconds=30))
    came = delivered(99_850_000, finished_at=None).model_copy(update={"destination_transaction": last})
    assert row(compared(quoted(), came), "Time").actual == "30 s"
    unmined = came.model_copy(update={"destination_transaction": transaction("SUCCEEDED", chain_id=BASE)})
    assert row(compared(quoted(), unmined), "Time").result is Result.UNKNOWN


def ended(*, origin=None, destination=None, destination_chain_id=BASE, **members):
    """Return a transfer that started 40 s ago, with steps mined this many seconds ago."""
    steps = {
        f"{step}_transaction": transaction("SUCCEEDED", txn_mined_at=before(seconds=seconds))
        for step, seconds in (("origin", origin), ("destination", destination))
        if seconds is not None
    }
    usual = {"started_at": before(seconds=40), "finished_at": None, "destination_token_amount": 99_850_000}
    of_summary = summary(**usual | members)
    return receipt("SUCCEEDED", destination_chain_id=destination_chain_id, summary=of_summary).model_copy(update=steps)


ONE_CHAIN = {"destination_chain_id": ARBITRUM}
TAKEN = [
    pytest.param(ended(finished_at=before(seconds=10), destination=20), 30, id="to the end"),
    pytest.param(ended(destination=20, origin=30), 20, id="without an end, to the last transaction"),
    pytest.param(ended(origin=30, **ONE_CHAIN), 10, id="on one chain, to its only transaction"),
    pytest.param(ended(origin=30), None, id="on two chains, the first transaction is no end"),
    pytest.param(ended(**ONE_CHAIN), None, id="neither an end nor a transaction"),
    pytest.param(ended(finished_at=before(seconds=40)), 0, id="in no time"),
    pytest.param(ended(finished_at=before(seconds=41)), None, id="ended before it started"),
    pytest.param(ended(started_at=None, finished_at=NOW), None, id="no start"),
]


@pytest.mark.parametrize(("of_receipt", "seconds"), TAKEN)
def test_a_duration_lasts_from_the_start_of_execution_to_its_end(of_receipt, seconds):
    of_intent = quoted().model_copy(update={"destination_chain_id": of_receipt.destination_chain_id})
    taken = QuoteOutcome.of(at(of_intent, of_receipt)).taken
    assert taken == (None if seconds is None else timedelta(seconds=seconds))


def test_a_delivery_is_unknown_before_it_is_confirmed():
    came = delivered(99_850_000).summary
    running = QuoteOutcome.of(at(intent(quote=QUOTE), receipt(**RUNNING, summary=came)))
    assert (running.taken, running.arrived.value, running.is_another_token) == (None, None, False)
    done = QuoteOutcome.of(at(quoted(), delivered(99_850_000)))
    assert (done.taken, done.arrived.value) == (timedelta(seconds=40), 99_850_000)


@pytest.mark.parametrize(
    ("status", "amount", "value"),
    [("SUCCEEDED", 7, 7), ("SUCCEEDED", None, None), ("MINING", 7, None), ("UNKNOWN", 7, None), ("FAILED", 7, None)],
)
def test_only_a_confirmed_deposit_counts(status, amount, value):
    deposit = transaction(status, txn_hash=None, token_amount=amount, token_address=USDC)
    deposited = QuoteOutcome.of(at(intent(quote=QUOTE), receipt(deposit=deposit))).deposited
    assert (deposited and deposited.value) == value


RUNNING = {"deposit": "SUCCEEDED", "origin": "SUCCEEDED", "destination": "ON_HOLD"}
SO_FAR = [
    pytest.param(59, Result.ON_TRACK, "Quoted at least 99.35 USDC · estimate 1 min", id="within the estimate"),
    pytest.param(
        60, Result.OVER_ESTIMATE, "Expected by 14:03 UTC, slightly behind schedule", id="at the end of the estimate"
    ),
    pytest.param(
        119, Result.OVER_ESTIMATE, "Expected by 14:02 UTC, slightly behind schedule", id="at the end of the grace"
    ),
    pytest.param(120, Result.DELAYED, "Expected by 14:02 UTC", id="beyond the grace"),
]


@pytest.mark.parametrize(("seconds", "result", "text"), SO_FAR)
def test_an_open_transfer_is_compared_with_its_estimate(seconds, result, text):
    running = receipt(**RUNNING, summary=summary(started_at=before(seconds=seconds)))
    found = compared(intent(quote=QUOTE), running)
    assert (found.result, found.text) == (result, text)
    assert row(found, "Received").result is Result.PENDING
    assert row(found, "Time").since == before(seconds=seconds)


def test_an_open_transfer_without_an_estimate_is_pending():
    unestimated = QUOTE.model_copy(update={"estimated_duration": None})
    found = compared(intent(quote=unestimated), receipt(**RUNNING))
    assert (found.result, found.text) == (Result.PENDING, "Quoted at least 99.35 USDC")


def test_a_summary_amount_counts_only_after_delivery():
    running = receipt(**RUNNING, summary=summary(destination_token_amount=99_850_000))
    assert row(compared(intent(quote=QUOTE), running), "Received").actual == "—"


BEFORE = [
    pytest.param("QUOTED", receipt("QUOTED"), "Quoted at least 99.35 USDC · estimate 1 min", id="a quote"),
    pytest.param(
        "EXECUTING", receipt(deposit="MINING"), "Quoted at least 99.35 USDC · estimate 1 min", id="deposit confirming"
    ),
    pytest.param(
        "EXECUTING",
        receipt(deposit="SUCCEEDED", origin="REVERTED"),
        "A step failed, outcome pending",
        id="a step failed",
    ),
]


@pytest.mark.parametrize(("status", "of_receipt", "text"), BEFORE)
def test_before_the_first_confirmed_step_the_result_is_pending(status, of_receipt, text):
    found = compared(intent(status, quote=QUOTE), of_receipt)
    assert (found.result, found.text) == (Result.PENDING, text)


PAID = transaction("SUCCEEDED", token_amount=100_000_000, token_address=USDC)
REFUNDS = [
    pytest.param(
        refund("SUCCEEDED"),
        "Refunded",
        "0.5 USDC less than deposited",
        "Refunded 99.50 USDC (0.50 USDC less than deposited)",
        id="on the origin chain",
    ),
    pytest.param(
        refund("SUCCEEDED", token_amount=99_959_557),
        "Refunded",
        "0.040443 USDC less than deposited",
        "Refunded 99.9595 USDC (0.0405 USDC less than deposited)",
        id="as many digits on both",
    ),
    pytest.param(
        refund("SUCCEEDED", token_amount=100_000_001),
        "Refunded",
        "0.000001 USDC more than deposited",
        "Refunded 100.000001 USDC (0.000001 USDC more than deposited)",
        id="a difference too small for the short amount",
    ),
    pytest.param(
        refund("SUCCEEDED", token_amount=100_000_000),
        "Refunded",
        "as much as deposited",
        "Refunded 100.00 USDC (as much as deposited)",
        id="all of it",
    ),
    pytest.param(
        refund("SUCCEEDED", chain_id=BASE, token_address=USDC_ON_BASE),
        "Refunded",
        "0.35 USDC less than quoted",
        "Refunded 99.50 USDC (0.35 USDC less than quoted)",
        id="on the destination chain",
    ),
    pytest.param(
        refund("SUCCEEDED", token_address=OTHER_TOKEN),
        "Refunded",
        "not comparable: different token, or amount not reported",
        "Refunded 99,500,000 base units (unlisted: 0xD1d1d1…D1d1d1)",
        id="another token",
    ),
    pytest.param(
        refund("SUCCEEDED", token_amount=None),
        "Refunded",
        "not comparable: different token, or amount not reported",
        "Not delivered, refunded",
        id="how much is not known",
    ),
    pytest.param(
        refund("SUCCEEDED", to_address=OTHER_TOKEN),
        "Not confirmed",
        "not to the owner, or on a chain outside the route",
        "Refund to the owner not confirmed",
        id="to another address",
    ),
    pytest.param(
        refund("MINING"),
        "Refund in progress",
        "99.50 USDC to be refunded",
        "Refund in progress",
        id="in progress",
    ),
    pytest.param(
        refund("REVERTED"),
        "Refund failed",
        "99.50 USDC to be refunded",
        "Refund failed",
        id="the refund failed",
    ),
]


@pytest.mark.parametrize(("returned", "word", "difference", "text"), REFUNDS)
@pytest.mark.parametrize("status", ["FAILED", "REFUNDED", "EXECUTING"])
def test_a_refund_is_not_a_delivery(status, returned, word, difference, text):
    of_receipt = receipt(
        status,
        deposit_transaction=PAID,
        origin="REVERTED",
        refund=returned,
        summary=summary(destination_token_amount=99_850_000),
    )
    found = compared(intent(status, quote=QUOTE), of_receipt)
    back = row(found, "Refunded on")
    assert (back.shown.word, back.difference) == (word, difference)
    if (status, word) == ("REFUNDED", "Refund failed"):
        assert (found.result, found.text) == (Result.UNKNOWN, "Conflicting data: status and steps disagree")
    else:
        result = Result.REFUNDED if word == "Refunded" else Result.NOT_DELIVERED
        assert (found.result, found.text) == (result, text)
        assert row(found, "Received").actual == "nothing"


def test_a_refund_without_a_transaction_has_no_amount():
    found = compared(intent("REFUNDED", quote=QUOTE), receipt("REFUNDED", deposit="SUCCEEDED", origin="FAILED"))
    assert (found.result, found.text) == (Result.NOT_DELIVERED, "Reported as refunded")
    assert row(found, "Refunded").difference == "refunded amount not reported"


LAPSED = [
    pytest.param(intent("QUOTED", quote=QUOTE, expires_at=before(minutes=1)), None, id="an expired quote"),
    pytest.param(intent("ABORTED", quote=QUOTE), receipt("ABORTED"), id="aborted"),
    pytest.param(
        intent("INVALID", quote=QUOTE),
        receipt("INVALID", deposit=transaction("ABORTED", txn_hash="0x" + "0" * 64)),
        id="monitored in vain",
    ),
]


@pytest.mark.parametrize(("of_intent", "of_receipt"), LAPSED)
def test_without_a_deposit_there_is_nothing_to_compare(of_intent, of_receipt):
    found = compared(of_intent, of_receipt)
    assert (found.result, found.text) == (Result.NO_DEPOSIT, "No deposit has been seen.")
    assert compared(of_intent, of_receipt, has_balance=True).result is not Result.NO_DEPOSIT


def test_a_transfer_aborted_by_its_owner_is_not_delivered_and_nothing_worse():
    of_receipt = receipt(
        "ABORTED", deposit="SUCCEEDED", origin=transaction("ABORTED", status_reason="aborted by owner")
    )
    found = compared(intent("ABORTED", quote=QUOTE), of_receipt)
    assert (found.result, found.text) == (Result.NOT_DELIVERED, "Quoted at least 99.35 USDC")
    assert not [each.label for each in (found, *found.rows) if each.shown.tone is Tone.BAD]


def test_a_transfer_without_a_trace_has_an_unknown_result():
    of_receipt = receipt("FAILED", deposit="SUCCEEDED", origin="SUCCEEDED", destination="ABORTED")
    found = compared(intent("FAILED", quote=QUOTE), of_receipt)
    assert (found.result, found.text) == (Result.UNKNOWN, "Delivery not confirmed")


DISPUTED = [
    pytest.param("FAILED", SUCCEEDED, id="failed, and the last step succeeded"),
    pytest.param("SUCCEEDED", {**SUCCEEDED, "origin": "REVERTED"}, id="succeeded, and a step did not"),
    pytest.param("SUCCEEDED", {**SUCCEEDED, "refund": "SUCCEEDED"}, id="succeeded, and returned"),
    pytest.param("REFUNDED", {**SUCCEEDED, "refund": "SUCCEEDED"}, id="returned, and delivered"),
    pytest.param("SUCCEEDED", {**SUCCEEDED, "destination": "MINING"}, id="succeeded, last step not confirmed"),
]


@pytest.mark.parametrize(("status", "legs"), DISPUTED)
def test_conflicting_sources_make_the_result_unknown(status, legs):
    of_receipt = receipt(status, **legs, summary=summary(destination_token_amount=99_850_000))
    found = compared(intent(status, quote=QUOTE), of_receipt)
    assert (found.result, found.text) == (Result.UNKNOWN, "Conflicting data: status and steps disagree")
    assert row(found, "Received").difference == "Conflicting data: status and steps disagree"
    assert row(found, "Received").actual == "—"


def test_funds_that_are_still_at_an_intent_address_conflict_with_a_delivery():
    held = TokenBalance(contract_address=USDC_ON_BASE, balance=99_850_000, chain_id=BASE, symbol="USDC", decimals=6)
    at_the_last_address = BalanceGroup(chain_id=BASE, intent_address=OTHER_TOKEN, tokens=(held,))
    of_intent = quoted().model_copy(update={"destination_intent_address": OTHER_TOKEN})
    found = compared(of_intent, delivered(99_850_000), balances=[at_the_last_address])
    assert (found.result, found.text) == (Result.UNKNOWN, "Conflicting data: balances and steps disagree")


AT_HOME = (
    BalanceGroup(
        chain_id=ARBITRUM, tokens=(TokenBalance(contract_address=USDC, balance=99_850_000, chain_id=ARBITRUM),)
    ),
)
# Whether the sources confirm the location, conflict, or would conflict without the balances.
SOURCES = [
    pytest.param(receipt("SUCCEEDED", **SUCCEEDED), {}, (True, False, False), id="confirmed"),
    pytest.param(receipt("SUCCEEDED", origin="FAILED"), {}, (False, True, True), id="conflict without balances"),
    pytest.param(
        receipt("SUCCEEDED", **SUCCEEDED), {"has_balance": True, "balances": AT_HOME}, (True, False, False), id="a rest"
    ),
    pytest.param(
        receipt("FAILED", deposit="SUCCEEDED", refund="FAILED"),
        {"has_balance": False},
        (False, True, False),
        id="refund gone",
    ),
    pytest.param(
        receipt("FAILED", deposit="SUCCEEDED", origin="SUCCEEDED"),
        {"has_balance": True, "balances": AT_HOME},
        (False, True, False),
        id="behind the steps",
    ),
    pytest.param(receipt("FAILED"), {}, (False, False, False), id="unknown"),
]


@pytest.mark.parametrize(("of_receipt", "more", "said"), SOURCES)
def test_sources_confirm_or_conflict(of_receipt, more, said):
    outcome = QuoteOutcome.of(at(quoted(), of_receipt, **more))
    conflicts_anyway = not outcome.is_conflict_of_balances
    assert (outcome.is_confirmed, outcome.is_conflicting, conflicts_anyway) == said


COURSE_OF = [
    pytest.param("EXECUTING", None, {}, Course.OPEN, id="started, no receipt yet"),
    pytest.param("ABORTED", None, {}, Course.UNREAD, id="ended, no receipt"),
    pytest.param(
        "HALTED", receipt("HALTED", **SUCCEEDED), {}, Course.DISPUTED, id="unknown status, delivered by its steps"
    ),
    pytest.param(
        "FAILED",
        receipt("FAILED", deposit="SUCCEEDED", refund="FAILED"),
        {"has_balance": False},
        Course.DISPUTED,
        id="refund gone",
    ),
    pytest.param("ABORTED", receipt("ABORTED", deposit="ABORTED"), {}, Course.NOT_DELIVERED, id="deposit reported"),
    pytest.param(
        "ABORTED", receipt("ABORTED", deposit=transaction("ABORTED", txn_hash=None)), {}, Course.LAPSED, id="no deposit"
    ),
]


@pytest.mark.parametrize(("status", "of_receipt", "more", "found"), COURSE_OF)
def test_the_outcome_of_each_scenario_is_recognized(status, of_receipt, more, found):
    assert course(at(intent(status), of_receipt, **more)) is found


@pytest.mark.parametrize(("status", "unread"), [("EXECUTING", True), ("SUCCEEDED", True), ("SUCCEEDED", False)])
def test_without_its_receipt_a_transfer_has_an_unknown_result(status, unread):
    found = compared(intent(status, quote=QUOTE), None, unread=unread)
    assert (found.result, found.text) == (Result.UNKNOWN, "Quoted at least 99,350,000 base units")


GIANT = 2**64 * 1_000
SLIPPAGES = [
    pytest.param(0, Result.WITHIN_LIMIT, "0%", "", id="nothing"),
    pytest.param(GIANT // 200, Result.WITHIN_LIMIT, "0.5%", "", id="all that is tolerated"),
    pytest.param(
        GIANT // 200 + 1, Result.OVER_LIMIT, "0.5%", "<0.0001 percentage points over the limit", id="one unit more"
    ),
    pytest.param(GIANT // 100, Result.OVER_LIMIT, "1%", "0.5 percentage points over the limit", id="twice as much"),
    pytest.param(-GIANT // 100, Result.WITHIN_LIMIT, "1% better", "", id="better than quoted"),
]


@pytest.mark.parametrize(("lost", "result", "actual", "difference"), SLIPPAGES)
def test_slippage_is_compared_with_the_tolerance(lost, result, actual, difference):
    of_intent = quoted(to_amount=GIANT, to_amount_min=0, max_slippage=Decimal("0.005"))
    found = compared(of_intent, delivered(GIANT - lost))
    slippage = row(found, "Slippage")
    assert (slippage.result, slippage.actual, slippage.difference) == (result, actual, difference)
    assert slippage.limit == "max 0.5%"
    assert (found.result is Result.OVER_LIMIT) == (result is Result.OVER_LIMIT)


def test_the_slippage_tolerance_is_the_quotes_or_else_the_requested_one():
    asked = QuoteIntentRequest(options=QuoteOptions(slippage_tolerance=Decimal("0.01")))
    found = compared(intent("SUCCEEDED", quote=QUOTE, quote_request=asked), delivered(99_850_000))
    assert row(found, "Slippage").limit == "max 1%"
    assert not [row for row in compared(quoted(), delivered(99_850_000)).rows if row.label == "Slippage"]


def test_fees_are_quoted_and_their_actual_amount_is_not_reported():
    of_intent = quoted().model_copy(update={"fees": IntentFees(total_fee_usd=Decimal("5.409508"))})
    fees = row(compared(of_intent, delivered(99_850_000)), "Fees")
    assert (fees.quoted, fees.result, fees.difference) == ("$5.409508", Result.UNKNOWN, "not reported")


def test_the_deposits_decimals_are_used_if_no_other_are_known():
    bare = summary(origin_token_metadata=None, destination_token_amount=50_000_000)
    asked = DepositTransaction(token_address=USDC, chain_id=ARBITRUM, amount=100_000_000, decimals=6)
    of_intent = intent("SUCCEEDED", quote=QUOTE, quote_request=EXACT_OUTPUT, deposit_transaction=asked)
    of_receipt = receipt("SUCCEEDED", deposit_transaction=PAID, **{**SUCCEEDED, "deposit": None}, summary=bare)
    of_receipt = of_receipt.model_copy(update={"deposit_transaction": PAID})
    assert row(compared(of_intent, of_receipt), "Deposited").actual == "100.00"


AMOUNT = st.integers(0, 2**256 - 1)


@settings(deadline=None)
@given(AMOUNT, AMOUNT, AMOUNT)
def test_the_received_amount_is_the_minimum_plus_the_difference(came, quote, least):
    unknown = TokenMetadata(chain_id=BASE, token_address=USDC_ON_BASE, symbol="X")
    of_receipt = delivered(came, destination_token_metadata=unknown)
    received = row(compared(quoted(to_amount=quote, to_amount_min=least), of_receipt), "Received")
    assert (received.result is Result.BELOW_MINIMUM) == (came < least)
    assert (received.result is Result.AS_QUOTED) == (came >= least and came >= quote)
    words = received.difference.split(", ")
    against_quote, against_least = _signed(", ".join(words[:-1])), _signed(words[-1])
    assert (quote + against_quote, least + against_least) == (came, came)


def _signed(words: str) -> int:
    """Parse `7 base units of X less than quoted` as -7."""
    if words in ("as quoted", "exactly the minimum"):
        return 0
    number = int(words.split(" ", 1)[0].replace(",", ""))
    return -number if "less than" in words or "below" in words else number


def test_each_result_has_a_label_and_an_icon():
    sprite = (Path(__file__).parents[3] / "static" / "img" / "icons.svg").read_text()
    assert set(SHOWN) == set(Result)
    assert all(f'<symbol id="{each.icon}"' in sprite for each in SHOWN.values())


COURSES = {
    "succeeded.": {Course.DELIVERED},
    "succeeded.contradiction": {Course.DISPUTED},
    "succeeded.unconfirmed": {Course.DISPUTED},
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
def test_every_scenario_matches_its_expected_summary(which, at, variant):
    result = scene(which, at, variant)
    key = result.story().key
    longest = max((each for each in COURSES if key.startswith(each)), key=len)
    assert course(result.at()) in COURSES[longest]


@pytest.mark.parametrize("status", [*IntentStatus, "HALTED"])
def test_quote_comparison_and_summary_agree_in_every_combination(status):
    legs = [None, "PENDING", "MINING", "SUCCEEDED", "FAILED", "ABORTED"]
    for deposit, origin, destination, back in itertools.product(legs, legs, legs, [None, "MINING", "SUCCEEDED"]):
        came = summary(destination_token_amount=99_850_000)
        of_receipt = receipt(status, deposit=deposit, origin=origin, destination=destination, refund=back, summary=came)
        found = compared(intent(status, quote=QUOTE), of_receipt)
        result = summaries.of(at(intent(status, quote=QUOTE), of_receipt))
        which = f"{status} {deposit} {origin} {destination} {back}: {result.key} {found.text}"
        if Tone.GOOD in {each.shown.tone for each in (found, *found.rows)}:
            assert (result.place, result.certainty) == (Place.RECIPIENT, Certainty.CONFIRMED), which
        if result.certainty is Certainty.CONFLICTING and result.key != "refunded.elsewhere":
            assert found.result is Result.UNKNOWN, which
        if found.result is Result.ON_TRACK:
            assert not result.is_over, which
            assert result.certainty is Certainty.CONFIRMED, which
        if found.result is Result.NO_DEPOSIT:
            assert result.place in (Place.OWNER, Place.UNKNOWN), which
        if result.place in (Place.RETURNING, Place.RETURNED):
            assert found.result in (Result.NOT_DELIVERED, Result.REFUNDED, Result.UNKNOWN), which


@settings(deadline=None)
@given(st.sampled_from(MOMENTS), st.timedeltas(timedelta(), timedelta(hours=2)), st.floats(0, 1, exclude_max=True))
def test_no_comparison_changes_before_its_next_time(moment, later, share):
    which, at, variant = moment
    result, now = scene(which, at, variant), NOW + later
    until = summaries.changes_at(result.at(now))
    between = now + ((until - now) if until else timedelta(days=300)) * share

    def results(now):
        found = display.of(result.at(now))
        return found.result, [row.result for row in found.rows]

    if between != until:
        assert results(between) == results(now)
