"""The bucket of each client, shared by all processes; a Redis outage breaks no page and lifts no limit."""

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import time_machine
from django.test import RequestFactory
from pydantic import RedisDsn

from intents_ui import wiring
from intents_ui.api import tokens
from intents_ui.settings import ENV
from intents_ui.web import rate_limiter
from intents_ui.web.rate_limiter import SECONDS, charge, consume
from tests.conftest import needs
from tests.live.redis_server import RedisServer, redis_running

HERE, ELSEWHERE = "203.0.113.7", "2001:db8:1::/48"


def begin() -> None:
    """Let the process count, and connect to Redis, as after its start."""
    wiring.current().forget(rate_limiter.memory, rate_limiter.script, wiring.redis_guard)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[time_machine.Traveller]:
    """A client may send one page a second."""
    begin()
    monkeypatch.setattr(ENV, "intents_rate_pages", 1)
    with time_machine.travel("2026-11-21T12:00:10Z", tick=False) as traveller:
        yield traveller
    begin()


@pytest.fixture
def redis(monkeypatch: pytest.MonkeyPatch) -> Iterator[RedisServer]:
    with redis_running(needs("redis-server", "apt-get install redis-server")) as server:
        monkeypatch.setattr(ENV, "redis_url", RedisDsn(server.url))
        yield server


@pytest.fixture(params=["in memory", "in Redis"])
def where(request: pytest.FixtureRequest) -> None:
    """Yield both storages, which must count alike."""
    if request.param == "in Redis":
        request.getfixturevalue("redis")


def waits(client: str, *costs: int) -> list[int]:
    return [consume(client, cost).wait for cost in costs]


@pytest.mark.usefixtures("where")
def test_a_client_has_a_burst_and_then_a_steady_rate(clock: time_machine.Traveller) -> None:
    assert waits(HERE, SECONDS - 1, 1, 1, 20) == [0, 0, 1, 20]
    clock.shift(timedelta(seconds=19))
    assert waits(HERE, 20, 19, 1) == [1, 0, 1]
    clock.shift(timedelta(hours=9))
    assert waits(HERE, SECONDS, 1) == [0, 1]


@pytest.mark.usefixtures("where")
def test_units_are_taken_together_or_not_at_all() -> None:
    assert waits(HERE, SECONDS - 5, 6, 5, 1) == [0, 1, 0, 1]


@pytest.mark.usefixtures("where")
def test_a_request_costs_what_is_most_of_what_it_takes_and_at_most_a_full_bucket() -> None:
    request = RequestFactory().get("/", REMOTE_ADDR=HERE)
    assert [charge(request, cost) for cost in (1, 6, 3)] == [0, 0, 0]
    assert consume(HERE, 1).left == SECONDS - 7
    assert charge(request, 10 * SECONDS) == 1
    assert charge(RequestFactory().get("/", REMOTE_ADDR=ELSEWHERE), 10 * SECONDS) == 0


@pytest.mark.usefixtures("where")
def test_what_is_left_and_when_all_is_there_again_is_said(clock: time_machine.Traveller) -> None:
    first, second = consume(HERE, 20), consume(HERE, SECONDS)
    assert (first.capacity, first.left, first.reset) == (SECONDS, SECONDS - 20, 20)
    assert (second.left, second.wait, second.reset) == (SECONDS - 20, 20, 20)
    clock.shift(timedelta(seconds=5))
    assert consume(HERE, 1).left == SECONDS - 16


@pytest.mark.usefixtures("where")
def test_each_client_has_its_own_bucket_and_a_token_its_own_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(ENV), "api_tokens", tokens.parse(f"desk:{'0' * 64}:600"))
    assert waits(HERE, SECONDS, 1) == [0, 1]
    assert waits(ELSEWHERE, SECONDS, 1) == [0, 1]
    assert waits("token desk", 1200, 1) == [0, 1]


@pytest.mark.usefixtures("where")
def test_concurrent_requests_get_no_more_than_sequential_ones() -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: consume(HERE, 5).wait, range(100)))
    assert found.count(0) == SECONDS // 5


def test_processes_share_a_count_with_redis_and_have_their_own_without_it(
    redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    assert waits(HERE, SECONDS, 1) == [0, 1]
    begin()  # another process
    assert waits(HERE, 1) == [1]
    redis.down()
    with caplog.at_level(logging.WARNING, "intents_ui.service.redis"):
        assert waits(HERE, SECONDS, 1) == [0, 1]
    assert caplog.text.count("Redis unavailable") == 1
    redis.up()
    begin()
    assert waits(HERE, 1) == [0]


def test_streams_are_counted_in_the_process(redis: RedisServer) -> None:
    assert waits(HERE, SECONDS) == [0]
    assert [rate_limiter.consume_here(HERE, SECONDS - 1) for _ in range(2)] == [0, SECONDS - 2]
    assert rate_limiter.consume_here(None) == 0
