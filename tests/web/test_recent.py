"""Results of the mirror that pages share: when they are read, and who waits for it."""

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from types import SimpleNamespace

import pytest

from intents_ui.app import RecentReads
from tests.waiting import PATIENCE

MAX_AGE = 5.0


@pytest.fixture
def clock() -> SimpleNamespace:
    return SimpleNamespace(now=0.0)


@pytest.fixture
def recent(clock: SimpleNamespace) -> RecentReads:
    return RecentReads(lambda: clock.now)


def test_a_result_is_shared_for_its_time(recent: RecentReads, clock: SimpleNamespace) -> None:
    reads = count(1)
    assert recent.get("key", reads.__next__, max_age=MAX_AGE) == 1
    clock.now = MAX_AGE
    assert recent.get("key", reads.__next__, max_age=MAX_AGE) == 1
    assert recent.get("another", reads.__next__, max_age=MAX_AGE) == 2


@pytest.mark.parametrize(("age", "found"), [(2 * MAX_AGE, [1, 1, 2]), (2 * MAX_AGE + 1, [2, 2, 2])])
def test_pages_wait_for_a_renewal_only_if_the_result_is_too_old(
    recent: RecentReads, clock: SimpleNamespace, age: float, found: list[int]
) -> None:
    reads, begun, may_go_on = count(1), threading.Event(), threading.Event()

    def renew() -> int:
        begun.set()
        assert may_go_on.wait(PATIENCE)
        return next(reads)

    recent.get("key", reads.__next__, max_age=MAX_AGE)
    clock.now = age
    with ThreadPoolExecutor(3) as pages:
        renewing = pages.submit(recent.get, "key", renew, max_age=MAX_AGE)
        assert begun.wait(PATIENCE)
        others = [pages.submit(recent.get, "key", renew, max_age=MAX_AGE) for _ in range(2)]
        if age <= 2 * MAX_AGE:
            assert [each.result(PATIENCE) for each in others] == [1, 1]
        may_go_on.set()
    assert [each.result() for each in (*others, renewing)] == found


def test_a_failed_read_is_tried_again_by_the_next_page(recent: RecentReads) -> None:
    with pytest.raises(OSError, match="gone"):
        recent.get("key", lambda: (_ for _ in ()).throw(OSError("gone")), max_age=MAX_AGE)
    assert recent.get("key", lambda: 1, max_age=MAX_AGE) == 1
