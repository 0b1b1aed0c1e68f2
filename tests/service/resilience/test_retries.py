"""Retries: only for reads, only where they can help, and within a budget."""

import contextlib
import gzip
from collections.abc import Iterator

import pytest

from intents_ui.service.counters import Event
from intents_ui.service.errors import Reason, ServiceError, Unreachable
from intents_ui.service.operations import operations
from intents_ui.service.operations.operations import ServiceCall
from intents_ui.service.resilience.retries import LEAST, Budget
from intents_ui.service.wire.models import Intent, QuoteIntentRequest
from tests.service.scripted_server import Script, Visit, answering, response
from tests.service.upstream import BAD, Clock, Upstream, good, intent, no, upstream
from tests.waiting import until


@pytest.fixture
def service() -> Iterator[Upstream]:
    with upstream() as service:
        yield service


GET = operations.get_intent("0x1")


@pytest.mark.parametrize(
    ("does", "calls"),
    [
        pytest.param(BAD, 2, id="2001"),
        pytest.param(no(-6, "WebrpcServerPanic", 500), 2, id="panic"),
        pytest.param(no(-7, "WebrpcInternalError", 500), 2, id="internal error"),
        pytest.param(no(1900, "Timeout", 408), 2, id="1900"),
        pytest.param(no(9001, "ChainNodeHealth", 503), 2, id="9001"),
        pytest.param(no(0, "WebrpcEndpoint", 400), 2, id="untyped, once"),
        pytest.param(answering("<html>", status=502, kind="text/html"), 2, id="a proxy's page"),
        pytest.param(answering("", status=425), 2, id="too early"),
        pytest.param(answering("", status=500), 2, id="nothing but 500"),
        pytest.param(lambda visit: None, 2, id="closed without a word"),
        pytest.param(Visit.reset, 2, id="reset"),
        pytest.param(lambda visit: visit.send(response("{}")[:-1]), 2, id="half an answer"),
        pytest.param(answering("{"), 2, id="no JSON"),
        pytest.param(answering("[]"), 2, id="no object"),
        pytest.param(no(2000, "InvalidArgument", 400), 1, id="2000"),
        pytest.param(no(8000, "NotFound", 400), 1, id="not found"),
        pytest.param(no(1101, "AccessKeyNotFound", 401), 1, id="no access"),
        pytest.param(no(2004, "IntentStatus", 422), 1, id="2004"),
        pytest.param(no(7001, "QuoteExpired", 400), 1, id="expired"),
        pytest.param(no(9000, "IntentsDisabled", 400), 1, id="Service paused"),
        pytest.param(no(2002, "Unavailable", 400), 1, id="2002"),
        pytest.param(no(1201, "QuotaRateLimit", 429), 1, id="wants quiet"),
        pytest.param(no(1006, "Geoblocked", 451), 1, id="geoblocked"),
        pytest.param(answering("", status=302, headers={"Location": "/"}), 1, id="a redirect"),
        pytest.param(answering("<html>", kind="text/html"), 1, id="a captive portal"),
        pytest.param(answering(" " * 2**17), 1, id="too large"),
        pytest.param(answering(gzip.compress(b"{}"), headers={"Content-Encoding": "br"}), 1, id="an odd encoding"),
        pytest.param(answering('{"intent":{"intentId":"0x2"}}'), 1, id="another intent"),
    ],
)
def test_transient_errors_are_retried_once(service: Upstream, does: Script, calls: int) -> None:
    service.does = does
    with pytest.raises(ServiceError):
        service.service.ask(GET)
    assert len(service.requested) == calls
    assert service.service.health.tally[Event.RETRY] == calls - 1


def test_a_successful_retry_is_the_response(service: Upstream) -> None:
    service.does = lambda visit: BAD(visit) if len(service.requested) == 1 else visit.send(intent(visit))
    assert service.service.ask(GET).status == "EXECUTING"
    assert len(service.requested) == 2


@pytest.mark.parametrize(
    "call",
    [
        operations.search_intents(by_owner_address="0x1"),
        operations.get_intent_history(),
        operations.get_intent_history(include_balances=True),
        operations.commit_intent(Intent.from_text('{"intentId":"0x1"}')),
        operations.execute_intent("0x1"),
        operations.quote_intent(QuoteIntentRequest()),
    ],
    ids=lambda call: f"{call.operation}-{call.group}",
)
def test_slow_calls_and_writes_are_not_retried(service: Upstream, call: ServiceCall[object]) -> None:
    service.does = BAD
    with pytest.raises(ServiceError):
        service.service.ask(call)
    assert service.requested == [call.operation]


def test_a_timeout_leaves_no_time_for_a_retry() -> None:
    with upstream(total=0.3) as service:
        service.does = Visit.stay_silent
        with pytest.raises(ServiceError):
            service.service.ask(GET)
        assert len(service.requested) == 1


def test_a_retry_that_hangs_ends_with_the_calls_timeout() -> None:
    with upstream(total=0.5) as service:
        service.does = lambda visit: visit.reset() if len(service.visits) == 1 else visit.stay_silent()
        with pytest.raises(Unreachable) as caught:
            service.service.ask(GET)
        assert len(service.requested) == 2
    assert (caught.value.reason, caught.value.operation) == (Reason.TIMEOUT, "GetIntent")


def keeps_alive(visit: Visit, *, until_asked: int) -> None:
    """Answers so many questions on one connection, and closes it when there is one more."""
    for _ in range(until_asked):
        visit.send(response({"intent": {"intentId": "0x1"}, "intentId": "0x1"}, headers={"Connection": "keep-alive"}))
        if not visit.connection.recv(65_536):
            return


def test_an_expired_keepalive_connection_is_invisible_to_readers(service: Upstream) -> None:
    service.does = lambda visit: keeps_alive(visit, until_asked=1)
    for _ in range(3):
        assert service.service.ask_uncached(GET).intent_id == "0x1"
    assert len(service.visits) == 3
    tally = service.service.health.tally
    assert tally[Event.RETRY] == 2
    assert tally[Event.OPENED] == 0


def test_a_dead_connection_does_not_count_as_a_service_failure(service: Upstream) -> None:
    service.does = lambda visit: keeps_alive(visit, until_asked=1)
    for _ in range(15):
        service.service.ask_uncached(operations.get_intent("0x1"))
        service.clock.now += 1.0
    assert service.service.health.tally[Event.OPENED] == 0


def test_a_commit_on_a_dead_connection_is_not_sent_again(service: Upstream) -> None:
    service.does = lambda visit: keeps_alive(visit, until_asked=1)
    service.service.ask_uncached(GET)
    with pytest.raises(ServiceError):
        service.service.ask(operations.commit_intent(Intent.from_text('{"intentId":"0x1"}')))
    assert len(service.visits) == 1


def test_retries_are_at_most_a_tenth_of_calls_and_at_least_one_per_second() -> None:
    clock = Clock()
    budget = Budget(clock)
    taken = 0
    for _ in range(300):
        budget.called()
        taken += budget.take()
    assert taken == 30
    clock.now += 11
    assert sum(budget.take() for _ in range(50)) == LEAST


def test_a_service_failing_for_many_readers_does_not_get_twice_the_requests(service: Upstream) -> None:
    """One page in four fails, so the breaker stays shut."""
    for number in range(1, 121):
        service.does = good if number % 4 else BAD
        try:
            service.service.ask(operations.get_intent(f"0x{number}"))
        except ServiceError:
            assert number % 4 == 0
    assert len(service.requested) <= 120 * 1.1
    assert service.service.health.tally[Event.RETRY_SPARED] > 0


@pytest.mark.parametrize(
    ("does", "calls"),
    [
        pytest.param(BAD, 2, id="2001"),
        pytest.param(no(9000, "IntentsDisabled", 400), 2, id="Service paused"),
        pytest.param(no(2002, "Unavailable", 400), 2, id="2002"),
        pytest.param(no(2003, "QueryFailed", 400), 1, id="2003"),
        pytest.param(no(1201, "QuotaRateLimit", 429), 1, id="wants quiet"),
    ],
)
def test_background_refreshes_have_time_for_more_retries(service: Upstream, does: Script, calls: int) -> None:
    history = operations.get_intent_history()
    service.service.ask(history)
    service.clock.now += 30
    service.does = does
    with contextlib.suppress(ServiceError):  # 2003 is an answer, and told as one
        service.service.ask(history)
    until(lambda: not service.service._guard._pending)
    assert len(service.requested) == 1 + calls
