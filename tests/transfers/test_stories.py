"""`stories.md` has the reviewed texts. A change of words changes the file and needs a new review."""

from datetime import timedelta
from pathlib import Path

import pytest

from intents_ui.emulator import Emulator
from intents_ui.emulator.scenario_engine import SCENARIOS, scenario_named
from tests.tables import rows
from tests.transfers import stories
from tests.transfers.stories import A_LITTLE, QUOTED, film

REVIEWED = Path(__file__).with_name("stories.md")


def test_every_scenario_says_at_each_step_the_reviewed_words():
    result, reviewed = stories.text().splitlines(), REVIEWED.read_text("utf-8").splitlines()
    assert result == reviewed, f"if these words are meant: {stories.COMMAND}"


@pytest.mark.parametrize(("slug", "shown", "later"), rows(__file__, "held_copies"))
def test_a_held_copy_shows_what_its_title_says_for_fifteen_minutes(slug, shown, later):
    now = QUOTED + A_LITTLE
    emulator = Emulator(now=lambda: now.timestamp(), size=10)
    intent_id = emulator.worst(slug)["intentId"]
    held = film(emulator, intent_id, scenario_named(slug).script[-1], now=now, until=now + timedelta(hours=1))

    assert held.looked_up(now).key == shown
    assert held.looked_up(now + timedelta(minutes=14, seconds=59)).key == later


def test_each_scenario_has_a_held_copy_of_its_own():
    assert [slug for slug, _, _ in rows(__file__, "held_copies")] == [each.slug for each in SCENARIOS]
