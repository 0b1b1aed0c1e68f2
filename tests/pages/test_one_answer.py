"""Consistency: every surface shows the summary of a transfer, or the beginning of it."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from intents_ui.display.transfers.transfer_data import Facts
from intents_ui.emulator.app import Emulator
from intents_ui.emulator.scenario_engine import Scenario
from intents_ui.emulator.scenarios import SCENARIOS
from tests import surfaces

REFUNDED = 8


@pytest.fixture(scope="module", params=[True, False], ids=["with balances", "without balances"])
def world(request: pytest.FixtureRequest) -> Iterator[tuple[Emulator, Client]]:
    with surfaces.world(checked=request.param) as found:
        yield found


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.slug)
def test_every_surface_shows_the_same_summary_at_every_time(world: tuple[Emulator, Client], scenario: Scenario) -> None:
    found = surfaces.examine(*world, (scenario,))
    assert len(found.cells) == len(surfaces.SURFACES) * 6
    assert not found.wrong, "\n".join(f"{key}: {problem}" for key, problem in found.wrong.items())


def test_a_surface_with_a_different_text_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail, for example for a badge that claims a delivery."""
    other = surfaces.Said("Failed", "Delivered", "In the recipient's wallet on Base.")
    monkeypatch.setattr(surfaces, "SURFACES", {"badge": lambda _: other})
    with surfaces.world() as (emulator, site):
        found = surfaces.examine(emulator, site, (SCENARIOS[24],))
    assert len(found.wrong) == len(found.cells) == 6


@pytest.mark.parametrize(
    "path",
    ["", "/receipt", "/reply", "/badge.svg", "/feed.json", "/card.png", "/proof"],
    ids=["page", "live fragment", "reply", "badge", "feed", "card", "raw fields"],
)
def test_the_summary_of_a_transfer_is_computed_once_per_request(
    site: Client, emulator: Emulator, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    intent_id = emulator.finished(REFUNDED)["intentId"]
    made = counted(monkeypatch)
    assert site.get(f"/intent/{intent_id}{path}").status_code == 200
    assert made == [intent_id]


def test_the_summary_of_a_list_is_computed_once_per_row(
    site: Client, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = counted(monkeypatch)
    assert site.get("/history").status_code == 200
    assert len(made) == len(set(made)) == 20


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Transfers whose facts are computed from now on."""
    made: list[str] = []
    of = Facts.of.__func__  # type: ignore[attr-defined]

    def count(cls: type[Facts], intent: Any, receipt: Any, **how: Any) -> Facts:
        found: Facts = of(cls, intent, receipt, **how)
        made.append(found.intent.intent_id)
        return found

    monkeypatch.setattr(Facts, "of", classmethod(count))
    return made
