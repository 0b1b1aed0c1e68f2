"""A customer reply is a message of the team: what happened, where the funds are, and what follows by when.

It calls only those amounts delivered or refunded that the page shows so.
"""

import re
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from intents_ui.service.models import (
    ChainInfo,
    IntentProviderQuote,
    IntentStatus,
    IntentTransaction,
    TokenMetadata,
    TransactionStatus,
)
from intents_ui.service.outcome import StepStatus
from intents_ui.settings import ENV
from intents_ui.transfers import rules, summary
from intents_ui.transfers.rules import MESSAGES, SCAM_WARNING, Certainty
from intents_ui.transfers.transfer import Contacts, Transfer
from intents_ui.web import customer_reply
from tests.transfers import builders
from tests.transfers.builders import ARBITRUM, INTENT_ID, NOW, USDC, at, before, intent, named, receipt, refund
from tests.transfers.scenes import MOMENTS, scene

WETH = "0x82af49447d8a07e3bd95bd0d56f35241523fbab1"
ROOT = "https://dashboard.example"
URL = f"{ROOT}/intent/{INTENT_ID}"
STEPS = ("deposit_transaction", "origin_transaction", "destination_transaction", "refund_transaction")
DELIVERED = re.compile(r" (was delivered|is complete|reached the recipient)\.")
REFUNDED = re.compile(r" (was|were) refunded to ")
# Words of the service, of pages about customers, and advice that the customer has already followed.
NOT_FOR_CUSTOMERS = re.compile(
    rf"\b({'|'.join([*IntentStatus, *TransactionStatus])})\b|[{{}}]|\bowner\b|\bintent\b|the service|contact support"
    r"|let us know|refund is reported|records? of it conflict|These conflict|—|\bNone\b",
)


def written(transfer: Transfer) -> str:
    return customer_reply.Reply([transfer], ROOT).written()


def problems(transfer: Transfer) -> list[str]:
    """Return what a support lead would not send in the sentences of a reply."""
    sentences = customer_reply.body(transfer).partition("\n\n")[0]
    found = [f"{match[0]!r} is no word for customers: {sentences}" for match in NOT_FOR_CUSTOMERS.finditer(sentences)]
    if not 1 <= len(re.findall(r"[.?](?= [A-Z0-9]|$)", sentences)) <= 4:
        found.append(f"not one to four sentences: {sentences}")
    result = summary.of(transfer)
    is_delivered = transfer.is_delivered and result.certainty is Certainty.CONFIRMED
    if DELIVERED.search(sentences) and not is_delivered:
        found.append(f"not known to be delivered: {sentences}")
    if REFUNDED.search(sentences.replace("most likely refunded", "")) and transfer.returning is not StepStatus.DONE:
        found.append(f"not known to be refunded: {sentences}")
    if re.search(r"accept the quote|confirm it in your wallet|start it in the app", sentences) and transfer.is_expired:
        found.append(f"invites to pay an expired quote: {sentences}")
    return found


def plain(of_receipt):
    """Return a receipt whose transactions permit reading their status."""
    steps = {name: getattr(of_receipt, name) for name in STEPS}
    made = {name: step and IntentTransaction(**dict(step)) for name, step in steps.items()}
    return of_receipt.model_copy(update=made)


@pytest.mark.parametrize("recovery_url", [None, "https://app.example/recover"], ids=["no link", "link"])
@pytest.mark.parametrize("which", sorted({which for which, _, _ in MOMENTS}))
def test_a_reply_of_every_scenario_can_be_sent(which, recovery_url):
    for moment in (moment for moment in MOMENTS if moment[0] == which):
        for later in (timedelta(), timedelta(minutes=20), timedelta(days=1)):
            transfer = replace(scene(*moment).at(NOW + later), contacts=Contacts(recovery_url))
            assert problems(transfer) == []
            text = written(transfer)
            assert ("at the link below" in text) <= ("Recover funds: " in text)
            assert SCAM_WARNING not in text


def test_each_row_has_a_reply_of_its_own():
    replies = [row.reply for row in MESSAGES.values()]
    assert all(replies)
    shared = {reply for reply in replies if replies.count(reply) > 1}
    assert all("{" in reply for reply in shared)


def test_a_reply_names_a_time_that_is_still_to_come():
    for moment in MOMENTS:
        for later in (timedelta(), timedelta(minutes=20), timedelta(days=1)):
            now = NOW + later
            sentences = customer_reply.body(scene(*moment).at(now))
            for clock in re.findall(
                r"(?:update you|hasn't arrived|has changed|no refund) by ((?:\S+ )?\d\d:\d\d) UTC", sentences
            ):
                date, _, time = clock.rpartition(" ")
                named = datetime.fromisoformat(f"{date or now.date()} {time}+00:00")
                assert named >= now.replace(second=0), sentences


PAID = {"deposit": "SUCCEEDED"}
ARRIVED = {**PAID, "origin": "SUCCEEDED", "destination": "SUCCEEDED"}
RECEIVED = builders.summary(destination_token_amount=99_910_000)
LATER = {"expires_at": NOW - timedelta(minutes=1)}
BEGINNINGS = named(
    (
        "expired",
        receipt("QUOTED"),
        False,
        "The quote for your {what} expired at 14:02 UTC. We haven't seen a deposit, so your funds are still in your"
        " wallet on Arbitrum. Please don't send anything to the old deposit address.",
    ),
    (
        "submitted",
        receipt(deposit="PENDING"),
        False,
        "The deposit for your {short} was submitted and is being confirmed on Arbitrum.",
    ),
    ("open", receipt(**PAID), None, "Your deposit arrived, and your {short} is in progress."),
    (
        "delivered",
        receipt("SUCCEEDED", **ARRIVED, summary=RECEIVED),
        None,
        "Your {what} was delivered. Your wallet on Base received 99.91 USDC.",
    ),
    (
        "conflict",
        receipt("FAILED", **ARRIVED),
        None,
        "Your {short} is marked as failed, but its last transaction is confirmed. The funds are most likely in your",
    ),
    (
        "refund pending",
        receipt("FAILED", **PAID, origin="REVERTED", refund="MINING"),
        None,
        "Your {what} couldn't be completed and is being refunded.",
    ),
    (
        "recoverable",
        receipt("FAILED", **PAID, origin="FAILED"),
        True,
        "Your {what} failed, and the funds weren't refunded automatically. Your funds are at the ",
    ),
    ("failed", receipt("FAILED", **PAID, origin="FAILED"), False, "Your {what} couldn't be completed."),
)


@pytest.mark.parametrize(("of_receipt", "has_balance", "beginning"), BEGINNINGS)
def test_a_reply_begins_with_the_outcome(of_receipt, has_balance, beginning):
    transfer = at(intent(of_receipt.status, **LATER), of_receipt, has_balance=has_balance)
    words = beginning.format(what="transfer of 100.00 USDC from Arbitrum to Base", short="transfer of 100.00 USDC")
    assert written(transfer).startswith(words)


def test_funds_in_transit_are_escalated_to_the_provider_with_its_request():
    quote = IntentProviderQuote(route_providers=("LAYERZERO",), route_providers_request_ids=("0xc311" + "0" * 60,))
    old = {"updated_at": before(hours=5)}
    stalled = receipt(
        **{step: builders.transaction("SUCCEEDED", **old) for step in ("deposit", "origin")},
        destination=builders.transaction("ON_HOLD", txn_hash=None, **old),
        **old,
    )
    sentences = customer_reply.body(at(intent(quote=quote), stalled, now=NOW, has_balance=False))
    assert re.search(
        r"We've escalated this to \S+ \(request 0xc311\S+\) and will update you by \d\d:[03]0 UTC\.", sentences
    )


def test_several_transfers_have_one_greeting_and_one_signature(monkeypatch):
    monkeypatch.setattr(ENV, "intents_reply_greeting", "Hi,")
    monkeypatch.setattr(ENV, "intents_reply_signature", "Best,\nAnna")
    text = customer_reply.Reply([scene(*MOMENTS[0]).at(NOW), scene(*MOMENTS[-1]).at(NOW)], ROOT).written()
    assert text.startswith("Hi,\n\nTransfer 1 of 2\n")
    assert text.count("Hi,") == text.count("Best,\nAnna") == 1
    assert text.index("\n\nTransfer 2 of 2\n") < text.index("Best,\nAnna") < text.index("Intent ID: ")
    assert text.count("Transfer 2 of 2") == 2


def test_a_refund_in_another_token_says_so():
    weth = TokenMetadata(chain_id=ARBITRUM, token_address=WETH, symbol="WETH", decimals=18)
    described = builders.summary(destination_token_metadata=weth)
    for token, units, words in (
        (WETH, 5 * 10**16, "0.05 WETH (unlisted: 0x82aF49…3fBab1) instead of USDC was refunded"),
        (USDC, 99_500_000, "99.50 USDC was refunded"),
    ):
        back = refund("SUCCEEDED", token_address=token, token_amount=units)
        of = at(intent("REFUNDED"), receipt("REFUNDED", deposit="SUCCEEDED", refund=back, summary=described))
        assert f" {words} to your wallet on Arbitrum. " in written(of)
        assert ("instead of USDC." in summary.of(of).sentence) == ("instead" in words)


@pytest.mark.parametrize("which", sorted({which for which, _, _ in MOMENTS}))
def test_an_escalation_expects_nothing_that_has_failed(which):
    for moment in (moment for moment in MOMENTS if moment[0] == which):
        transfer = scene(*moment).at(NOW)
        lines = customer_reply.Escalation(transfer, URL).written().splitlines()
        labels = [line.partition(": ")[0] for line in lines]
        has_failed = transfer.status in rules.STOPPED or transfer.steps.has_dead_step
        assert not ("To be received" in labels and (has_failed or transfer.is_over))
        assert not [line for line in lines if line.startswith(("Sent:", "Received:")) and line.endswith("(quoted)")]
        assert ("Sent" in labels) == (transfer.arrived is not None)
        assert ("Refunded" in labels) == (summary.of(transfer).returned is not None)


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
    assert customer_reply.defang(words) == broken


def test_the_plain_text_reply_links_this_dashboard_and_explorers_alone():
    class Hostile(builders.Catalogue):
        def chain(self, chain_id):
            return ChainInfo(id=chain_id, name="https://evil.example www.evil.example") if chain_id else None

    paid = builders.deposit("SUCCEEDED", txn_hash="http://evil.example")
    result = written(at(intent(), receipt(deposit=paid), names=Hostile()))
    for line in ("Your deposit arrived", "Deposit transaction"):
        assert re.search(rf"(?m)^{line}.*evil\.example", result)
    assert re.findall(r"\S+://\S+|www\.\S+", result) == [URL]
