"""`/demo`: the scenarios, each with three transfers."""

import re

from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.emulator.scenario_engine import SCENARIOS

LINK = re.compile(r'<a href="(/intent/0x[0-9a-f]{64})" aria-label="([^"]*)">([^<]*)</a>')


def test_each_of_the_ninety_links_opens_a_transfer(site: Client) -> None:
    page = site.get("/demo").content.decode()
    links = LINK.findall(page)
    assert [words for _, _, words in links] == ["Live", "At its worst", "Completed"] * 30
    assert len({label for _, label, _ in links}) == 90
    assert all(words.lower() in label.lower() for _, label, words in links)
    assert len({path for path, _, _ in links}) == 90
    assert [path for path, _, _ in links[::11] if site.get(path).status_code != 200] == []


def test_each_row_links_to_its_own_held_transfer(site: Client, emulator: Emulator) -> None:
    rows = site.get("/demo").content.decode().split("<tr>")[2:]
    assert len(rows) == 30
    for row, scenario in zip(rows, SCENARIOS, strict=True):
        worst = emulator.worst(scenario.slug)["intentId"]
        assert f'href="/intent/{worst}" aria-label="Scenario {scenario.number} at its worst"' in row
