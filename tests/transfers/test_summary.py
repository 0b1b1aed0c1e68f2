import re
from datetime import timedelta
from decimal import Decimal

import pytest

from intents_ui.service.models import (
    BalanceGroup,
    IntentProviderQuote,
    IntentStatus,
    TokenBalance,
)
from intents_ui.transfers import summary as summaries
from intents_ui.transfers.rules import MESSAGES, SECOND_DEPOSIT, Actor, Attention, Cause, Certainty
from intents_ui.transfers.statuses import Tone
from intents_ui.transfers.summary import CHECKING, CHECKING_NEXT, CHECKING_PLACE, NOT_CHECKED, Summary
from intents_ui.transfers.transfer import PENDING, RETURN, UNCHECKED, Balances, Check, Place, Transfer
from tests.transfers.builders import (
    ARBITRUM,
    BASE,
    MERCHANT,
    NOW,
    OWNER,
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
from tests.transfers.test_every_state import BY_OTHER_FACTS


def story(of_intent=None, of_receipt=None, **more) -> Summary:
    return summaries.of(at(of_intent, of_receipt, **more))


PLACEHOLDER = "0x" + "0" * 64
CONFIRMING = "executing.deposit_confirming"
WATCHED = transaction("PENDING", txn_hash=PLACEHOLDER)
STALE = {"updated_at": before(hours=1)}
OLD = {"updated_at": before(minutes=20)}
LATE = summary(started_at=before(minutes=5))
# Past the estimate of 15 seconds, within the grace period of a minute.
DUE = summary(started_at=before(seconds=74))
LATE_CCTP = summary(started_at=before(minutes=5), route_providers=("CCTP",))
DELIVERED = summary(destination_token_amount=99_910_000)

PAID = {"deposit": "SUCCEEDED"}
CROSSED = {**PAID, "origin": "SUCCEEDED"}
ARRIVED = {**CROSSED, "destination": "SUCCEEDED"}
ONE_CHAIN = {"destination_chain_id": ARBITRUM}
UNCOUNTED = transaction("FAILED", txn_hash=PLACEHOLDER)
SIGNED = transaction("PENDING", txn_hash=None, meta_txn_id="8f0c")
STALE_STEPS = {step: transaction("SUCCEEDED", **STALE) for step in ("deposit", "origin")}
ELSEWHERE = refund("SUCCEEDED", to_address=MERCHANT)
WATCHING = receipt(deposit=WATCHED, origin="ON_HOLD")

# The row of a situation, the receipt, and the intent if it has more to say than that it is executing.
CASES = [
    ("offer.funded_late", receipt("QUOTED", **PAID), intent("QUOTED", expires_at=before(minutes=1))),
    ("committed.funded", receipt("COMMITTED", **PAID), intent("COMMITTED")),
    (CONFIRMING, receipt("QUOTED", deposit="MINING"), intent("QUOTED")),
    ("executing.no_details", None, intent()),
    ("executing.no_details", receipt(deposit=transaction("QUEUED", txn_hash=PLACEHOLDER))),
    ("executing.wait_deposit_late", WATCHING, intent(expires_at=before(minutes=1))),
    (
        "executing.stalled",
        receipt(deposit=transaction("PENDING", txn_hash=PLACEHOLDER, **STALE), **STALE, summary=None),
        intent(expires_at=None),
    ),
    ("executing.stalled", None, intent(updated_at=before(hours=1))),
    (CONFIRMING, receipt(deposit=SIGNED, origin="ON_HOLD")),
    (CONFIRMING, receipt("COMMITTED", deposit="PENDING"), intent("COMMITTED")),
    ("executing.late", receipt(deposit="MINING", origin="ON_HOLD", summary=LATE)),
    ("executing.late", receipt(**PAID, origin="RELAYING", summary=LATE)),
    ("executing.crossing", receipt(**CROSSED, destination="ON_HOLD", summary=DUE)),
    ("executing.crossing_slow", receipt(**CROSSED, destination="ON_HOLD", summary=LATE_CCTP)),
    ("executing.late", receipt(**CROSSED, destination="QUEUED", summary=LATE)),
    ("executing.finalising", receipt(**ARRIVED)),
    ("executing.delivered_fault", receipt(**{**ARRIVED, "origin": "FAILED"})),
    ("reported.both", receipt(**ARRIVED, refund="SUCCEEDED")),
    ("reported.both", receipt("FAILED", **ARRIVED, refund="MINING")),
    ("reported.both", receipt("REFUNDED", **ARRIVED)),
    ("reported.return_failed", receipt("SUCCEEDED", refund="FAILED")),
    ("executing.stalled", receipt(**{**STALE_STEPS, "origin": transaction("REVERTED", **STALE)}, **STALE)),
    ("succeeded.payment", receipt("SUCCEEDED", summary=summary(destination_to_address=MERCHANT))),
    ("succeeded.amount_unknown", receipt("SUCCEEDED")),
    ("succeeded.unconfirmed", receipt("SUCCEEDED", destination="RELAYED")),
    ("succeeded.unconfirmed", receipt("SUCCEEDED", destination="QUEUED")),
    ("succeeded.contradiction", receipt("SUCCEEDED", origin="FAILED")),
    ("succeeded.returned", receipt("SUCCEEDED", refund="SUCCEEDED")),
    (
        "executing.refunding_overdue",
        receipt("FAILED", origin=transaction("REVERTED", **OLD), refund=refund("MINING", **OLD), **OLD),
    ),
    ("failed.deposit_not_counted", receipt("FAILED", deposit=UNCOUNTED, origin="ABORTED")),
    ("invalid.with_payment", receipt("INVALID", deposit=UNCOUNTED)),
    ("failed.after_payment", receipt("FAILED", **PAID)),
    ("failed.after_payment", receipt("FAILED", deposit="REVERTED", origin="MINING")),
    ("aborted.after_payment", receipt("ABORTED", origin="MINING")),
    ("invalid.with_payment", receipt("INVALID", origin="MINING")),
    ("stopped.no_trace", receipt("FAILED", origin="SUCCEEDED", **ONE_CHAIN)),
    ("stopped.midway", receipt("FAILED", origin="SUCCEEDED", destination="ABORTED")),
    ("failed.no_trace", receipt("FAILED")),
    *(("receipt.missing", None, intent(status)) for status in ("FAILED", "ABORTED", "REFUNDED", "SUCCEEDED")),
    ("reported.returned", receipt("FAILED", refund="SUCCEEDED")),
    ("refunded.origin", receipt("REFUNDED", refund="SUCCEEDED", **ONE_CHAIN)),
    ("refunded.unconfirmed", receipt("REFUNDED", refund="MINING")),
    ("refunded.failed", receipt("REFUNDED", refund="FAILED")),
    ("refunded.elsewhere", receipt("FAILED", refund=ELSEWHERE)),
    ("refunded.elsewhere", receipt("REFUNDED", refund=ELSEWHERE)),
    ("refunded.elsewhere", receipt("REFUNDED", refund=refund("SUCCEEDED", chain_id=10))),
    ("aborted.payment_reported", receipt("ABORTED", deposit=SIGNED)),
    ("aborted.payment_reported", receipt("ABORTED", deposit=UNCOUNTED)),
    ("invalid.with_payment", receipt("INVALID", deposit="FAILED")),
    ("unknown.status", None, intent("HALTED")),
    ("unknown.status", None, intent(None)),
    ("unknown.status", None, None),
]


@pytest.mark.parametrize("case", CASES, ids=[key for key, *_ in CASES])
def test_each_situation_chooses_its_row(case):
    key, of_receipt, of_intent = case if len(case) > 2 else (*case, intent())
    assert story(of_intent, of_receipt).key == key


ADDRESSES = {"origin_intent_address": "0x0d", "destination_intent_address": "0x0e"}


def held(chain_id, value=79_712_345, *, token=None, address=None, **members) -> tuple[BalanceGroup, ...]:
    token = token or (USDC if chain_id == ARBITRUM else USDC_ON_BASE)
    address = address or ("0x0d" if chain_id == ARBITRUM else "0x0e")
    of_token = TokenBalance(balance=value, decimals=6, symbol="USDC", contract_address=token, **members)
    return (BalanceGroup(intent_address=address, chain_id=chain_id, tokens=(of_token,)),)


HELD, HELD_ON_BASE, NOTHING = held(ARBITRUM), held(BASE), ()
BALANCES = named(
    ("quoted", receipt("QUOTED"), held(ARBITRUM, 100_000_000), "quoted.funded"),
    ("quoted, too little", receipt("QUOTED"), HELD, "offer.mismatch"),
    ("committed", receipt("COMMITTED"), held(ARBITRUM, 100_000_000), "committed.funded"),
    ("committed, another token", receipt("COMMITTED"), held(ARBITRUM, 10**9, token=MERCHANT), "offer.mismatch"),
    ("paid, not started, gone", receipt("COMMITTED", **PAID), NOTHING, "offer.emptied"),
    ("too little", WATCHING, HELD, "executing.underpaid"),
    ("another token", WATCHING, held(ARBITRUM, 10**9, token=MERCHANT), "executing.underpaid"),
    ("enough", WATCHING, held(ARBITRUM, 100_000_000), "executing.uncounted"),
    ("enough, reported and not confirmed", receipt(deposit="MINING"), held(ARBITRUM, 10**9), "executing.uncounted"),
    ("come over, not seen yet", receipt(**CROSSED), HELD_ON_BASE, "executing.arrived"),
    ("confirmed, and still there", receipt(**ARRIVED, summary=DELIVERED), HELD_ON_BASE, "reported.undelivered"),
    ("confirmed, and more left", receipt(**ARRIVED, summary=DELIVERED), HELD, "executing.leftover"),
    ("a remainder", receipt("SUCCEEDED", summary=DELIVERED), held(BASE, 10**6), "succeeded.leftover"),
    ("done, and still there", receipt("SUCCEEDED", summary=DELIVERED), HELD_ON_BASE, "reported.undelivered"),
    ("done, amount unknown, still there", receipt("SUCCEEDED"), HELD_ON_BASE, "reported.undelivered"),
    ("done, not confirmed", receipt("SUCCEEDED", destination="MINING"), HELD, "reported.undelivered"),
    ("failed, delivered, still there", receipt("FAILED", **ARRIVED), HELD_ON_BASE, "reported.undelivered"),
    ("failed at home", receipt("FAILED", **PAID, origin="FAILED"), HELD, "failed.origin_recoverable"),
    ("failed, nothing recorded", receipt("FAILED"), HELD, "stopped.uncounted"),
    ("failed, payment rejected", receipt("FAILED", deposit="REVERTED"), HELD, "stopped.uncounted"),
    ("failed, come back by itself", receipt("FAILED", **CROSSED), HELD, "stopped.balance_elsewhere"),
    ("failed on one chain", receipt("FAILED", **CROSSED, **ONE_CHAIN), HELD, "failed.origin_recoverable"),
    ("return failed, empty", receipt("FAILED", **PAID, refund="FAILED"), NOTHING, "failed.refund_gone"),
    ("refunded, return failed, empty", receipt("REFUNDED", **PAID, refund="FAILED"), NOTHING, "failed.refund_gone"),
    ("refunded, a rest", receipt("REFUNDED", refund="SUCCEEDED"), HELD, "refunded.leftover"),
    ("refunded without a trace, still there", receipt("REFUNDED", origin="FAILED"), HELD, "refunded.held"),
    ("aborted, not counted", receipt("ABORTED", deposit="FAILED"), HELD, "stopped.uncounted"),
    ("invalid", receipt("INVALID"), HELD, "invalid.recoverable"),
    ("invalid after the payment, empty", receipt("INVALID", **PAID), NOTHING, "stopped.emptied"),
)


@pytest.mark.parametrize(("of_receipt", "balances", "key"), BALANCES)
def test_a_known_balance_decides_the_message(of_receipt, balances, key):
    of_intent = intent(None, **ADDRESSES)
    assert story(of_intent, of_receipt, has_balance=bool(balances), balances=balances).key == key
    assert story(of_intent, of_receipt).key != key


def test_a_balance_without_a_reported_amount_is_shown_without_one():
    result = story(None, receipt("ABORTED", deposit="SUCCEEDED"), has_balance=True)
    assert result.key == "aborted.recoverable"
    assert result.location.startswith("At the intent address on Arbitrum or Base. Only")
    assert result.place == Place.UNKNOWN
    assert result.finding == "On-chain balances: an unknown amount at the intent address on Arbitrum or Base."


def test_rows_that_no_state_of_a_step_decides_are_among_these_cases():
    chosen = {key for key, *_ in CASES} | {case.values[-1] for case in BALANCES} | {"receipt.unread"}
    assert chosen >= BY_OTHER_FACTS


ELSEWHERE_NOW = "the funds moved on from there."
BOTH_EMPTY = "Both intent addresses are empty."
# The receipt, the balances or None if they weren't checked, and the end of what is said of both.
FOUND = named(
    ("ahead of the steps", WATCHING, HELD, "79.7123 USDC at the deposit address on Arbitrum."),
    ("behind the steps", receipt(**CROSSED), HELD, ELSEWHERE_NOW),
    ("beside a delivery", receipt("SUCCEEDED"), HELD, ELSEWHERE_NOW),
    ("beside a refund", receipt("REFUNDED"), HELD, ELSEWHERE_NOW),
    ("refunded", receipt("REFUNDED"), NOTHING, BOTH_EMPTY),
    ("refund pending", receipt(**PAID, refund="MINING"), HELD, "on Arbitrum."),
    ("refund sent", receipt(**PAID, refund="MINING"), NOTHING, BOTH_EMPTY),
    ("on one chain", receipt("FAILED", **CROSSED, **ONE_CHAIN), HELD, "on Arbitrum."),
    ("of no receipt", None, HELD, "79.7123 USDC at the deposit address on Arbitrum."),
)


@pytest.mark.parametrize(("of_receipt", "balances", "finding"), FOUND)
def test_the_chains_are_compared_with_the_steps(of_receipt, balances, finding):
    of_intent = intent("FAILED" if of_receipt is None else None, **ADDRESSES)
    has_balance = None if balances is None else bool(balances)
    found = story(of_intent, of_receipt, has_balance=has_balance, balances=balances, checked_at=NOW).finding
    assert found.endswith(finding)
    assert bool(found) == bool(finding)


OTHER_TOKEN = transaction("SUCCEEDED", token_amount=100_000_001, token_address=MERCHANT)
TWO_PROVIDERS = summary(route_providers=("ZEROX", "RELAY"))
QUOTE = {"quote": IntentProviderQuote(to_amount=99_910_000, route_providers=("RELAY",)), **ADDRESSES}
AMOUNTS = named(
    ("paid, not reported", receipt(deposit=transaction("SUCCEEDED")), NOTHING, "about 100.00 USDC"),
    (
        "paid in another token",
        receipt(deposit=OTHER_TOKEN),
        NOTHING,
        "100,000,001 base units (unlisted: 0x51aa07…00C2d4)",
    ),
    ("between a swap and a bridge", receipt(**CROSSED, summary=TWO_PROVIDERS), NOTHING, ""),
    ("delivered, not reported", receipt("SUCCEEDED"), NOTHING, "about 99.91 USDC"),
    ("returned, not reported", receipt("REFUNDED", refund=refund("SUCCEEDED", token_amount=None)), NOTHING, ""),
    ("nobody knows where", receipt("FAILED"), NOTHING, ""),
)


@pytest.mark.parametrize(("of_receipt", "balances", "amount"), AMOUNTS)
def test_the_deposit_address_balance_is_stated(of_receipt, balances, amount):
    result = story(intent(None, **QUOTE), of_receipt, has_balance=bool(balances) or None, balances=balances)
    assert result.amount == amount


def test_several_tokens_and_several_addresses_are_all_named_the_most_valuable_first():
    small = held(ARBITRUM, 10**6, balance_usd=Decimal(1))
    tokens = held(BASE, 5 * 10**6, balance_usd=Decimal(5))[0].tokens + held(BASE, 7 * 10**6, token=MERCHANT)[0].tokens
    large = (BalanceGroup(intent_address="0x0e", chain_id=BASE, tokens=tokens),)
    result = story(intent(None, **ADDRESSES), receipt("ABORTED", **CROSSED), has_balance=True, balances=small + large)
    assert result.place == Place.DELIVERY_ADDRESS
    assert result.location.startswith(
        "At the destination intent address on Base: 5.00 USDC and 7.00 USDC (unlisted: 0x51aa07…00C2d4)."
    )
    assert result.amount == ""
    assert result.finding.startswith(
        "On-chain balances: 5.00 USDC and 7.00 USDC (unlisted: 0x51aa07…00C2d4) "
        "at the destination intent address on Base and 1.00 USDC at the deposit address on Arbitrum."
    )


def test_a_balance_at_a_foreign_address_is_shown_with_that_address():
    elsewhere = held(10, address=MERCHANT)
    result = story(intent(None, **ADDRESSES), receipt("ABORTED", **PAID), has_balance=True, balances=elsewhere)
    assert result.place == Place.UNKNOWN
    assert result.location.startswith("At the address 0x51aa07…00C2d4 on Chain 10: 79.7123 USDC.")
    assert result.finding.startswith("On-chain balances: 79.7123 USDC at the address 0x51aa07…00C2d4 on Chain 10.")


def test_a_balances_chain_comes_from_its_token_unless_zero():
    by_token = (BalanceGroup(tokens=(TokenBalance(balance=1, chain_id=BASE),)),)
    by_group = (BalanceGroup(chain_id=BASE, tokens=(TokenBalance(balance=1, chain_id=0),)),)
    for balances in (by_token, by_group):
        result = story(None, receipt("ABORTED", **CROSSED), has_balance=True, balances=balances)
        assert result.place == Place.DELIVERY_ADDRESS


@pytest.mark.parametrize("status", [*IntentStatus, "HALTED"])
def test_an_unreadable_receipt_does_not_mean_that_nothing_happened(status):
    result = story(intent(status, expires_at=before(minutes=1)), unread=True)
    assert result.key == "receipt.unread"
    assert result.headline == result.status.word != "Expired"
    assert result.sentence == MESSAGES["receipt.unread"].sentence
    assert result.next_step == MESSAGES["receipt.unread"].next
    assert result.place == Place.UNKNOWN


def test_a_receipt_that_was_read_is_shown_whatever_the_flag_says():
    assert story(intent(), receipt(deposit="SUCCEEDED"), unread=True).key == "executing.origin_running"


def test_an_executed_status_without_a_receipt_is_a_conflict():
    result = story(intent("ABORTED"))
    assert result.key == "receipt.missing"
    assert result.headline == "Aborted"
    assert result.certainty is Certainty.CONFLICTING
    assert story(intent("ABORTED"), has_balance=True, balances=HELD).key == "aborted.recoverable"


TO_MERCHANT = summary(destination_to_address=MERCHANT)
REFUND_ON_BASE = refund("SUCCEEDED", chain_id=BASE)
# Transfers whose refund failed on this chain.
FAILED_AND = {
    chain_id: receipt("FAILED", **steps, refund=refund("FAILED", chain_id=chain_id))
    for chain_id, steps in (
        (ARBITRUM, {**PAID, "origin": "FAILED"}),
        (BASE, {"origin": "SUCCEEDED", "destination": "FAILED"}),
        (10, {**PAID, "origin": "FAILED"}),
    )
}
HELD_AT_HOME, HELD_ABROAD = ({"has_balance": True, "balances": held} for held in (HELD, HELD_ON_BASE))
NOWHERE = (None, None)
WHERE = named(
    ("owner", receipt("QUOTED"), {}, Place.OWNER, (OWNER, ARBITRUM)),
    ("deposit", receipt(**PAID), {}, Place.DEPOSIT_ADDRESS, ("0x0d", ARBITRUM)),
    ("bridge", receipt(origin="SUCCEEDED"), {}, Place.PROVIDER, NOWHERE),
    ("delivery", receipt(destination="MINING"), {}, Place.DELIVERY_ADDRESS, ("0x0e", BASE)),
    ("recipient", receipt("SUCCEEDED"), {}, Place.RECIPIENT, (OWNER, BASE)),
    ("merchant", receipt("SUCCEEDED", summary=TO_MERCHANT), {}, Place.RECIPIENT, (MERCHANT, BASE)),
    ("returned abroad", receipt("REFUNDED", refund=REFUND_ON_BASE), {}, Place.RETURNED, (OWNER, BASE)),
    ("on its way back", receipt("FAILED", refund="MINING"), {}, Place.RETURNING, NOWHERE),
    ("return failed at home", FAILED_AND[ARBITRUM], {}, Place.DEPOSIT_ADDRESS, ("0x0d", ARBITRUM)),
    ("return failed abroad", FAILED_AND[BASE], {}, Place.DELIVERY_ADDRESS, ("0x0e", BASE)),
    ("return failed elsewhere", FAILED_AND[10], {}, Place.UNKNOWN, NOWHERE),
    ("stopped, held at home", receipt("ABORTED", **PAID), HELD_AT_HOME, Place.DEPOSIT_ADDRESS, ("0x0d", ARBITRUM)),
    ("stopped, held abroad", receipt("ABORTED", **PAID), HELD_ABROAD, Place.DELIVERY_ADDRESS, ("0x0e", BASE)),
    ("reported, not confirmed", receipt("ABORTED", deposit="MINING"), {}, Place.UNKNOWN, NOWHERE),
)


@pytest.mark.parametrize(("of_receipt", "more", "place", "address"), WHERE)
def test_the_location_of_the_funds_has_an_address(of_receipt, more, place, address):
    result = story(intent(of_receipt.status, **ADDRESSES), of_receipt, **more)
    assert result.place == place
    assert (result.address, result.address_chain_id) == address


QUIET_SINCE = before(seconds=20)
IN_THREE_MINUTES = NOW + timedelta(minutes=3)
CROSSING = {
    seconds: receipt(**CROSSED, summary=summary(started_at=before(seconds=seconds))) for seconds in (14, 15, 300)
}
DEADLINES = named(
    ("a commitment", intent("COMMITTED", expires_at=None), None, {}, NOW + timedelta(minutes=9)),
    ("a quote with a deposit", intent("QUOTED"), None, {"has_balance": True}, IN_THREE_MINUTES),
    ("a commitment with a deposit", intent("COMMITTED"), None, {"has_balance": True}, IN_THREE_MINUTES),
    ("crossing, not due", intent(), CROSSING[14], {}, NOW + timedelta(seconds=1)),
    ("crossing, due", intent(), CROSSING[15], {}, NOW + timedelta(minutes=1)),
    ("crossing, late", intent(), CROSSING[300], {}, QUIET_SINCE + timedelta(minutes=15)),
    ("refunding", intent(), receipt("FAILED", refund="MINING"), {}, QUIET_SINCE + RETURN),
    ("crossing slowly", intent(), receipt(**CROSSED, summary=LATE_CCTP), {}, QUIET_SINCE + timedelta(minutes=30)),
)


@pytest.mark.parametrize(("of_intent", "of_receipt", "more", "deadline"), DEADLINES)
def test_a_wait_has_the_deadline_of_its_row(of_intent, of_receipt, more, deadline):
    assert story(of_intent, of_receipt, **more).deadline == deadline


# The receipt, the tones of the status and of the summary, and whether the location is confirmed.
SURE = named(
    ("delivered", receipt("SUCCEEDED", summary=DELIVERED), Tone.GOOD, Tone.GOOD, Certainty.CONFIRMED),
    ("denied by a step", receipt("SUCCEEDED", origin="FAILED"), Tone.ATTENTION, Tone.BAD, Certainty.CONFLICTING),
    ("reported, receipt unread", None, Tone.NEUTRAL, Tone.ATTENTION, Certainty.UNKNOWN),
    ("delivered, not marked", receipt(**ARRIVED), Tone.PROGRESS, Tone.GOOD, Certainty.CONFIRMED),
    ("no details yet", receipt(), Tone.PROGRESS, Tone.PROGRESS, Certainty.UNKNOWN),
    ("failed", receipt("FAILED"), Tone.BAD, Tone.BAD, Certainty.UNKNOWN),
    ("rejected with a deposit", receipt("INVALID", **PAID), Tone.NEUTRAL, Tone.ATTENTION, Certainty.UNKNOWN),
    ("refund failed", receipt("FAILED", **PAID, refund="FAILED"), Tone.BAD, Tone.BAD, Certainty.CONFIRMED),
    ("crossing", receipt(**CROSSED), Tone.PROGRESS, Tone.PROGRESS, Certainty.CONFIRMED),
)


@pytest.mark.parametrize(("of_receipt", "status_tone", "tone", "certainty"), SURE)
def test_only_what_is_confirmed_is_green_and_said_to_be_there(of_receipt, status_tone, tone, certainty):
    result = story(intent(None if of_receipt else "SUCCEEDED"), of_receipt, unread=True)
    assert (result.status.tone, result.tone, result.certainty) == (status_tone, tone, certainty)
    assert (result.status.icon == "triangle-alert") == (certainty is Certainty.CONFLICTING or not of_receipt)
    assert result.explained == (of_receipt and of_receipt.status)


def test_while_relevant_balances_load_there_is_no_location_or_next_step():
    unchecked = at(intent("COMMITTED"))
    result = summaries.of(unchecked.at(NOW, PENDING))
    assert (result.headline, result.location, result.next_step) == ("Accepted", CHECKING_PLACE, CHECKING_NEXT)
    assert (result.amount, result.who, result.deadline) == ("", Actor.NONE, None)
    assert result.certainty is Certainty.UNKNOWN
    without = summaries.of(unchecked)
    assert (without.headline, without.who, without.certainty) == ("Accepted", Actor.PAYER, Certainty.LIKELY)
    assert without.next_step.startswith("Confirm the deposit")
    assert without.deadline


NOTES = named(
    ("they matter, and are being read", "COMMITTED", PENDING, False, CHECKING),
    ("they matter, and nobody reads them", "COMMITTED", UNCHECKED, False, NOT_CHECKED),
    ("they are known", "COMMITTED", Balances(Check.CHECKED, has_balance=False), False, ""),
    ("they matter, and were read without a result", "COMMITTED", Balances(Check.CHECKED), False, NOT_CHECKED),
    ("they change nothing, and are being read", "SUCCEEDED", PENDING, False, CHECKING),
    ("they change nothing, and nobody reads them", "SUCCEEDED", UNCHECKED, False, ""),
    ("nothing could be read", "SUCCEEDED", PENDING, True, ""),
)


@pytest.mark.parametrize(("status", "balances", "unread", "note"), NOTES)
def test_unknown_balances_that_could_matter_are_noted(status, balances, unread, note):
    of_receipt = None if unread else receipt(status, deposit=None)
    assert summaries.of(at(intent(status), of_receipt, unread=unread).at(NOW, balances)).balance_note == note


ESTIMATED = intent(quote=IntentProviderQuote(estimated_duration=Decimal(15)))
ATTENTIONS = named(
    ("on time", receipt(deposit="SUCCEEDED", origin="RELAYING", summary=DUE), Attention.NONE, Cause.NONE),
    ("late", receipt(deposit="SUCCEEDED", origin="RELAYING", summary=LATE), Attention.WATCH, Cause.LATE),
    ("not paid", WATCHING, Attention.WATCH, Cause.DEPOSIT),
    ("late after a failure", receipt(**PAID, origin="REVERTED", summary=LATE), Attention.WATCH, Cause.FAILED),
    ("failed", receipt("FAILED"), Attention.ACT, Cause.CHECK),
    (
        "late and stalled",
        receipt(deposit=transaction("SUCCEEDED", **STALE), summary=LATE, **STALE),
        Attention.ACT,
        Cause.LATE,
    ),
)


@pytest.mark.parametrize(("of_receipt", "attention", "cause"), ATTENTIONS)
def test_a_delay_needs_attention_if_nothing_else_does(of_receipt, attention, cause):
    result = story(ESTIMATED, of_receipt)
    assert (result.attention, result.cause) == (attention, cause)


def test_a_page_that_names_a_contact_or_recovery_warns_of_fake_support():
    alone, contact, recovery = (
        story(intent("QUOTED", expires_at=before(minutes=1))),
        story(intent(), WATCHING),
        story(intent("QUOTED", expires_at=before(minutes=1)), receipt("QUOTED", **PAID)),
    )
    assert (alone.scam_warning, bool(contact.scam_warning), bool(recovery.scam_warning)) == ("", True, True)


NAMELESS = named(
    ("no address", {"to_address": None}, {}),
    ("no chain", {"chain_id": None}, {}),
    ("no owner", {}, {"owner_address": None}),
)


@pytest.mark.parametrize(("of_refund", "of_both"), NAMELESS)
def test_a_refund_has_no_location_without_address_chain_and_owner(of_refund, of_both):
    result = story(intent(**of_both), receipt("REFUNDED", refund=refund("SUCCEEDED", **of_refund), **of_both))
    assert (result.key, result.place, result.address) == ("refunded.elsewhere", Place.UNKNOWN, None)


def test_after_a_failed_refund_the_funds_are_where_their_balance_is():
    of_receipt = receipt("FAILED", **PAID, refund="FAILED")
    assert story(None, of_receipt, has_balance=True, balances=HELD_ON_BASE).place is Place.DELIVERY_ADDRESS
    assert story(None, of_receipt, has_balance=True).place is Place.DEPOSIT_ADDRESS


def test_an_unknown_status_is_shown_as_received():
    assert story(intent("HALTED")).headline_with_status == "HALTED · Unrecognized status"
    assert story(intent("\u202eX")).headline_with_status.startswith("⟨U+202E⟩X")
    assert story(intent("{owner}")).headline_with_status.startswith("{owner}")
    assert story(intent("HALTED")).tone == Tone.NEUTRAL


RETRYING = receipt(deposit="SUCCEEDED", origin="ERRORED", destination="ON_HOLD")


def test_a_headline_says_what_is_delayed():
    steps = {
        "Confirming deposit, delayed": {"deposit": "MINING"},
        "Swapping on Arbitrum, delayed": {**PAID, "origin": "RELAYING", **ONE_CHAIN},
    }
    for headline, made in steps.items():
        result = story(intent(), receipt(**made, summary=LATE), has_balance=False)
        assert (result.headline, result.who) == (headline, Actor.NONE)
        assert result.next_step == "Wait until 14:17:51 UTC. If nothing has changed by then, contact support."


def test_a_stalled_transfer_counts_whole_minutes():
    stale = transaction("SUCCEEDED", updated_at=before(minutes=33, seconds=41))
    result = story(None, receipt(deposit=stale, origin=stale, updated_at=before(minutes=33, seconds=41)))
    assert result.headline == "No progress for 33 min"


def test_a_refund_that_is_back_is_not_late():
    result = story(ESTIMATED, receipt(**PAID, refund="SUCCEEDED", summary=LATE))
    assert (result.key, result.attention) == ("reported.returned", Attention.NONE)


def test_a_wait_without_a_last_change_names_no_time():
    untimed = receipt(updated_at=None, summary=None, origin=transaction("ERRORED", updated_at=None))
    assert story(None, untimed).next_step == "Wait. If nothing changes, contact support."


def test_rows_neither_promise_nor_despair_and_wait_until_a_named_time():
    for key, row in MESSAGES.items():
        words = " ".join((row.headline, row.sentence, row.where, row.next)).lower()
        assert not re.search(r"\b(safe|lost|intent\b(?! (id|address))|calldata|precondition)\b", words), key
        assert row.help or row.who in (Actor.NONE, Actor.PAYER), key
        assert not re.search(r"more than \d+ minutes|(in|within|wait) (a few|two|\d+) minutes", row.next.lower()), key
        assert bool(row.minutes) == ("{escalation}" in row.next), key
        assert not row.deadline or hasattr(Transfer, row.deadline), key


def test_a_row_warns_of_a_second_deposit_once():
    """The page shows the warning below the next step, or the next step is a first deposit and includes it."""
    for key, row in MESSAGES.items():
        is_first = row.who is Actor.PAYER and row.key != "quoted.open"
        assert ("If it was already sent, do not deposit again." in row.next) == is_first, key
        assert ("deposit again" in row.next.lower()) == is_first, key
        assert not (is_first and row.warn_second_deposit), key
    warned, settled = story(None, RETRYING), story(None, receipt("REFUNDED", refund="SUCCEEDED"))
    assert warned.instructions == f"{warned.next_step} {SECOND_DEPOSIT}"
    assert settled.instructions == settled.next_step
