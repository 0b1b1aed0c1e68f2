"""Values of the dashboard's counters. They count since the start of the process, so tests compare two readings."""

from intents_ui.service.health import registry


def count(name: str, **labels: str) -> float:
    return registry.get_sample_value(f"intents_ui_{name}_total", labels) or 0.0
