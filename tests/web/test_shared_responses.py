"""Responses cached by one process are shared through Redis with the others."""

import contextlib
import json
import socket
import time
from collections.abc import Callable, Iterator
from datetime import datetime

import pytest
from django.core.cache.backends.redis import RedisCache
from django.core.signing import Signer
from redis import Redis

from intents_ui.emulator import Emulator
from intents_ui.service import operations
from intents_ui.service.cache import ResponseCache
from intents_ui.service.client import InProcessTransport, ServiceClient
from intents_ui.service.errors import NotFound
from intents_ui.service.models import Page
from intents_ui.service.operations import get_intent
from intents_ui.service.redis import RedisGuard
from intents_ui.web import reading
from intents_ui.web.shared_responses import SharedResponses
from tests.emulator.driving import Clock
from tests.live.following import CountedService
from tests.live.redis_server import RedisServer, redis_running
from tests.service.clients import CANARY, config


def written(value: bytes) -> bytes:
    return json.dumps(Signer(salt="intents_ui.responses").unsign_object(json.loads(value))).encode()


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with redis_running() as server:
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
    url: str, *, owner: str = "of-this-test", ahead: float = 0.0, seconds: float = 10.0, clock: Clock | None = None
) -> SharedResponses:
    """With a timeout that a busy machine does not outlast."""
    how = {"serializer": "django.core.signing.JSONSerializer", "socket_timeout": seconds}
    guard = RedisGuard("each process sends its own requests", pause=5.0, clock=clock or time.monotonic)
    now = lambda: (clock or time.time)() + ahead  # noqa: E731 - shorter than a function
    return SharedResponses(RedisCache(url, {"OPTIONS": how}), guard, owner=owner, now=now)


@contextlib.contextmanager
def process(
    service: CountedService, responses: SharedResponses, *, clock: Callable[[], float] = time.monotonic
) -> Iterator[ServiceClient]:
    """A client as each process has one: nothing but Redis is shared."""
    transport = InProcessTransport(service)
    how = config("http://embedded", total=10.0, size=2**20)
    cache = ResponseCache(how, clock=clock, shared=responses)
    with ServiceClient(how, transport=transport, cache=cache, clock=clock) as client:
        yield client


def test_a_response_cached_by_one_process_is_not_requested_by_another(service, redis, values):
    intent_id = service.emulator.finished("cross-chain-fast")["intentId"]
    with process(service, shared(redis.url)) as first, process(service, shared(redis.url)) as second:
        for ask in (
            lambda client: client.ask(operations.get_intent(intent_id)),
            lambda client: client.ask(operations.get_intent_receipt(intent_id)),
            lambda client: client.ask(operations.get_chains()),
            lambda client: client.ask(operations.get_intent_history(page=Page.first())),
            lambda client: client.ask(operations.search_intents(by_query_string=intent_id)),
        ):
            service.calls.clear()
            learned = ask(first)
            assert service.calls.total() == 1
            assert ask(second) == learned
            assert service.calls.total() == 1
        assert second.ask(operations.get_intent(intent_id)).raw == first.ask(operations.get_intent(intent_id)).raw


def test_balances_found_by_one_process_are_cached_for_another(service, redis, values):
    intent = service.emulator.finished("aborted-by-timeout")
    created = datetime.fromisoformat(intent["createdAt"])
    page = reading.page_of_owner(owner=intent["ownerAddress"], created_at=created)
    unknown = reading.page_of_owner(owner="0x" + "11" * 20, created_at=created)
    with process(service, shared(redis.url)) as first, process(service, shared(redis.url)) as second:
        assert second.cache.get(page) is None
        [entry] = first.ask(page).intents
        service.calls.clear()
        (found, missing) = second.cache.get_many([page, unknown])
        assert service.calls.total() == 0
    assert missing is None
    assert entry.has_balance
    assert entry in found.answer.intents
    assert 0 <= found.age < 60


def test_a_cached_response_has_the_same_age_in_every_process(service, redis, values):
    intent_id = service.emulator.finished("cross-chain-fast")["intentId"]
    with process(service, shared(redis.url)) as first:
        first.ask(operations.get_intent(intent_id))
    (key,) = values.keys()
    assert 0 < values.ttl(key) <= 3600
    with process(service, shared(redis.url, ahead=10 * 24 * 3600)) as late:
        assert late.ask(operations.get_intent(intent_id))
    assert service.calls["GetIntent"] == 2, "it was no longer as good as new"


def test_another_key_or_service_has_its_own_cache(service, redis, values):
    with process(service, shared(redis.url)) as first, process(service, shared(redis.url, owner="others")) as other:
        first.ask(operations.get_chains())
        other.ask(operations.get_chains())
    assert service.calls["GetChains"] == 2


def test_invalidated_and_missing_intents_are_shared_with_no_process(service, redis, values):
    intent_id = service.emulator.finished("cross-chain-fast")["intentId"]
    with process(service, shared(redis.url)) as first:
        first.ask(operations.get_intent(intent_id))
        first.ask(operations.get_intent_receipt(intent_id))
        first.forget(intent_id)
    with process(service, shared(redis.url)) as second:
        service.calls.clear()
        second.ask(operations.get_intent(intent_id))
        second.ask(operations.get_intent_receipt(intent_id))
        assert service.calls.total() == 2

        service.emulator.inject("GetIntent", "not-found")
        with pytest.raises(NotFound):
            second.ask_uncached(get_intent(intent_id))
    assert values.keys("*:GetIntent:*") == []


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda value, other: b"\x80\x05K\x01.", id="a pickle"),
        pytest.param(lambda value, other: b"1", id="a number"),
        pytest.param(lambda value, other: value[:-9] + value[-8:], id="changed"),
        pytest.param(lambda value, other: other, id="of another call"),
        pytest.param(lambda value, other: json.dumps(Signer(key="x" * 9).sign_object([])).encode(), id="other key"),
    ],
)
def test_invalid_data_in_redis_is_requested_again(service, redis, values, spoil):
    one, other = (service.emulator.finished(slug)["intentId"] for slug in ("cross-chain-fast", "same-chain-swap"))
    with process(service, shared(redis.url)) as first:
        intent = first.ask(operations.get_intent(one))
        (key,) = values.keys()
        first.ask(operations.get_intent(other))
    (another,) = set(values.keys()) - {key}
    values.set(key, spoil(values.get(key), values.get(another)))
    with process(service, shared(redis.url)) as second:
        assert second.ask(operations.get_intent(one)) == intent
    assert service.calls["GetIntent"] == 3


def test_a_response_of_another_shape_in_redis_is_requested_again(service, redis, values):
    intent_id = service.emulator.finished("cross-chain-fast")["intentId"]
    responses = shared(redis.url)
    for asked, text in enumerate(("[]", "{", '{"intent":{"intentId":"0x2"}}'), start=1):
        responses.set(get_intent(intent_id).cache_key, text, asked=0.0, seconds=60.0)
        with process(service, responses) as client:
            assert client.ask(operations.get_intent(intent_id)).intent_id == intent_id
        assert service.calls["GetIntent"] == asked


def test_a_hanging_redis_costs_one_short_delay(service, caplog):
    with socket.create_server(("127.0.0.1", 0), backlog=64) as hangs:
        hangs.setblocking(False)
        url = f"redis://127.0.0.1:{hangs.getsockname()[1]}/0"
        with process(service, shared(url, seconds=0.05)) as alone:
            for size in range(20, 25):
                alone.ask(operations.get_intent_history(page=Page.first(size=size)))
        hangs.accept()[0].close()
        with pytest.raises(BlockingIOError):
            hangs.accept()
    assert service.calls["GetIntentHistory"] == 5
    assert "Redis unavailable; each process sends its own requests: TimeoutError" in caplog.messages


def test_a_redis_that_is_back_is_used_again_after_a_pause(service, redis, values):
    clock = Clock()
    with process(service, shared(redis.url, clock=clock)) as client:
        redis.down()
        client.ask(operations.get_intent_history(page=Page.first(size=20)))
        redis.up()
        client.ask(operations.get_intent_history(page=Page.first(size=21)))
        assert values.keys() == []
        clock.forward(10)
        client.ask(operations.get_intent_history(page=Page.first(size=22)))
        assert len(values.keys()) == 1


def test_redis_keys_and_values_contain_neither_the_access_key_nor_the_request(service, redis, values):
    intent = service.emulator.finished("cross-chain-fast")
    with process(service, shared(redis.url)) as client:
        client.ask(operations.get_intent(intent["intentId"]))
        client.ask(operations.search_intents(by_owner_address=intent["ownerAddress"]))
    keys = values.keys()
    assert len(keys) == 2
    for key in keys:
        assert CANARY.encode() not in key + written(values.get(key))
        assert intent["intentId"].encode() not in key
        assert intent["ownerAddress"].encode() not in key


def test_an_unchanged_copy_of_our_own_in_redis_is_requested_again_after_its_lifetime(service, redis, values):
    clock = Clock()
    with process(service, shared(redis.url, clock=clock), clock=clock) as client:
        for _ in range(2):
            client.ask(operations.get_intent_history(page=Page.first()))
            clock.forward(60)
    assert service.calls["GetIntentHistory"] == 2
