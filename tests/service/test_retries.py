"""Retries: only for reads, only where they can help, and within a budget."""

import pytest

from intents_ui.service import operations
from intents_ui.service.errors import Reason, ServiceError, Unreachable
from intents_ui.service.models import Intent
from tests.service.scripted_server import Script, Visit, answering, response
from tests.service.upstream import BAD, Upstream, good, no, upstream

GET = operations.get_intent("0x1")
COMMIT = operations.commit_intent(Intent.from_text('{"intentId":"0x1"}'))

TRANSIENT = {
    "2001": BAD,
    "panic": no(-6, "WebrpcServerPanic", 500),
    "9001": no(9001, "ChainNodeHealth", 503),
    "a proxy's page": answering("<html>", status=502, kind="text/html"),
    "too early": answering("", status=425),
    "closed without a word": lambda visit: None,
    "reset": Visit.reset,
    "half an answer": lambda visit: visit.send(response("{}")[:-1]),
    "no JSON": answering("{"),
    "no object": answering("[]"),
}
FINAL = {
    "2000": no(2000, "InvalidArgument", 400),
    "not found": no(8000, "NotFound", 400),
    "no access": no(1101, "AccessKeyNotFound", 401),
    "expired": no(7001, "QuoteExpired", 400),
    "service paused": no(9000, "IntentsDisabled", 400),
    "wants quiet": no(1201, "QuotaRateLimit", 429),
    "a redirect": answering("", status=302, headers={"Location": "/"}),
    "a captive portal": answering("<html>", kind="text/html"),
    "too large": answering(" " * 2**17),
    "an odd encoding": answering("{}", headers={"Content-Encoding": "br"}),
    "another intent": answering('{"intent":{"intentId":"0x2"}}'),
}


@pytest.mark.parametrize(
    ("does", "calls"),
    [pytest.param(does, 2, id=name) for name, does in TRANSIENT.items()]
    + [pytest.param(does, 1, id=name) for name, does in FINAL.items()],
)
def test_transient_errors_are_retried_once(service: Upstream, does: Script, calls: int) -> None:
    service.does = does
    with pytest.raises(ServiceError):
        service.service.ask(GET)
    assert len(service.requested) == calls


def test_writes_are_not_retried(service: Upstream) -> None:
    for does in (BAD, Visit.reset):
        service.does = does
        service.visits.clear()
        with pytest.raises(ServiceError):
            service.service.ask(COMMIT)
        assert service.requested == ["CommitIntent"]


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


def answers_once(visit: Visit) -> None:
    """Answers one question on a connection, and closes it when there is another."""
    visit.send(response({"intent": {"intentId": "0x1"}, "intentId": "0x1"}, headers={"Connection": "keep-alive"}))
    visit.connection.recv(65_536)


def test_an_expired_keepalive_connection_is_invisible_to_readers(service: Upstream) -> None:
    service.does = answers_once
    for _ in range(5):
        assert service.service.ask_uncached(GET).intent_id == "0x1"
        service.clock.now += 1.0
    assert len(service.visits) == 5


def test_a_commit_on_a_dead_connection_is_not_sent_again(service: Upstream) -> None:
    service.does = answers_once
    service.service.ask_uncached(GET)
    with pytest.raises(ServiceError):
        service.service.ask(COMMIT)
    assert len(service.visits) == 1


def test_a_service_failing_for_many_readers_does_not_get_twice_the_requests(service: Upstream) -> None:
    """At most ten more in ten seconds. One page in four fails, so the breaker stays closed."""
    for number in range(1, 121):
        service.does = good if number % 4 else BAD
        try:
            service.service.ask(operations.get_intent(f"0x{number}"))
        except ServiceError:
            assert number % 4 == 0
    assert 120 < len(service.requested) <= 130
    service.clock.now += 11
    service.does = BAD
    before = len(service.requested)
    with pytest.raises(ServiceError):
        service.service.ask(operations.get_intent("0x121"))
    assert len(service.requested) == before + 2
