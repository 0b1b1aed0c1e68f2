"""Recent transfers on the same route: a fragment loaded after the transfer page, and a page."""

import re

import pytest
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
    words = site.get(f"/intent/{intent['intentId']}/route-stats").content.decode()
    (note,) = re.findall(r'<p class="note" data-tone="(\w+)"', words)
    assert note == "neutral"


def test_without_javascript_the_route_statistics_are_a_page(site: Client, emulator: Emulator) -> None:
    intent = emulator.finished(4)
    page = site.get(f"/intent/{intent['intentId']}/route-stats")
    assert "<html" in page.content.decode()
    assert f'href="/intent/{intent["intentId"]}"' in page.content.decode()


@pytest.mark.usefixtures("response_cache")
def test_two_viewers_cause_one_request(site: Client, emulator: Emulator) -> None:
    intent = emulator.finished(4)
    first = site.get(f"/intent/{intent['intentId']}/route-stats")
    emulator.inject("GetIntentHistory", "failing-500")
    second = site.get(f"/intent/{intent['intentId']}/route-stats")
    assert (first.status_code, second.status_code) == (200, 200)


def test_a_service_failure_is_reported_and_not_shown_as_no_transfers(site: Client, emulator: Emulator) -> None:
    intent = emulator.finished(4)
    emulator.inject("GetIntentHistory", "failing-500")
    part = site.get(f"/intent/{intent['intentId']}/route-stats", headers={"HX-Request-Type": "partial"})
    assert part.status_code == 503
    assert "Not enough" not in part.content.decode()
