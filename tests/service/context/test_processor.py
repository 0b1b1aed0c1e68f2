"""One computing thread per client address, which releases its turn while it waits."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from intents_ui.service.context import shares
from tests.waiting import PATIENCE, until

HERE, ELSEWHERE = "203.0.113.7", "198.51.100.7"


class Bench:
    """Threads that compute until they are told to go on. `inside` are the addresses of those that began."""

    def __init__(self) -> None:
        self.inside: list[str | None] = []
        self.go_on = threading.Event()

    def compute(self, visitor: str | None) -> None:
        with shares.computing(visitor):
            self.inside.append(visitor)
            self.go_on.wait(PATIENCE)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setattr(shares, "LONGEST_WAIT", PATIENCE)
    bench = Bench()
    yield bench
    bench.go_on.set()


def test_only_threads_of_the_same_address_wait_for_each_other(bench: Bench) -> None:
    with ThreadPoolExecutor(4) as threads:
        for visitor in (HERE, HERE, ELSEWHERE, None):
            threads.submit(bench.compute, visitor)
        until(lambda: len(bench.inside) == 3)
        assert sorted(map(str, bench.inside)) == [ELSEWHERE, HERE, "None"]
        bench.go_on.set()
        until(lambda: bench.inside.count(HERE) == 2)


def test_a_thread_that_waits_releases_its_turn(bench: Bench) -> None:
    with ThreadPoolExecutor(1) as threads, shares.computing(HERE), shares.computing(HERE):
        threads.submit(bench.compute, HERE)
        assert bench.inside == []
        with shares.waiting():
            until(lambda: bench.inside == [HERE])
            bench.go_on.set()


def test_a_thread_proceeds_without_a_turn_after_the_longest_wait(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "LONGEST_WAIT", 0.01)
    with ThreadPoolExecutor(2) as threads:
        for _ in range(2):
            threads.submit(bench.compute, HERE)
        until(lambda: bench.inside == [HERE, HERE])
        bench.go_on.set()
