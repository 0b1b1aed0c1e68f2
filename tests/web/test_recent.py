"""Results of the mirror that pages share: when they are read, and who waits for it."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from intents_ui.app import RecentReads
from tests.waiting import PATIENCE, until

MAX_AGE = 5.0


class Copy:
    """Something to read. A read waits while `may_go_on` isn't set."""

    def __init__(self) -> None:
        self.reads = 0
        self.error: Exception | None = None
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def read(self) -> int:
        self.reads += 1
        found, error = self.reads, self.error
        assert self.may_go_on.wait(PATIENCE)
        if error:
            raise error
        return found


@pytest.fixture
def clock() -> SimpleNamespace:
    return SimpleNamespace(now=0.0)


@pytest.fixture
def recent(clock: SimpleNamespace) -> RecentReads:
    return RecentReads(lambda: clock.now)


@pytest.fixture
def copy() -> Copy:
    return Copy()


def test_a_result_is_shared_for_its_time(recent: RecentReads, clock: SimpleNamespace, copy: Copy) -> None:
    assert recent.get("key", copy.read, max_age=MAX_AGE) == 1
    clock.now = MAX_AGE
    assert recent.get("key", copy.read, max_age=MAX_AGE) == 1
    assert recent.get("another", copy.read, max_age=MAX_AGE) == 2


def test_no_page_waits_for_a_renewal(recent: RecentReads, clock: SimpleNamespace, copy: Copy) -> None:
    recent.get("key", copy.read, max_age=MAX_AGE)
    clock.now = 2 * MAX_AGE
    copy.may_go_on.clear()
    assert [recent.get("key", copy.read, max_age=MAX_AGE) for _ in range(3)] == [1, 1, 1]
    copy.may_go_on.set()
    until(lambda: recent.get("key", copy.read, max_age=MAX_AGE) == 2)
    assert copy.reads == 2


def test_a_result_that_is_too_old_is_waited_for(recent: RecentReads, clock: SimpleNamespace, copy: Copy) -> None:
    recent.get("key", copy.read, max_age=MAX_AGE)
    clock.now = 2 * MAX_AGE + 1
    with ThreadPoolExecutor(4) as pages:
        found = [pages.submit(recent.get, "key", copy.read, max_age=MAX_AGE) for _ in range(4)]
    assert [each.result() for each in found] == [2, 2, 2, 2]


def test_a_failed_renewal_shows_when_the_result_is_too_old(
    recent: RecentReads, clock: SimpleNamespace, copy: Copy
) -> None:
    recent.get("key", copy.read, max_age=MAX_AGE)
    copy.error = OSError("gone")
    clock.now = MAX_AGE + 1
    assert recent.get("key", copy.read, max_age=MAX_AGE) == 1
    until(lambda: not any(each.name == "renewal" for each in threading.enumerate()))
    assert recent.get("key", copy.read, max_age=MAX_AGE) == 1
    clock.now = 2 * MAX_AGE + 1
    with pytest.raises(OSError, match="gone"):
        recent.get("key", copy.read, max_age=MAX_AGE)
    copy.error = None
    assert recent.get("key", copy.read, max_age=MAX_AGE) == copy.reads
