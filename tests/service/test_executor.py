"""Fair threads: an eighth for one client, turns by client, and calls that never wait for a thread."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future

import pytest

from intents_ui.service.errors import NotFound, Overloaded
from intents_ui.service.executor import FairExecutor, resting
from intents_ui.service.request_context import Origin, client, request_scope, seconds_left, within
from tests.waiting import PATIENCE, until

GREEDY, OTHER = "203.0.113.7", "198.51.100.7"


class Jobs:
    """Jobs that end when they are told to. `begun` are the clients of those that began."""

    def __init__(self, threads: int) -> None:
        self.executor = FairExecutor(threads)
        self.begun: list[str | None] = []
        self.go_on = threading.Event()

    def submit(self, *clients: str | None) -> list[Future[str | None]]:
        return [self._submit(each) for each in clients]

    def _submit(self, client_key: str | None) -> Future[str | None]:
        with request_scope(Origin("request", client=client_key)):
            return self.executor.submit(self.wait)

    def wait(self) -> str | None:
        self.begun.append(client())
        with resting():
            self.go_on.wait(PATIENCE)
        return client()


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    jobs = Jobs(16)
    yield jobs
    jobs.go_on.set()
    jobs.executor.shutdown()


def run[T](executor: FairExecutor, do: Callable[[], T], *, client_key: str = GREEDY) -> T:
    with request_scope(Origin("request", client=client_key)):
        return executor.submit(do).result(PATIENCE)


def test_clients_that_wait_take_turns(jobs: Jobs) -> None:
    jobs.submit(*[None] * 16)
    waiting = jobs.submit(*[GREEDY] * 10, OTHER)
    until(lambda: len(jobs.begun) == 16)
    jobs.go_on.set()
    assert [each.result(PATIENCE) for each in waiting] == [*[GREEDY] * 10, OTHER]
    assert jobs.begun.index(OTHER) <= 18


def test_a_thread_is_free_when_its_work_ends_and_not_when_its_caller_leaves(jobs: Jobs) -> None:
    running = jobs.submit(GREEDY, GREEDY)
    until(lambda: len(jobs.begun) == 2)
    assert [each.cancel() for each in running] == [False, False]
    canceled, waiting = jobs.submit(GREEDY, GREEDY)
    assert canceled.cancel()
    assert jobs.begun == [GREEDY, GREEDY]
    jobs.go_on.set()
    assert waiting.result(PATIENCE) == GREEDY
    assert jobs.begun == [GREEDY] * 3, "the canceled one never began"
    until(lambda: jobs.executor.running == 0)


def test_calls_at_the_same_time_use_the_free_threads_of_the_client() -> None:
    executor, here = FairExecutor(16), threading.Barrier(2)

    def meet() -> int:
        return here.wait(PATIENCE)

    assert sorted(run(executor, lambda: executor.together(meet, meet))) == [0, 1]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_nested_calls_end_however_few_threads_there_are(depth: int) -> None:
    executor = FairExecutor(8)  # one for each client

    def nested(left: int) -> list[object]:
        if not left:
            return [client()]
        return [each for found in executor.together(*[lambda: nested(left - 1)] * 3) for each in found]

    assert run(executor, lambda: nested(depth)) == [GREEDY] * 3**depth


def test_a_failed_call_is_returned_and_a_bug_is_raised() -> None:
    executor = FairExecutor(16)

    def fail() -> int:
        raise NotFound

    first, second = run(executor, lambda: executor.together(fail, lambda: 2))
    assert isinstance(first, NotFound)
    assert second == 2
    with pytest.raises(ZeroDivisionError):
        run(executor, lambda: executor.together(lambda: 1, lambda: 1 // 0))


def test_background_work_has_no_deadline_of_a_page() -> None:
    executor = FairExecutor(32)

    def page() -> list[object]:
        with within(60):
            return [*executor.together(seconds_left), executor.submit_background(seconds_left).result(PATIENCE)]

    of_page, of_background = run(executor, page)
    assert (isinstance(of_page, float), of_background) == (True, None)


def test_after_shutdown_waiting_jobs_are_canceled_and_new_ones_rejected(jobs: Jobs) -> None:
    running, *_, waiting = jobs.submit(*[GREEDY] * 3)
    until(lambda: len(jobs.begun) == 2)
    jobs.executor.shutdown()
    assert waiting.cancelled()
    for call in (lambda: jobs.executor.submit(int), lambda: jobs.executor.submit_background(int)):
        with pytest.raises(Overloaded):
            call()
    jobs.go_on.set()
    assert running.result(PATIENCE) == GREEDY


def test_one_thread_of_a_client_computes_at_a_time_while_the_others_wait(jobs: Jobs) -> None:
    at_work: list[int] = []

    def work() -> int:
        at_work.append(1)
        count = len(at_work)
        sum(range(10_000))
        at_work.pop()
        return count

    def page() -> int:
        before = work()
        with resting():
            threading.Event().wait(0.001)
        return max(before, work())

    with request_scope(Origin("request", client=GREEDY)):
        found = [jobs.executor.submit(page) for _ in range(20)]
    assert {each.result(PATIENCE) for each in found} == {1}
