"""Circuit breakers and rate-limit pauses: when calls stop, for whom, and how they resume."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from intents_ui.service.client import AsyncServiceClient
from intents_ui.service.context.request_context import within
from intents_ui.service.counters import Event
from intents_ui.service.errors import AccessDenied, NotFound, OutOfTime, ServiceError, TooBusy, Unreachable
from intents_ui.service.operations import operations
from intents_ui.service.operations.config import Group
from intents_ui.service.resilience.circuit_breaker import FEWEST_CALLS, OPEN_SECONDS
from intents_ui.service.resilience.health import DENIALS, LATCH_SECONDS, SLOW_SECONDS
from intents_ui.service.wire.models import Intent
from intents_ui.service.wire.results import Line, ServiceState
from tests.service.clients import config
from tests.service.scripted_server import Visit
from tests.service.upstream import BAD, Upstream, good, no, upstream
from tests.waiting import until

OPEN = OPEN_SECONDS[Line.READ]
DENIED = no(1101, "AccessKeyNotFound", 401)
COMMIT = operations.commit_intent(Intent.from_text('{"intentId":"0x1"}'))


@pytest.fixture
def service() -> Iterator[Upstream]:
    with upstream() as service:
        yield service


def ask(service: Upstream, number: int = 1) -> ServiceError | None:
    """What a question that nobody has asked before ends in."""
    try:
        service.service.ask(operations.get_intent_history(from_time=number))
    except ServiceError as error:
        return error
    return None


def break_down(service: Upstream) -> None:
    service.does = BAD
    for number in range(FEWEST_CALLS):
        assert isinstance(ask(service, number), Unreachable)


def asked_while(service: Upstream, *, seconds: float, every: float = 0.5) -> int:
    """How often the service is asked while somebody comes this often."""
    before = len(service.visits)
    for step in range(int(seconds / every)):
        ask(service, 1000 + step)
        service.clock.now += every
    return len(service.visits) - before


def test_the_circuit_opens_when_half_of_ten_calls_fail(service: Upstream) -> None:
    break_down(service)
    error = ask(service)
    assert isinstance(error, Unreachable)
    assert error.operation == "GetIntentHistory"
    assert error.again_in is not None
    assert 0.8 * OPEN <= error.again_in <= OPEN
    assert len(service.visits) == FEWEST_CALLS
    assert service.service.health.tally[Event.OPENED] == 1
    assert service.service.health.tally[Event.HELD_BACK] == 1


def test_the_circuit_stays_closed_below_the_failure_ratio_or_sample_size(service: Upstream) -> None:
    service.does = BAD
    for number in range(FEWEST_CALLS - 1):
        ask(service, number)
    service.does = good
    for number in range(20, 40):
        assert ask(service, number) is None


def test_old_failures_do_not_count(service: Upstream) -> None:
    service.does = BAD
    for number in range(FEWEST_CALLS * 3):
        ask(service, number)
        service.clock.now += 2.0
    assert service.service.health.tally[Event.OPENED] == 0


def test_an_open_circuit_probes_every_few_seconds_and_closes_within_six(
    service: Upstream,
) -> None:
    break_down(service)
    assert asked_while(service, seconds=60) <= 60 / (0.8 * OPEN) + 1
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
        assert len(service.visits) == FEWEST_CALLS + 1
        assert service.service.health.refusal("GetIntentHistory", Line.READ) is None
        may_answer.set()
        assert [asked.result(60) for asked in (first, *others)] == [None] * 4


def test_a_probe_that_ran_out_of_time_leaves_the_circuit_for_the_next_call_to_probe(service: Upstream) -> None:
    break_down(service)
    service.clock.now += OPEN
    may_answer = threading.Event()
    service.does = lambda visit: good(visit) if may_answer.wait(60) else None
    with within(0.2):
        assert isinstance(ask(service, 100), OutOfTime)
    may_answer.set()
    assert ask(service, 101) is None


def test_a_failed_probe_starts_another_pause(service: Upstream) -> None:
    break_down(service)
    service.clock.now += OPEN
    ask(service, 100)
    ask(service, 101)
    assert len(service.visits) == FEWEST_CALLS + 1


@pytest.mark.parametrize(
    "does",
    [
        no(8000, "NotFound", 400),
        no(2000, "InvalidArgument", 400),
        no(9000, "IntentsDisabled", 400),
        no(2004, "IntentStatus", 422),
    ],
)
def test_an_error_response_counts_as_available(service: Upstream, does: object) -> None:
    service.does = does  # type: ignore[assignment]
    for number in range(60):
        assert ask(service, number)
    assert len(service.visits) == 60


@pytest.mark.parametrize(("group", "opened"), [(Group.HISTORY, 1), (Group.BALANCES, 0), (Group.WAIT, 0)])
def test_the_circuit_opens_when_nearly_all_calls_are_slow(service: Upstream, group: Group, opened: int) -> None:
    """But for what takes long by nature."""
    health = service.service.health
    with contextlib.ExitStack() as under_way:
        for _ in range(FEWEST_CALLS):
            under_way.enter_context(health.asking("GetIntentHistory", group, Line.READ))
        service.clock.now += SLOW_SECONDS + 0.5
    assert health.tally[Event.OPENED] == opened


def test_reads_and_writes_have_separate_circuits(service: Upstream) -> None:
    break_down(service)
    service.does = good
    assert service.service.ask(COMMIT)
    assert ask(service)


async def test_pages_and_live_updates_have_separate_circuits(service: Upstream) -> None:
    break_down(service)
    service.does = good
    async with AsyncServiceClient(config(service.url), health=service.service.health) as live:
        assert (await live.get_intent("0x1")).status == "EXECUTING"


# Retry-After


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        pytest.param({"Retry-After": "60"}, 60.0, id="seconds"),
        pytest.param(
            {"Retry-After": format_datetime(datetime.now(UTC) + timedelta(hours=2), usegmt=True)}, 300.0, id="a date"
        ),
        pytest.param({}, 5.0, id="none"),
        pytest.param({"Retry-After": "-1"}, 5.0, id="below zero"),
        pytest.param({"Retry-After": "abc"}, 5.0, id="a word"),
        pytest.param({"Retry-After": "1e9"}, 5.0, id="a float"),
        pytest.param({"Retry-After": "9" * 18}, 300.0, id="for ever"),
        pytest.param({"Retry-After": "9" * 900}, 5.0, id="a number without end"),
        pytest.param({"Retry-After": "٣"}, 5.0, id="another digit"),
    ],
)
def test_a_429_pauses_every_call(service: Upstream, header: dict[str, str], seconds: float) -> None:
    service.does = lambda visit: visit.send(
        # Written by hand, because a header may hold anything.
        ("HTTP/1.1 429 Too Many\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n"
         + "".join(f"{name}: {value}\r\n" for name, value in header.items()) + "\r\n{}").encode()
    )  # fmt: skip
    first = ask(service)
    assert isinstance(first, TooBusy)
    assert seconds <= first.retry_after <= min(seconds * 1.1, 300)
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
    assert service.service.health.tally[Event.OPENED] == 0


async def test_a_429_pauses_live_updates_and_pages_alike(service: Upstream) -> None:
    service.does = no(1201, "QuotaRateLimit", 429, **{"Retry-After": "60"})
    async with AsyncServiceClient(config(service.url), health=service.service.health) as live:
        with pytest.raises(TooBusy):
            await live.get_intent("0x1")
        assert isinstance(await asyncio.to_thread(ask, service), TooBusy)
        with pytest.raises(TooBusy):
            await live.wait_intent_receipt("0x1")
    assert len(service.visits) == 1


def test_one_call_probes_after_the_pause_and_a_second_429_extends_it(service: Upstream) -> None:
    service.does = no(1201, "QuotaRateLimit", 429, **{"Retry-After": "60"})
    ask(service)
    assert asked_while(service, seconds=55) == 0
    assert asked_while(service, seconds=65) == 1  # L14: there was one try after at most 66 seconds
    service.does = good
    assert asked_while(service, seconds=66) >= 0
    assert ask(service) is None


# The key


def test_a_key_rejected_three_times_is_probed_every_30_seconds_and_logged_once(
    service: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "intents_ui.service.resilience.health")
    service.does = DENIED
    for number in range(DENIALS):
        assert service.service.health.standing().state is not ServiceState.UNAUTHORIZED
        assert isinstance(ask(service, number), AccessDenied)
    assert service.service.health.standing().state is ServiceState.UNAUTHORIZED
    error = ask(service)
    assert isinstance(error, AccessDenied)
    assert error.again_in == LATCH_SECONDS
    assert asked_while(service, seconds=10 * LATCH_SECONDS, every=5.0) in (9, 10)
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    service.does = good
    service.clock.now += LATCH_SECONDS
    assert ask(service, 2000) is None
    assert service.service.health.standing().state is ServiceState.UP


def test_a_success_in_between_resets_the_count_of_key_rejections(service: Upstream) -> None:
    for number in range(20):
        service.does = no(8000, "NotFound", 400) if number % 3 == 0 else DENIED
        assert isinstance(ask(service, number), NotFound if number % 3 == 0 else AccessDenied)
    assert len(service.visits) == 20


def test_a_blocked_region_is_not_a_rejected_key(service: Upstream) -> None:
    service.does = no(1006, "Geoblocked", 451)
    for number in range(20):
        assert isinstance(ask(service, number), AccessDenied)
    assert len(service.visits) == 20


def test_no_log_line_contains_the_access_key(service: Upstream, caplog: pytest.LogCaptureFixture) -> None:
    key = service.service.config.access_key
    assert key is not None
    service.does = no(1101, key.get_secret_value(), 401)
    for number in range(DENIALS):
        ask(service, number)
    until(lambda: caplog.records)
    assert not [record for record in caplog.records if key.get_secret_value() in record.getMessage()]


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

    service.does = no(1201, "LimitExceeded", 429, **{"Retry-After": "7"})
    ask(service, 5)
    assert state() is ServiceState.RATE_LIMITED
    service.clock.now += 10
    assert state() is ServiceState.UP
    service.does = DENIED
    for number in range(DENIALS):
        ask(service, 10 + number)
    assert state() is ServiceState.UNAUTHORIZED
