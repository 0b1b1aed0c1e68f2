"""The thirty scenarios of data/scenarios.json, and the default course of an intent that a caller executes.

Times are seconds after the quote. A `note` is for readers of the file.
"""

from typing import Any, Final

from intents_ui.emulator import documents
from intents_ui.emulator.scenario_engine import Deal, Moment, Scenario, steps


def _scenario(row: dict[str, Any]) -> Scenario:
    typed = {
        "deal": _deal(row["deal"]),
        "script": steps(row["script"]),
        "worst": Moment(**row["worst"]),
        "variants": {name: steps(script) for name, script in row.get("variants", {}).items()},
        "variant_deals": {name: _deal(deal) for name, deal in row.get("variant_deals", {}).items()},
    }
    return Scenario(**{name: value for name, value in row.items() if name != "note"} | typed)


def _deal(row: dict[str, Any]) -> Deal:
    typed: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    if isinstance(memo := row.get("memo"), dict):  # a text to repeat until it has a length
        typed["memo"] = (memo["text"] * memo["length"])[: memo["length"]]
    return Deal(**typed)


SCENARIOS: Final = tuple(map(_scenario, documents.table("scenarios.json")))

# Course of an executed intent without a scenario: a quick success, on one chain or across two.
QUICK_SAME_CHAIN: Final = steps(
    [
        "0  EXECUTING  MINING     ON_HOLD",
        "1  EXECUTING  SUCCEEDED  PENDING",
        "2  EXECUTING  SUCCEEDED  MINING",
        "4  SUCCEEDED  SUCCEEDED  SUCCEEDED",
    ]
)
QUICK_CROSS_CHAIN: Final = steps(
    [
        "0  EXECUTING  MINING     ON_HOLD    ON_HOLD",
        "1  EXECUTING  SUCCEEDED  PENDING    ON_HOLD",
        "2  EXECUTING  SUCCEEDED  MINING     ON_HOLD",
        "3  EXECUTING  SUCCEEDED  SUCCEEDED  ON_HOLD",
        "4  EXECUTING  SUCCEEDED  SUCCEEDED  MINING",
        "6  SUCCEEDED  SUCCEEDED  SUCCEEDED  SUCCEEDED",
    ]
)


def scenario_named(which: int | str) -> Scenario:
    """Return a scenario by number or slug. Raises KeyError."""
    for scenario in SCENARIOS:
        if which in (scenario.number, scenario.slug, str(scenario.number)):
            return scenario
    raise KeyError(which)
