"""Rendered pages of transfers in all scenarios use the words of docs/style.md."""

from itertools import pairwise

import pytest

from intents_ui.emulator.scenario_engine import SCENARIOS
from tests import surfaces
from tests.corpus import picked
from tests.words import findings, markup

PARTS = ("", "/receipt", "/balances", "/route-stats", "/proof", "/reply", "/share", "/commit")


@pytest.mark.parametrize(
    "scenario",
    picked({scenario.slug: scenario for scenario in SCENARIOS}, "stuck-recoverable"),
)
def test_the_pages_of_a_transfer_use_our_words_at_every_moment(world, scenario):
    emulator, site = world
    found, seen = [], set()
    for moment in surfaces.moments(scenario):
        played = surfaces.play(emulator, scenario, moment)
        paths = [f"/intent/{played['intentId']}{part}" for part in PARTS]
        paths += [f"/embed/intent/{played['intentId']}", f"/address/{played['ownerAddress']}"]
        for path in paths:
            answer = site.get(path)
            assert answer.status_code in (200, 409), f"{path}: {answer.status_code}"
            page = markup(answer.content.decode())
            assert page
            # Most lines are on many pages. Patterns and sentences end within a line, or in the next one.
            unseen = set(pairwise(("", *page.splitlines()))) - seen
            seen |= unseen
            found += findings("\n\n".join(map("\n".join, unseen)), path, is_message=True)
    assert not found, "\n".join({f"{each.where}: {each.pattern}: …{each.around}…" for each in found})
