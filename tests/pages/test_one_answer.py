"""Consistency: every surface shows the summary of a transfer, or the beginning of it."""

from collections.abc import Iterator

import pytest
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.emulator.scenario_engine import SCENARIOS
from tests import surfaces
from tests.corpus import picked

CASES = {
    f"{scenario.slug} {moment.name} with{'' if has_balances else 'out'} balances": (has_balances, scenario, moment)
    for has_balances in (True, False)
    for scenario in SCENARIOS
    for moment in surfaces.moments(scenario)
}


@pytest.fixture(scope="module")
def world(request: pytest.FixtureRequest) -> Iterator[tuple[Emulator, Client]]:
    with surfaces.world(checked=request.param) as found:
        yield found


@pytest.mark.parametrize(
    ("world", "scenario", "moment"),
    picked(
        CASES,
        "cross-chain-fast mid-way with balances",
        "expired-quote ended with balances",
        "refund-failed at its worst with balances",
        "paid-twice an hour later with balances",
        "refunded-on-origin ended without balances",
        "aborted-by-timeout at its worst without balances",
    ),
    indirect=["world"],
)
def test_every_surface_shows_the_same_summary(world, scenario, moment):
    assert surfaces.problems(*world, scenario, moment) == []
