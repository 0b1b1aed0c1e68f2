"""Page time budgets and service slots: one deadline for all calls of a page, and a bounded queue for a slot."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from intents_ui.service import operations
from intents_ui.service.context.concurrency import CallThreads
from intents_ui.service.context.request_context import ServiceSlots, claim_slot, seconds_left, within
from intents_ui.service.errors import OutOfTime, Overloaded, Reason, ServiceError, Unreachable
from tests.service.scripted_server import Visit
from tests.service.upstream import Upstream, good, upstream
from tests.waiting import until


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


def on_a_page(slots: ServiceSlots, ask: Any, *, seconds: float = 60.0) -> Any:
    with slots.page(seconds=seconds):
        return ask()


def test_a_page_beyond_the_queue_limit_is_rejected_without_calling_the_service(service, door):
    slots = ServiceSlots(2, wait=0.05)
    first, second, third = asking(service, "0xslow0", "0xslow1", "0x3")
    with ThreadPoolExecutor(2) as threads:
        waiting = [threads.submit(on_a_page, slots, ask) for ask in (first, second)]
        until(lambda: len(service.requested) == 2)
        error = failure_of(lambda: on_a_page(slots, third))
        assert (type(error), error.operation, error.retry_after) == (Overloaded, "GetIntent", 2.0)
        door.set()
        assert [page.result(60) for page in waiting] == ["0xslow0", "0xslow1"]
    assert on_a_page(slots, third) == "0x3"
    assert len(service.requested) == 3


def test_all_calls_of_one_page_share_its_slot(service):
    names = [f"0x{number}" for number in range(5)]
    together = service.service.threads.together
    assert on_a_page(ServiceSlots(1, wait=0.05), lambda: together(*asking(service, *names))) == names


def test_all_calls_of_a_page_end_at_its_deadline(service):
    slow = asking(service, "0xslow0", "0xslow1", "0xslow2")

    def ask() -> list[Any]:
        threads = service.service.threads
        return [*threads.together(*slow), *threads.both(slow[0], slow[1]), *threads.together(slow[2])]

    answers = on_a_page(ServiceSlots(1, wait=0.05), ask, seconds=0.3)
    assert {(type(answer), answer.reason) for answer in answers} == {(OutOfTime, Reason.TIMEOUT)}


def test_calls_queued_for_a_thread_end_at_the_page_deadline(service):
    with within(0.3):
        answers = CallThreads(1).together(*asking(service, *(f"0xslow{number}" for number in range(6))))
    assert {type(answer) for answer in answers} == {OutOfTime}


def test_a_call_that_times_out_is_not_counted_as_the_page_running_out_of_time():
    with upstream(total=0.1) as service:
        service.does = Visit.stay_silent
        error = failure_of(lambda: on_a_page(ServiceSlots(1, wait=0.05), *asking(service, "0x1")))
    assert (type(error), error.reason) == (Unreachable, Reason.TIMEOUT)


def test_a_waiter_retries_when_the_first_caller_runs_out_of_time(service, door):
    slots = ServiceSlots(2, wait=0.05)
    [ask] = asking(service, "0xslow")
    with ThreadPoolExecutor(2) as threads:
        hurried = threads.submit(on_a_page, slots, ask, seconds=0.3)
        until(lambda: service.requested)
        patient = threads.submit(on_a_page, slots, ask)
        assert isinstance(hurried.exception(60), OutOfTime)
        until(lambda: len(service.requested) == 2)
        door.set()
        assert patient.result(60) == "0xslow"


def test_a_nested_deadline_never_exceeds_the_outer_one():
    with within(1.0):
        with within(100.0):
            assert (seconds_left() or 100) <= 1
        with within(0.1):
            assert (seconds_left() or 100) <= 0.1
    assert seconds_left() is None


def test_a_slot_is_released_however_a_page_ends():
    def fail() -> None:
        claim_slot()
        raise ZeroDivisionError

    slots = ServiceSlots(1, wait=0.01)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), slots.page(seconds=1):
            fail()
