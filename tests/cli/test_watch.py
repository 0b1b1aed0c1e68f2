"""`intents-ui watch` waits until a transfer is over."""

import json
from datetime import UTC, datetime

import pytest
import time_machine

from intents_ui.cli.exit_codes import Exit
from intents_ui.emulator.app import Emulator
from tests.command_line import run


@pytest.mark.parametrize(
    ("scenario", "code", "outcome"),
    [
        ("same-chain-swap", Exit.FINE, "delivered"),
        ("refunded-on-origin", Exit.NOT_DELIVERED, "refunded"),
    ],
)
def test_a_transfer_is_watched_until_it_is_over(
    root: str, emulator: Emulator, scenario: str, code: Exit, outcome: str
) -> None:
    with time_machine.travel(datetime.now(UTC), tick=False) as clock:
        intent_id = emulator.play(scenario)["intentId"]
        done = run("watch", intent_id, "--json", root=root, pause=clock.shift)
    assert done.code == code
    assert json.loads(done.out)["outcome"] == outcome
    assert len(done.pauses) > 2
    assert done.err == ""


def test_each_state_is_shown_on_a_terminal(root: str, emulator: Emulator) -> None:
    with time_machine.travel(datetime.now(UTC), tick=False) as clock:
        intent_id = emulator.play("same-chain-swap")["intentId"]
        done = run("watch", intent_id, root=root, pause=clock.shift, terminal=True)
    states = [each for each in done.err.split("\r\x1b[K") if each]
    assert len(states) == len(done.pauses)
    assert len(set(states)) > 1
    assert "Swap complete" in done.out


def test_an_unknown_transfer_is_not_found(root: str) -> None:
    for intent_id in (f"0x{'12' * 32}", "../lookup"):
        done = run("watch", intent_id, root=root)
        assert (done.code, done.out) == (Exit.NOT_FOUND, "")
        assert done.err.startswith("intents-ui: ")
