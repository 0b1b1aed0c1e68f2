"""Quotes: what page and reply say before a deposit, quote vs. actual, the deposit check, fees, and the route."""

import html
import re
from datetime import timedelta

import pytest
from django.template.loader import render_to_string
from django.test import Client

from intents_ui import app
from intents_ui.emulator.app import Emulator
from intents_ui.service import operations
from intents_ui.service.models import IntentReceipt
from intents_ui.transfers import summary
from intents_ui.web import intent as page
from intents_ui.web import reading
from tests.surfaces import words as visible
from tests.transfers.builders import NOW, at, intent, receipt, transaction


def reply(site: Client, intent_id: str) -> str:
    page = site.get(f"/intent/{intent_id}/reply", headers={"HX-Request-Type": "partial"}).content.decode()
    return html.unescape(re.findall(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)[0])


@pytest.fixture
def unchecked(emulator: Emulator) -> None:
    """Make requests for balances fail."""
    emulator.inject("GetIntentHistory", "failing-500")


@pytest.mark.parametrize(("scenario", "age"), [(5, 400), (6, 605), (7, 400), (7, 800)])
def test_the_reply_for_an_expired_quote_invites_to_no_payment(site, emulator, scenario, age):
    opening = reply(site, emulator.play(scenario, age=age)["intentId"]).partition("\n")[0]
    assert re.search(r" expired at .* UTC\b.*We haven't seen a deposit|and we haven't seen a deposit", opening), opening
    assert "Please don't send anything to the old deposit address" in opening
    assert "waiting for" not in opening


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("scenario", "age", "said"),
    [(5, 60, "is ready"), (6, 60, "hasn't been started"), (7, 60, "is waiting for your deposit")],
)
def test_the_status_decides_what_the_reply_says_while_balances_are_unknown(site, emulator, scenario, age, said):
    assert said in reply(site, emulator.play(scenario, age=age)["intentId"]).partition("\n")[0]


@pytest.mark.parametrize("expires_at", [None, NOW + timedelta(hours=1)], ids=["unknown", "ahead"])
def test_a_deposit_that_is_long_awaited_is_not_called_late_for_a_quote_that_has_not_expired(expires_at):
    of_intent = intent(expires_at=expires_at)
    long_ago = NOW - timedelta(days=1)
    waiting = receipt(deposit=transaction("PENDING", txn_hash=None, updated_at=long_ago), updated_at=long_ago)
    told = summary.of(at(of_intent, waiting, now=NOW, has_balance=False))
    assert "expired" not in f"{told.headline} {told.sentence}"


def test_the_comparison_says_its_result_once(site, emulator):
    html = site.get(f"/intent/{emulator.finished(28)['intentId']}").content.decode()
    card = html[html.index('aria-labelledby="quote-vs-actual"') :]
    assert visible(card[: card.index("</section>")]).count("Not delivered") == 1


def test_the_deposit_check_has_no_headline_and_no_next_step_of_its_own(site, emulator):
    html = site.get(f"/intent/{emulator.finished(27)['intentId']}").content.decode()
    part = html[html.index('id="deposit-mismatch"') :]
    assert "below the minimum" in html
    assert re.sub(r"<table.*?</table>", "", part[: part.index("</details>")], flags=re.DOTALL).count("<p>") == 1


def test_lookalike_addresses_are_shown_in_full(emulator):
    intent_id = emulator.finished(2)["intentId"]
    service = app.current().service
    found, receipt = (
        service.ask(operations.get_intent(intent_id)),
        service.ask(operations.get_intent_receipt(intent_id)),
    )
    assert rendered(found, receipt).count("two different addresses in this transfer look similar") == 0
    owner = str(found.owner_address)
    twin = owner[:6] + "7" * 32 + owner[-4:]
    html = rendered(found.model_copy(update={"origin_intent_address": twin}), receipt)
    assert html.count("two different addresses in this transfer look similar") == 1
    assert (
        html.lower().count(f'<dd class="mono">{twin}</dd>') == html.lower().count(f'<dd class="mono">{owner}</dd>') == 1
    )


def rendered(found: page.Intent, receipt: IntentReceipt) -> str:
    return render_to_string("transfers/receipt.html", page.live_context(reading.of(found, receipt)))


ARROWS = {"": "money-then", "/embed": "embed-then"}
AMOUNT = re.compile(
    r'<span class="labeled"( data-note)?>(?:<span class="amount-label">([^<]+)</span> )?<span class="amount"'
)


def shown(site: Client, emulator: Emulator, number: int, prefix: str) -> tuple[list[tuple[bool, str]], bool]:
    """Return whether each amount is small, its label, and whether there's an arrow between them."""
    page = site.get(f"{prefix}/intent/{emulator.finished(number)['intentId']}").content.decode()
    found = [(bool(small), html.unescape(label)) for small, label in AMOUNT.findall(page)]
    return found, f'class="{ARROWS[prefix]}"' in page


@pytest.mark.parametrize("prefix", ARROWS, ids=["page", "embed"])
@pytest.mark.parametrize(
    ("number", "amounts", "has_arrow"),
    [
        (2, [(False, ""), (False, "")], True),
        (25, [(False, ""), (True, "Quoted:")], False),
        (28, [(True, "Quoted:"), (True, "Quoted:")], False),
        (5, [(True, "Quoted:"), (True, "Quoted:")], False),
        (8, [(False, ""), (False, "Refunded:")], False),
    ],
    ids=["delivered", "refund failed", "deposit reverted", "expired", "refunded"],
)
def test_an_amount_is_large_only_if_it_moved(site, emulator, prefix, number, amounts, has_arrow):
    found, arrow = shown(site, emulator, number, prefix)
    assert (found[-2:], arrow) == (amounts, has_arrow)
    assert {*found} == {*amounts}  # the same amounts below a page's headline
