"""Deduplication of equal pending calls: many readers, one request."""

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from intents_ui.service.cache.response_cache import ResponseCache
from intents_ui.service.caching_client import Answered, CachingClient
from intents_ui.service.context.concurrency import CallThreads
from intents_ui.service.context.request_context import within
from intents_ui.service.errors import NotFound, OutOfTime, Reason, Unreachable
from intents_ui.service.operations import operations
from intents_ui.service.operations.config import LIFETIMES
from intents_ui.service.operations.operations import ServiceCall
from intents_ui.service.resilience.health import Health
from intents_ui.service.wire.models import Intent, QuoteIntentRequest

READERS = 8


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


ANSWER = Intent.from_text('{"intentId":"0x1"}')


class Upstream:
    """Answers when it is allowed to, and counts."""

    def __init__(self, answer: Any = ANSWER) -> None:
        self.answer = answer
        self.calls: list[str] = []
        self.arrived = threading.Semaphore(0)
        self.may_answer = threading.Event()

    def __call__(self, call: ServiceCall[Any]) -> Any:
        self.calls.append(call.operation)
        self.arrived.release()
        assert self.may_answer.wait(60)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return Answered(self.answer, bytearray(b"{}"))


def guarded(
    upstream: Upstream, *, patience: float | Callable[[ServiceCall[Any]], float], clock: Clock | None = None
) -> CachingClient:
    by = clock or Clock()
    seconds = patience if callable(patience) else lambda call: patience
    return CachingClient(
        upstream,
        patience=seconds,
        health=Health(clock=by),
        threads=CallThreads(4),
        kept=ResponseCache(LIFETIMES, clock=by),
        clock=by,
    )


@pytest.fixture
def upstream() -> Upstream:
    return Upstream()


def asked_at_once(guard: CachingClient, call: ServiceCall[Any], threads: ThreadPoolExecutor) -> list[Future[Any]]:
    """What READERS threads get who ask the same."""
    return [threads.submit(guard.ask, call) for _ in range(READERS)]


def when_all_have_asked(upstream: Upstream) -> CachingClient:
    """A guard through which the service answers as soon as every reader waits."""
    waiting = itertools.count(1)

    def patience(_: ServiceCall[Any]) -> float:
        if next(waiting) == READERS - 1:  # the first one asks, the others wait
            upstream.may_answer.set()
        return 10.0

    return guarded(upstream, patience=patience)


def test_equal_pending_calls_are_sent_once(upstream):
    with ThreadPoolExecutor(READERS) as threads:
        readers = asked_at_once(when_all_have_asked(upstream), operations.get_intent("0x1"), threads)
        assert [reader.result(60) for reader in readers] == [ANSWER] * READERS
    assert upstream.calls == ["GetIntent"]


def test_every_waiter_gets_its_own_exception(upstream):
    upstream.answer = NotFound("no such intent", code=8000)
    upstream.answer.operation = "GetIntent"
    with ThreadPoolExecutor(READERS) as threads:
        readers = asked_at_once(when_all_have_asked(upstream), operations.get_intent("0x1"), threads)
        errors = [reader.exception(5) for reader in readers]
    assert {(type(error), str(error)) for error in errors} == {(NotFound, str(upstream.answer))}
    assert len(set(map(id, errors))) == READERS
    assert len({id(error.__traceback__) for error in errors if error}) == READERS
    assert upstream.calls == ["GetIntent"]


def test_a_waiter_past_its_deadline_does_not_wait_for_the_others(upstream):
    guard = guarded(upstream, patience=0.05)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(guard.ask, operations.get_intent("0x1"))
        assert upstream.arrived.acquire(timeout=60)
        second = threads.submit(guard.ask, operations.get_intent("0x1"))
        error = second.exception(5)
        upstream.may_answer.set()
        assert first.result(60) == ANSWER
    assert isinstance(error, Unreachable)
    assert (error.reason, error.operation) == (Reason.TIMEOUT, "GetIntent")


def test_an_internal_error_leaves_no_waiter_hanging(upstream):
    upstream.answer = KeyboardInterrupt()
    upstream.may_answer.set()
    guard = guarded(upstream, patience=5.0)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            guard.ask(operations.get_intent("0x1"))
    assert len(upstream.calls) == 2


def free_guard(upstream: Upstream, clock: Clock) -> CachingClient:
    upstream.may_answer.set()
    return guarded(upstream, patience=1.0, clock=clock)


def test_different_calls_are_all_sent(upstream):
    guard = free_guard(upstream, Clock())
    guard.ask(operations.get_intent("0x1"))
    guard.ask(operations.get_intent("0x2"))
    guard.ask(operations.get_intent_receipt("0x1"))
    assert upstream.calls == ["GetIntent", "GetIntent", "GetIntentReceipt"]


@pytest.mark.parametrize(
    "call",
    [
        operations.commit_intent(Intent.from_text('{"intentId":"0x1"}')),
        operations.execute_intent("0x1"),
        operations.quote_intent(QuoteIntentRequest()),
    ],
    ids=lambda call: call.operation,
)
def test_writes_are_never_shared(upstream, call):
    with ThreadPoolExecutor(2) as threads:
        guard = guarded(upstream, patience=5.0)
        asked = [threads.submit(guard.ask, call) for _ in range(2)]
        assert all(upstream.arrived.acquire(timeout=60) for _ in asked)  # both under way at the same time
        upstream.may_answer.set()
        assert [one.result(60) for one in asked] == [ANSWER, ANSWER]


def test_a_waiter_whose_page_is_out_of_time_is_not_sent_again(upstream):
    guard = guarded(upstream, patience=10.0)
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(guard.ask, operations.get_intent("0x1"))
        assert upstream.arrived.acquire(timeout=60)
        with within(0.05), pytest.raises(OutOfTime) as caught:
            guard.ask(operations.get_intent("0x1"))
        upstream.may_answer.set()
        assert first.result(60) == ANSWER
    assert caught.value.operation == "GetIntent"
    assert upstream.calls == ["GetIntent"]
