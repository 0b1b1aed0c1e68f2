import pytest

from intents_ui.emulator import Emulator, lookups
from tests.emulator.driving import Clock
from tests.live.following import CountedService


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def service(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> CountedService:
    """Return the emulator on a manual clock, at which it looks often. Long polls take up to two real seconds."""
    monkeypatch.setattr(lookups, "LOOK_SECONDS", 0.02)
    return CountedService(Emulator(now=clock, hold=2.0))


@pytest.fixture
def slow(service: CountedService) -> str:
    """Return the ID of a transfer that stays in progress."""
    return str(service.emulator.play("cctp-slow", age=60)["intentId"])


@pytest.fixture
def fast(service: CountedService) -> str:
    """Return the ID of a transfer that ends in 13 seconds."""
    return str(service.emulator.play("cross-chain-fast", age=22)["intentId"])
