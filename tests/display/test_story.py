import re
from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.display import patience
from intents_ui.display import story as display
from intents_ui.display.explanations import EXPLANATIONS, Who
from intents_ui.display.locator import Check
from intents_ui.display.places import Place
from intents_ui.display.statuses import Tone
from intents_ui.display.story import Story
from intents_ui.service.wire import (
    BalanceGroup,
    Intent,
    IntentProviderQuote,
    IntentReceipt,
    IntentStatus,
    TokenBalance,
    TransactionStatus,
)
from tests.display.builders import (
    ARBITRUM,
    BASE,
    CATALOGUE,
    MERCHANT,
    NOW,
    OWNER,
    USDC,
    USDC_ON_BASE,
    before,
    intent,
    receipt,
    refund,
    summary,
    transaction,
)
from tests.display.test_every_story import BY_OTHER_FACTS


def story(of_intent=None, of_receipt=None, **more) -> Story:
    return display.story(of_intent, of_receipt, now=NOW, using=CATALOGUE, **more)


PLACEHOLDER = "0x" + "0" * 64
CONFIRMING = "executing.deposit_confirming"
WATCHED = transaction("PENDING", txn_hash=PLACEHOLDER)
STALE = {"updated_at": before(hours=1)}
OLD = dict.fromkeys(("updated_at",), before(minutes=20))
LATE = summary(started_at=before(minutes=5))
# Past the estimate of 15 seconds, and within its grace of a minute.
DUE = summary(started_at=before(seconds=74))
LATE_CCTP = summary(started_at=before(minutes=5), route_providers=("CCTP",))
DELIVERED = summary(destination_token_amount=99_910_000)

FAILED_ELSEWHERE = receipt("FAILED", refund=refund("SUCCEEDED", to_address=MERCHANT))
PAID_OFFER = receipt("QUOTED", deposit="SUCCEEDED")
WATCHING = receipt(deposit=WATCHED, origin="ON_HOLD")
ARRIVED = {"deposit": "SUCCEEDED", "origin": "SUCCEEDED", "destination": "SUCCEEDED"}

CASES = [
    ("quoted", intent("QUOTED"), None, "quoted.open"),
    ("quoted, past its expiry", intent("QUOTED", expires_at=before(minutes=1)), None, "quoted.expired"),
    ("committed", intent("COMMITTED"), None, "committed.open"),
    ("paid, offer run out", intent("QUOTED", expires_at=before(minutes=1)), PAID_OFFER, "offer.funded_late"),
    ("committed too long ago", intent("COMMITTED", updated_at=before(minutes=11)), None, "committed.overdue"),
    ("paid but only committed", intent("COMMITTED"), receipt("COMMITTED", deposit="SUCCEEDED"), "committed.funded"),
    ("quoted, but running", intent("QUOTED"), receipt("QUOTED", deposit="MINING"), "executing.deposit_confirming"),
    ("no receipt yet", intent(), None, "executing.no_details"),
    ("watching", intent(), WATCHING, "executing.wait_deposit"),
    ("watching for too long", intent(expires_at=before(minutes=1)), WATCHING, "executing.wait_deposit_late"),
    (
        "watching for ever, no expiry",
        intent(expires_at=None),
        receipt(deposit=transaction("PENDING", txn_hash=PLACEHOLDER, **STALE), **STALE, summary=None),
        "executing.wait_deposit_late",
    ),
    ("no receipt for hours", intent(updated_at=before(hours=1)), None, "executing.stalled"),
    (
        "reported, not seen",
        intent(),
        receipt(deposit="PENDING", origin="ON_HOLD"),
        CONFIRMING,
    ),
    (
        "signed for the relayer",
        intent(),
        receipt(deposit=transaction("PENDING", txn_hash=None, meta_txn_id="8f0c"), origin="ON_HOLD"),
        CONFIRMING,
    ),
    ("committed, but reported", intent("COMMITTED"), receipt("COMMITTED", deposit="PENDING"), CONFIRMING),
    (
        "unknown status on the payment",
        intent(),
        receipt(deposit=transaction("QUEUED", txn_hash=PLACEHOLDER)),
        "executing.no_details",
    ),
    ("deposit mining", intent(), receipt(deposit="MINING", origin="ON_HOLD"), "executing.deposit_confirming"),
    ("origin running", intent(), receipt(deposit="SUCCEEDED", origin="RELAYING"), "executing.origin_running"),
    ("origin on hold", intent(), receipt(deposit="SUCCEEDED", origin="ON_HOLD"), "executing.origin_running"),
    (
        "relayer retries",
        intent(),
        receipt(deposit="SUCCEEDED", origin="ERRORED", destination="ON_HOLD"),
        "executing.retrying",
    ),
    (
        "crossing",
        intent(),
        receipt(deposit="SUCCEEDED", origin="SUCCEEDED", summary=summary(started_at=before(seconds=5))),
        "executing.crossing",
    ),
    (
        "crossing, due and not late",
        intent(),
        receipt(deposit="SUCCEEDED", origin="SUCCEEDED", destination="ON_HOLD", summary=DUE),
        "executing.crossing",
    ),
    (
        "crossing late",
        intent(),
        receipt(deposit="SUCCEEDED", origin="SUCCEEDED", destination="ON_HOLD", summary=LATE),
        "executing.crossing_late",
    ),
    (
        "crossing slowly",
        intent(),
        receipt(deposit="SUCCEEDED", origin="SUCCEEDED", destination="ON_HOLD", summary=LATE_CCTP),
        "executing.crossing_slow",
    ),
    (
        "unknown status on the destination",
        intent(),
        receipt(deposit="SUCCEEDED", origin="SUCCEEDED", destination="QUEUED", summary=LATE),
        "executing.crossing_late",
    ),
    (
        "last step",
        intent(),
        receipt(deposit="SUCCEEDED", origin="SUCCEEDED", destination="MINING"),
        "executing.destination_running",
    ),
    (
        "delivered, not marked",
        intent(),
        receipt(deposit="SUCCEEDED", origin="SUCCEEDED", destination="SUCCEEDED"),
        "executing.finalising",
    ),
    (
        "delivered, an earlier step failed",
        intent(),
        receipt(**{**ARRIVED, "origin": "FAILED"}),
        "executing.delivered_fault",
    ),
    ("delivered and returned", intent(), receipt(**ARRIVED, refund="SUCCEEDED"), "reported.both"),
    ("failed, delivered and returned", intent(), receipt("FAILED", **ARRIVED, refund="MINING"), "reported.both"),
    ("refunded, and delivered", intent(), receipt("REFUNDED", **ARRIVED), "reported.both"),
    ("delivered, return failed", intent(), receipt("SUCCEEDED", refund="FAILED"), "reported.return_failed"),
    (
        "stalled",
        intent(),
        receipt(
            deposit=transaction("SUCCEEDED", **STALE),
            origin=transaction("SUCCEEDED", **STALE),
            destination=transaction("ON_HOLD", **STALE),
            **STALE,
        ),
        "executing.stalled",
    ),
    (
        "stalled after a step that failed",
        intent(),
        receipt(deposit=transaction("SUCCEEDED", **STALE), origin=transaction("REVERTED", **STALE), **STALE),
        "executing.stalled",
    ),
    (
        "origin reverted, nothing said",
        intent(),
        receipt(deposit="SUCCEEDED", origin="REVERTED"),
        "executing.step_failed",
    ),
    (
        "refund on its way",
        intent(),
        receipt("FAILED", deposit="SUCCEEDED", origin="REVERTED", refund="MINING"),
        "executing.refunding",
    ),
    (
        "same chain, done",
        intent(),
        receipt("SUCCEEDED", destination_chain_id=ARBITRUM, summary=DELIVERED),
        "succeeded.same_chain",
    ),
    ("two chains, done", intent(), receipt("SUCCEEDED", summary=DELIVERED), "succeeded.cross_chain"),
    (
        "paid to a merchant",
        intent(),
        receipt("SUCCEEDED", summary=summary(destination_to_address=MERCHANT)),
        "succeeded.payment",
    ),
    ("done with nulls", intent(), receipt("SUCCEEDED"), "succeeded.amount_unknown"),
    ("done, last step not confirmed", intent(), receipt("SUCCEEDED", destination="RELAYED"), "succeeded.unconfirmed"),
    ("done, last step strange", intent(), receipt("SUCCEEDED", destination="QUEUED"), "succeeded.unconfirmed"),
    ("done, a step failed", intent(), receipt("SUCCEEDED", origin="FAILED"), "succeeded.contradiction"),
    ("done and returned", intent(), receipt("SUCCEEDED", refund="SUCCEEDED"), "succeeded.returned"),
    ("deposit reverted", intent(), receipt("FAILED", deposit="REVERTED", origin="ABORTED"), "failed.deposit"),
    (
        "origin reverted",
        intent(),
        receipt("FAILED", deposit="SUCCEEDED", origin="REVERTED", destination="ABORTED"),
        "failed.origin_pending_refund",
    ),
    (
        "destination failed",
        intent(),
        receipt("FAILED", deposit="SUCCEEDED", origin="SUCCEEDED", destination="FAILED"),
        "failed.destination_pending_refund",
    ),
    (
        "refund failed",
        intent(),
        receipt("FAILED", deposit="SUCCEEDED", origin="FAILED", refund="FAILED"),
        "failed.refund_failed",
    ),
    (
        "failed but delivered",
        intent(),
        receipt("FAILED", deposit="SUCCEEDED", origin="SUCCEEDED", destination="SUCCEEDED"),
        "failed.delivered",
    ),
    (
        "origin reverted, nothing came back",
        intent(),
        receipt("FAILED", deposit=transaction("SUCCEEDED", **OLD), origin=transaction("REVERTED", **OLD), **OLD),
        "failed.origin_overdue",
    ),
    (
        "destination failed, nothing came back",
        intent(),
        receipt("FAILED", origin=transaction("SUCCEEDED", **OLD), destination=transaction("FAILED", **OLD), **OLD),
        "stopped.last_step_overdue",
    ),
    (
        "return stuck",
        intent(),
        receipt("FAILED", origin=transaction("REVERTED", **OLD), refund=refund("MINING", **OLD), **OLD),
        "executing.refunding_overdue",
    ),
    (
        "payment not counted",
        intent(),
        receipt("FAILED", deposit=transaction("FAILED", txn_hash=PLACEHOLDER), origin="ABORTED"),
        "failed.deposit_not_counted",
    ),
    (
        "invalid, payment not counted",
        intent(),
        receipt("INVALID", deposit=transaction("FAILED", txn_hash=PLACEHOLDER)),
        "invalid.with_payment",
    ),
    ("failed after the payment", intent(), receipt("FAILED", deposit="SUCCEEDED"), "failed.after_payment"),
    (
        "failed, the payment as well, and yet a step is on its way",
        intent(),
        receipt("FAILED", deposit="REVERTED", origin="MINING"),
        "failed.after_payment",
    ),
    ("aborted, and yet a step is on its way", intent(), receipt("ABORTED", origin="MINING"), "aborted.after_payment"),
    ("invalid, and yet a step is on its way", intent(), receipt("INVALID", origin="MINING"), "invalid.with_payment"),
    (
        "failed on one chain, its step confirmed",
        intent(),
        receipt("FAILED", origin="SUCCEEDED", destination_chain_id=ARBITRUM),
        "stopped.no_trace",
    ),
    ("failed in the bridge", intent(), receipt("FAILED", origin="SUCCEEDED", destination="ABORTED"), "stopped.midway"),
    ("failed without a trace", intent(), receipt("FAILED"), "failed.no_trace"),
    ("failed without a receipt", intent("FAILED"), None, "receipt.missing"),
    ("aborted without a receipt", intent("ABORTED"), None, "receipt.missing"),
    ("refunded without a receipt", intent("REFUNDED"), None, "receipt.missing"),
    ("succeeded without a receipt", intent("SUCCEEDED"), None, "receipt.missing"),
    ("failed, return confirmed", intent(), receipt("FAILED", refund="SUCCEEDED"), "reported.returned"),
    ("refunded at home", intent(), receipt("REFUNDED", refund="SUCCEEDED"), "refunded.origin"),
    (
        "refunded on the other side",
        intent(),
        receipt("REFUNDED", refund=refund("SUCCEEDED", chain_id=BASE)),
        "refunded.destination",
    ),
    ("refunded inside the transaction", intent(), receipt("REFUNDED", origin="FAILED"), "refunded.no_tx"),
    ("refunded, still mining", intent(), receipt("REFUNDED", refund="MINING"), "refunded.unconfirmed"),
    ("refunded, the return failed", intent(), receipt("REFUNDED", refund="FAILED"), "refunded.failed"),
    ("failed, returned to somebody else", intent(), FAILED_ELSEWHERE, "refunded.elsewhere"),
    (
        "refunded to somebody else",
        intent(),
        receipt("REFUNDED", refund=refund("SUCCEEDED", to_address=MERCHANT)),
        "refunded.elsewhere",
    ),
    (
        "refunded on a third chain",
        intent(),
        receipt("REFUNDED", refund=refund("SUCCEEDED", chain_id=10)),
        "refunded.elsewhere",
    ),
    (
        "signed, then aborted",
        intent(),
        receipt("ABORTED", deposit=transaction("PENDING", txn_hash=None, meta_txn_id="8f0c")),
        "aborted.payment_reported",
    ),
    ("nobody paid", intent(), receipt("ABORTED", deposit="ABORTED", origin="ABORTED"), "aborted.nothing_moved"),
    ("aborted by the owner", intent(), receipt("ABORTED", deposit="SUCCEEDED"), "aborted.after_payment"),
    (
        "too little was paid",
        intent(),
        receipt("ABORTED", deposit=transaction("FAILED", txn_hash=PLACEHOLDER)),
        "aborted.payment_reported",
    ),
    ("rejected", intent("INVALID"), None, "invalid.nothing_moved"),
    ("payment not found", intent(), receipt("INVALID", deposit="FAILED"), "invalid.with_payment"),
    ("a status of tomorrow", intent("HALTED"), None, "unknown.status"),
    ("no status", intent(None), None, "unknown.status"),
    ("nothing at all", None, None, "unknown.status"),
]


@pytest.mark.parametrize(("of_intent", "of_receipt", "key"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
def test_the_row_that_decides(of_intent, of_receipt, key):
    assert story(of_intent, of_receipt).key == key


ADDRESSES = {"origin_intent_address": "0x0d", "destination_intent_address": "0x0e"}


def held(chain_id, value=79_712_345, *, token=None, address=None, **members) -> tuple[BalanceGroup, ...]:
    token = token or (USDC if chain_id == ARBITRUM else USDC_ON_BASE)
    address = address or ("0x0d" if chain_id == ARBITRUM else "0x0e")
    of_token = TokenBalance(balance=value, decimals=6, symbol="USDC", contract_address=token, **members)
    return (BalanceGroup(intent_address=address, chain_id=chain_id, tokens=(of_token,)),)


HELD, HELD_ON_BASE, NOTHING = held(ARBITRUM), held(BASE), ()
PAID = {"deposit": "SUCCEEDED"}
CROSSED = {**PAID, "origin": "SUCCEEDED"}
ONE_CHAIN = {"destination_chain_id": ARBITRUM}
FAILED_ABROAD = receipt("FAILED", **CROSSED, destination="FAILED")
BALANCES = [
    ("quoted", receipt("QUOTED"), HELD, "quoted.funded"),
    ("committed", receipt("COMMITTED"), HELD, "committed.funded"),
    ("paid, not started, gone", receipt("COMMITTED", **PAID), NOTHING, "offer.emptied"),
    ("too little", WATCHING, HELD, "executing.underpaid"),
    ("another token", WATCHING, held(ARBITRUM, 10**9, token=MERCHANT), "executing.underpaid"),
    ("enough", WATCHING, held(ARBITRUM, 100_000_000), "executing.uncounted"),
    ("enough, reported and not confirmed", receipt(deposit="MINING"), held(ARBITRUM, 10**9), "executing.uncounted"),
    (
        "come over, not seen yet",
        receipt(**CROSSED),
        HELD_ON_BASE,
        "executing.destination_running",
    ),
    ("confirmed, and still there", receipt(**ARRIVED, summary=DELIVERED), HELD_ON_BASE, "reported.undelivered"),
    ("paid twice", receipt("SUCCEEDED", summary=DELIVERED), HELD, "succeeded.leftover"),
    ("a remainder", receipt("SUCCEEDED", summary=DELIVERED), held(BASE, 10**6), "succeeded.leftover"),
    ("done, and still there", receipt("SUCCEEDED", summary=DELIVERED), HELD_ON_BASE, "reported.undelivered"),
    ("done, amount unknown, still there", receipt("SUCCEEDED"), HELD_ON_BASE, "reported.undelivered"),
    ("done, not confirmed", receipt("SUCCEEDED", destination="MINING"), HELD, "reported.undelivered"),
    ("failed, delivered, still there", receipt("FAILED", **ARRIVED), HELD_ON_BASE, "reported.undelivered"),
    ("failed at home", receipt("FAILED", **PAID, origin="FAILED"), HELD, "failed.origin_recoverable"),
    (
        "failed abroad",
        FAILED_ABROAD,
        HELD_ON_BASE,
        "failed.destination_recoverable",
    ),
    ("failed in the bridge", receipt("FAILED", **CROSSED), HELD_ON_BASE, "failed.destination_recoverable"),
    ("failed, nothing recorded", receipt("FAILED"), HELD, "stopped.uncounted"),
    ("failed, payment rejected", receipt("FAILED", deposit="REVERTED"), HELD, "stopped.uncounted"),
    ("failed, come back by itself", receipt("FAILED", **CROSSED), HELD, "stopped.balance_elsewhere"),
    ("failed at home, empty", receipt("FAILED", **PAID, origin="FAILED"), NOTHING, "stopped.emptied"),
    ("failed abroad, empty", FAILED_ABROAD, NOTHING, "stopped.emptied"),
    ("failed on one chain", receipt("FAILED", **CROSSED, **ONE_CHAIN), HELD, "failed.origin_recoverable"),
    ("return failed, empty", receipt("FAILED", **PAID, refund="FAILED"), NOTHING, "failed.refund_gone"),
    ("refunded, return failed, empty", receipt("REFUNDED", **PAID, refund="FAILED"), NOTHING, "failed.refund_gone"),
    ("refunded, a rest", receipt("REFUNDED", refund="SUCCEEDED"), HELD, "refunded.leftover"),
    ("refunded without a trace, still there", receipt("REFUNDED", origin="FAILED"), HELD, "refunded.held"),
    ("aborted", receipt("ABORTED", **PAID), HELD, "aborted.recoverable"),
    ("aborted, not counted", receipt("ABORTED", deposit="FAILED"), HELD, "stopped.uncounted"),
    ("aborted, empty", receipt("ABORTED", **PAID), NOTHING, "aborted.deposit_seen"),
    ("invalid", receipt("INVALID"), HELD, "invalid.recoverable"),
    ("invalid after the payment, empty", receipt("INVALID", **PAID), NOTHING, "stopped.emptied"),
]


@pytest.mark.parametrize(
    ("of_receipt", "balances", "key"), [row[1:] for row in BALANCES], ids=[row[0] for row in BALANCES]
)
def test_a_known_balance_decides(of_receipt, balances, key):
    of_intent = intent(None, **ADDRESSES)
    assert story(of_intent, of_receipt, has_balance=bool(balances), balances=balances).key == key
    assert story(of_intent, of_receipt).key != key


def test_a_balance_of_which_only_the_existence_is_known_is_told_without_an_amount():
    told = story(None, receipt("ABORTED", deposit="SUCCEEDED"), has_balance=True)
    assert told.key == "aborted.recoverable"
    assert told.where.startswith("At the deposit or delivery address on Arbitrum or Base. Only")
    assert told.place == Place.UNKNOWN
    assert told.located.finding == "On chain: some money at the deposit or delivery address on Arbitrum or Base."


def test_rows_that_no_state_of_a_step_decides_are_among_these_cases():
    chosen = {row[-1] for row in [*CASES, *BALANCES]} | {"notfound", "stale", "receipt.unread"}
    assert chosen >= BY_OTHER_FACTS


FOUND = [
    ("nobody looked", receipt(**PAID), None, NOTHING, Check.UNCHECKED, ""),
    ("as the steps say", receipt(**PAID), True, HELD, Check.AGREES, "79.7123 USDC at the deposit address on Arbitrum."),
    ("in the bridge", receipt(**CROSSED), False, NOTHING, Check.AGREES, "or the delivery address on Base."),
    ("empty, and should not be", receipt(**PAID), False, NOTHING, Check.DIFFERS, "it may have moved on since."),
    ("ahead of the steps", WATCHING, True, HELD, Check.DIFFERS, "By the steps it had not come so far."),
    ("behind the steps", receipt(**CROSSED), True, HELD, Check.DIFFERS, "By the steps it had gone on from there."),
    ("beside a delivery", receipt("SUCCEEDED"), True, HELD, Check.DIFFERS, "it had gone on from there."),
    ("beside a return", receipt("REFUNDED"), True, HELD, Check.DIFFERS, "it had gone on from there."),
    ("returned", receipt("REFUNDED"), False, NOTHING, Check.AGREES, "or the delivery address on Base."),
    ("on its way back", receipt(**PAID, refund="MINING"), True, HELD, Check.AGREES, "on Arbitrum."),
    ("on its way back, gone", receipt(**PAID, refund="MINING"), False, NOTHING, Check.AGREES, "on Base."),
    ("on one chain", receipt("FAILED", **CROSSED, **ONE_CHAIN), True, HELD, Check.AGREES, "on Arbitrum."),
    ("of no receipt", None, True, HELD, Check.ALONE, "79.7123 USDC at the deposit address on Arbitrum."),
]


@pytest.mark.parametrize(
    ("of_receipt", "has_balance", "balances", "check", "finding"),
    [row[1:] for row in FOUND],
    ids=[row[0] for row in FOUND],
)
def test_the_chains_are_compared_with_the_steps(of_receipt, has_balance, balances, check, finding):
    of_intent = intent("FAILED" if of_receipt is None else None, **ADDRESSES)
    located = story(of_intent, of_receipt, has_balance=has_balance, balances=balances, checked_at=NOW).located
    assert located.check == check
    assert finding in located.finding
    assert located.checked_at == (None if check is Check.UNCHECKED else NOW)


OTHER_TOKEN = transaction("SUCCEEDED", token_amount=100_000_001, token_address=MERCHANT)
TWO_PROVIDERS = summary(route_providers=("ZEROX", "RELAY"))
QUOTE = {"quote": IntentProviderQuote(to_amount=99_910_000, route_providers=("RELAY",)), **ADDRESSES}
AMOUNTS = [
    ("to be paid", receipt("QUOTED"), NOTHING, "100.00 USDC"),
    ("paid", receipt(deposit=transaction("SUCCEEDED", token_amount=100_000_001)), NOTHING, "100.00 USDC"),
    (
        "paid in another token",
        receipt(deposit=OTHER_TOKEN),
        NOTHING,
        "100,000,001 base units (not on the service's list: 0x51aa07…00C2d4)",
    ),
    ("in the bridge", receipt(**CROSSED), NOTHING, "about 100.00 USDC"),
    (
        "between a swap and a bridge",
        receipt(**CROSSED, summary=TWO_PROVIDERS),
        NOTHING,
        "",
    ),
    ("come over", receipt(**CROSSED, destination="MINING"), NOTHING, "about 99.91 USDC"),
    ("delivered", receipt("SUCCEEDED", summary=DELIVERED), NOTHING, "99.91 USDC"),
    ("delivered, not reported", receipt("SUCCEEDED"), NOTHING, "about 99.91 USDC"),
    ("returned", receipt("REFUNDED", refund="SUCCEEDED"), NOTHING, "99.50 USDC"),
    ("returned, not reported", receipt("REFUNDED", refund=refund("SUCCEEDED", token_amount=None)), NOTHING, ""),
    ("seen on the chain", receipt("FAILED", **PAID), HELD, "79.7123 USDC"),
    ("nobody knows where", receipt("FAILED"), NOTHING, ""),
]


@pytest.mark.parametrize(
    ("of_receipt", "balances", "amount"), [row[1:] for row in AMOUNTS], ids=[row[0] for row in AMOUNTS]
)
def test_how_much_is_there(of_receipt, balances, amount):
    located = story(intent(None, **QUOTE), of_receipt, has_balance=bool(balances) or None, balances=balances).located
    assert located.amount == amount
    assert located.is_estimate == amount.startswith("about")
    assert (located.money is None) == (amount == "")


def test_several_tokens_and_several_addresses_are_all_named_the_most_valuable_first():
    small = held(ARBITRUM, 10**6, balance_usd=Decimal(1))
    tokens = held(BASE, 5 * 10**6, balance_usd=Decimal(5))[0].tokens + held(BASE, 7 * 10**6, token=MERCHANT)[0].tokens
    large = (BalanceGroup(intent_address="0x0e", chain_id=BASE, tokens=tokens),)
    told = story(intent(None, **ADDRESSES), receipt("ABORTED", **CROSSED), has_balance=True, balances=small + large)
    assert told.place == Place.DELIVERY_ADDRESS
    assert told.where.startswith(
        "At the delivery address on Base: 5.00 USDC and 7.00 USDC (not on the service's list: 0x51aa07…00C2d4)."
    )
    assert told.located.amount == ""
    assert told.located.finding.startswith(
        "On chain: 5.00 USDC and 7.00 USDC (not on the service's list: 0x51aa07…00C2d4) "
        "at the delivery address on Base; "
        "1.00 USDC at the deposit address on Arbitrum."
    )


def test_a_balance_at_an_address_that_is_not_the_transfers_is_shown_with_that_address():
    elsewhere = held(10, address=MERCHANT)
    told = story(intent(None, **ADDRESSES), receipt("ABORTED", **PAID), has_balance=True, balances=elsewhere)
    assert told.place == Place.UNKNOWN
    assert told.where.startswith("At the address 0x51aa07…00C2d4 on Chain 10: 79.7123 USDC.")
    assert told.located.finding.startswith("On chain: 79.7123 USDC at the address 0x51aa07…00C2d4 on Chain 10.")


def test_the_chain_of_a_balance_may_be_told_by_its_token_and_never_by_a_zero():
    by_token = (BalanceGroup(tokens=(TokenBalance(balance=1, chain_id=BASE),)),)
    by_group = (BalanceGroup(chain_id=BASE, tokens=(TokenBalance(balance=1, chain_id=0),)),)
    for balances in (by_token, by_group):
        told = story(None, receipt("ABORTED", **CROSSED), has_balance=True, balances=balances)
        assert told.place == Place.DELIVERY_ADDRESS


@pytest.mark.parametrize("status", [*IntentStatus, "HALTED"])
def test_a_receipt_that_could_not_be_read_is_not_told_as_nothing_that_happened(status):
    told = story(intent(status, expires_at=before(minutes=1)), unread=True)
    assert told.key == "receipt.unread"
    assert told.headline.startswith("Status: ")
    assert told.headline != "Status: Offer expired"
    assert told.sentence == "How far it came is not known just now."
    assert told.next == "Wait a minute and try again. Do not pay again."
    assert told.place == Place.UNKNOWN


def test_a_receipt_that_was_read_is_told_whatever_was_said_of_it():
    assert story(intent(), receipt(deposit="SUCCEEDED"), unread=True).key == "executing.origin_running"


def test_a_status_of_execution_without_a_receipt_is_a_contradiction():
    told = story(intent("ABORTED"))
    assert told.headline == "Reported as Aborted, without any steps"
    assert "do not match" in told.sentence
    assert story(intent("ABORTED"), has_balance=True, balances=HELD).key == "aborted.recoverable"


FAILED_REFUND = {chain: refund("FAILED", chain_id=chain) for chain in (ARBITRUM, BASE, 10)}
WHERE = [
    ("owner", intent("QUOTED"), None, {}, Place.OWNER, (OWNER, ARBITRUM)),
    ("deposit", intent(), receipt(deposit="SUCCEEDED"), {}, Place.DEPOSIT_ADDRESS, ("0x0d", ARBITRUM)),
    ("bridge", intent(), receipt(origin="SUCCEEDED"), {}, Place.PROVIDER, (None, None)),
    ("delivery", intent(), receipt(destination="MINING"), {}, Place.DELIVERY_ADDRESS, ("0x0e", BASE)),
    ("recipient", intent(), receipt("SUCCEEDED"), {}, Place.RECIPIENT, (OWNER, BASE)),
    (
        "merchant",
        intent(),
        receipt("SUCCEEDED", summary=summary(destination_to_address=MERCHANT)),
        {},
        Place.RECIPIENT,
        (MERCHANT, BASE),
    ),
    (
        "returned abroad",
        intent(),
        receipt("REFUNDED", refund=refund("SUCCEEDED", chain_id=BASE)),
        {},
        Place.RETURNED,
        (OWNER, BASE),
    ),
    ("on its way back", intent(), receipt("FAILED", refund="MINING"), {}, Place.RETURNING, (None, None)),
    (
        "return failed at home",
        intent(),
        receipt("FAILED", deposit="SUCCEEDED", origin="FAILED", refund=FAILED_REFUND[ARBITRUM]),
        {},
        Place.DEPOSIT_ADDRESS,
        ("0x0d", ARBITRUM),
    ),
    (
        "return failed abroad",
        intent(),
        receipt("FAILED", origin="SUCCEEDED", destination="FAILED", refund=FAILED_REFUND[BASE]),
        {},
        Place.DELIVERY_ADDRESS,
        ("0x0e", BASE),
    ),
    (
        "return failed elsewhere",
        intent(),
        receipt("FAILED", deposit="SUCCEEDED", origin="FAILED", refund=FAILED_REFUND[10]),
        {},
        Place.UNKNOWN,
        (None, None),
    ),
    (
        "stopped, held at home",
        intent(),
        receipt("ABORTED", deposit="SUCCEEDED"),
        {"has_balance": True, "balances": HELD},
        Place.DEPOSIT_ADDRESS,
        ("0x0d", ARBITRUM),
    ),
    (
        "stopped, held abroad",
        intent(),
        receipt("ABORTED", deposit="SUCCEEDED"),
        {"has_balance": True, "balances": HELD_ON_BASE},
        Place.DELIVERY_ADDRESS,
        ("0x0e", BASE),
    ),
    ("reported, not confirmed", intent(), receipt("ABORTED", deposit="MINING"), {}, Place.UNKNOWN, (None, None)),
]


@pytest.mark.parametrize(
    ("of_intent", "of_receipt", "more", "place", "address"), [row[1:] for row in WHERE], ids=[row[0] for row in WHERE]
)
def test_where_the_money_is_has_an_address(of_intent, of_receipt, more, place, address):
    told = story(of_intent.model_copy(update=ADDRESSES), of_receipt, **more)
    assert told.place == place
    assert (told.address, told.address_chain_id) == address


def test_a_return_that_failed_names_the_address_by_its_side():
    at_home = receipt("FAILED", deposit="SUCCEEDED", origin="FAILED", refund=FAILED_REFUND[ARBITRUM])
    abroad = receipt("FAILED", origin="SUCCEEDED", destination="FAILED", refund=FAILED_REFUND[BASE])
    assert story(None, at_home).where == "At the deposit address on Arbitrum."
    assert story(None, abroad).where == "At the delivery address on Base."


def test_a_return_that_does_not_come_is_not_waited_for():
    late = {"updated_at": NOW - patience.RETURN}
    legs = {"deposit": transaction("SUCCEEDED", **late), "origin": transaction("REVERTED", **late)}
    told = story(None, receipt("FAILED", **legs, **late))
    assert told.sentence.endswith("No return was seen in 15 min.")
    assert "Wait" not in told.next


def test_a_crossing_past_its_estimate_is_not_expected_in_the_past():
    told = story(intent(), receipt(deposit="SUCCEEDED", origin="SUCCEEDED", destination="ON_HOLD", summary=DUE))
    assert told.headline == "Crossing to Base"
    assert told.next == "Wait. Do not pay again. It was expected by 14:02:12 UTC and is not late yet."


def test_a_refund_abroad_in_words():
    told = story(intent(), receipt("REFUNDED", refund=refund("SUCCEEDED", chain_id=BASE)))
    assert told.headline == "Returned on Base"
    assert told.where == "In the owner wallet on Base: 99,500,000 base units."
    assert told.tone == Tone.ATTENTION
    assert told.who == Who.NOBODY


def test_a_refund_at_home_in_words():
    told = story(intent(), receipt("REFUNDED", refund="SUCCEEDED"))
    assert told.where == "In the owner wallet on Arbitrum: 99.50 USDC."


def test_an_open_offer_has_a_deadline():
    told = story(intent("QUOTED"))
    assert "until 14:06:11 UTC" in told.sentence
    assert told.deadline == NOW + timedelta(minutes=3)


def test_a_crossing_says_until_when_to_wait():
    told = story(intent(), receipt(deposit="SUCCEEDED", origin="SUCCEEDED", destination="ON_HOLD", summary=LATE_CCTP))
    assert told.headline == "Crossing takes longer than expected"
    assert "CCTP can take up to 30 min" in told.sentence
    assert told.next == "Wait until 14:32:51 UTC. Do not pay again. If nothing has changed by then, contact support."
    assert told.place == Place.PROVIDER


def test_a_stalled_transfer_says_for_how_long():
    stale = transaction("SUCCEEDED", **STALE)
    told = story(None, receipt(deposit=stale, origin=stale, **STALE))
    assert told.headline == "No progress for 1 h"
    assert told.where == "Inside the bridge, between Arbitrum and Base."


def test_an_amount_that_was_not_reported_is_not_made_up():
    quoted = intent(quote=IntentProviderQuote(to_amount=99_910_000))
    assert story(quoted, receipt("SUCCEEDED")).sentence.endswith("delivered; about 99.91 USDC was expected.")
    assert story(None, receipt("SUCCEEDED")).sentence.endswith("the exact amount delivered.")


def test_a_status_of_tomorrow_is_shown_as_it_came():
    assert story(intent("HALTED")).headline == "Status not known to this page: HALTED"
    assert story(intent("\u202eX")).headline.endswith("⟨U+202E⟩X")
    assert story(intent("{owner}")).headline.endswith("{owner}")
    assert story(intent("HALTED")).tone == Tone.NEUTRAL


@pytest.mark.parametrize("row", EXPLANATIONS.values(), ids=EXPLANATIONS)
def test_no_row_promises_or_despairs(row):
    words = " ".join((row.headline, row.sentence, row.where, row.next)).lower()
    assert "transfer address" not in words
    assert "address below" not in words
    assert not re.search(r"\b(safe|lost|intent\b(?! id)|calldata|precondition)\b", words)
    assert row.contact or row.who in (Who.NOBODY, Who.PAYER)


STATUSES = st.one_of(st.none(), st.sampled_from([*TransactionStatus]), st.text(st.characters(), max_size=5))
MOMENTS = st.one_of(st.none(), st.datetimes(timezones=st.just(NOW.tzinfo)))
TRANSACTIONS = st.one_of(
    st.none(), st.builds(transaction, STATUSES, updated_at=MOMENTS, chain_id=st.sampled_from([None, 0, ARBITRUM]))
)


@given(
    st.one_of(st.none(), st.builds(intent, STATUSES, expires_at=MOMENTS, updated_at=MOMENTS)),
    st.one_of(
        st.none(),
        st.builds(
            receipt,
            STATUSES,
            deposit=TRANSACTIONS,
            origin=TRANSACTIONS,
            destination=TRANSACTIONS,
            refund=TRANSACTIONS,
            summary=st.one_of(st.none(), st.builds(summary, started_at=MOMENTS)),
            destination_chain_id=st.sampled_from([None, ARBITRUM, BASE]),
        ),
    ),
    st.sampled_from([None, False, True]),
)
def test_no_combination_of_gaps_is_without_an_answer(of_intent, of_receipt, has_balance):
    told = story(of_intent, of_receipt, has_balance=has_balance)
    assert told.headline
    assert told.where
    assert told.next


def test_bare_objects_have_an_answer():
    for status in IntentStatus:
        assert story(Intent(intent_id="x", status=status), None).headline
        assert story(None, IntentReceipt(intent_id="x", status=status)).headline
