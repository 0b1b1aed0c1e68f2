"""`/demo`: the scenarios, each with three transfers. `/demo/new`: a transfer by pickers."""

import re

import pytest

from intents_ui.emulator.scenario_engine import SCENARIOS

LINK = re.compile(r'<a href="(/intent/0x[0-9a-f]{64})" aria-label="([^"]*)">([^<]*)</a>')


def test_each_of_the_ninety_links_opens_a_transfer(site):
    page = site.get("/demo").content.decode()
    links = LINK.findall(page)
    assert [words for _, _, words in links] == ["Live", "At its worst", "Completed"] * 30
    assert len({label for _, label, _ in links}) == 90
    assert all(words.lower() in label.lower() for _, label, words in links)
    assert len({path for path, _, _ in links}) == 90
    assert [path for path, _, _ in links[::11] if site.get(path).status_code != 200] == []


def test_each_row_links_to_its_own_held_transfer(site, emulator):
    rows = site.get("/demo").content.decode().split("<tr>")[2:]
    assert len(rows) == 30
    for row, scenario in zip(rows, SCENARIOS, strict=True):
        worst = emulator.worst(scenario.slug)["intentId"]
        assert f'href="/intent/{worst}" aria-label="Scenario {scenario.number} at its worst"' in row


USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
BASE, ARBITRUM = f"8453:{USDC}", "42161:0xaf88d065e77c8cc2239327c5edb3a432268e5831"
CHOSEN = {"from": BASE, "to": ARBITRUM, "amount": "25", "scenario": ""}


def test_the_form_has_every_featured_token_by_chain_and_starts_filled_in(site):
    page = site.get("/demo/new").content.decode()
    assert f'<option value="{BASE}">USDC on Base</option>' in page
    assert '<optgroup label="Base">' in page
    assert page.count(" selected>") >= 2
    assert 'value="25"' in page


@pytest.mark.parametrize(
    ("scenario", "amount", "units"),
    [("", "25", 25_000_000), ("refunded-on-origin", "1,250.5", 1_250_500_000), ("stalled-in-bridge", "0,5", 500_000)],
)
def test_a_transfer_is_created_and_its_page_opened(site, emulator, scenario, amount, units):
    answer = site.post("/demo/new", CHOSEN | {"scenario": scenario, "amount": amount})
    assert answer.status_code == 302
    assert re.fullmatch(r"/intent/0x[0-9a-f]{64}", answer["Location"])
    receipt = site.get(f"{answer['Location']}.json").json()["intentReceipt"]
    summary = receipt["summary"]
    assert receipt["status"] == "EXECUTING"
    assert (summary["originChainId"], summary["destinationChainId"]) == (8453, 42161)
    assert int(summary["originTokenAmount"]) == units
    assert site.get(answer["Location"]).status_code == 200


def test_a_quote_that_the_service_refuses_is_explained(site, emulator):
    answer = site.post("/demo/new", CHOSEN | {"amount": "0.01"})
    assert answer.status_code >= 400
    assert "The service refused this transfer: " in answer.content.decode()
