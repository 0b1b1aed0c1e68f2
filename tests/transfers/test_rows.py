from datetime import timedelta

import pytest
from django.template.loader import get_template

from intents_ui.formatting import times
from intents_ui.service.models import BalanceGroup, IntentHistory, IntentProviderQuote, TokenBalance
from intents_ui.tokens.token_amounts import TokenStanding
from intents_ui.transfers import summary
from intents_ui.transfers.transfer import Transfer
from tests.transfers.builders import (
    ARBITRUM,
    BASE,
    CATALOGUE,
    INTENT_ID,
    MERCHANT,
    NOW,
    USDC,
    USDC_ON_BASE,
    at,
    before,
    deposit,
    intent,
    named,
    receipt,
    refund,
    transaction,
)
from tests.transfers.builders import (
    summary as wire_summary,
)

QUOTE = IntentProviderQuote(to_amount=99_910_000)
DELIVERED = wire_summary(destination_token_amount=99_800_000)


def of(of_intent, of_receipt=None) -> summary.Summary:
    return summary.of(at(of_intent, of_receipt))


NOTES = named(
    ("offered", intent("QUOTED", quote=QUOTE), None, "expected", "99,910,000"),
    ("expired", intent("QUOTED", quote=QUOTE, expires_at=before(minutes=1)), None, "quoted", "99,910,000"),
    ("running", intent(quote=QUOTE), receipt(deposit="SUCCEEDED"), "expected", "99.91"),
    ("failed", intent(quote=QUOTE), receipt("FAILED", deposit="FAILED"), "quoted", "99.91"),
    ("delivered", intent(quote=QUOTE), receipt("SUCCEEDED", summary=DELIVERED), "", "99.80"),
    (
        "delivered, not marked",
        intent(quote=QUOTE),
        receipt("FAILED", destination="SUCCEEDED", summary=DELIVERED),
        "unconfirmed",
        "99.80",
    ),
    ("delivered, amount not reported", intent(quote=QUOTE), receipt("SUCCEEDED"), "quoted", "99.91"),
    ("nothing known", intent(), receipt(), "", "—"),
)


@pytest.mark.parametrize(("of_intent", "of_receipt", "note", "amount"), NOTES)
def test_the_destination_amount_is_labeled(of_intent, of_receipt, note, amount):
    received = of(of_intent, of_receipt).received
    assert received.note == note
    assert str(received.amount).startswith(amount)


def test_a_quote_stays_expected_until_it_expires():
    offer = intent("QUOTED", quote=QUOTE, expires_at=NOW + timedelta(seconds=1))
    assert of(offer).received.note == "expected"
    later = summary.of(at(offer, now=NOW + timedelta(seconds=1)))
    assert later.received.note == "quoted"


SENT = [
    ("not paid", receipt(deposit="PENDING"), "quoted", "100.00"),
    ("not paid, watched", receipt(deposit=deposit("PENDING", txn_hash="0x" + "0" * 64)), "to send", "100.00"),
    ("on its way", receipt(deposit=deposit("MINING", token_amount=97_000_000)), "quoted", "100.00"),
    ("confirmed", receipt(deposit=deposit("SUCCEEDED", token_amount=97_000_000)), "", "97.00"),
    ("confirmed, amount not reported", receipt(deposit=transaction("SUCCEEDED")), "quoted", "100.00"),
    ("implied by a later step", receipt(origin="SUCCEEDED"), "quoted", "100.00"),
    ("implied by the status", receipt("SUCCEEDED"), "quoted", "100.00"),
    ("rejected", receipt("FAILED", deposit="FAILED"), "quoted", "100.00"),
]


@pytest.mark.parametrize(("of_receipt", "note", "amount"), [row[1:] for row in SENT], ids=[row[0] for row in SENT])
def test_only_an_amount_that_a_confirmed_deposit_reports_has_no_label(of_receipt, note, amount):
    sent = of(intent(), of_receipt).sent
    assert (sent.note, sent.amount.short) == (note, amount)


def test_a_token_of_the_same_name_at_another_address_is_not_listed():
    spoof = "0x" + "1" * 40
    sides = of(intent(), receipt(summary=wire_summary(origin_token_address=spoof)))
    assert (sides.sent.token.symbol, sides.sent.token.standing) == ("USDC", TokenStanding.UNLISTED)
    assert (sides.received.token.symbol, sides.received.token.standing) == ("USDC", TokenStanding.LISTED)
    assert of(intent(origin_chain_id=7), receipt(origin_chain_id=7)).sent.token.standing is TokenStanding.UNKNOWN
    assert of(intent(), None).sent.token.standing is TokenStanding.UNKNOWN


STARTED = wire_summary(started_at=before(seconds=42))
ENDED = wire_summary(started_at=before(minutes=20), finished_at=before(minutes=5))
DURATIONS = named(
    ("runs", intent(), receipt(deposit="SUCCEEDED", summary=STARTED), "42 s"),
    ("over", intent(), receipt("SUCCEEDED", summary=ENDED), "15 min"),
    (
        "over, without saying when",
        intent(),
        receipt("FAILED", deposit="FAILED", summary=wire_summary(started_at=before(minutes=1))),
        "40 s",
    ),
    ("an offer", intent("QUOTED"), None, ""),
    ("an offer that ran out", intent("QUOTED", expires_at=before(minutes=1)), None, "no deposit"),
)


@pytest.mark.parametrize(("of_intent", "of_receipt", "duration"), DURATIONS)
def test_durations_of_open_and_closed_transfers_are_shown(of_intent, of_receipt, duration):
    assert of(of_intent, of_receipt).duration == duration


def test_a_list_counts_on_while_a_transfer_runs_and_names_its_estimate():
    length = get_template("lists/transfers.html").template.module.length
    runs = of(intent(quote=IntentProviderQuote(estimated_duration=38)), receipt(deposit="SUCCEEDED", summary=STARTED))
    counted = f'<time data-since datetime="{times.iso(before(seconds=42))}">42 s</time>'
    assert length(runs).strip() == f'{counted} <span class="sub">of ~38 s</span>'
    assert length(of(intent(), receipt("SUCCEEDED", summary=ENDED))).strip() == "15 min"
    assert length(of(intent("QUOTED"), None)).strip() == "—"


REFUND_PLACES = refund("SUCCEEDED", chain_id=BASE, token_address=USDC_ON_BASE)
RECIPIENT_LABELS = named(
    ("to the owner", receipt(), "to the owner"),
    ("to somebody else", receipt(summary=wire_summary(destination_to_address=MERCHANT)), ""),
    ("returned on the far side", receipt("REFUNDED", refund=REFUND_PLACES), "refunded on Base"),
    ("returned, nobody says where", receipt("REFUNDED"), "refunded to the owner"),
)


@pytest.mark.parametrize(("of_receipt", "recipient_label"), RECIPIENT_LABELS)
def test_the_recipient_is_named(of_receipt, recipient_label):
    assert of(intent(), of_receipt).recipient_label == recipient_label


def test_a_refund_is_shown_once_it_arrived():
    returned = of(intent(), receipt("REFUNDED", refund=REFUND_PLACES)).returned
    assert returned is not None
    assert (returned.chain, str(returned.amount)) == ("Base", "99.50 USDC")
    assert of(intent(), receipt("FAILED", refund="PENDING")).returned is None
    assert of(intent(), receipt("REFUNDED")).returned is None
    assert of(intent(), receipt("SUCCEEDED", refund="SUCCEEDED")).returned is None


def entry(has_balance=None, *balances):
    tokens = tuple(
        TokenBalance(contract_address=USDC, balance=balance, decimals=6, symbol="USDC") for balance in balances
    )
    groups = (BalanceGroup(intent_address=MERCHANT, chain_id=ARBITRUM, tokens=tokens),) if balances else ()
    return IntentHistory(intent_id=INTENT_ID, status="FAILED", has_balance=has_balance, balances=groups)


MARKS = named(
    ("nobody looked", entry(), ""),
    ("there is nothing", entry(False), ""),
    ("so much", entry(True, 79_710_000), "79.71 USDC recoverable"),
    ("zeros are not counted", entry(True, 0, 5_000_000), "5.00 USDC recoverable"),
    ("several", entry(True, 1, 2, 3), "3 recoverable balances"),
    ("not recoverable", entry(False, 79_710_000), ""),
)


@pytest.mark.parametrize(("of_entry", "mark"), MARKS)
def test_the_recoverable_balance_is_stated(of_entry, mark):
    assert summary.of(Transfer.of_entry(of_entry, now=NOW, names=CATALOGUE)).recoverable == mark


@pytest.mark.parametrize(
    ("of_receipt", "headline"),
    [(receipt("FAILED", deposit="FAILED"), ""), (receipt("SUCCEEDED", summary=DELIVERED), "Delivered")],
    ids=["the same as the status", "more than the status"],
)
def test_a_headline_is_shown_next_to_the_status_only_if_it_says_more(of_receipt, headline) -> None:
    row = of(intent(quote=QUOTE), of_receipt)
    assert row.row_headline == headline
    assert headline or row.headline == row.status.word
