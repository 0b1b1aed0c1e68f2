"""Circuit breakers and rate-limit pauses: when calls stop, for whom, and how they resume."""

import asyncio
import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from intents_ui.service.client import AsyncServiceClient
from intents_ui.service.context.request_context import within
from intents_ui.service.errors import AccessDenied, NotFound, OutOfTime, ServiceError, TooBusy, Unreachable
from intents_ui.service.operations import operations
from intents_ui.service.operations.config import Group
from intents_ui.service.wire.models import Intent
from intents_ui.service.wire.results import ServiceState
from tests.service.clients import config
from tests.service.scripted_server import Script, Visit
from tests.service.upstream import BAD, Upstream, good, no
from tests.waiting import until

# What the breaker needs to open, written out so that a change of its limits is noticed.
CALLS = 10
OPEN = 5.0  # seconds
SLOW = 4.0
DENIALS = 3
LATCH = 30.0

DENIED = no(1101, "AccessKeyNotFound", 401)
LIMITED = no(1201, "QuotaRateLimit", 429, **{"Retry-After": "60"})
COMMIT = operations.commit_intent(Intent.from_text('{"intentId":"0x1"}'))


def ask(service: Upstream, number: int = 1, *, include_balances: bool | None = None) -> ServiceError | None:
    """What a question that nobody has asked before ends in."""
    call = operations.get_intent_history(from_time=number, include_balances=include_balances)
    try:
        service.service.ask(call)
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


def test_the_circuit_opens_when_ten_calls_fail(service: Upstream) -> None:
    break_down(service)
    error = ask(service, 100)
    assert isinstance(error, Unreachable)
    assert error.operation == "GetIntentHistory"
    assert error.again_in is not None
    assert 0.8 * OPEN <= error.again_in <= OPEN
    assert len(service.visits) == CALLS


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


def test_old_failures_do_not_count(service: Upstream) -> None:
    service.does = BAD
    for number in range(CALLS * 2):
        ask(service, number)
        service.clock.now += 2.0
    assert len(service.visits) == CALLS * 2


def test_failures_of_the_last_ten_seconds_count(service: Upstream) -> None:
    service.does = BAD
    for number in range(CALLS):
        ask(service, number)
        service.clock.now += 0.9
    assert is_open(service)


def test_one_success_does_not_close_the_circuit(service: Upstream) -> None:
    break_down(service)
    service.clock.now += OPEN
    service.does = good
    assert ask(service, 100) is None
    service.does = BAD
    assert ask(service, 101) is not None
    assert is_open(service)


def test_an_open_circuit_probes_every_few_seconds_and_closes_within_six(service: Upstream) -> None:
    break_down(service)
    assert 60 / (OPEN + 0.5) - 1 <= asked_while(service, seconds=60) <= 60 / (0.8 * OPEN) + 1
    service.does = good
    waited = 0.0
    while ask(service, 5000 + int(waited * 10)):
        service.clock.now += 0.1
        waited += 0.1
    assert waited <= 6.0
    assert ask(service, 9001) is None  # the second answer opens it for all
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


@pytest.mark.parametrize(
    ("include_balances", "seconds", "opens"),
    [(None, SLOW + 0.5, True), (None, SLOW - 0.5, False), (True, SLOW + 0.5, False)],
    ids=["slow", "fast", "slow by nature"],
)
def test_the_circuit_opens_when_nearly_all_calls_are_slow(
    service: Upstream, include_balances: bool | None, seconds: float, *, opens: bool
) -> None:
    may_answer = threading.Event()
    service.does = lambda visit: good(visit) if may_answer.wait(60) else None
    with ThreadPoolExecutor(CALLS) as threads:
        under_way = [threads.submit(ask, service, n, include_balances=include_balances) for n in range(CALLS)]
        until(lambda: len(service.visits) == CALLS)
        service.clock.now += seconds
        may_answer.set()
        assert [each.result(60) for each in under_way] == [None] * CALLS
    assert is_open(service) is opens


def test_reads_and_writes_have_separate_circuits(service: Upstream) -> None:
    break_down(service)
    service.does = good
    assert service.service.ask(COMMIT)
    assert is_open(service)


async def test_pages_and_live_updates_have_separate_circuits(service: Upstream) -> None:
    break_down(service)
    service.does = good
    async with AsyncServiceClient(config(service.url), health=service.service.health) as live:
        assert (await live.get_intent("0x1")).status == "EXECUTING"


# Retry-After


def test_a_429_pauses_every_call(service: Upstream) -> None:
    service.does = LIMITED
    first = ask(service)
    assert isinstance(first, TooBusy)
    assert 60 <= first.retry_after <= 66
    service.does = good
    began = service.clock.now
    service.clock.now = began + first.retry_after - 1
    for call in (operations.get_intent("0x1"), operations.get_chains(), COMMIT, operations.search_intents()):
        with pytest.raises(TooBusy) as caught:
            service.service.ask(call)
        assert caught.value.retry_after == caught.value.again_in == pytest.approx(1)
        assert caught.value.operation == call.operation
    by_hand = service.service.attempt("GetChains", "{}", group=Group.REFERENCE)
    assert isinstance(by_hand.error, TooBusy)
    assert len(service.visits) == 1
    service.clock.now = began + first.retry_after + 0.1
    assert ask(service) is None


async def test_a_429_pauses_live_updates_and_pages_alike(service: Upstream) -> None:
    service.does = LIMITED
    async with AsyncServiceClient(config(service.url), health=service.service.health) as live:
        with pytest.raises(TooBusy):
            await live.get_intent("0x1")
        assert isinstance(await asyncio.to_thread(ask, service), TooBusy)
        with pytest.raises(TooBusy):
            await live.wait_intent_receipt("0x1")
    assert len(service.visits) == 1


def test_one_call_probes_after_the_pause_and_a_second_429_extends_it(service: Upstream) -> None:
    service.does = LIMITED
    ask(service)
    assert asked_while(service, seconds=55) == 0
    assert asked_while(service, seconds=65) == 1
    service.does = good
    service.clock.now += 66
    assert ask(service) is None


# The key


def test_a_key_rejected_three_times_is_probed_every_30_seconds_and_logged_once(
    service: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "intents_ui.service")
    service.does = DENIED
    for number in range(DENIALS):
        assert service.service.health.standing().state is not ServiceState.UNAUTHORIZED
        assert isinstance(ask(service, number), AccessDenied)
    assert service.service.health.standing().state is ServiceState.UNAUTHORIZED
    error = ask(service)
    assert isinstance(error, AccessDenied)
    assert error.again_in == LATCH
    assert asked_while(service, seconds=10 * LATCH, every=5.0) in (9, 10)
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    service.does = good
    service.clock.now += LATCH
    assert ask(service, 2000) is None
    assert service.service.health.standing().state is ServiceState.UP


def test_a_success_in_between_resets_the_count_of_key_rejections(service: Upstream) -> None:
    for number in range(20):
        service.does = no(8000, "NotFound", 400) if number % 3 == 0 else DENIED
        assert isinstance(ask(service, number), NotFound if number % 3 == 0 else AccessDenied)
    assert len(service.visits) == 20


def test_a_blocked_region_is_not_a_rejected_key(service: Upstream) -> None:
    asked(service, no(1006, "Geoblocked", 451), 10)
    assert len(service.visits) == 10


def test_availability_is_known_from_past_calls_without_a_probe(service: Upstream) -> None:
    def state() -> ServiceState:
        return service.service.health.standing().state

    assert state() is ServiceState.UNKNOWN
    assert ask(service, 1) is None
    service.clock.now += 5
    result = service.service.health.standing()
    assert (result.state, result.answered, result.failed, result.in_trouble) == (ServiceState.UP, 5, None, None)
    assert result.typical == 0  # by a clock that stands still

    service.does = BAD
    ask(service, 2)
    service.clock.now += 3
    ask(service, 3)
    result = service.service.health.standing()
    assert (result.state, result.failed, result.in_trouble) == (ServiceState.DEGRADED, 0, 3)
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
