"""Reads of the history: one list to its end, or why it isn't complete."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import ClassVar

from intents_ui.mirror import entry
from intents_ui.mirror.entry import Entry
from intents_ui.mirror.models import Window
from intents_ui.mirror.windows import MOST_PAGES, PAGE_SIZE
from intents_ui.service import paging
from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import AccessDenied, ServiceError, TooBusy, Unreachable
from intents_ui.service.models import End, HistoryAnswer, IntentStatus, Page
from intents_ui.service.operations import ServiceCall, get_intent_history

SLOW_SECONDS = 2.0  # median response time from which the mirror makes half as many calls
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
    first: ClassVar = Page.first(size=PAGE_SIZE, column="id", order="ASC")
    most_pages: ClassVar = MOST_PAGES

    @property
    def start(self) -> int:
        return self.windows[0].start

    @property
    def end(self) -> int:
        return self.windows[-1].end

    def call(self, page: Page) -> ServiceCall[HistoryAnswer]:
        statuses = () if self.windows[0].is_sample else MIRRORED
        # Whether `toTime` includes its second isn't specified.
        return get_intent_history(page=page, by_statuses=statuses, from_time=self.start, to_time=self.end + 1)

    def may_list(self, found: Entry) -> bool:
        return self.start * 1000 <= found.created < (self.end + 2) * 1000


@dataclass(frozen=True, slots=True)
class OpenSet:
    """A task: read the transfers of these statuses that were created since then (Unix seconds), newest first."""

    statuses: tuple[IntentStatus, ...]
    since: int
    most_pages: int
    first: ClassVar = Page.first(size=PAGE_SIZE, column="createdAt", order="DESC")

    def call(self, page: Page) -> ServiceCall[HistoryAnswer]:
        return get_intent_history(page=page, by_statuses=self.statuses, from_time=self.since)

    def may_list(self, found: Entry) -> bool:
        return found.created >= self.since * 1000


type Task = Span | OpenSet


@dataclass(kw_only=True)
class Reading:
    """What a task found.

    `why` is why it isn't complete, "" if it is. `is_unanswered`: the service didn't answer. `pause`: seconds for which
    it wants no calls. `at`: time of the first request, in Unix milliseconds by the service's clock.
    """

    task: Task
    at: int
    entries: Sequence[Entry] = ()
    why: str = ""
    is_unanswered: bool = False
    pause: float = 0.0
    calls: int = 0


@dataclass
class CallLimiter:
    """Limiter of calls per second, which it spaces evenly. Thread-safe."""

    per_second: int
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _next: float = 0.0

    def acquire(self, *, is_halved: bool = False) -> None:
        """Wait until a call is allowed. `is_halved`: allow half as many."""
        with self._lock:
            now = self.clock()
            at = max(now, self._next)
            self._next = at + (2 if is_halved else 1) / self.per_second
        if at > now:
            self.sleep(at - now)


@dataclass
class Reader:
    """Reads tasks with the service's client, within a limit of calls. Thread-safe.

    `now` returns the time by the service's clock. `is_stopped` ends a read after its current page.
    """

    service: ServiceClient
    limiter: CallLimiter
    now: Callable[[], datetime]
    is_stopped: Callable[[], bool] = lambda: False

    def read(self, task: Task) -> Reading:
        """Read one page after another, until the list ends, fails or is too long."""
        at = self.now()
        reading = Reading(task=task, at=entry.milliseconds(at))
        found: dict[str, Entry] = {}
        unreadable = 0

        def ask(page: Page) -> HistoryAnswer:
            reading.calls += 1
            median = self.service.health.status().typical
            self.limiter.acquire(is_halved=median is not None and median > SLOW_SECONDS)
            return self.service.ask_uncached(replace(task.call(page), is_cached=False))

        try:
            for answer, end in paging.answers(ask, task.first):
                entries, invalid = _entries(answer, at)
                found |= entries
                unreadable += invalid
                if end or reading.calls == task.most_pages or self.is_stopped():
                    unfinished = TOO_LONG if reading.calls == task.most_pages else STOPPED
                    reading.why = LACKS.get(end, "") if end else unfinished
                    break
        except (Unreachable, TooBusy, AccessDenied) as error:
            reading.why, reading.is_unanswered = error.summary, True
            reading.pause = error.retry_after if isinstance(error, TooBusy) else error.again_in or 0.0
        except ServiceError as error:
            reading.why = error.summary
        reading.entries = tuple(found.values())
        if not reading.why and unreadable:
            reading.why = f"{unreadable} {'entry' if unreadable == 1 else 'entries'} could not be read"
        if not reading.why and not all(map(task.may_list, reading.entries)):
            reading.why = OUTSIDE
        return reading


def _entries(answer: HistoryAnswer, at: datetime) -> tuple[dict[str, Entry], int]:
    """Return the transfers of a page by ID, without quotes, and the number of entries that could not be read."""
    found, unreadable = {}, answer.unreadable_entries
    for each in answer.intents:
        if each.status != IntentStatus.QUOTED:
            try:
                found[each.intent_id.lower()] = entry.read(each, now=at)
            except ValueError:
                unreadable += 1
    return found, unreadable
