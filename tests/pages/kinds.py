"""Scenarios that differ in kind: what happened, who holds the funds, and what is unusual about the data."""

from typing import Any

from intents_ui.emulator.scenario_engine import SCENARIOS
from tests.corpus import picked

# Every scenario, of which `make test` runs these.
EVERY_SCENARIO: list[Any] = picked(
    {scenario.slug: scenario for scenario in SCENARIOS},
    "cross-chain-fast",
    "expired-quote",
    "refunded-on-origin",
    "stuck-recoverable",
    "unknown-words",
    "spoof-token",
    "hostile-memo",
    "refund-failed",
    "succeeded-with-nulls",
    "deposit-reverted",
    "edge-and-extra-fields",
)
