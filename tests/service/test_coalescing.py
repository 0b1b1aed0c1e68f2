"""Equal calls under way at the same time: many readers, one request."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from intents_ui.service import operations
from intents_ui.service.errors import NotFound, OutOfTime
from intents_ui.service.models import Intent
from intents_ui.service.request_context import within
from tests.counted import count
from tests.service.scripted_server import Visit
from tests.service.upstream import Upstream, good, no, upstream
from tests.waiting import until

READERS = 8
GET = operations.get_intent("0x1")


def coalesced() -> float:
    return count("data_requests", source="coalesced")


@pytest.fixture
def may_answer() -> threading.Event:
    return threading.Event()


@pytest.fixture
def service(may_answer: threading.Event) -> Iterator[Upstream]:
    """Yield a service that answers when it is allowed to."""
    with upstream(total=60.0) as service:
        service.does = lambda visit: good(visit) if may_answer.wait(60) else None
        yield service


def test_equal_pending_calls_are_sent_once(service: Upstream, may_answer: threading.Event) -> None:
    with ThreadPoolExecutor(READERS) as threads:
        before = coalesced()
        readers = [threads.submit(service.service.ask, GET) for _ in range(READERS)]
        until(lambda: coalesced() - before == READERS - 1)
        may_answer.set()
        assert {reader.result(60).intent_id for reader in readers} == {"0x1"}
    assert service.requested == ["GetIntent"]


def test_equal_calls_in_the_background_are_sent_once_although_none_has_begun(
    service: Upstream, may_answer: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[Callable[[], Intent]] = []
    monkeypatch.setattr(service.service.threads, "submit_background", lambda do, **_: jobs.append(do))
    may_answer.set()
    started = [service.service.start(GET) for _ in range(3)]
    for job in jobs:
        job()
    assert {each.result(60).intent_id for each in started} == {"0x1"}
    assert service.requested == ["GetIntent"]


def test_every_waiter_gets_its_own_exception(service: Upstream, may_answer: threading.Event) -> None:
    def not_found(visit: Visit) -> None:
        may_answer.wait(60)
        no(8000, "NotFound", 400)(visit)

    service.does = not_found
    with ThreadPoolExecutor(READERS) as threads:
        before = coalesced()
        readers = [threads.submit(service.service.ask, GET) for _ in range(READERS)]
        until(lambda: coalesced() - before == READERS - 1)
        may_answer.set()
        errors = [reader.exception(60) for reader in readers]
    assert {type(error) for error in errors} == {NotFound}
    assert len(set(map(id, errors))) == READERS
    assert service.requested == ["GetIntent"]


def test_writes_are_never_shared(service: Upstream, may_answer: threading.Event) -> None:
    call = operations.commit_intent(Intent.from_text('{"intentId":"0x1"}'))
    with ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(service.service.ask, call) for _ in range(2)]
        until(lambda: service.requested == [call.operation] * 2)  # both under way at the same time
        may_answer.set()
        assert asked[0].result(60) == asked[1].result(60)


def test_a_waiter_whose_page_is_out_of_time_does_not_wait_for_the_others(
    service: Upstream, may_answer: threading.Event
) -> None:
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(service.service.ask, GET)
        until(lambda: service.requested)
        with within(0.05), pytest.raises(OutOfTime) as caught:
            service.service.ask(GET)
        may_answer.set()
        assert first.result(60).intent_id == "0x1"
    assert caught.value.operation == "GetIntent"
    assert service.requested == ["GetIntent"]
