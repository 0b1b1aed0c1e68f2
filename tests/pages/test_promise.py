"""An intent's page: quote vs. actual, the deposit check, and the fees."""

import pytest
from django.template.loader import render_to_string
from django.test import Client

from intents_ui import wiring
from intents_ui.display.quotes import comparison
from intents_ui.emulator.app import Emulator
from intents_ui.pages import intent as page
from intents_ui.service.wire.models import IntentReceipt
from intents_ui.web.transfers import situations

LINES = [
    pytest.param(
        3, "finished", ["As quoted", "as quoted ·", "above the minimum", "1 min 42 s under estimate"], id="as quoted"
    ),
    pytest.param(
        16,
        "finished",
        ["Received 50.00 USDC as quoted", "Quoted amount", "a different wallet from the owner"],
        id="exact output",
    ),
    pytest.param(8, "finished", ["Not delivered", "Refunded 299.", "less than deposited)"], id="refunded"),
    pytest.param(5, "finished", ["No deposit", "No deposit has been seen."], id="never deposited"),
    pytest.param(26, "finished", ["Unknown", "Delivered amount not reported"], id="not reported"),
    pytest.param(28, "finished", ["Not delivered", "Deposit check", "Deposit reverted"], id="rejected"),
    pytest.param(
        7,
        "finished",
        ["Deposit check", "No deposit received", "None (balance is monitored)"],
        id="a placeholder",
    ),
    pytest.param(2, "finished", ["Quoted fees", "Network fee (Base)", "Bridge fee (Relay)"], id="fees"),
    pytest.param(
        11,
        "finished",
        [
            "0.087655 USDC.e too little arrived: 79.712345 of the 79.80 USDC.e that the step needs.",
            "Service message: <bdi>precondition not met: balance 79712345 &lt; 79800000</bdi>",
        ],
        id="explained reason",
    ),
    pytest.param(
        25,
        "finished",
        [
            "USDC is paused on Optimism, so no transfer of it can go through.",
            "Service message: <bdi>refund reverted: token paused</bdi>",
            "Recovery isn&#39;t possible while USDC is paused on Optimism.",
        ],
        id="paused token",
    ),
]


@pytest.mark.parametrize(("which", "copy", "words"), LINES)
def test_the_page_shows_fees_reasons_and_comparisons(
    site: Client, emulator: Emulator, which: int, copy: str, words: list[str]
) -> None:
    html = site.get(f"/intent/{getattr(emulator, copy)(which)['intentId']}").content.decode()
    assert [word for word in words if word not in html] == []


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
    found, receipt = wiring.service().get_intent(intent_id), wiring.service().get_intent_receipt(intent_id)
    assert rendered(found, receipt).count("two different addresses in this transfer look similar") == 0
    owner = str(found.owner_address)
    twin = owner[:6] + "7" * 32 + owner[-4:]
    html = rendered(found.model_copy(update={"origin_intent_address": twin}), receipt)
    assert html.count("two different addresses in this transfer look similar") == 1
    assert (
        html.lower().count(f'<dd class="mono">{twin}</dd>') == html.lower().count(f'<dd class="mono">{owner}</dd>') == 1
    )


def rendered(found: page.Intent, receipt: IntentReceipt) -> str:
    return render_to_string("transfers/receipt.html", page.live_context(situations.of(found, receipt)))


def test_a_poll_updates_the_result_when_the_estimate_is_exceeded(site: Client, emulator: Emulator) -> None:
    early, late = (situations.of(*read(emulator, 23, age=age)) for age in (100, 1000))
    assert page.version(early, None) != page.version(late, None)
    assert [comparison.of(each).shown.word for each in (early, late)] == ["On track", "Over estimate"]


def read(emulator: Emulator, which: int, age: float) -> tuple[page.Intent, IntentReceipt]:
    intent_id = emulator.play(which, age=age)["intentId"]
    return wiring.service().get_intent(intent_id), wiring.service().get_intent_receipt(intent_id)


@pytest.mark.parametrize(
    ("which", "copy", "is_open"),
    [pytest.param(5, "finished", False, id="no deposit"), pytest.param(28, "finished", True, id="reverted")],
)
def test_the_deposit_check_is_folded_unless_a_row_is_unexpected(
    site: Client, emulator: Emulator, which: int, copy: str, is_open: bool
) -> None:
    html = site.get(f"/intent/{getattr(emulator, copy)(which)['intentId']}").content.decode()
    fold = html[html.rindex("<details", 0, html.index(">Deposit check<")) :]
    assert (" open>" in fold[: fold.index("<summary")]) is is_open
    summary = fold[: fold.index("</summary>")]
    assert 'class="status"' in summary
