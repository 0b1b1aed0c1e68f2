"""An intent's page: quote vs. actual, the deposit check, and the fees."""

import re

import pytest
from django.template.loader import render_to_string
from django.test import Client

from intents_ui import app
from intents_ui.emulator.app import Emulator
from intents_ui.service import operations
from intents_ui.service.models import IntentReceipt
from intents_ui.web import intent as page
from intents_ui.web import reading
from tests.surfaces import words as visible

LINES = [
    (3, ["As quoted", "As quoted, ", "above the minimum", "1 min 42 s under estimate"]),
    (16, ["Received 50.00 USDC ·", "Quoted amount", "a different wallet from the owner"]),
    (8, ["Not delivered", "0.045877 USDC less than sent"]),
    (5, ["No deposit", "Not seen"]),
    (26, ["Unknown", "Delivered amount not reported"]),
    (28, ["Not delivered", "Deposit check", "Reverted"]),
    (7, ["Deposit check", "none at the deposit address", "Not seen"]),
    (2, ["Quoted fees", "Network fee (Base)", "Bridge fee (Relay)"]),
    (
        11,
        [
            "79.7123 USDC.e arrived, 0.087655 USDC.e less than the 79.80 USDC.e that the step needs.",
            "Service message: <bdi>precondition not met: balance 79712345 &lt; 79800000</bdi>",
        ],
    ),
    (
        25,
        [
            "No transfer of USDC can go through while it is paused on Optimism.",
            "Service message: <bdi>refund reverted: token paused</bdi>",
            "Recovery isn&#39;t possible while USDC is paused on Optimism.",
        ],
    ),
]


@pytest.mark.parametrize(("scenario", "words"), LINES)
def test_the_page_shows_fees_reasons_and_comparisons(
    site: Client, emulator: Emulator, scenario: int, words: list[str]
) -> None:
    page = site.get(f"/intent/{emulator.finished(scenario)['intentId']}").content.decode()
    assert [word for word in words if word not in page and word not in visible(page)] == []


def test_the_comparison_says_its_result_once(site: Client, emulator: Emulator) -> None:
    html = site.get(f"/intent/{emulator.finished(28)['intentId']}").content.decode()
    card = html[html.index('aria-labelledby="quote-vs-actual"') :]
    assert visible(card[: card.index("</section>")]).count("Not delivered") == 1


def test_the_deposit_check_has_no_headline_and_no_next_step_of_its_own(site: Client, emulator: Emulator) -> None:
    html = site.get(f"/intent/{emulator.finished(27)['intentId']}").content.decode()
    part = html[html.index('id="deposit-mismatch"') :]
    assert "below the minimum" in html
    assert re.sub(r"<table.*?</table>", "", part[: part.index("</details>")], flags=re.DOTALL).count("<p>") == 1


def test_a_used_deposit_has_no_deposit_check(site: Client, emulator: Emulator) -> None:
    html = site.get(f"/intent/{emulator.finished(2)['intentId']}").content.decode()
    assert "Deposit check" not in html


def test_the_quote_comparison_is_one_line_in_the_summary(site: Client, emulator: Emulator) -> None:
    html = site.get(f"/intent/{emulator.play(3, age=300)['intentId']}").content.decode()
    answer = html[html.index('aria-label="What happened"') : html.index('aria-label="The route"')]
    assert "Quote vs. actual: " in answer
    assert "On track" in answer
    assert "estimate 19 min" in answer


def test_lookalike_addresses_are_shown_in_full(emulator: Emulator) -> None:
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
