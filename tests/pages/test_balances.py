"""Balances of intent addresses: loaded after the page, as a page, and distinct from unknown balances."""

import html
import re
from datetime import UTC, datetime, timedelta
from threading import Event

import pytest
from django.http import HttpResponse
from django.test import Client

from intents_ui import app
from intents_ui.emulator.app import Emulator
from intents_ui.emulator.scenario_engine import Scenario
from intents_ui.service import operations
from intents_ui.transfers.balances import NO_OWNER, NOTHING
from intents_ui.transfers.rules import MESSAGES
from intents_ui.transfers.summary import CHECKING, CHECKING_NEXT, NOT_CHECKED
from intents_ui.transfers.transfer import Check, Transfer
from intents_ui.web import reading
from tests.emulator.driving import quote
from tests.pages.kinds import EVERY_SCENARIO
from tests.pages.reading import PARTIAL, visible_text
from tests.pages.recorded import Recorded, rewrite
from tests.waiting import PATIENCE

ABORTED_WITH_FUNDS = 13
OWNER = f"0x{'11' * 20}"


def fragment(site: Client, intent_id: str) -> HttpResponse:
    return site.get(f"/intent/{intent_id}/balances", headers=PARTIAL)


def test_a_balance_has_address_amount_value_price_and_time(site: Client, emulator: Emulator) -> None:
    answer = fragment(site, emulator.finished(ABORTED_WITH_FUNDS)["intentId"])
    assert answer.status_code == 200
    assert "HX-Request-Type" in answer["Vary"].split(", ")
    said = visible_text(answer)
    assert "Deposit address on Polygon" in said
    assert re.search(r"30\.00 USDT .*\$30\.00 \$1\.00 each", said)
    assert re.search(r"Checked 12:00:\d\d UTC", said)
    assert "<h1" not in answer.content.decode()


def test_the_first_response_has_the_balances_and_the_conclusions_from_them(site: Client, emulator: Emulator) -> None:
    intent_id = emulator.finished(ABORTED_WITH_FUNDS)["intentId"]
    said = visible_text(site.get(f"/intent/{intent_id}"))
    assert MESSAGES["aborted.recoverable"].headline in said
    assert "At the deposit address on Polygon: 30.00 USDT." in said
    assert "Waiting on: owner" in said
    assert re.search(r"30\.00 USDT .*\$30\.00 \$1\.00 each", said)


def test_a_slow_lookup_leaves_the_status_open_and_is_loaded_later(
    site: Client, emulator: Emulator, transport: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BALANCE_TIMEOUT", 0.05)
    is_answering = Event()
    intent_id = emulator.finished(ABORTED_WITH_FUNDS)["intentId"]
    transport.scripts["GetIntentHistory"] = lambda _: None if is_answering.wait(PATIENCE) else {}
    page = site.get(f"/intent/{intent_id}")
    said = visible_text(page)
    assert re.search(r"<h1>\s*<a[^>]*>Aborted</a>\s*</h1>", page.content.decode())
    assert CHECKING in said
    assert CHECKING_NEXT in said
    assert MESSAGES["aborted.after_payment"].headline not in said
    assert f'hx-get="/intent/{intent_id}/receipt?once" hx-trigger="every 2s"' in page.content.decode()
    is_answering.set()
    assert "30.00 USDT" in visible_text(fragment(site, intent_id))
    after = visible_text(site.get(f"/intent/{intent_id}/receipt?once", headers=PARTIAL))
    assert MESSAGES["aborted.recoverable"].headline in after
    assert CHECKING not in after


def test_a_failed_lookup_is_reported_and_supports_no_conclusion(site: Client, emulator: Emulator) -> None:
    intent_id = emulator.finished(ABORTED_WITH_FUNDS)["intentId"]
    emulator.inject("GetIntentHistory", "node-down-503")
    said = visible_text(site.get(f"/intent/{intent_id}"))
    assert NOT_CHECKED in said
    assert MESSAGES["aborted.recoverable"].headline not in said


def test_a_response_from_before_the_transfer_says_nothing_about_it(
    site: Client, emulator: Emulator, operations: list[str]
) -> None:
    """The owner's transfers of one second are one request, which is cached."""
    for _ in range(2):
        intent_id = quote(emulator, ownerAddress=OWNER)["intentId"]
        assert NOTHING in visible_text(fragment(site, intent_id))
    operations.clear()
    fragment(site, intent_id)
    assert "GetIntentHistory" not in operations


def announcement(answer: HttpResponse) -> str:
    """Return what screen readers announce."""
    said = re.search(r'data-said="([^"]*)"', answer.content.decode())
    assert said
    return html.unescape(said[1])


def test_a_screen_reader_announces_one_line_instead_of_the_card(site: Client, emulator: Emulator) -> None:
    intent_id = emulator.finished(ABORTED_WITH_FUNDS)["intentId"]
    assert announcement(fragment(site, intent_id)) == "Intent address balances: $30.00."
    for page in (f"/intent/{intent_id}", f"/intent/{intent_id}/balances"):
        around = re.search(r'<div id="balances"[^>]*>', site.get(page).content.decode())
        assert around
        assert "aria-live" not in around[0]
    assert announcement(fragment(site, emulator.finished(5)["intentId"])).startswith(
        "No funds at this transfer's intent addresses"
    )
    intent_id = emulator.finished(2)["intentId"]
    emulator.inject("GetIntentHistory", "node-down-503")
    assert announcement(fragment(site, intent_id)).startswith("Couldn't load balances: Service")


def test_a_balance_without_a_price_is_not_announced_as_zero(site: Client, emulator: Emulator) -> None:
    emulator.inject("GetIntentHistory", "prices-missing")
    said = announcement(fragment(site, emulator.finished(ABORTED_WITH_FUNDS)["intentId"]))
    assert said.startswith("Intent address balances: funds without a USD price.")


@pytest.mark.parametrize(
    ("fault", "said", "unsaid"),
    [
        pytest.param("prices-missing", "no price", "$0", id="no price is not a price of 0"),
        pytest.param("prices-zero", "priced at $0", "no price", id="a price of 0 is not no price"),
        pytest.param("balances-bare", "30.00 USDT", "an unknown chain", id="chain 0, no symbol, no decimals"),
    ],
)
def test_a_token_with_few_details_still_shows_its_balance(
    site: Client, emulator: Emulator, fault: str, said: str, unsaid: str
) -> None:
    emulator.inject("GetIntentHistory", fault)
    found = visible_text(fragment(site, emulator.finished(ABORTED_WITH_FUNDS)["intentId"]))
    assert said in found
    assert unsaid not in found


@pytest.mark.parametrize("scenario", EVERY_SCENARIO)
def test_every_scenario_has_balances(site: Client, emulator: Emulator, scenario: Scenario) -> None:
    """The emulator's own balances determine what the page must show."""
    intent_id = emulator.finished(scenario.slug)["intentId"]
    answer = fragment(site, intent_id)
    assert answer.status_code == 200
    entry = emulator.ledger.named(intent_id, round(emulator.now() * 1_000_000))
    assert entry is not None
    assert (NOTHING not in visible_text(answer)) == bool(entry.scene.marks.get("balance"))


def test_without_javascript_balances_are_a_page_with_a_link_back(site: Client, emulator: Emulator) -> None:
    intent_id = emulator.finished(ABORTED_WITH_FUNDS)["intentId"]
    page = site.get(f"/intent/{intent_id}/balances").content.decode()
    assert "<h1>Balances</h1>" in page
    assert "30.00" in page
    assert f'href="/intent/{intent_id}">Back to the transfer' in page


def test_an_intent_missing_from_its_owners_history_is_not_called_empty(site: Client, emulator: Emulator) -> None:
    intent_id = emulator.finished(ABORTED_WITH_FUNDS)["intentId"]
    other = emulator.finished(2)["intentId"]
    rows = {"intents": [{"intentId": other, "status": "SUCCEEDED"}]}
    with rewrite("GetIntentHistory", lambda _: rows):
        said = visible_text(fragment(site, intent_id))
    assert "this transfer isn't in the owner's history" in said
    assert "Nothing" not in said


def test_an_intent_without_an_owner_has_no_balance_lookup(site: Client, emulator: Emulator) -> None:
    intent_id = emulator.finished(ABORTED_WITH_FUNDS)["intentId"]
    with rewrite("GetIntent", lambda _: {"intent": {"intentId": intent_id, "status": "ABORTED"}}):
        answer = fragment(site, intent_id)
    assert answer.status_code == 200
    assert NO_OWNER in visible_text(answer)
    assert "Checked" not in visible_text(answer)


def test_an_error_appears_in_the_card_and_can_be_retried(site: Client, emulator: Emulator) -> None:
    intent_id = emulator.finished(ABORTED_WITH_FUNDS)["intentId"]
    emulator.inject("GetIntentHistory", "node-down-503")
    failed = fragment(site, intent_id)
    assert (failed.status_code, failed["Retry-After"]) == (503, "10")
    assert "Couldn't load balances: Service" in visible_text(failed)
    assert "Try again" in visible_text(failed)
    assert "Nothing" not in visible_text(failed)
    assert NOTHING not in visible_text(failed)
    emulator.reset()
    assert "30.00 USDT" in visible_text(fragment(site, intent_id))


def test_a_lookup_from_before_the_last_change_is_ignored(site: Client, emulator: Emulator) -> None:
    intent = app.current().service.ask(operations.get_intent(emulator.finished(ABORTED_WITH_FUNDS)["intentId"]))
    receipt = app.current().service.ask(operations.get_intent_receipt(intent.intent_id))
    found = reading.look_up_balances(Transfer(intent, receipt, now=datetime.now(UTC)))
    assert found is not None
    assert found.has_balance
    moved = receipt.model_copy(update={"updated_at": datetime.now(UTC) + timedelta(seconds=1)})
    then, now = (
        balances
        for balances, _ in reading.known_balances(
            [Transfer(intent, receipt, now=datetime.now(UTC)), Transfer(intent, moved, now=datetime.now(UTC))]
        )
    )
    assert (then.check, now.check) == (Check.CHECKED, Check.UNCHECKED)
