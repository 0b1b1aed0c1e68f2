"""Balances of intent addresses: loaded after the page, as a page, and distinct from unknown balances."""

import re
from datetime import UTC, datetime, timedelta
from threading import Event

import pytest
from django.http import HttpResponse
from django.test import Client

from intents_ui import app
from intents_ui.service import operations
from intents_ui.transfers.balances import NOTHING
from intents_ui.transfers.rules import MESSAGES
from intents_ui.transfers.summary import CHECKING, CHECKING_NEXT
from intents_ui.transfers.transfer import Check, Transfer
from intents_ui.web import reading
from tests.emulator.driving import quote
from tests.pages.kinds import EVERY_SCENARIO
from tests.pages.reading import PARTIAL, visible_text
from tests.waiting import PATIENCE

ABORTED_WITH_FUNDS = 13
OWNER = f"0x{'11' * 20}"


def fragment(site: Client, intent_id: str) -> HttpResponse:
    return site.get(f"/intent/{intent_id}/balances", headers=PARTIAL)


def test_a_slow_lookup_leaves_the_status_open_and_is_loaded_later(site, emulator, transport, monkeypatch):
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


def test_a_response_from_before_the_transfer_says_nothing_about_it(site, emulator, operations):
    """The owner's transfers of one second are one request, which is cached."""
    for _ in range(2):
        intent_id = quote(emulator, ownerAddress=OWNER)["intentId"]
        assert NOTHING in visible_text(fragment(site, intent_id))
    operations.clear()
    fragment(site, intent_id)
    assert "GetIntentHistory" not in operations


@pytest.mark.parametrize("scenario", EVERY_SCENARIO)
def test_every_scenario_has_balances(site, emulator, scenario):
    """The emulator's own balances determine what the page must show."""
    intent_id = emulator.finished(scenario.slug)["intentId"]
    answer = fragment(site, intent_id)
    assert answer.status_code == 200
    entry = emulator.ledger.requested(intent_id, round(emulator.now() * 1_000_000))
    assert (NOTHING not in visible_text(answer)) == bool(entry.scene.marks.get("balance"))


def test_a_lookup_from_before_the_last_change_is_ignored(site, emulator):
    intent = app.current().service.ask(operations.get_intent(emulator.finished(ABORTED_WITH_FUNDS)["intentId"]))
    receipt = app.current().service.ask(operations.get_intent_receipt(intent.intent_id))
    found = reading.look_up_balances(Transfer(intent, receipt, now=datetime.now(UTC)))
    assert found is not None
    assert found.has_balance
    moved = receipt.model_copy(update={"updated_at": datetime.now(UTC) + timedelta(seconds=1)})
    then, now = reading.known_balances(
        [Transfer(intent, receipt, now=datetime.now(UTC)), Transfer(intent, moved, now=datetime.now(UTC))]
    )
    assert (then.check, now.check) == (Check.CHECKED, Check.UNCHECKED)
