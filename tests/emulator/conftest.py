import pytest

from intents_ui.emulator import Emulator
from tests.emulator.driving import Clock


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def emulator(clock):
    return Emulator(now=clock, hold=0.3)
