"""Responses cached by one process are shared through Redis with the others."""

import contextlib
import socket
import time
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest
from redis import Redis

from intents_ui.emulator import Emulator
from intents_ui.service.cache import redis_cache
from intents_ui.service.cache.redis_cache import MOST_INFLATED, RedisCache
from intents_ui.service.cache.seal import LENGTH, Seal
from intents_ui.service.client import ServiceClient
from intents_ui.service.counters import Event
from intents_ui.service.errors import NotFound
from intents_ui.service.network import InProcessTransport
from intents_ui.service.operations.operations import get_intent
from intents_ui.service.wire.models import Page
from intents_ui.web.transfers import balance_cache
from tests.conftest import needs
from tests.emulator.driving import Clock
from tests.live.following import CountedService
from tests.live.redis_server import RedisServer, redis_running
from tests.service.clients import CANARY, config

SEAL = Seal(b"a key of the test")


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with redis_running(needs("redis-server", "apt-get install redis-server")) as server:
        yield server


@pytest.fixture
def values(redis: RedisServer) -> Iterator[Redis]:
    with Redis.from_url(redis.url) as client:
        client.flushall()
        yield client


@pytest.fixture
def service() -> CountedService:
    return CountedService(Emulator(now=Clock()))


def shared(
    redis: RedisServer, *, whose: str = "of-this-test", ahead: float = 0.0, clock: Callable[[], float] = time.time
) -> RedisCache:
    """With a patience that a busy machine does not outlast."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redis_cache, "PATIENCE", 10.0)
        return RedisCache(redis.url, whose=whose, seal=SEAL, now=lambda: clock() + ahead)


@contextlib.contextmanager
def process(service: CountedService, answers: RedisCache, **how: Any) -> Iterator[ServiceClient]:
    """A client as each process has one: nothing but Redis is shared."""
    transport = InProcessTransport(service)
    with ServiceClient(
        config("http://embedded", total=10.0, size=2**20), transport=transport, shared=answers, **how
    ) as client:
        yield client


def test_a_response_cached_by_one_process_is_not_requested_by_another(service, redis, values):
    intent_id = service.emulator.finished("cross-chain-fast")["intentId"]
    with process(service, shared(redis)) as first, process(service, shared(redis)) as second:
        for ask in (
            lambda client: client.get_intent(intent_id),
            lambda client: client.get_intent_receipt(intent_id),
            lambda client: client.get_chains(),
            lambda client: client.get_intent_history(page=Page.first()),
            lambda client: client.search_intents(by_query_string=intent_id),
        ):
            service.calls.clear()
            learned = ask(first)
            assert service.calls.total() == 1
            assert ask(second) == learned
            assert service.calls.total() == 1
        assert second.get_intent(intent_id).received == first.get_intent(intent_id).received


def test_balances_found_by_one_process_are_cached_for_another(service, redis, values):
    intent = service.emulator.finished("aborted-by-timeout")
    created = datetime.fromisoformat(intent["createdAt"])
    page = balance_cache.first_page(owner=intent["ownerAddress"], created_at=created)
    unknown = balance_cache.first_page(owner="0x" + "11" * 20, created_at=created)
    with process(service, shared(redis)) as first, process(service, shared(redis)) as second:
        assert second.last_known([page]) == [None]
        entry = balance_cache.entry_of(first, intent["intentId"], owner=intent["ownerAddress"], created_at=created)
        service.calls.clear()
        (found, missing) = second.last_known([page, unknown])
        assert service.calls.total() == 0
    assert missing is None
    assert entry.has_balance
    answer, age = found
    assert entry in answer.intents
    assert 0 <= age < 60


def test_a_cached_response_has_the_same_age_in_every_process(service, redis, values):
    intent_id = service.emulator.finished("cross-chain-fast")["intentId"]
    with process(service, shared(redis)) as first:
        first.get_intent(intent_id)
    (key,) = values.keys()
    assert 0 < values.ttl(key) <= 3600
    with process(service, shared(redis, ahead=10 * 24 * 3600)) as late:
        assert late.get_intent(intent_id)
    assert service.calls["GetIntent"] == 2, "it was no longer as good as new"


def test_another_key_or_service_has_its_own_cache(service, redis, values):
    with process(service, shared(redis)) as first, process(service, shared(redis, whose="others")) as other:
        first.get_chains()
        other.get_chains()
    assert service.calls["GetChains"] == 2


def test_invalidated_and_missing_intents_are_shared_with_no_process(service, redis, values):
    intent_id = service.emulator.finished("cross-chain-fast")["intentId"]
    with process(service, shared(redis)) as first:
        first.get_intent(intent_id)
        first.get_intent_receipt(intent_id)
        first.forget(intent_id)
    with process(service, shared(redis)) as second:
        service.calls.clear()
        second.get_intent(intent_id)
        second.get_intent_receipt(intent_id)
        assert service.calls.total() == 2

        service.emulator.inject("GetIntent", "not-found")
        with pytest.raises(NotFound):
            second.ask_uncached(get_intent(intent_id))
    assert values.keys("*:GetIntent:*") == []


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(b"\x80\x05K\x01.", id="a pickle"),
        pytest.param(zlib.compress(b"1 1"), id="without an answer"),
        pytest.param(zlib.compress(b"nan inf\n{}"), id="at no moment"),
        pytest.param(zlib.compress(b"1 1\n[]"), id="of another shape"),
        pytest.param(zlib.compress(b"1 1\n{"), id="no JSON"),
        pytest.param(zlib.compress(b"1 1\n" + b" " * 2 * MOST_INFLATED), id="a bomb"),
        pytest.param(zlib.compress(b"%f %f\n" % (2e9, 2e9) + b'{"intent":{"intentId":"0x2"}}'), id="another intent"),
    ],
)
def test_invalid_data_in_redis_is_requested_again(service, redis, values, value):
    intent_id = service.emulator.finished("cross-chain-fast")["intentId"]
    with process(service, shared(redis)) as first:
        intent = first.get_intent(intent_id)
    (key,) = values.keys()
    values.set(key, SEAL.close(value, place=key.decode()))
    with process(service, shared(redis)) as second:
        assert second.get_intent(intent_id) == intent
    assert service.calls["GetIntent"] == 2


def test_a_hanging_redis_costs_one_short_delay(service, caplog):
    with socket.create_server(("127.0.0.1", 0), backlog=64) as hangs:
        hangs.setblocking(False)
        url = f"redis://127.0.0.1:{hangs.getsockname()[1]}/0"
        with process(service, RedisCache(url, whose="", seal=SEAL)) as alone:
            for size in range(20, 25):
                alone.get_intent_history(page=Page.first(size=size))
        hangs.accept()[0].close()
        with pytest.raises(BlockingIOError):
            hangs.accept()
    assert service.calls["GetIntentHistory"] == 5
    assert "Redis unavailable; each process sends its own requests: TimeoutError" in caplog.messages


def test_a_redis_that_is_back_is_used_again_after_a_pause(service, redis, values):
    clock = Clock()
    cache = RedisCache(redis.url, whose="", seal=SEAL, clock=clock)
    with process(service, cache) as client:
        redis.down()
        client.get_intent_history(page=Page.first(size=20))
        redis.up()
        client.get_intent_history(page=Page.first(size=21))
        assert values.keys() == []
        clock.forward(10)
        client.get_intent_history(page=Page.first(size=22))
        assert len(values.keys()) == 1


def test_redis_keys_and_values_contain_neither_the_access_key_nor_the_request(service, redis, values):
    intent = service.emulator.finished("cross-chain-fast")
    with process(service, shared(redis)) as client:
        client.get_intent(intent["intentId"])
        client.search_intents(by_owner_address=intent["ownerAddress"])
    keys = values.keys()
    assert len(keys) == 2
    for key in keys:
        assert CANARY.encode() not in key + zlib.decompress(values.get(key)[LENGTH:])
        assert intent["intentId"].encode() not in key
        assert intent["ownerAddress"].encode() not in key


def test_an_unsigned_response_in_redis_is_requested_again_and_counted(service, redis, values):
    one, other = (service.emulator.finished(slug)["intentId"] for slug in ("cross-chain-fast", "same-chain-swap"))
    with process(service, shared(redis)) as first:
        intent = first.get_intent(one)
        first.get_intent(other)
    mine, theirs = sorted(values.keys(), key=lambda key: one.encode() not in zlib.decompress(values.get(key)[LENGTH:]))
    answer, answer_to_another = values.get(mine), values.get(theirs)
    spoilt = [
        answer[LENGTH:],
        Seal(b"another key").close(answer[LENGTH:], place=mine.decode()),
        answer_to_another,
        answer[:-1],
    ]
    for asked, value in enumerate(spoilt, start=3):
        values.set(mine, value)
        before = SEAL.tally[Event.UNSIGNED]
        with process(service, shared(redis)) as second:
            assert second.get_intent(one) == intent
        assert SEAL.tally[Event.UNSIGNED] == before + 1
        assert service.calls["GetIntent"] == asked


def test_an_unchanged_copy_of_our_own_in_redis_is_requested_again_after_its_lifetime(service, redis, values):
    clock = Clock()
    with process(service, shared(redis, clock=clock), clock=clock) as client:
        for _ in range(2):
            client.get_intent_history(page=Page.first())
            clock.forward(60)
    assert service.calls["GetIntentHistory"] == 2
