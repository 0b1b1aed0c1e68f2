"""An intent's page: whether the promise was kept, where a payment is, and what it costs."""

from datetime import UTC, datetime

import pytest
from django.template.loader import render_to_string
from django.test import Client

from intents_ui import wiring
from intents_ui.emulator.app import Emulator
from intents_ui.pages import intent as page
from intents_ui.service.wire import IntentReceipt

LINES = [
    pytest.param(
        3, "finished", ["Kept", "as quoted", "above the minimum", "1 min 42 s shorter than promised"], id="kept"
    ),
    pytest.param(16, "finished", ["50.00 USDC, as promised", "Exactly that", "is not the owner"], id="exact output"),
    pytest.param(8, "finished", ["Not kept", "came back", "less than was paid"], id="returned"),
    pytest.param(5, "finished", ["Not taken up", "No payment was seen, so nothing was due."], id="never paid"),
    pytest.param(26, "finished", ["Not known", "how much came was not reported"], id="not reported"),
    pytest.param(28, "finished", ["Not kept", "Has the payment arrived?", "The payment was rejected"], id="rejected"),
    pytest.param(
        7,
        "finished",
        ["Has the payment arrived?", "Nothing arrived in time", "the balance is watched"],
        id="a placeholder",
    ),
    pytest.param(2, "finished", ["The parts add up to the total, in USD and in USDC.", "Gas on Base"], id="fees"),
]


@pytest.mark.parametrize(("which", "copy", "words"), LINES)
def test_the_page_says_it(site: Client, emulator: Emulator, which: int, copy: str, words: list[str]) -> None:
    html = site.get(f"/intent/{getattr(emulator, copy)(which)['intentId']}").content.decode()
    assert [word for word in words if word not in html] == []


def test_a_payment_that_was_used_is_not_examined(site: Client, emulator: Emulator) -> None:
    html = site.get(f"/intent/{emulator.finished(2)['intentId']}").content.decode()
    assert "Has the payment arrived?" not in html


def test_the_line_stands_in_the_answer(site: Client, emulator: Emulator) -> None:
    html = site.get(f"/intent/{emulator.play(3, age=300)['intentId']}").content.decode()
    answer = html[html.index('aria-label="What happened"') : html.index('aria-label="The route"')]
    assert "Kept so far" in answer
    assert "within 19 min" in answer


def test_addresses_that_look_alike_are_shown_whole(emulator: Emulator) -> None:
    intent_id = emulator.finished(2)["intentId"]
    found, receipt = wiring.service().get_intent(intent_id), wiring.service().get_intent_receipt(intent_id)
    assert rendered(found, receipt).count("look alike and are different") == 0
    owner = str(found.owner_address)
    twin = owner[:6] + "7" * 32 + owner[-4:]
    html = rendered(found.model_copy(update={"origin_intent_address": twin}), receipt)
    assert html.count("look alike and are different") == 1
    assert (
        html.lower().count(f'<dd class="mono">{twin}</dd>') == html.lower().count(f'<dd class="mono">{owner}</dd>') == 1
    )


def rendered(found: page.Intent, receipt: IntentReceipt) -> str:
    return render_to_string("parts/receipt.html", page.told(found, receipt, now=datetime.now(UTC)))


def test_a_poll_brings_the_new_verdict_when_the_promised_time_is_over(site: Client, emulator: Emulator) -> None:
    early = page.told(*read(emulator, 23, age=100), now=datetime.now(UTC))
    late = page.told(*read(emulator, 23, age=1000), now=datetime.now(UTC))
    assert early["version"] != late["version"]
    assert [each["promise"].shown.word for each in (early, late)] == ["Kept so far", "Slower than promised"]  # type: ignore[attr-defined]


def read(emulator: Emulator, which: int, age: float) -> tuple[page.Intent, IntentReceipt]:
    intent_id = emulator.play(which, age=age)["intentId"]
    return wiring.service().get_intent(intent_id), wiring.service().get_intent_receipt(intent_id)
