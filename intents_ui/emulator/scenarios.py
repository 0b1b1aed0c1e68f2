"""The thirty scenarios, and the default course of an intent that a caller executes."""

from typing import Final

from intents_ui.emulator.failure_scenarios import TROUBLES
from intents_ui.emulator.scenario_engine import Scenario, steps
from intents_ui.emulator.success_scenarios import ARRIVALS

SCENARIOS: Final = tuple(sorted((*ARRIVALS, *TROUBLES), key=lambda scenario: scenario.number))

# Course of an executed intent without a scenario: a quick success, on one chain or across two.
QUICK_SAME_CHAIN: Final = steps("""
    0  EXECUTING  MINING     ON_HOLD
    1  EXECUTING  SUCCEEDED  PENDING
    2  EXECUTING  SUCCEEDED  MINING
    4  SUCCEEDED  SUCCEEDED  SUCCEEDED
""")
QUICK_CROSS_CHAIN: Final = steps("""
    0  EXECUTING  MINING     ON_HOLD    ON_HOLD
    1  EXECUTING  SUCCEEDED  PENDING    ON_HOLD
    2  EXECUTING  SUCCEEDED  MINING     ON_HOLD
    3  EXECUTING  SUCCEEDED  SUCCEEDED  ON_HOLD
    4  EXECUTING  SUCCEEDED  SUCCEEDED  MINING
    6  SUCCEEDED  SUCCEEDED  SUCCEEDED  SUCCEEDED
""")


def scenario_named(which: int | str) -> Scenario:
    """Return a scenario by number or slug. Raises KeyError."""
    for scenario in SCENARIOS:
        if which in (scenario.number, scenario.slug, str(scenario.number)):
            return scenario
    raise KeyError(which)
