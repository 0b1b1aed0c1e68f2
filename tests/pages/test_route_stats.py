"""Recent transfers on the same route: a fragment loaded after the transfer page, and a page."""

import re

from django.test import Client

from intents_ui.emulator.app import Emulator


def test_the_card_shows_how_many_transfers_were_delivered(site: Client, emulator: Emulator) -> None:
    intent = emulator.finished(4)
    part = site.get(f"/intent/{intent['intentId']}/route-stats", headers={"HX-Request-Type": "partial"})
    words = part.content.decode()
    assert part.status_code == 200
    assert "<html" not in words
    assert "Recent transfers on this route" in words
    assert "transfers between these chains" in words
    assert "delivered (" in words


def test_a_delivered_transfer_has_no_warning_about_other_transfers(site: Client, emulator: Emulator) -> None:
    intent = emulator.finished(2)
    part = site.get(f"/intent/{intent['intentId']}/route-stats", headers={"HX-Request-Type": "partial"})
    words = part.content.decode()
    (note,) = re.findall(r'<p class="note" data-tone="(\w+)"', words)
    assert note == "neutral"


def test_a_service_failure_is_reported_and_not_shown_as_no_transfers(site: Client, emulator: Emulator) -> None:
    intent = emulator.finished(4)
    emulator.inject("GetIntentHistory", "failing-500")
    part = site.get(f"/intent/{intent['intentId']}/route-stats", headers={"HX-Request-Type": "partial"})
    assert part.status_code == 503
    assert "Not enough" not in part.content.decode()
