"""`/saved/status`: current status of the transfers saved in a browser."""

import html
import re

import pytest
from django.test import Client

from intents_ui.emulator.app import Emulator

UNKNOWN = "0x" + "ab" * 32


def part(site: Client, intent_id: str) -> str:
    answer = site.get("/saved/status", {"id": intent_id})
    assert answer.status_code == 200
    assert answer["Cache-Control"] == "no-store"
    return html.unescape(re.sub(r"<[^>]+>", "|", answer.content.decode()))


def test_a_transfer_has_the_name_it_was_saved_with(site: Client, emulator: Emulator) -> None:
    for number in (2, 8, 20, 28):
        intent_id = str(emulator.finished(number)["intentId"])
        saved = re.search(r'data-name="([^"]+)"', site.get(f"/intent/{intent_id}").content.decode())
        assert saved
        assert html.unescape(saved[1]) in part(site, intent_id)


def test_a_transfer_that_failed_to_load_says_so(site: Client, emulator: Emulator) -> None:
    intent_id = str(emulator.finished(2)["intentId"])
    assert "Status not loaded" in part(site, UNKNOWN)
    assert "Succeeded" in part(site, intent_id)
    emulator.inject("GetIntent", "failing-500")
    assert "Status not loaded" in part(site, intent_id)


def test_a_receipt_that_failed_to_load_is_not_shown_as_missing(site: Client, emulator: Emulator) -> None:
    emulator.inject("GetIntentReceipt", "failing-500")
    intent_id = str(emulator.finished(25)["intentId"])
    result = part(site, intent_id)
    assert "no receipt" not in result.lower()
    assert "Refund failed" not in result
    assert "Failed" in result


@pytest.mark.parametrize("intent_id", ["", "0x" + "AB" * 32, "a b", "../etc"])
def test_an_invalid_intent_id_is_rejected(site: Client, emulator: Emulator, intent_id: str) -> None:
    assert site.get("/saved/status", {"id": intent_id}).status_code == 400


def test_only_a_transfer_that_may_change_is_loaded_again(site: Client, emulator: Emulator) -> None:
    closed = site.get("/saved/status", {"id": emulator.finished(2)["intentId"]}).content.decode()
    moving = site.get("/saved/status", {"id": emulator.play("refunded-on-origin", age=1)["intentId"]}).content.decode()
    assert "every 10s" not in closed
    assert "every 10s" in moving
