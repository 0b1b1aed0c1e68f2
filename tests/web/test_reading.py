"""Transfers are made once for five seconds from the same objects of the service, names and balances."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import httpx
import pytest
import time_machine

from intents_ui import app, startup
from intents_ui.service.errors import NotFound
from intents_ui.service.models import Intent, IntentHistory, IntentReceipt
from intents_ui.transfers.transfer import Transfer
from intents_ui.web import reading
from tests.service.clients import answered, without_socket

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ENTRIES = [IntentHistory(intent_id=f"0x{number}", status="QUOTED", created_at=NOON) for number in range(3)]
INTENT, RECEIPT = Intent(intent_id="0x1", status="FAILED"), IntentReceipt(intent_id="0x1", status="FAILED")


@pytest.fixture(autouse=True)
def dashboard() -> Iterator[None]:
    def answer(_: httpx.Request) -> httpx.Response:
        return answered({"chains": [], "tokens": []})

    before = app.current()
    with without_socket(answer) as service:
        app.use(startup.build(service=service))
        yield
    app.use(before)


def shown_again() -> Sequence[Transfer]:
    """Return the rows as shown the second time, from which on they are reused."""
    reading.of_entries(ENTRIES)
    return reading.of_entries(ENTRIES)


@pytest.mark.parametrize("seconds", [5, 60, -1])
def test_a_list_is_made_again_after_five_seconds(clock: time_machine.Traveller, seconds: int) -> None:
    rows = shown_again()
    clock.move_to(NOON + timedelta(seconds=4.9))
    assert reading.of_entries(list(ENTRIES)) is rows
    clock.move_to(NOON + timedelta(seconds=seconds))
    renewed = reading.of_entries(ENTRIES)
    assert renewed is not rows
    assert {each.now for each in renewed} == {NOON + timedelta(seconds=seconds)}


def test_a_list_of_other_entries_is_another_list(clock: time_machine.Traveller) -> None:
    rows = shown_again()
    others = [ENTRIES[0].model_copy(), *ENTRIES[1:]]
    assert reading.of_entries(others) is not rows
    assert len(reading.of_entries(ENTRIES[:2])) == 2
    assert len(reading.of_entries([])) == 0


def test_a_list_is_made_again_with_new_names(clock: time_machine.Traveller) -> None:
    rows = shown_again()
    app.current().catalog.version = object()
    assert reading.of_entries(ENTRIES) is not rows


def test_a_transfer_is_that_of_its_intent_and_its_receipt(clock: time_machine.Traveller) -> None:
    reading.of_answers([INTENT], [RECEIPT])
    [one] = reading.of_answers([INTENT], [RECEIPT])
    assert reading.of_answers([INTENT, INTENT], [RECEIPT, NotFound()])[0] is one
    [without] = reading.of_answers([INTENT], [NotFound()])
    assert without.receipt is None
    [other] = reading.of_answers([INTENT], [RECEIPT.model_copy(update={"status": "REFUNDED"})])
    assert other.status == "REFUNDED"


def test_a_list_that_is_too_long_to_be_reused_is_shown(clock: time_machine.Traveller) -> None:
    entries = [IntentHistory(intent_id=f"0x{number}") for number in range(reading.MAX_REUSED + 1)]
    assert len(reading.of_entries(entries)) == len(entries)
