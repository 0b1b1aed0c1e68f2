"""Page time budgets and service slots: one deadline for all calls of a page, and a bounded queue for a slot."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from intents_ui.service.client import ServiceClient
from intents_ui.service.context.concurrency import CallThreads
from intents_ui.service.context.request_context import ServiceSlots, claim_slot, seconds_left, within
from intents_ui.service.errors import OutOfTime, Overloaded, Reason, ServiceError, Unreachable
from tests.service.clients import client
from tests.service.scripted_server import ScriptedServer, Visit, response, serving
from tests.waiting import until

INTENT = '{"intent":{"intentId":"%s"}}'


class Doors:
    """Answers at once, but about a slow intent only when the test lets it."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.requested: list[str] = []

    def __call__(self, visit: Visit) -> None:
        intent_id = json.loads(visit.body)["intentId"]
        self.requested.append(intent_id)
        if intent_id.startswith("0xslow"):
            while not (self.open.wait(0.01) or visit.closing.is_set()):
                pass
        visit.send(response(INTENT % intent_id))


@pytest.fixture
def doors() -> Doors:
    return Doors()


@pytest.fixture
def server(doors: Doors) -> Iterator[ScriptedServer]:
    with serving(doors) as server:
        yield server


@pytest.fixture
def service(server: ScriptedServer) -> Iterator[ServiceClient]:
    with client(server.url, total=600) as service:
        yield service


def failure_of(call: Any) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        call()
    return caught.value


def on_a_page(slots: ServiceSlots, ask: Any, *, seconds: float = 5.0) -> Any:
    with slots.page(seconds=seconds):
        return ask()


def test_a_page_beyond_the_queue_limit_is_rejected_without_calling_the_service(doors, service):
    slots = ServiceSlots(2, wait=0.05)
    with ThreadPoolExecutor(2) as threads:
        waiting = [threads.submit(on_a_page, slots, lambda n=n: service.get_intent(f"0xslow{n}")) for n in range(2)]
        until(lambda: len(doors.requested) == 2)
        error = failure_of(lambda: on_a_page(slots, lambda: service.get_intent("0x3")))
        assert (type(error), error.operation, error.retry_after) == (Overloaded, "GetIntent", 2.0)
        doors.open.set()
        assert [page.result(60).intent_id for page in waiting] == ["0xslow0", "0xslow1"]
    assert on_a_page(slots, lambda: service.get_intent("0x3")).intent_id == "0x3"
    assert sorted(doors.requested) == ["0x3", "0xslow0", "0xslow1"]


def test_all_calls_of_one_page_share_its_slot(service):
    slots = ServiceSlots(1, wait=0.05)
    questions = [lambda n=n: service.get_intent(f"0x{n}").intent_id for n in range(5)]
    found = on_a_page(slots, lambda: service.threads.together(*questions))
    assert found == ["0x0", "0x1", "0x2", "0x3", "0x4"]


def test_all_calls_of_a_page_end_at_its_deadline(doors, service):
    slots = ServiceSlots(1, wait=0.05)
    slow = [lambda n=n: service.get_intent(f"0xslow{n}") for n in range(3)]

    def ask() -> list[Any]:
        threads = service.threads
        return [*threads.together(*slow), *threads.both(slow[0], slow[1]), *threads.together(slow[2])]

    answers = on_a_page(slots, ask, seconds=0.3)
    assert {(type(answer), answer.reason) for answer in answers} == {(OutOfTime, Reason.TIMEOUT)}


def test_calls_queued_for_a_thread_end_at_the_page_deadline(doors, service):
    with within(0.3):
        answers = CallThreads(1).together(*(lambda n=n: service.get_intent(f"0xslow{n}") for n in range(6)))
    assert {type(answer) for answer in answers} == {OutOfTime}


def test_a_call_that_times_out_is_not_counted_as_the_page_running_out_of_time(server):
    with client(server.url, total=0.1) as service:
        error = failure_of(lambda: on_a_page(ServiceSlots(1, wait=0.05), lambda: service.get_intent("0xslow")))
    assert (type(error), error.reason) == (Unreachable, Reason.TIMEOUT)


def test_a_waiter_retries_when_the_first_caller_runs_out_of_time(doors, service):
    slots = ServiceSlots(2, wait=0.05)
    with ThreadPoolExecutor(2) as threads:
        hurried = threads.submit(on_a_page, slots, lambda: service.get_intent("0xslow"), seconds=0.3)
        until(lambda: doors.requested)
        patient = threads.submit(on_a_page, slots, lambda: service.get_intent("0xslow"))
        assert isinstance(hurried.exception(5), OutOfTime)
        until(lambda: len(doors.requested) == 2)
        doors.open.set()
        assert patient.result(60).intent_id == "0xslow"


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
