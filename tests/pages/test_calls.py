"""Decoded calls on the transfer page, above every field."""

import re
from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.test import Client

from intents_ui import wiring
from intents_ui.display.transfers.situation import Situation
from intents_ui.emulator.app import Emulator
from intents_ui.pages import intent
from intents_ui.service.wire.models import Call, Intent, IntentCalls, TransactionPrecondition
from tests import raw_service

TITLE = "Decoded calls"


def visible_text(html: str) -> str:
    """Return the visible text of the fold."""
    fold = html[html.index(TITLE) : html.index("Decoded from well-known function signatures")]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", "", fold)))


def page(site: Client, made: dict[str, Any]) -> str:
    answer = site.get(f"/intent/{made['intentId']}/proof")
    assert answer.status_code == 200
    return answer.content.decode()


def test_decoded_calls_come_before_every_field(site: Client, emulator: Emulator) -> None:
    html = page(site, emulator.finished(16))
    assert html.index(TITLE) < html.index("Quote<span")
    words = visible_text(html)
    assert "to the deposit address." in words
    assert "Runs once the destination intent address has at least 50.00 USDC on Base." in words
    assert "Approve the recipient to spend 50.00 USDC from the destination intent address." in words
    assert "Call function 0x97d4df67 of the recipient." in words
    assert "Runs if the previous call fails." in words
    assert "approve, 68 bytes of data" in words


def test_a_permit_shows_its_deadline_and_that_it_is_unlimited(site: Client, emulator: Emulator) -> None:
    words = visible_text(page(site, emulator.finished(15)))
    assert (
        "A signed permit allows the service's contract to spend USDC without limit from the owner's wallet until"
        in words
    )
    assert "The unused part stays approved until revoked." in words


@pytest.mark.parametrize("number", range(1, 31))
def test_every_scenario_has_decoded_calls(site: Client, emulator: Emulator, number: int) -> None:
    words = visible_text(page(site, emulator.newest(number)))
    assert "Deposit" in words
    # A payment on a chain without contract addresses is not a contract call.
    assert ("Arguments don't match the function signature" in words) == (number == 30)


def test_unfolding_reloads_the_calls_of_an_open_transfer(site: Client, emulator: Emulator) -> None:
    intent_id = emulator.play(3, age=20)["intentId"]
    assert TITLE in site.get(f"/intent/{intent_id}/proof").content.decode()


HOSTILE = [
    pytest.param("0xac9650d8" + f"{32:064x}{2**200:064x}", "Arguments don't match the function", id="an endless list"),
    pytest.param("0xac9650d8" + "ff" * 40_000, "Arguments don't match the function signature", id="long and broken"),
    pytest.param("0xdeadbeef" + "00" * 90_000, "too long to decode", id="too long"),
    pytest.param("0xde", "too short for a function selector", id="too short"),
]


@pytest.mark.parametrize(("data", "words"), HOSTILE)
def test_hostile_call_data_renders_a_normal_page(site: Client, emulator: Emulator, data: str, words: str) -> None:
    wish = {
        "ownerAddress": "0x" + "ab" * 20,
        "originChainId": 8453,
        "originTokenAddress": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
        "destinationChainId": 10,
        "destinationTokenAddress": "0x0b2c639c533813f4aa9d7837caf62653d097ff85",
        "destinationToAddress": "0x" + "cd" * 20,
        "destinationCallData": data,
        "originTokenAmount": "25000000",
        "tradeType": "EXACT_INPUT",
    }
    quoted = raw_service.post(wiring.service(), "QuoteIntent", wish).json()["intent"]
    assert words in visible_text(page(site, quoted))


def test_no_hostile_text_becomes_markup(site: Client) -> None:
    """Text that is neither an address, hex nor a known term, in every field that can hold text."""
    hostile = "<img src=x onerror=alert(1)>\u202e{{7*7}}"
    found = Intent(
        intent_id="x",
        origin_chain_id=8453,
        origin_calls=IntentCalls(calls=(Call(to=hostile, data=hostile, value=1),)),
        origin_precondition=TransactionPrecondition(type=hostile, token_address=hostile, min_amount=1),
    )
    situation = Situation.of(found, None, now=datetime.now(UTC), names=wiring.catalog())
    html = render_to_string("transfers/raw_data_fragment.html", intent.all_fields(situation))
    fold = html[: html.index("Decoded from well-known function signatures")]
    assert "<img" not in fold
    assert "\u202e" not in fold
    assert "⟨U+202E⟩{{7*7}}" in fold
