"""Stand-in for the intent service: it speaks the same HTTP interface and imports nothing of the dashboard."""

from intents_ui.emulator.app import Emulator, Scenario

__all__ = ["Emulator", "Scenario"]
