import pytest
from django.template.loader import get_template

from intents_ui.formatting import times
from intents_ui.service.models import BalanceGroup, IntentHistory, IntentProviderQuote, TokenBalance
from intents_ui.tokens.token_amounts import TokenStanding
from intents_ui.transfers import summary
from intents_ui.transfers.transfer import Transfer
from tests.transfers.builders import (
    ARBITRUM,
    CATALOGUE,
    INTENT_ID,
    MERCHANT,
    NOW,
    USDC,
    at,
    before,
    intent,
    named,
    receipt,
    transaction,
)
from tests.transfers.builders import (
    summary as wire_summary,
)


def of(of_intent, of_receipt=None) -> summary.Summary:
    return summary.of(at(of_intent, of_receipt))


SENT = named(
    ("confirmed, amount not reported", receipt(deposit=transaction("SUCCEEDED"))),
    ("implied by a later step", receipt(origin="SUCCEEDED")),
    ("implied by the status", receipt("SUCCEEDED")),
)


@pytest.mark.parametrize("of_receipt", SENT)
def test_an_amount_that_no_confirmed_deposit_reports_is_the_quoted_one(of_receipt):
    told = of(intent(), of_receipt)
    assert (told.sent.note, told.sent.amount.short) == ("quoted", "100.00")
    assert (told.received.note, told.received.amount.short) == ("", "—")


def test_a_token_of_the_same_name_at_another_address_is_not_listed():
    spoof = "0x" + "1" * 40
    sides = of(intent(), receipt(summary=wire_summary(origin_token_address=spoof)))
    assert (sides.sent.token.symbol, sides.sent.token.standing) == ("USDC", TokenStanding.UNLISTED)
    assert (sides.received.token.symbol, sides.received.token.standing) == ("USDC", TokenStanding.LISTED)
    assert of(intent(origin_chain_id=7), receipt(origin_chain_id=7)).sent.token.standing is TokenStanding.UNKNOWN
    assert of(intent(), None).sent.token.standing is TokenStanding.UNKNOWN


STARTED = wire_summary(started_at=before(seconds=42))
ENDED = wire_summary(started_at=before(minutes=20), finished_at=before(minutes=5))


def test_without_a_reported_end_a_duration_lasts_to_the_last_change():
    failed = receipt("FAILED", deposit="FAILED", summary=wire_summary(started_at=before(minutes=1)))
    assert of(intent(), failed).duration == "40 s"


def test_a_list_counts_on_while_a_transfer_runs_and_names_its_estimate():
    length = get_template("lists/transfers.html").template.module.length
    runs = of(intent(quote=IntentProviderQuote(estimated_duration=38)), receipt(deposit="SUCCEEDED", summary=STARTED))
    counted = f'<time data-since datetime="{times.iso(before(seconds=42))}">42 s</time>'
    assert length(runs).strip() == f'{counted} <span class="sub">of ~38 s</span>'
    assert length(of(intent(), receipt("SUCCEEDED", summary=ENDED))).strip() == "15 min"
    assert length(of(intent("QUOTED"), None)).strip() == "—"


def test_a_refund_is_shown_once_it_arrived():
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
