"""Emulator of the intent service: it has the same HTTP interface, and imports nothing from the dashboard."""

from intents_ui.emulator.app import DemoScenario, Emulator

__all__ = ["DemoScenario", "Emulator"]
