"""Reads of the history: one list to its end, or why it isn't complete."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from intents_ui.mirror import entry
from intents_ui.mirror.entry import Entry
from intents_ui.mirror.windows import MOST_PAGES, Window, is_sample
from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import AccessDenied, ServiceError, TooBusy, Unreachable
from intents_ui.service.models import HistoryAnswer, IntentStatus, Page
from intents_ui.service.operations import operations
from intents_ui.service.queries import paging
from intents_ui.service.queries.paging import End

PAGE_SIZE = 100
SLOW_SECONDS = 2.0  # median response time from which the mirror makes half as many calls
BY_ID, BY_CREATION = "id", "createdAt"
ASCENDING, DESCENDING = "ASC", "DESC"

LACKS = {
    End.CIRCLES: "the service repeated a page",
    End.LOST: "the service reported more transfers, but its cursor could not be read",
    End.EMPTY_PAGE: "the service reported more transfers, but returned an empty page",
}
TOO_LONG = "too many transfers for one read"
STOPPED = "the mirror was stopped"
OUTSIDE = "the service returned transfers of another time"
KNOWN = frozenset(IntentStatus)
MIRRORED = tuple(status for status in IntentStatus if status is not IntentStatus.QUOTED)


@dataclass(frozen=True, slots=True)
class Span:
    """A task: read these neighboring windows as one list. `is_audit`: to compare a sealed window with the copy."""

    windows: tuple[Window, ...]
    is_audit: bool = False

    @property
    def start(self) -> int:
        return self.windows[0].start

    @property
    def end(self) -> int:
        return self.windows[-1].end


@dataclass(frozen=True, slots=True)
class OpenSet:
    """A task: read the transfers of these statuses that were created since then (Unix seconds), newest first."""

    statuses: tuple[IntentStatus, ...]
    since: int
    most_pages: int


type Task = Span | OpenSet


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a task found.

    `why` is why it isn't complete, "" if it is. `is_unanswered`: the service didn't answer. `pause`: seconds for which
    it wants no calls. `complete_since`: creation time in Unix milliseconds from which no listed one is missing. `at`:
    time of the first request, in Unix milliseconds by the service's clock.
    """

    task: Task
    at: int
    entries: Sequence[Entry] = ()
    why: str = ""
    is_unanswered: bool = False
    is_too_long: bool = False
    pause: float = 0.0
    complete_since: int = 0
    calls: int = 0
    unreadable: int = 0


class CallLimiter:
    """Limiter of calls per second, over any second. Thread-safe."""

    def __init__(
        self,
        per_second: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.per_second = per_second
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._recent: deque[float] = deque()

    def acquire(self, *, is_halved: bool = False) -> None:
        """Wait until a call is allowed. `is_halved`: allow half as many."""
        most = max(1, self.per_second // 2) if is_halved else self.per_second
        seconds = 2.0 if is_halved and self.per_second == 1 else 1.0
        while True:
            with self._lock:
                now = self._clock()
                while self._recent and self._recent[0] <= now - 2.0:
                    self._recent.popleft()
                recent = [each for each in self._recent if each > now - seconds]
                if len(recent) < most:
                    self._recent.append(now)
                    return
                wait = recent[-most] + seconds - now
            self._sleep(wait)


@dataclass(slots=True)
class _List:
    """A list while it is read."""

    asked: int = 0
    found: dict[str, Entry] = field(default_factory=dict)
    unreadable: int = 0
    outside: int = 0


class Reader:
    """Reads tasks with the service's client, within a limit of calls. Thread-safe.

    `now` returns the time by the service's clock. `is_stopped` ends a read after its current page.
    """

    def __init__(
        self,
        service: ServiceClient,
        limiter: CallLimiter,
        *,
        now: Callable[[], datetime],
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._service = service
        self._limiter = limiter
        self._now = now
        self._is_stopped = is_stopped

    def read(self, task: Task) -> Reading:
        at = self._now()
        reading = Reading(task=task, at=entry.milliseconds(at))
        listed = _List()
        try:
            why = self._read_pages(task, listed, at=at)
        except (Unreachable, TooBusy, AccessDenied) as error:
            pause = error.retry_after if isinstance(error, TooBusy) else error.again_in or 0.0
            reading = replace(reading, why=error.summary, is_unanswered=True, pause=pause)
        except ServiceError as error:
            reading = replace(reading, why=error.summary)
        else:
            reading = replace(reading, why=why or _flaws(listed), is_too_long=why == TOO_LONG)
        entries = tuple(listed.found.values())
        return replace(
            reading,
            entries=entries,
            complete_since=_complete_since(task, reading, entries),
            calls=listed.asked,
            unreadable=listed.unreadable,
        )

    def _read_pages(self, task: Task, listed: _List, *, at: datetime) -> str:
        """Read one page after another. Return why the list isn't complete, "" if it is."""
        most = MOST_PAGES if isinstance(task, Span) else task.most_pages
        for answer, end in paging.answers(partial(self._ask, task, listed), _first_page(task)):
            self._add(task, answer, listed, at=at)
            if end:
                return LACKS.get(end, "")
            if listed.asked == most:
                return TOO_LONG
            if self._is_stopped():
                return STOPPED
        return ""

    def _ask(self, task: Task, listed: _List, page: Page) -> HistoryAnswer:
        listed.asked += 1
        median = self._service.health.status().typical
        self._limiter.acquire(is_halved=median is not None and median > SLOW_SECONDS)
        return self._service.ask_uncached(_call(task, page))

    def _add(self, task: Task, answer: HistoryAnswer, listed: _List, *, at: datetime) -> None:
        listed.unreadable += answer.unreadable_entries
        for each in answer.intents:
            if each.status == IntentStatus.QUOTED:
                continue
            try:
                listed.found[each.intent_id.lower()] = found = entry.read(each, now=at)
            except ValueError:
                listed.unreadable += 1
                continue
            listed.outside += not _is_within(task, found)


def _first_page(task: Task) -> Page:
    if isinstance(task, Span):
        return Page.first(size=PAGE_SIZE, column=BY_ID, order=ASCENDING)
    return Page.first(size=PAGE_SIZE, column=BY_CREATION, order=DESCENDING)


def _call(task: Task, page: Page) -> operations.ServiceCall[HistoryAnswer]:
    if isinstance(task, OpenSet):
        call = operations.get_intent_history(page=page, by_statuses=task.statuses, from_time=task.since)
    else:
        # Whether `toTime` includes its second isn't specified.
        statuses = () if is_sample(task.windows[0]) else MIRRORED
        call = operations.get_intent_history(
            page=page, by_statuses=statuses, from_time=task.start, to_time=task.end + 1
        )
    return replace(call, kind=None)


def _is_within(task: Task, found: Entry) -> bool:
    if isinstance(task, OpenSet):
        return found.created >= task.since * 1000
    return task.start * 1000 <= found.created < (task.end + 2) * 1000


def _flaws(listed: _List) -> str:
    if listed.unreadable:
        return f"{listed.unreadable} {'entry' if listed.unreadable == 1 else 'entries'} could not be read"
    return OUTSIDE if listed.outside else ""


def _complete_since(task: Task, reading: Reading, entries: Sequence[Entry]) -> int:
    if isinstance(task, OpenSet) and not reading.why:
        return task.since * 1000
    if isinstance(task, OpenSet) and reading.is_too_long and entries:
        return min(each.created for each in entries) + 1
    return reading.at
