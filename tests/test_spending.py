"""What a visitor may spend is counted for all processes; a cache that is away neither breaks a page nor lifts it."""

import logging
from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.core.cache import caches
from django.test import override_settings

from intents_ui import settings, spending
from intents_ui.spending import Limit, give_back, spend
from tests.conftest import needs
from tests.live.redis_server import RedisServer, redis_running

THREE_A_MINUTE = Limit("test", 3, 60)
HERE, ELSEWHERE = "203.0.113.7", "2001:db8:1:2::/64"


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    for cache in caches.all():
        cache.clear()
    spending._counts.resume()
    with time_machine.travel("2026-11-21T12:00:10Z", tick=False) as traveller:
        yield traveller


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with redis_running(needs("redis-server", "apt-get install redis-server")) as server:
        shared = settings.SHARED_CACHE | {"LOCATION": server.url}
        with override_settings(CACHES={"default": shared, "own": settings.OWN_CACHE}):
            yield server


def spend_all(visitor: str | None) -> list[int]:
    return [spend(THREE_A_MINUTE, visitor) for _ in range(4)]


def test_after_the_last_one_the_answer_is_how_long_to_wait(clock: time_machine.Traveller) -> None:
    assert spend_all(HERE) == [0, 0, 0, 50]
    clock.shift(timedelta(seconds=49))
    assert spend(THREE_A_MINUTE, HERE) == 1
    clock.shift(timedelta(seconds=1))
    assert spend_all(HERE) == [0, 0, 0, 60]


def test_each_address_and_each_limit_has_its_own_count() -> None:
    assert spend_all(HERE)[-1] == 50
    assert spend_all(ELSEWHERE) == [0, 0, 0, 50]
    assert spend_all(None) == [0, 0, 0, 50]
    assert spend(Limit("another", 1, 60), HERE) == 0


def test_what_is_given_back_can_be_spent_again() -> None:
    for _ in range(10):
        assert spend(THREE_A_MINUTE, HERE) == 0
        give_back(THREE_A_MINUTE, HERE)


def test_with_redis_all_processes_share_the_count_and_without_it_each_has_its_own(
    redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    assert spend_all(HERE) == [0, 0, 0, 50]
    caches["own"].clear()  # what another process has of its own
    assert spend(THREE_A_MINUTE, HERE) == 50
    redis.down()
    with caplog.at_level(logging.WARNING, "intents_ui.spending"):
        assert spend_all(HERE) == [0, 0, 0, 50]
    assert caplog.text.count("The shared cache does not answer") == 1
    redis.up()
    spending._counts.resume()
    assert spend(THREE_A_MINUTE, HERE) == 0
