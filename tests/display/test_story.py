import itertools
import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.display import patience
from intents_ui.display import story as display
from intents_ui.display.statuses import Tone
from intents_ui.display.story import EXPLANATIONS, Place, Story, Who
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
    before,
    intent,
    receipt,
    refund,
    summary,
    transaction,
)


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

CASES = [
    ("quoted", intent("QUOTED"), None, "quoted.open"),
    ("quoted, past its expiry", intent("QUOTED", expires_at=before(minutes=1)), None, "quoted.expired"),
    ("committed", intent("COMMITTED"), None, "committed.open"),
    ("committed too long ago", intent("COMMITTED", updated_at=before(minutes=11)), None, "committed.overdue"),
    ("paid but only committed", intent("COMMITTED"), receipt("COMMITTED", deposit="SUCCEEDED"), "committed.funded"),
    ("quoted, but running", intent("QUOTED"), receipt("QUOTED", deposit="MINING"), "executing.deposit_confirming"),
    ("no receipt yet", intent(), None, "executing.no_details"),
    ("watching", intent(), receipt(deposit=WATCHED, origin="ON_HOLD"), "executing.wait_deposit"),
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
    (
        "refunded to somebody else",
        intent(),
        receipt("REFUNDED", refund=refund("SUCCEEDED", to_address=MERCHANT)),
        "refunded.unconfirmed",
    ),
    (
        "refunded on a third chain",
        intent(),
        receipt("REFUNDED", refund=refund("SUCCEEDED", chain_id=10)),
        "refunded.unconfirmed",
    ),
    (
        "signed, then aborted",
        intent(),
        receipt("ABORTED", deposit=transaction("PENDING", txn_hash=None, meta_txn_id="8f0c")),
        "aborted.after_payment",
    ),
    ("nobody paid", intent(), receipt("ABORTED", deposit="ABORTED", origin="ABORTED"), "aborted.nothing_moved"),
    ("aborted by the owner", intent(), receipt("ABORTED", deposit="SUCCEEDED"), "aborted.after_payment"),
    (
        "too little was paid",
        intent(),
        receipt("ABORTED", deposit=transaction("FAILED", txn_hash=PLACEHOLDER)),
        "aborted.after_payment",
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


HELD = (BalanceGroup(chain_id=ARBITRUM, tokens=(TokenBalance(balance=79_712_345, decimals=6, symbol="USDC"),)),)
HELD_ON_BASE = (BalanceGroup(chain_id=BASE, tokens=(TokenBalance(balance=79_712_345, decimals=6, symbol="USDC"),)),)
BALANCES = [
    ("quoted", receipt("QUOTED"), HELD, "quoted.funded"),
    ("committed", receipt("COMMITTED"), HELD, "committed.funded"),
    ("underpaid", receipt(deposit=WATCHED), HELD, "executing.underpaid"),
    ("paid twice", receipt("SUCCEEDED", summary=DELIVERED), HELD, "succeeded.leftover"),
    ("failed at home", receipt("FAILED", deposit="SUCCEEDED", origin="FAILED"), HELD, "failed.origin_recoverable"),
    (
        "failed abroad",
        receipt("FAILED", deposit="SUCCEEDED", origin="SUCCEEDED", destination="FAILED"),
        HELD_ON_BASE,
        "failed.destination_recoverable",
    ),
    ("aborted", receipt("ABORTED", deposit="SUCCEEDED"), HELD, "aborted.recoverable"),
    ("invalid", receipt("INVALID"), HELD, "invalid.with_payment"),
]


@pytest.mark.parametrize(
    ("of_receipt", "balances", "key"), [row[1:] for row in BALANCES], ids=[row[0] for row in BALANCES]
)
def test_a_known_balance_decides(of_receipt, balances, key):
    assert story(None, of_receipt, has_balance=True, balances=balances).key == key
    assert story(None, of_receipt).key != key


def test_an_empty_address_after_an_abort_looks_as_if_the_owner_took_the_money_back():
    assert story(None, receipt("ABORTED", deposit="SUCCEEDED"), has_balance=False).key == "aborted.deposit_seen"


def test_every_row_can_be_chosen():
    chosen = {row[-1] for row in [*CASES, *BALANCES]} | {"aborted.deposit_seen", "notfound", "stale", "receipt.unread"}
    assert set(EXPLANATIONS) - chosen == {
        "stopped.delivered",
        "stopped.last_step",
        "stopped.no_trace",
        "stopped.origin",
    }
    for status in ("ABORTED", "INVALID"):
        assert story(None, receipt(status, destination="SUCCEEDED")).key == "stopped.delivered"
        assert story(None, receipt(status, destination="FAILED")).key == "stopped.last_step"
        one_chain = receipt(status, origin="SUCCEEDED", destination_chain_id=ARBITRUM)
        assert story(None, one_chain).key == "stopped.no_trace"
        assert story(None, receipt(status, deposit="SUCCEEDED", origin="REVERTED")).key == "stopped.origin"


@pytest.mark.parametrize("status", [*IntentStatus, "HALTED"])
def test_a_receipt_that_could_not_be_read_is_not_told_as_nothing_that_happened(status):
    told = story(intent(status, expires_at=before(minutes=1)), unread=True)
    assert told.key == "receipt.unread"
    assert told.headline.startswith("Status: ")
    assert told.headline != "Status: Offer expired"
    assert told.sentence == "How far it came is not known just now."
    assert told.next == "Try again in a minute. Do not pay again."
    assert told.place == Place.UNKNOWN


def test_a_receipt_that_was_read_is_told_whatever_was_said_of_it():
    assert story(intent(), receipt(deposit="SUCCEEDED"), unread=True).key == "executing.origin_running"


def test_a_status_of_execution_without_a_receipt_is_a_contradiction():
    told = story(intent("ABORTED"))
    assert told.headline == "Reported as Aborted, without any steps"
    assert "do not match" in told.sentence
    assert story(intent("ABORTED"), has_balance=True, balances=HELD).key == "aborted.recoverable"


ADDRESSES = {"origin_intent_address": "0x0d", "destination_intent_address": "0x0e"}
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
    assert told.next == "Wait. Do not pay again. It was expected by 14:02 UTC and is not late yet."


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
    assert "until 14:06 UTC" in told.sentence
    assert told.deadline == NOW + timedelta(minutes=3)


def test_a_crossing_says_until_when_to_wait():
    told = story(intent(), receipt(deposit="SUCCEEDED", origin="SUCCEEDED", destination="ON_HOLD", summary=LATE_CCTP))
    assert told.headline == "Crossing takes longer than expected"
    assert "CCTP can take up to 30 min" in told.sentence
    assert told.next == "Wait until 14:32 UTC. Do not pay again."
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


def test_not_found_and_stale():
    assert display.not_found().headline == "Nothing found"
    assert display.stale(answered_at=before(minutes=3), now=NOW).headline == "Last known state, 3 min old"


@pytest.mark.parametrize("row", EXPLANATIONS.values(), ids=EXPLANATIONS)
def test_no_row_promises_or_despairs(row):
    words = " ".join((row["headline"], row["sentence"], row["where"], row["next"])).lower()
    assert "transfer address" not in words
    assert "address below" not in words
    assert not re.search(r"\b(safe|lost|intent\b(?! id)|calldata|precondition)\b", words)
    Tone(row["tone"])
    Who(row["who"])
    assert bool(row["contact"]) or row["who"] in ("nobody", "payer")


LEGS = [None, "UNKNOWN", "ON_HOLD", "PENDING", "MINING", "ERRORED", "QUEUED", "SUCCEEDED", "FAILED", "ABORTED"]
REFUNDS = [None, "MINING", "SUCCEEDED", "FAILED"]
DEAD = {"FAILED", "ABORTED"}


@pytest.mark.parametrize("same_chain", [False, True], ids=["two chains", "one chain"])
@pytest.mark.parametrize("status", [*IntentStatus, "HALTED"])
def test_every_combination_has_one_consistent_answer(status, same_chain):
    destination_chain = ARBITRUM if same_chain else BASE
    made = {leg: transaction(leg) if leg else None for leg in LEGS}
    returns = {leg: refund(leg) if leg else None for leg in REFUNDS}
    usual = receipt(status, destination_chain_id=destination_chain, summary=DELIVERED)
    last = [None, "ON_HOLD", "SUCCEEDED", "FAILED"] if same_chain else LEGS
    for deposit, origin, destination, back in itertools.product(LEGS, LEGS, last, REFUNDS):
        legs = {
            "deposit_transaction": made[deposit],
            "origin_transaction": made[origin],
            "destination_transaction": made[destination],
            "refund_transaction": returns[back],
        }
        told = story(None, usual.model_copy(update=legs))
        problem = contradiction(told, status, (deposit, origin, destination), back, same_chain)
        assert not problem, f"{status} {deposit} {origin} {destination} {back}: {told.key}: {problem}"


def contradiction(told: Story, status, legs, back, same_chain) -> str:
    deposit, origin, destination = legs
    everything = f"{told.headline} {told.sentence} {told.where} {told.next}"
    delivered = status == "SUCCEEDED" or destination == "SUCCEEDED" or (same_chain and origin == "SUCCEEDED")
    rules = {
        "a gap was not filled": "{" in everything or "—" in everything,
        "no chain is named": not re.search("Arbitrum|Base", told.where + told.sentence),
        "with the recipient, without a delivery": told.place == Place.RECIPIENT and not delivered,
        "in the payer's wallet, after a confirmed step": told.where.startswith("In your own wallet")
        and "SUCCEEDED" in (deposit, origin, destination)
        and status != "HALTED",
        "done, although a step is dead": told.headline in ("Done", "Paid") and bool(DEAD & set(legs)),
        "good, although it did not succeed": told.tone == Tone.GOOD and not delivered,
        "returned, without a return": told.place == Place.RETURNED and back != "SUCCEEDED",
        "not returned, although it was": back == "SUCCEEDED"
        and status not in ("HALTED", "SUCCEEDED")
        and told.place != Place.RETURNED,
        "may pay again while it is open": status == "EXECUTING"
        and back != "SUCCEEDED"
        and "pay again" not in told.next,
        "hopeful, although the return failed": back == "FAILED"
        and status not in ("HALTED", "SUCCEEDED", "REFUNDED")
        and told.tone != Tone.BAD,
    }
    return ", ".join(rule for rule, broken in rules.items() if broken)


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
