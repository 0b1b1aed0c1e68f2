"""`stories.md` has the reviewed texts. A change of words changes the file and needs a new review."""

from datetime import timedelta
from pathlib import Path

import pytest

from intents_ui.emulator import Emulator
from intents_ui.emulator.scenario_engine import SCENARIOS
from tests.transfers import stories
from tests.transfers.stories import A_LITTLE, QUOTED, film

REVIEWED = Path(__file__).with_name("stories.md")


def test_every_scenario_says_at_each_step_the_reviewed_words():
    result, reviewed = stories.text().splitlines(), REVIEWED.read_text("utf-8").splitlines()
    assert result == reviewed, f"if these words are meant: {stories.COMMAND}"


SHOWN = {
    1: "executing.origin_running",
    2: "executing.destination_running",
    3: "executing.crossing",
    4: "executing.origin_running",
    5: "quoted.expired",
    6: "committed.overdue",
    7: "executing.wait_deposit_late",
    8: "executing.refunding",
    9: "refunded.no_tx",
    10: "executing.refunding",
    11: "failed.destination_recoverable",
    12: "aborted.deposit_seen",
    13: "aborted.recoverable",
    14: "invalid.not_found",
    15: "executing.deposit_confirming",
    16: "executing.origin_running",
    17: "executing.crossing",
    18: "stopped.emptied",
    19: "succeeded.same_chain",
    20: "succeeded.payment",
    21: "executing.crossing",
    22: "failed.delivered",
    23: "executing.stalled",
    24: "executing.retrying",
    25: "failed.refund_failed",
    26: "succeeded.amount_unknown",
    27: "stopped.uncounted",
    28: "failed.deposit",
    29: "succeeded.leftover",
    30: "executing.crossing",
}
# Their estimates are seconds.
SOON_LATE = {1, 2, 4, 15, 16, 17, 21, 30}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.slug)
def test_a_held_copy_shows_what_its_title_says_for_fifteen_minutes(scenario):
    now = QUOTED + A_LITTLE
    emulator = Emulator(now=lambda: now.timestamp(), size=10)
    intent_id = emulator.worst(scenario.number)["intentId"]
    held = film(emulator, intent_id, scenario.script[-1], now=now, until=now + timedelta(hours=1))
    later = "executing.late" if scenario.number in SOON_LATE else SHOWN[scenario.number]

    assert held.looked_up(now).key == SHOWN[scenario.number]
    assert held.looked_up(now + timedelta(minutes=14, seconds=59)).key == later
