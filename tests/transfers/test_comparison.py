"""Quote vs. actual: every outcome, exact to the base unit and the second."""

from datetime import timedelta
from decimal import Decimal

import pytest

from intents_ui.service.models import (
    BalanceGroup,
    DepositTransaction,
    IntentFees,
    IntentProviderQuote,
    QuoteIntentRequest,
    QuoteOptions,
    TokenBalance,
)
from intents_ui.transfers import comparison as display
from intents_ui.transfers.comparison import Result
from intents_ui.transfers.statuses import Tone
from tests.transfers.builders import (
    ARBITRUM,
    BASE,
    NOW,
    USDC,
    USDC_ON_BASE,
    at,
    before,
    intent,
    named,
    receipt,
    refund,
    summary,
    transaction,
)

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
    return next((row for row in found.rows if row.label.startswith(label)), None)


def quoted(**members):
    return intent("SUCCEEDED", quote=QUOTE.model_copy(update=members))


def delivered(value, **members):
    """Return a transfer that took 40 s and delivered this number of base units."""
    usual = {"destination_token_amount": value, "started_at": before(seconds=60), "finished_at": before(seconds=20)}
    return receipt("SUCCEEDED", **SUCCEEDED, summary=summary(**{**usual, **members}))


EXACT_OUTPUT = QuoteIntentRequest.model_validate(
    {
        "tradeType": "EXACT_OUTPUT",
        "destinationChainId": BASE,
        "destinationTokenAddress": USDC_ON_BASE,
        "destinationTokenAmount": 50_000_000,
        "originTokenAmount": 0,
    }
)
NO_MINIMUM, LOW_MINIMUM = {"to_amount_min": None}, {"to_amount_min": 1}
# Members of the quote, the request, the base units delivered, and the row about them.
AMOUNTS = named(
    ("as quoted", {}, None, 99_850_000, Result.AS_QUOTED, "as quoted, 0.50 USDC above the minimum"),
    ("less", {}, None, 99_760_000, Result.WITHIN_LIMIT, "0.09 USDC less than quoted, 0.41 USDC above the minimum"),
    ("the minimum", {}, None, 99_350_000, Result.WITHIN_LIMIT, "0.50 USDC less than quoted, exactly the minimum"),
    (
        "one unit below the minimum",
        {},
        None,
        99_349_999,
        Result.BELOW_MINIMUM,
        "0.500001 USDC less than quoted, 0.000001 USDC below the minimum",
    ),
    ("no minimum", NO_MINIMUM, None, 99_850_000, Result.AS_QUOTED, "as quoted, no minimum reported"),
    (
        "less without a minimum",
        NO_MINIMUM,
        None,
        99_849_999,
        Result.UNKNOWN,
        "0.000001 USDC less than quoted, no minimum reported",
    ),
    ("exact output", LOW_MINIMUM, EXACT_OUTPUT, 50_000_000, Result.AS_QUOTED, "as quoted"),
    (
        "less than an exact output",
        LOW_MINIMUM,
        EXACT_OUTPUT,
        49_999_999,
        Result.BELOW_MINIMUM,
        "0.000001 USDC less than quoted",
    ),
)


@pytest.mark.parametrize(("members", "request_", "value", "result", "difference"), AMOUNTS)
def test_an_amount_is_compared_with_the_quote_and_the_minimum(members, request_, value, result, difference):
    found = compared(quoted(**members).model_copy(update={"quote_request": request_}), delivered(value))
    received = row(found, "Received on Base")
    assert (received.result, received.difference) == (result, difference)
    if request_:
        assert (received.quoted, received.limit) == ("50.00 USDC", "quoted amount")
    else:
        assert received.quoted == "99.85 USDC"
        assert received.limit == ("" if members else "min. 99.35 USDC")
        assert found.result is result


LINES = named(
    (
        "below the minimum",
        99_300_000,
        14_400,
        "Received 99.30 USDC (0.05 USDC less than the minimum) · 4 h (estimate 1 min)",
    ),
)


@pytest.mark.parametrize(("value", "took", "line"), LINES)
def test_the_line_says_what_was_received_and_how_long_it_took(value, took, line):
    came = delivered(value, started_at=before(seconds=took), finished_at=NOW)
    assert compared(quoted(), came).text == line


def test_without_a_quote_the_result_is_unknown():
    found = compared(intent("SUCCEEDED"), delivered(99_850_000))
    assert row(found, "Received").difference == "no amount quoted"
    assert (found.result, found.text) == (Result.UNKNOWN, "Received 99.85 USDC · 40 s")


@pytest.mark.parametrize(
    ("paid", "result", "difference"),
    named(
        ("as quoted", 100_000_000, Result.AS_QUOTED, "as quoted"),
        ("more", 100_000_001, Result.OVER_LIMIT, "0.000001 USDC more than quoted"),
        ("not known", None, None, ""),
    ),
)
def test_exact_output_limits_the_deposit(paid, result, difference):
    of_intent = intent("SUCCEEDED", quote=QUOTE, quote_request=EXACT_OUTPUT)
    deposit = transaction("SUCCEEDED", token_amount=paid, token_address=USDC)
    came = delivered(50_000_000).model_copy(update={"deposit_transaction": deposit})
    found = compared(of_intent, came)
    deposited = row(found, "Deposited on Arbitrum")
    assert (deposited and (deposited.result, deposited.difference)) == (result and (result, difference))
    assert (found.result is Result.OVER_LIMIT) == (result is Result.OVER_LIMIT)
    assert ("Deposited on Arbitrum: 0.000001 USDC more" in found.text) == (result is Result.OVER_LIMIT)


def test_another_token_is_never_compared():
    request = QuoteIntentRequest(destination_chain_id=BASE, destination_token_address=OTHER_TOKEN)
    found = compared(intent("SUCCEEDED", quote=QUOTE, quote_request=request), delivered(99_850_000))
    received = row(found, "Received")
    assert (received.result, received.actual) == (Result.MISMATCH, "99.85 USDC")
    assert received.difference == "different token from the quote, not comparable"
    assert found.text == "Received 99.85 USDC, different token from the quote"
    assert row(compared(tolerant(request), delivered(99_850_000)), "Slippage") is None


def tolerant(request):
    return intent("SUCCEEDED", quote=QUOTE.model_copy(update={"max_slippage": Decimal(1)}), quote_request=request)


def test_both_addresses_of_the_native_token_are_one_token():
    request = QuoteIntentRequest(destination_chain_id=BASE, destination_token_address="0x" + "0" * 40)
    came = delivered(99_850_000, destination_token_address="0x" + "Ee" * 20)
    received = row(compared(intent("SUCCEEDED", quote=QUOTE, quote_request=request), came), "Received")
    assert received.result is Result.AS_QUOTED


DURATIONS = named(
    ("under", 60, 40, Result.WITHIN_ESTIMATE, "20 s under estimate", "As quoted"),
    ("to the second", 40, 40, Result.WITHIN_ESTIMATE, "as estimated", "As quoted"),
    ("over, at the end of the grace", 60, 119, Result.OVER_ESTIMATE, "59 s over estimate", "As quoted"),
    ("beyond the grace", 60, 120, Result.LATE, "1 min over estimate", "Delivered late"),
    ("half of a long estimate is its grace", 240, 359, Result.OVER_ESTIMATE, "1 min 59 s over estimate", "As quoted"),
    ("beyond half of a long estimate", 240, 360, Result.LATE, "2 min over estimate", "Delivered late"),
    ("no estimate", None, 40, Result.UNKNOWN, "no estimate", "As quoted"),
)


@pytest.mark.parametrize(("estimate", "took", "result", "difference", "word"), DURATIONS)
def test_a_missed_estimate_never_contradicts_the_heading(estimate, took, result, difference, word):
    of_intent = quoted(estimated_duration=None if estimate is None else Decimal(estimate))
    came = delivered(99_850_000, started_at=before(seconds=took), finished_at=NOW)
    found = compared(of_intent, came)
    time = row(found, "Time")
    assert (time.result, time.difference, found.shown.word) == (result, difference, word)
    assert time.shown.tone is not Tone.BAD


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
TAKEN = named(
    ("to the end", ended(finished_at=before(seconds=10), destination=20), 30),
    ("without an end, to the last transaction", ended(destination=20, origin=30), 20),
    ("on one chain, to its only transaction", ended(origin=30, **ONE_CHAIN), 10),
    ("on two chains, the first transaction is no end", ended(origin=30), None),
    ("neither an end nor a transaction", ended(**ONE_CHAIN), None),
    ("ended as it started", ended(finished_at=before(seconds=40)), 0),
    ("ended before it started", ended(finished_at=before(seconds=41)), None),
    ("no start", ended(started_at=None, finished_at=NOW), None),
)


@pytest.mark.parametrize(("of_receipt", "seconds"), TAKEN)
def test_a_duration_lasts_from_the_start_of_execution_to_its_end(of_receipt, seconds):
    of_intent = quoted().model_copy(update={"destination_chain_id": of_receipt.destination_chain_id})
    taken = at(of_intent, of_receipt).taken
    assert taken == (None if seconds is None else timedelta(seconds=seconds))


@pytest.mark.parametrize(
    ("status", "amount", "actual"),
    [("SUCCEEDED", 7, ["0.000007 USDC"]), ("SUCCEEDED", None, []), ("MINING", 7, ["—"]), ("UNKNOWN", 7, ["—"])],
)
def test_only_a_confirmed_deposit_counts(status, amount, actual):
    deposit = transaction(status, txn_hash=None, token_amount=amount, token_address=USDC)
    found = compared(intent(quote=QUOTE, quote_request=EXACT_OUTPUT), receipt(deposit=deposit))
    assert [each.actual for each in found.rows if each.label == "Deposited on Arbitrum"] == actual


RUNNING = {"deposit": "SUCCEEDED", "origin": "SUCCEEDED", "destination": "ON_HOLD"}
SO_FAR = named(
    ("within the estimate", 59, Result.ON_TRACK, "Quoted at least 99.35 USDC · estimate 1 min"),
    ("at the end of the estimate", 60, Result.OVER_ESTIMATE, "Expected by 14:03 UTC"),
    ("at the end of the grace", 119, Result.OVER_ESTIMATE, "Expected by 14:02 UTC"),
    ("beyond the grace", 120, Result.DELAYED, "Expected by 14:02 UTC"),
)


@pytest.mark.parametrize(("seconds", "result", "text"), SO_FAR)
def test_an_open_transfer_is_compared_with_its_estimate(seconds, result, text):
    running = receipt(**RUNNING, summary=summary(started_at=before(seconds=seconds)))
    found = compared(intent(quote=QUOTE), running)
    assert (found.result, found.text) == (result, text)
    assert row(found, "Received").result is Result.PENDING
    assert row(found, "Time").since == before(seconds=seconds)


PAID = transaction("SUCCEEDED", token_amount=100_000_000, token_address=USDC)
REFUNDS = named(
    (
        "another token",
        refund("SUCCEEDED", token_address=OTHER_TOKEN),
        "Refunded",
        "not comparable: different token, or amount not reported",
        "The owner got 99,500,000 base units (unlisted: 0xD1d1d1…D1d1d1) back",
    ),
    (
        "to another address",
        refund("SUCCEEDED", to_address=OTHER_TOKEN),
        "Not confirmed",
        "not to the owner, or on a chain outside the route",
        "Refund to the owner not confirmed",
    ),
)


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
    result = Result.REFUNDED if word == "Refunded" else Result.NOT_DELIVERED
    assert (found.result, found.text) == (result, text)
    assert row(found, "Received").actual == "nothing"


HOLDS_ALL = {
    chain_id: (
        BalanceGroup(
            chain_id=chain_id,
            intent_address=address,
            tokens=(TokenBalance(contract_address=token, balance=99_850_000, chain_id=chain_id, decimals=6),),
        ),
    )
    for chain_id, address, token in ((ARBITRUM, None, USDC), (BASE, OTHER_TOKEN, USDC_ON_BASE))
}
BY_STATUS, BY_BALANCES = (f"Conflicting data: {source} and steps disagree" for source in ("status", "balances"))
QUOTED, UNNAMED = "Quoted at least 99.35 USDC", "Quoted at least 99,350,000 base units"
REFUND_GONE = receipt("FAILED", deposit="SUCCEEDED", refund="FAILED")
OUTCOMES = named(
    (
        "without a trace",
        "FAILED",
        receipt("FAILED", deposit="SUCCEEDED", origin="SUCCEEDED", destination="ABORTED"),
        {},
        Result.UNKNOWN,
        "Delivery not confirmed",
    ),
    ("a step failed", "SUCCEEDED", receipt("SUCCEEDED", origin="FAILED"), {}, Result.UNKNOWN, BY_STATUS),
    ("returned", "SUCCEEDED", receipt("SUCCEEDED", **SUCCEEDED, refund="SUCCEEDED"), {}, Result.UNKNOWN, BY_STATUS),
    (
        "still at an intent address",
        "SUCCEEDED",
        delivered(99_850_000),
        {"balances": HOLDS_ALL[BASE]},
        Result.UNKNOWN,
        BY_BALANCES,
    ),
    ("refund gone", "FAILED", REFUND_GONE, {"has_balance": False}, Result.UNKNOWN, BY_BALANCES),
    (
        "behind the steps",
        "FAILED",
        receipt("FAILED", deposit="SUCCEEDED", origin="SUCCEEDED"),
        {"balances": HOLDS_ALL[ARBITRUM]},
        Result.UNKNOWN,
        BY_BALANCES,
    ),
    ("delivered by its steps", "HALTED", receipt("HALTED", **SUCCEEDED), {}, Result.UNKNOWN, "Delivery not confirmed"),
    ("no receipt", "SUCCEEDED", None, {}, Result.UNKNOWN, UNNAMED),
    ("unread receipt", "EXECUTING", None, {"unread": True}, Result.UNKNOWN, UNNAMED),
)


@pytest.mark.parametrize(("status", "of_receipt", "more", "result", "text"), OUTCOMES)
def test_what_became_of_a_transfer_decides_the_result(status, of_receipt, more, result, text):
    of_intent = intent(status, quote=QUOTE, destination_intent_address=OTHER_TOKEN)
    found = compared(of_intent, of_receipt, **more)
    assert (found.result, found.text) == (result, text)
    if "Conflicting" in text:
        assert (row(found, "Received").difference, row(found, "Received").actual) == (text, "—")
    if result is Result.NOT_DELIVERED:
        assert [each.label for each in found.rows] == ["Received on Base"]
        assert not [each.label for each in (found, *found.rows) if each.shown.tone is Tone.BAD]


def test_a_balance_decides_whether_there_was_a_deposit_and_a_rest_is_no_conflict():
    assert compared(intent("ABORTED"), receipt("ABORTED"), has_balance=True).result is not Result.NO_DEPOSIT
    found = compared(quoted(), delivered(99_850_000), has_balance=True, balances=HOLDS_ALL[ARBITRUM])
    assert found.result is Result.AS_QUOTED


GIANT = 2**64 * 1_000
SLIPPAGES = named(
    ("all that is tolerated", GIANT // 200, Result.WITHIN_LIMIT, "0.5%", ""),
    ("one unit more", GIANT // 200 + 1, Result.OVER_LIMIT, "0.5%", "<0.0001 percentage points over the limit"),
    ("better than quoted", -GIANT // 100, Result.WITHIN_LIMIT, "1% better", ""),
)


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


def test_rows_without_a_finding_are_left_out():
    of_intent = quoted(estimated_duration=None).model_copy(update={"fees": IntentFees(total_fee_usd=Decimal("5.4"))})
    came = delivered(99_850_000, started_at=None)
    assert [each.label for each in compared(of_intent, came).rows] == ["Received on Base"]
    failed = compared(intent("FAILED", quote=QUOTE), receipt("FAILED", deposit="SUCCEEDED", origin="REVERTED"))
    assert [each.label for each in failed.rows] == ["Received on Base"]


def test_the_same_rounding_is_used_for_the_line_and_the_rows():
    paid = transaction("SUCCEEDED", token_amount=300_000_000, token_address=USDC)
    of_receipt = receipt("FAILED", deposit_transaction=paid, refund=refund("SUCCEEDED", token_amount=299_957_924))
    found = compared(intent("FAILED", quote=QUOTE), of_receipt)
    assert found.text == "0.042076 USDC less than sent"
    refunded = row(found, "Refunded")
    assert (refunded.actual, refunded.actual.whole) == ("299.958 USDC", "299.957924 USDC")
    assert refunded.difference == "0.042076 USDC less than sent"


def test_the_deposits_decimals_are_used_if_no_other_are_known():
    bare = summary(origin_token_metadata=None, destination_token_amount=50_000_000)
    asked = DepositTransaction(token_address=USDC, chain_id=ARBITRUM, amount=100_000_000, decimals=6)
    of_intent = intent("SUCCEEDED", quote=QUOTE, quote_request=EXACT_OUTPUT, deposit_transaction=asked)
    of_receipt = receipt("SUCCEEDED", deposit_transaction=PAID, **{**SUCCEEDED, "deposit": None}, summary=bare)
    of_receipt = of_receipt.model_copy(update={"deposit_transaction": PAID})
    assert row(compared(of_intent, of_receipt), "Deposited").actual == "100.00"
