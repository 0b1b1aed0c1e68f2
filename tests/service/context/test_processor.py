"""One computing thread per client address, which releases its turn while it waits."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from intents_ui.service.context import processor

HERE, ELSEWHERE = "203.0.113.7", "198.51.100.7"


class Bench:
    """Threads that report when they compute, and go on when they are told."""

    def __init__(self) -> None:
        self.inside = threading.Semaphore(0)
        self.go_on = threading.Event()

    def compute(self, visitor: str | None) -> None:
        with processor.computing(visitor):
            self.inside.release()
            self.go_on.wait(30)

    def entered(self, *, within: float) -> bool:
        return self.inside.acquire(timeout=within)


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.setattr(processor, "LONGEST_WAIT", 30.0)
    found = Bench()
    yield found
    found.go_on.set()


def test_only_threads_of_the_same_address_wait_for_each_other(bench):
    with ThreadPoolExecutor(4) as threads:
        threads.submit(bench.compute, HERE)
        assert bench.entered(within=30)
        threads.submit(bench.compute, HERE)
        assert not bench.entered(within=0.1)
        threads.submit(bench.compute, ELSEWHERE)
        assert bench.entered(within=30)
        threads.submit(bench.compute, None)
        assert bench.entered(within=30)
        bench.go_on.set()
        assert bench.entered(within=30)


def test_a_waiting_thread_releases_its_turn_and_takes_it_back_afterwards(bench):
    with ThreadPoolExecutor(2) as threads:
        with processor.computing(HERE):
            threads.submit(bench.compute, HERE)
            assert not bench.entered(within=0.1)
            with processor.waiting():
                assert bench.entered(within=30)
                bench.go_on.set()
            bench.go_on.clear()
            threads.submit(bench.compute, HERE)
            assert not bench.entered(within=0.1)
        assert bench.entered(within=30)
        bench.go_on.set()


def test_a_thread_proceeds_without_a_turn_after_the_longest_wait(bench, monkeypatch):
    monkeypatch.setattr(processor, "LONGEST_WAIT", 0.05)
    with ThreadPoolExecutor(2) as threads:
        threads.submit(bench.compute, HERE)
        assert bench.entered(within=30)
        threads.submit(bench.compute, HERE)
        assert bench.entered(within=30)
        bench.go_on.set()
    with processor.computing(HERE):  # the turn is free again
        assert processor._here.is_held


def test_a_nested_turn_does_not_deadlock():
    with processor.computing(HERE):
        with processor.computing(HERE):
            pass
        assert processor._here.is_held


def test_an_error_releases_the_turn():
    for way_out in (ValueError, KeyboardInterrupt):
        with pytest.raises(way_out), processor.computing(HERE):
            raise way_out
        assert not processor._here.is_held
    with processor.waiting():
        assert not processor._here.is_held
