"""A customer reply calls only those amounts sent, delivered or refunded that the page shows so."""

import re
from datetime import timedelta

import pytest

from intents_ui.display.sharing import customer_reply
from intents_ui.display.summary import glance, summary
from intents_ui.display.summary.rules import EXPLANATIONS, Certainty
from intents_ui.display.transfers.locations import Place
from intents_ui.service.models import ChainInfo, IntentTransaction, TokenMetadata
from intents_ui.service.outcome import StepStatus
from tests.corpus import picked
from tests.display import builders
from tests.display.builders import ARBITRUM, NOW, USDC, at, intent, named, receipt, refund
from tests.display.states import combined, pairs
from tests.display.summary.test_every_state import EXPIRES_AT, OWNER, STATUSES, cases

WETH = "0x82af49447d8a07e3bd95bd0d56f35241523fbab1"
URL = "https://dashboard.example/intent/0x01"
STEPS = ("deposit_transaction", "origin_transaction", "destination_transaction", "refund_transaction")
CHAINS = ("one chain", "two chains")
# Statuses in which a succeeded last step is a delivery.
DELIVERING = ("QUOTED", "COMMITTED", "EXECUTING", "SUCCEEDED")


@combined(pairs)
@pytest.mark.parametrize(
    ("status", "same_chain"),
    picked(
        {f"{status}, {chains}": (status, chains == "one chain") for status in STATUSES for chains in CHAINS},
        *(f"{status}, two chains" for status in STATUSES),
        "EXECUTING, one chain",
        "SUCCEEDED, one chain",
        "REFUNDED, one chain",
    ),
)
def test_no_reply_names_an_amount_that_did_not_move(status, same_chain, combine):
    of_intent = intent(None, owner_address=OWNER, expires_at=EXPIRES_AT)
    named = 0
    for case, of_receipt, (held, balances), now in cases(status, same_chain=same_chain, combine=combine):
        situation = at(of_intent, plain(of_receipt), now=now, has_balance=held, balances=balances, checked_at=now)
        result, shown = summary.of(situation), glance.of(situation)
        answer = customer_reply.Reply(situation, URL)
        lines = dict(answer.facts)
        if "Delivered" in lines:
            named += 1
            assert result.certainty is Certainty.CONFIRMED, case
            assert result.place in (Place.RECIPIENT, Place.DEPOSIT_ADDRESS, Place.DELIVERY_ADDRESS), case
            assert situation.facts.is_delivered, case
            assert shown.received.note == "", case
        if "Sent" in lines:
            assert situation.facts.has_arrived or situation.paid or situation.facts.status == "SUCCEEDED", case
        if "Refunded" in lines:
            assert situation.facts.returning is StepStatus.DONE, case
        assert "Received" not in lines
    assert (named > 0) == (status in DELIVERING)


def test_a_refund_in_another_token_says_so():
    weth = TokenMetadata(chain_id=ARBITRUM, token_address=WETH, symbol="WETH", decimals=18)
    described = builders.summary(destination_token_metadata=weth)
    for token, units, words in ((WETH, 5 * 10**16, " instead of USDC"), (USDC, 99_500_000, "")):
        back = refund("SUCCEEDED", token_address=token, token_amount=units)
        of = at(intent("REFUNDED"), receipt("REFUNDED", deposit="SUCCEEDED", refund=back, summary=described))
        lines = dict(customer_reply.Reply(of, URL).facts)
        assert (
            lines["Refunded"]
            == f"{'0.05 WETH (unlisted: 0x82aF49…3fBab1)' if words else '99.50 USDC'} on Arbitrum{words}"
        )
        assert ("in WETH (unlisted: 0x82aF49…3fBab1) instead of USDC." in summary.of(of).sentence) == bool(words)


def plain(of_receipt):
    """Return a receipt whose transactions permit reading their status."""
    steps = {name: getattr(of_receipt, name) for name in STEPS}
    made = {name: step and IntentTransaction(**dict(step)) for name, step in steps.items()}
    return of_receipt.model_copy(update=made)


PAID = {"deposit": "SUCCEEDED"}
ARRIVED = {**PAID, "origin": "SUCCEEDED", "destination": "SUCCEEDED"}
DELIVERED = builders.summary(destination_token_amount=99_910_000)
LATER = {"expires_at": NOW - timedelta(minutes=1)}
OPENINGS = named(
    (
        "expired",
        receipt("QUOTED"),
        False,
        "The quote for your {} expired at 2026-11-21 14:02:11 UTC. No deposit was received."
        " Please don't send anything to the old address. To send, request a new quote.",
    ),
    ("no deposit", receipt(deposit="PENDING"), False, "Your {} is waiting for the deposit."),
    ("open", receipt(**PAID), None, "Your {} is in progress."),
    ("delivered", receipt("SUCCEEDED", **ARRIVED, summary=DELIVERED), None, "Your {} was delivered."),
    (
        "conflict",
        receipt("FAILED", **ARRIVED),
        None,
        "Your {} needs a closer look, because the records of it conflict.",
    ),
    (
        "refund pending",
        receipt("FAILED", **PAID, origin="REVERTED", refund="MINING"),
        None,
        "Your {} could not be completed and is being refunded.",
    ),
    (
        "refunded",
        receipt("REFUNDED", **PAID, origin="REVERTED", refund="SUCCEEDED"),
        None,
        "Your {} could not be completed and was refunded.",
    ),
    (
        "recoverable",
        receipt("FAILED", **PAID, origin="FAILED"),
        True,
        "Your {} could not be completed. You can recover the funds with your wallet.",
    ),
    ("failed", receipt("FAILED", **PAID, origin="FAILED"), False, "Your {} could not be completed."),
)


@pytest.mark.parametrize(("of_receipt", "has_balance", "opening"), OPENINGS)
def test_a_reply_opens_with_the_outcome(of_receipt, has_balance, opening):
    situation = at(intent(of_receipt.status, **LATER), of_receipt, has_balance=has_balance)
    words = opening.format("transfer of 100.00 USDC from Arbitrum to Base")
    assert customer_reply.Reply(situation, URL).plain.startswith(f"{words}\n")


def test_pages_name_the_owner_and_replies_address_the_owner():
    facts = at(intent()).facts
    for words in (words for row in EXPLANATIONS.values() for words in (row.where, row.next)):
        spoken = customer_reply.to_the_owner(words, facts)
        assert "owner" not in spoken.lower(), spoken
        assert "recipient's wallet" not in spoken
        assert "contact support" not in spoken.lower()


@pytest.mark.parametrize(
    ("words", "broken"),
    [
        ("1 https://evil.exa", "1 https[:]//evil.exa"),
        ("HTTP://a WWW.evil.example", "HTTP[:]//a WWW[.]evil.example"),
        ("javascript://x www.www.x", "javascript[:]//x www[.]www[.]x"),
        ("300.00 USDC at 12:00", "300.00 USDC at 12:00"),
    ],
)
def test_mail_programs_turn_no_untrusted_text_into_links(words, broken):
    assert customer_reply.unlinked(words) == broken


def test_the_plain_text_reply_links_this_dashboard_and_explorers_alone():
    class Hostile(builders.Catalogue):
        def chain(self, chain_id):
            return ChainInfo(id=chain_id, name="https://evil.example www.evil.example") if chain_id else None

    paid = builders.deposit("SUCCEEDED", txn_hash="http://evil.example")
    result = customer_reply.Reply(at(intent(), receipt(deposit=paid), names=Hostile()), URL).plain
    for line in ("Your transfer", "Where the funds are", "Sent", "Deposit transaction"):
        assert re.search(rf"(?m)^{line}.*evil\.example", result)
    assert re.findall(r"\S+://\S+|www\.\S+", result) == [URL]
