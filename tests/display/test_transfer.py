from datetime import timedelta

import pytest

from intents_ui.display import transfer
from intents_ui.service.wire import IntentProviderQuote
from tests.display.builders import ARBITRUM, CATALOGUE, NOW, before, intent, receipt, summary

QUOTE = IntentProviderQuote(to_amount=99_910_000)
DELIVERED = summary(destination_token_amount=99_800_000)


def of(of_intent, of_receipt=None) -> transfer.Transfer:
    return transfer.of_intent(of_intent, of_receipt, using=CATALOGUE, now=NOW)


NOTES = [
    ("offered", intent("QUOTED", quote=QUOTE), None, "expected", "99,910,000"),
    ("expired", intent("QUOTED", quote=QUOTE, expires_at=before(minutes=1)), None, "as quoted", "99,910,000"),
    ("running", intent(quote=QUOTE), receipt(deposit="SUCCEEDED"), "expected", "99.91"),
    ("failed", intent(quote=QUOTE), receipt("FAILED", deposit="FAILED"), "as quoted", "99.91"),
    ("refunded", intent(quote=QUOTE), receipt("REFUNDED", refund="SUCCEEDED", summary=DELIVERED), "as quoted", "99.91"),
    ("delivered", intent(quote=QUOTE), receipt("SUCCEEDED", summary=DELIVERED), "", "99.80"),
    (
        "delivered, not marked",
        intent(quote=QUOTE),
        receipt("FAILED", destination="SUCCEEDED", summary=DELIVERED),
        "",
        "99.80",
    ),
    ("delivered, amount not reported", intent(quote=QUOTE), receipt("SUCCEEDED"), "as quoted", "99.91"),
    (
        "done, a step failed",
        intent(quote=QUOTE),
        receipt("SUCCEEDED", origin="FAILED", summary=DELIVERED),
        "as quoted",
        "99.91",
    ),
    (
        "one chain, returned inside the transaction",
        intent(quote=QUOTE),
        receipt("FAILED", origin="SUCCEEDED", destination_chain_id=ARBITRUM, summary=DELIVERED),
        "as quoted",
        "99.91",
    ),
    ("nothing known", intent(), receipt(), "", "—"),
]


@pytest.mark.parametrize(
    ("of_intent", "of_receipt", "note", "amount"), [row[1:] for row in NOTES], ids=[row[0] for row in NOTES]
)
def test_what_the_amount_on_the_far_side_is(of_intent, of_receipt, note, amount):
    received = of(of_intent, of_receipt).received
    assert received.note == note
    assert str(received.amount).startswith(amount)


def test_an_offer_stays_expected_until_it_expires():
    offer = intent("QUOTED", quote=QUOTE, expires_at=NOW + timedelta(seconds=1))
    assert of(offer).received.note == "expected"
    later = transfer.of_intent(offer, None, using=CATALOGUE, now=NOW + timedelta(seconds=1))
    assert later.received.note == "as quoted"


def test_a_token_of_the_same_name_at_another_address_is_not_listed():
    spoof = "0x" + "1" * 40
    sides = of(intent(), receipt(summary=summary(origin_token_address=spoof)))
    assert (sides.sent.symbol, sides.sent.listed) == ("USDC", False)
    assert (sides.received.symbol, sides.received.listed) == ("USDC", True)
    assert of(intent(origin_chain_id=7), receipt(origin_chain_id=7)).sent.listed is None
    assert of(intent(), None).sent.listed is None
