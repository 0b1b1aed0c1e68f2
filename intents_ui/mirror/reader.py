"""Reads of the history: one list to its end, or why it isn't complete."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from intents_ui.mirror import entry
from intents_ui.mirror.entry import Entry
from intents_ui.mirror.models import Window
from intents_ui.mirror.windows import MAX_PAGES, PAGE_SIZE
from intents_ui.service import lookup
from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import AccessDenied, ServiceError, TooBusy, Unreachable
from intents_ui.service.models import End, HistoryAnswer, IntentStatus, Page
from intents_ui.service.operations import ServiceCall, get_intent_history

LIMIT_ERRORS = {
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
class Task:
    """A list to read: what was created from `start` until before `end`, in Unix seconds, with these statuses.

    Without an end it is a list of transfers that may still change, the newest first. `is_audit`: to compare a sealed
    window with the copy.
    """

    start: int
    end: int | None = None
    statuses: Sequence[IntentStatus] = MIRRORED
    most_pages: int = MAX_PAGES
    is_audit: bool = False

    @classmethod
    def of(cls, *windows: Window, is_audit: bool = False) -> "Task":
        """Return the task of reading neighboring windows as one list."""
        statuses = () if windows[0].is_sample else MIRRORED
        return cls(windows[0].start, windows[-1].end, statuses, is_audit=is_audit)

    def call(self, page: Page) -> ServiceCall[HistoryAnswer]:
        # Whether `toTime` includes its second isn't specified.
        until = None if self.end is None else self.end + 1
        return get_intent_history(page=page, by_statuses=self.statuses, from_time=self.start, to_time=until)

    def may_list(self, found: Entry) -> bool:
        return self.start * 1000 <= found.created and (self.end is None or found.created < (self.end + 2) * 1000)


@dataclass(kw_only=True)
class Reading:
    """What a task found, by a request at `at` (Unix milliseconds) and later ones.

    `why` is why it isn't complete, "" if it is. `is_unanswered`: the service didn't answer. `pause`: seconds for which
    it wants no calls.
    """

    task: Task
    at: int
    entries: Sequence[Entry] = ()
    why: str = ""
    is_unanswered: bool = False
    pause: float = 0.0
    calls: int = 0


@dataclass
class Reader:
    """Reads tasks with the service's client, with at most so many calls per second, evenly spaced. Thread-safe.

    `now` returns the time by the service's clock. `is_stopped` ends a read after its current page.
    """

    service: ServiceClient
    calls_per_second: int
    now: Callable[[], datetime]
    is_stopped: Callable[[], bool] = lambda: False
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _next_call: float = 0.0

    def read(self, task: Task) -> Reading:
        """Read one page after another, until the list ends, fails or is too long."""
        at, service = self.now(), self.service.uncached()
        reading = Reading(task=task, at=entry.milliseconds(at))
        found: dict[str, Entry] = {}
        unreadable = 0

        def ask(page: Page) -> HistoryAnswer:
            reading.calls += 1
            with self._lock:
                self.sleep(max(0.0, self._next_call - self.clock()))
                self._next_call = self.clock() + 1 / self.calls_per_second
            return service.ask(task.call(page))

        first = Page.first(size=PAGE_SIZE, order="DESC" if task.end is None else "ASC")
        try:
            for answer, end in lookup.answers(ask, first):
                unreadable += answer.unreadable_entries
                for each in answer.intents:
                    if each.status != IntentStatus.QUOTED:
                        try:
                            found[each.intent_id.lower()] = entry.read(each, now=at)
                        except ValueError:
                            unreadable += 1
                if end or reading.calls == task.most_pages or self.is_stopped():
                    unfinished = TOO_LONG if reading.calls == task.most_pages else STOPPED
                    reading.why = LIMIT_ERRORS.get(end, "") if end else unfinished
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
