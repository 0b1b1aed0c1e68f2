import pytest

from intents_ui.emulator import Emulator
from tests.emulator.driving import HOLD, Clock


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def emulator(clock):
    return Emulator(now=clock, hold=HOLD)
