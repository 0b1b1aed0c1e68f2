"""Rate limits shared by all processes; a Redis outage breaks no page and lifts no limit."""

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import time_machine
from django.core.cache import caches
from django.test import override_settings

from intents_ui import settings
from intents_ui.web.rate_limiter import CannotCount, Limit, give_back, settle, spend
from tests.conftest import needs
from tests.live.redis_server import RedisServer, redis_running
from tests.pages.conftest import renew

THREE_A_MINUTE = Limit("test", 3, 60)
STRICT = Limit("strict", 3, 60, is_strict=True)
HERE, ELSEWHERE = "203.0.113.7", "2001:db8:1:2::/64"


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    for cache in caches.all():
        cache.clear()
    renew("redis_guard")
    with time_machine.travel("2026-11-21T12:00:10Z", tick=False) as traveller:
        yield traveller


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with redis_running(needs("redis-server", "apt-get install redis-server")) as server:
        shared = settings.SHARED_CACHE | {"LOCATION": server.url}
        with override_settings(CACHES={"default": shared, "own": settings.OWN_CACHE}):
            yield server


@pytest.fixture(params=["in memory", "in Redis"])
def where(request: pytest.FixtureRequest) -> None:
    """Yield both storages, which must count alike."""
    if request.param == "in Redis":
        request.getfixturevalue("redis")


def spend_all(visitor: str | None, limit: Limit = THREE_A_MINUTE) -> list[int]:
    return [spend(limit, visitor) for _ in range(4)]


@pytest.mark.usefixtures("where")
def test_a_rejection_says_how_long_to_wait_and_tokens_refill_evenly(
    clock: time_machine.Traveller,
) -> None:
    assert spend_all(HERE) == [0, 0, 0, 20]
    clock.shift(timedelta(seconds=19))
    assert spend(THREE_A_MINUTE, HERE) == 1
    clock.shift(timedelta(seconds=1))
    assert [spend(THREE_A_MINUTE, HERE) for _ in range(2)] == [0, 20]
    clock.shift(timedelta(seconds=40))
    assert [spend(THREE_A_MINUTE, HERE) for _ in range(3)] == [0, 0, 20]
    clock.shift(timedelta(hours=9))
    assert spend_all(HERE) == [0, 0, 0, 20]


@pytest.mark.usefixtures("where")
def test_several_tokens_are_spent_together_or_not_at_all() -> None:
    assert spend(THREE_A_MINUTE, HERE, 2) == 0
    assert spend(THREE_A_MINUTE, HERE, 2) == 20
    assert spend(THREE_A_MINUTE, HERE) == 0


@pytest.mark.usefixtures("where")
def test_an_estimated_cost_is_corrected_to_the_actual_one(clock: time_machine.Traveller) -> None:
    assert spend(THREE_A_MINUTE, HERE, 3) == 0
    settle(THREE_A_MINUTE, HERE, spent=3, cost=1)
    assert spend(THREE_A_MINUTE, HERE, 2) == 0
    settle(THREE_A_MINUTE, HERE, spent=2, cost=8)
    assert spend(THREE_A_MINUTE, HERE) == 140
    clock.shift(timedelta(seconds=139))
    assert spend(THREE_A_MINUTE, HERE) == 1
    clock.shift(timedelta(seconds=1))
    assert spend(THREE_A_MINUTE, HERE) == 0


@pytest.mark.usefixtures("where")
def test_each_address_and_each_limit_has_its_own_count() -> None:
    assert spend_all(HERE)[-1] == 20
    assert spend_all(ELSEWHERE) == [0, 0, 0, 20]
    assert spend_all(None) == [0, 0, 0, 20]
    assert spend(Limit("another", 1, 60), HERE) == 0


@pytest.mark.usefixtures("where")
def test_returned_tokens_can_be_spent_again() -> None:
    for _ in range(10):
        assert spend(THREE_A_MINUTE, HERE) == 0
        give_back(THREE_A_MINUTE, HERE)
    assert spend_all(HERE) == [0, 0, 0, 20]


@pytest.mark.usefixtures("where")
def test_concurrent_requests_get_no_more_than_sequential_ones() -> None:
    limit = Limit("many", 25, 60)
    with ThreadPoolExecutor(8) as threads:
        waits = list(threads.map(lambda _: spend(limit, HERE), range(100)))
    assert waits.count(0) == 25


def test_processes_share_a_count_with_redis_and_have_their_own_without_it(
    redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    assert spend_all(HERE) == [0, 0, 0, 20]
    caches["own"].clear()  # another process's own counter
    assert spend(THREE_A_MINUTE, HERE) == 20
    redis.down()
    with caplog.at_level(logging.WARNING, "intents_ui.service.redis"):
        assert spend_all(HERE) == [0, 0, 0, 20]
    assert caplog.text.count("Redis unavailable") == 1
    redis.up()
    renew("redis_guard")
    assert spend(THREE_A_MINUTE, HERE) == 0


def test_writes_wait_until_the_shared_count_is_available_again(redis: RedisServer) -> None:
    assert spend(STRICT, HERE) == 0
    redis.down()
    for _ in range(2):
        with pytest.raises(CannotCount) as uncounted:
            spend(STRICT, HERE)
        assert 0 < uncounted.value.wait <= 10
    redis.up()
    renew("redis_guard")
    assert spend(STRICT, HERE) == 0


def test_without_redis_configured_writes_are_counted_in_the_process() -> None:
    assert spend_all(HERE, STRICT) == [0, 0, 0, 20]
