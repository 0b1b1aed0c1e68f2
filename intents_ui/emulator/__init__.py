"""Emulator of the intent service: it has the same HTTP interface, and imports nothing from the dashboard."""

from intents_ui.emulator.app import Emulator as Emulator
