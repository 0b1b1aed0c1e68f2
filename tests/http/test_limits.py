"""The bucket of each client, shared by all processes; a Redis outage breaks no page and lifts no limit."""

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import time_machine
from django.test import RequestFactory

from intents_ui.http.limits import SECONDS, RateLimiter
from intents_ui.service.redis import RedisGuard
from intents_ui.settings import ENV
from tests.live.redis_server import RedisServer

HERE, ELSEWHERE = "203.0.113.7", "2001:db8:1::/48"


def process(redis: RedisServer | None = None) -> RateLimiter:
    """Return the limiter of a process that has just started."""
    return RateLimiter(redis.url if redis else None, RedisGuard("each process counts", pause=60.0))


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[time_machine.Traveller]:
    """A client may send one page a second."""
    monkeypatch.setattr(ENV, "intents_rate_pages", 1)
    with time_machine.travel("2026-11-21T12:00:10Z", tick=False) as traveller:
        yield traveller


@pytest.fixture(params=["in memory", "in Redis"])
def limiter(request: pytest.FixtureRequest) -> RateLimiter:
    """Return a limiter with either storage, which must count alike."""
    return process(request.getfixturevalue("redis") if request.param == "in Redis" else None)


def waits(limiter: RateLimiter, client: str, *costs: int) -> list[int]:
    return [limiter.consume(client, cost).wait for cost in costs]


def test_a_client_has_a_burst_and_then_a_steady_rate(limiter: RateLimiter, clock: time_machine.Traveller) -> None:
    assert waits(limiter, HERE, SECONDS - 1, 1, 1, 20) == [0, 0, 1, 20]
    clock.shift(timedelta(seconds=19))
    assert waits(limiter, HERE, 20, 19, 1) == [1, 0, 1]
    clock.shift(timedelta(hours=9))
    assert waits(limiter, HERE, SECONDS, 1) == [0, 1]


def test_a_request_costs_what_is_most_of_what_it_takes_and_at_most_a_full_bucket(limiter: RateLimiter) -> None:
    request = RequestFactory().get("/", REMOTE_ADDR=HERE)
    assert [limiter.charge(request, cost) for cost in (1, 6, 3)] == [0, 0, 0]
    assert limiter.consume(HERE, 1).left == SECONDS - 7
    assert limiter.charge(request, 10 * SECONDS) == 1
    assert limiter.charge(RequestFactory().get("/", REMOTE_ADDR=ELSEWHERE), 10 * SECONDS) == 0


def test_concurrent_requests_get_no_more_than_sequential_ones(limiter: RateLimiter) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: limiter.consume(HERE, 5).wait, range(100)))
    assert found.count(0) == SECONDS // 5


def test_processes_share_a_count_with_redis_and_have_their_own_without_it(
    redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    limiter = process(redis)
    assert waits(limiter, HERE, SECONDS, 1) == [0, 1]
    limiter = process(redis)  # another one
    assert waits(limiter, HERE, 1) == [1]
    redis.down()
    with caplog.at_level(logging.WARNING, "intents_ui.service.redis"):
        assert waits(limiter, HERE, SECONDS, 1) == [0, 1]
    assert caplog.text.count("Redis unavailable") == 1
    redis.up()
    limiter = process(redis)
    assert waits(limiter, HERE, 1) == [0]


def test_streams_are_counted_in_the_process(redis: RedisServer) -> None:
    limiter = process(redis)
    assert waits(limiter, HERE, SECONDS) == [0]
    assert [limiter.consume_here(HERE, SECONDS - 1) for _ in range(2)] == [0, SECONDS - 2]
    assert limiter.consume_here(None) == 0
