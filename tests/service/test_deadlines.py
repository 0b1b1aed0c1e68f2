"""Time budget of a page: one deadline for all of its calls."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from intents_ui.service import executor, operations, request_context
from intents_ui.service.errors import OutOfTime, Overloaded, Reason, ServiceError, Unreachable
from intents_ui.service.executor import FairExecutor
from intents_ui.service.request_context import Origin, within
from tests.service.scripted_server import Visit
from tests.service.upstream import Upstream, good, upstream
from tests.waiting import PATIENCE, until


@pytest.fixture
def door() -> threading.Event:
    """Return what lets the service answer about slow intents."""
    return threading.Event()


@pytest.fixture
def service(door: threading.Event) -> Iterator[Upstream]:
    def script(visit: Visit) -> None:
        while b"slow" in visit.body and not (door.wait(0.01) or visit.closing.is_set()):
            pass
        good(visit)

    with upstream(total=600) as service:
        service.does = script
        yield service


def asking(service: Upstream, *names: str) -> list[Callable[[], str]]:
    return [lambda name=name: service.service.ask(operations.get_intent(name)).intent_id for name in names]  # type: ignore[misc]


def failure_of(call: Any) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        call()
    return caught.value


def on_a_page(ask: Any, *, seconds: float = 60.0) -> Any:
    with within(seconds):
        return ask()


def test_all_calls_of_a_page_end_at_its_deadline(service):
    slow = asking(service, "0xslow0", "0xslow1", "0xslow2")

    def ask() -> list[Any]:
        threads = service.service.threads
        return [*threads.together(*slow), *threads.together(slow[2])]

    answers = on_a_page(ask, seconds=0.3)
    assert {(type(answer), answer.reason) for answer in answers} == {(OutOfTime, Reason.TIMEOUT)}


def test_a_call_that_times_out_is_not_counted_as_the_page_running_out_of_time():
    with upstream(total=0.1) as service:
        service.does = Visit.stay_silent
        error = failure_of(lambda: on_a_page(*asking(service, "0x1")))
    assert (type(error), error.reason) == (Unreachable, Reason.TIMEOUT)


def test_a_waiter_retries_when_the_first_caller_runs_out_of_time(service, door):
    [ask] = asking(service, "0xslow")
    with ThreadPoolExecutor(2) as threads:
        hurried = threads.submit(on_a_page, ask, seconds=0.3)
        until(lambda: service.requested)
        patient = threads.submit(on_a_page, ask)
        assert isinstance(hurried.exception(60), OutOfTime)
        until(lambda: len(service.requested) == 2)
        door.set()
        assert patient.result(60) == "0xslow"


def test_a_page_out_of_time_does_not_wait_for_a_place_among_those_who_wait(service, monkeypatch):
    monkeypatch.setattr(executor, "PLACE_TIMEOUT", 600.0)
    threads = service.service.threads = FairExecutor(1)
    with request_context.request_scope(Origin("request", client="203.0.113.7")), threads.waiting(), within(-1):
        assert type(failure_of(*asking(service, "0x1"))) is OutOfTime
    assert service.requested == []


def test_a_quarter_of_the_threads_stays_for_pages_that_need_no_call(service, door):
    """Each client has one of eight threads, of which six may wait for the service."""
    threads = service.service.threads = FairExecutor(8)
    *slow, known, other = asking(service, *[f"0xslow{number}" for number in range(6)], "0x6", "0x7")

    def page(number: int, ask: Any) -> Future[Any]:
        with request_context.request_scope(Origin("request", client=f"203.0.113.{number}")):
            return threads.submit(ask)

    assert page(6, known).result(PATIENCE) == "0x6"
    waiting = [page(number, ask) for number, ask in enumerate(slow)]
    until(lambda: len(service.requested) == 7)
    error = failure_of(page(7, other).result)
    assert (type(error), error.operation, error.retry_after) == (Overloaded, "GetIntent", 2.0)
    assert page(6, known).result(PATIENCE) == "0x6"
    door.set()
    assert [each.result(PATIENCE) for each in waiting] == [f"0xslow{number}" for number in range(6)]
    assert page(7, other).result(PATIENCE) == "0x7"
    assert len(service.requested) == 8
