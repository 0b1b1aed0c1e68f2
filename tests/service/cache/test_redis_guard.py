"""Calls to an unavailable Redis are paused."""

import pytest
from redis.exceptions import RedisError

from intents_ui.service.cache.redis_guard import RedisGuard
from tests.emulator.driving import Clock


@pytest.mark.parametrize("error", [RedisError, ConnectionRefusedError, TimeoutError])
def test_after_a_failure_calls_pause(error: type[Exception], caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock(0)
    requested: list[str] = []
    guard = RedisGuard("nothing is shared", pause=10.0, clock=clock)

    def hangs() -> str:
        requested.append("once")
        raise error

    assert guard.seconds_paused == 0
    assert [guard.call(hangs) for _ in range(3)] == [None] * 3
    assert len(requested) == len(caplog.records) == 1
    assert "Redis unavailable; nothing is shared" in caplog.text
    assert guard.seconds_paused == 10
    clock.forward(10)
    assert guard.call(hangs) is None
    assert len(requested) == 2
    clock.forward(10)
    assert guard.call(lambda: "7 rows") == "7 rows"


def test_other_errors_are_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        RedisGuard("", pause=10.0).call(lambda: 1 / 0)
