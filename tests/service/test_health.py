"""Circuit breakers and rate-limit pauses: when calls stop, for whom, and how they resume."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing

import pytest

from intents_ui.service import client, operations
from intents_ui.service.errors import AccessDenied, NotFound, OutOfTime, ServiceError, TooBusy, Unreachable
from intents_ui.service.models import Intent
from intents_ui.service.operations import Kind
from intents_ui.service.request_context import within
from intents_ui.service.results import ServiceState
from tests.service.scripted_server import Script, Visit
from tests.service.upstream import BAD, Upstream, good, no

# What the breaker needs to open, written out so that a change of its limits is noticed.
CALLS = 10
OPEN = 4.0  # seconds
DENIALS = 3

DENIED = no(1101, "AccessKeyNotFound", 401)
LIMITED = no(1201, "QuotaRateLimit", 429, **{"Retry-After": "20"})
COMMIT = operations.commit_intent(Intent.from_text('{"intentId":"0x1"}'))


@pytest.fixture(autouse=True)
def without_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries are calls that count, too."""
    monkeypatch.setattr(client, "SHORTEST_ATTEMPT", 2.0)


def ask(service: Upstream, number: int = 1) -> ServiceError | None:
    """What a question that nobody has asked before ends in."""
    try:
        service.service.ask(operations.get_intent_history(from_time=number))
    except ServiceError as error:
        return error
    return None


def asked(service: Upstream, does: Script, times: int) -> None:
    service.does = does
    for _ in range(times):
        ask(service, len(service.visits))


def break_down(service: Upstream) -> None:
    asked(service, BAD, CALLS)
    assert len(service.visits) == CALLS


def is_open(service: Upstream) -> bool:
    """Return whether a call is rejected without a request."""
    before = len(service.visits)
    error = ask(service, 10_000)
    return error is not None and len(service.visits) == before


def asked_while(service: Upstream, *, seconds: float, every: float = 0.5) -> int:
    """How often the service is asked while somebody comes this often."""
    before = len(service.visits)
    for step in range(int(seconds / every)):
        ask(service, 1000 + step)
        service.clock.now += every
    return len(service.visits) - before


@pytest.mark.parametrize(
    ("answered", "failed", "opens"), [(5, 5, True), (6, 4, False), (0, 9, False), (14, 13, False), (14, 14, True)]
)
def test_the_circuit_opens_when_half_of_at_least_ten_calls_failed(
    service: Upstream, answered: int, failed: int, *, opens: bool
) -> None:
    asked(service, good, answered)
    asked(service, BAD, failed)
    service.does = good
    assert is_open(service) is opens


@pytest.mark.parametrize(("every", "opens"), [(2.0, False), (0.9, True)])
def test_only_failures_of_the_last_ten_seconds_count(service: Upstream, every: float, *, opens: bool) -> None:
    service.does = BAD
    for number in range(CALLS):
        ask(service, number)
        service.clock.now += every
    assert is_open(service) is opens


def test_an_open_circuit_probes_every_few_seconds_and_closes_within_six(service: Upstream) -> None:
    break_down(service)
    assert 60 / (OPEN + 0.5) - 1 <= asked_while(service, seconds=60) <= 60 / (0.8 * OPEN) + 1
    service.does = good
    waited = 0.0
    while ask(service, 5000 + int(waited * 10)):
        service.clock.now += 0.1
        waited += 0.1
    assert waited <= 6.0
    assert ask(service, 9001) is None
    assert asked_while(service, seconds=5) == 10


def test_one_call_probes_while_the_others_wait_briefly_for_its_result(service: Upstream) -> None:
    break_down(service)
    service.clock.now += OPEN
    arrived, may_answer = threading.Event(), threading.Event()

    def slowly(visit: Visit) -> None:
        arrived.set()
        assert may_answer.wait(60)
        good(visit)

    service.does = slowly
    with ThreadPoolExecutor(4) as threads:
        first = threads.submit(ask, service, 100)
        assert arrived.wait(60)
        others = [threads.submit(ask, service, 101 + number) for number in range(3)]
        assert len(service.visits) == CALLS + 1
        may_answer.set()
        assert [each.result(60) for each in (first, *others)] == [None] * 4


def test_a_probe_that_ran_out_of_time_leaves_the_circuit_for_the_next_call_to_probe(service: Upstream) -> None:
    break_down(service)
    service.clock.now += OPEN
    may_answer = threading.Event()
    service.does = lambda visit: good(visit) if may_answer.wait(60) else None
    with within(0.2):
        assert isinstance(ask(service, 100), OutOfTime)
    may_answer.set()
    assert ask(service, 101) is None


@pytest.mark.parametrize(
    "does", [no(8000, "NotFound", 400), no(2000, "InvalidArgument", 400), no(9000, "IntentsDisabled", 400)]
)
def test_an_error_response_counts_as_available(service: Upstream, does: Script) -> None:
    asked(service, does, 30)
    assert len(service.visits) == 30


async def test_pages_writes_and_live_updates_share_the_circuit(service: Upstream) -> None:
    break_down(service)
    service.does = good
    with pytest.raises(Unreachable):
        service.service.ask(COMMIT)
    async with aclosing(service.service) as live:
        for call in (
            live.ask_async(operations.get_intent("0x1")),
            live.ask_async(operations.wait_intent_receipt("0x1")),
        ):
            with pytest.raises(Unreachable):
                await call
        assert len(service.visits) == CALLS
        service.clock.now += OPEN
        with pytest.raises(Unreachable):  # a long poll takes too long to be a probe
            await live.ask_async(operations.wait_intent_receipt("0x1"))
        assert (await live.ask_async(operations.get_intent("0x1"))).status == "EXECUTING"
    assert not is_open(service)


def test_a_raw_call_is_sent_while_the_circuit_is_open(service: Upstream) -> None:
    break_down(service)
    assert service.service.attempt("GetChains", "{}", kind=Kind.CHAINS).status == 500


# Retry-After


def test_a_429_pauses_every_call(service: Upstream) -> None:
    service.does = LIMITED
    first = ask(service)
    assert isinstance(first, TooBusy)
    assert 20 <= first.retry_after <= 22
    service.does = good
    began = service.clock.now
    service.clock.now = began + first.retry_after - 1
    for call in (operations.get_intent("0x1"), operations.get_chains(), COMMIT, operations.search_intents()):
        with pytest.raises(TooBusy) as caught:
            service.service.ask(call)
        assert caught.value.retry_after == caught.value.again_in == pytest.approx(1)
        assert caught.value.operation == call.operation
    by_hand = service.service.attempt("GetChains", "{}", kind=Kind.CHAINS)
    assert isinstance(by_hand.error, TooBusy)
    assert len(service.visits) == 1
    service.clock.now = began + first.retry_after + 0.1
    assert ask(service) is None


def test_one_call_probes_after_the_pause_and_a_second_429_extends_it(service: Upstream) -> None:
    service.does = LIMITED
    ask(service)
    assert asked_while(service, seconds=19) == 0
    assert asked_while(service, seconds=21) == 1
    service.does = good
    service.clock.now += 22
    assert ask(service) is None


# The key


def test_a_success_in_between_resets_the_count_of_key_rejections(service: Upstream) -> None:
    for number in range(20):
        service.does = no(8000, "NotFound", 400) if number % 3 == 0 else DENIED
        assert isinstance(ask(service, number), NotFound if number % 3 == 0 else AccessDenied)
    assert len(service.visits) == 20


def test_a_blocked_region_is_not_a_rejected_key(service: Upstream) -> None:
    asked(service, no(1006, "Geoblocked", 451), 10)
    assert len(service.visits) == 10


def test_a_late_answer_to_an_earlier_call_does_not_end_the_trouble(service: Upstream) -> None:
    health = service.service.health
    with health.track(operations.get_chains()):
        service.clock.now += 5
        asked(service, BAD, 1)
    assert health.status().state is ServiceState.DEGRADED
    service.clock.now += 1
    asked(service, good, 1)
    assert health.status().state is ServiceState.UP


def test_availability_is_known_from_past_calls_without_a_probe(service: Upstream) -> None:
    def state() -> ServiceState:
        return service.service.health.status().state

    assert state() is ServiceState.UNKNOWN
    assert ask(service, 1) is None
    service.clock.now += 5
    result = service.service.health.status()
    assert (result.state, result.answered, result.failed, result.degraded_for) == (ServiceState.UP, 5, None, None)
    assert result.typical == 0  # by a clock that stands still

    service.does = BAD
    ask(service, 2)
    service.clock.now += 3
    ask(service, 3)
    result = service.service.health.status()
    assert (result.state, result.failed, result.degraded_for) == (ServiceState.DEGRADED, 0, 3)
    service.does = no(8000, "NotFound", 404)
    ask(service, 4)
    assert state() is ServiceState.UP  # if only to say no

    service.does = LIMITED
    ask(service, 5)
    assert state() is ServiceState.RATE_LIMITED
    service.clock.now += 70
    assert state() is ServiceState.UP
    asked(service, DENIED, DENIALS)
    assert state() is ServiceState.UNAUTHORIZED
