"""Exports of lists: read page by page, one page in memory at a time, and written row by row.

The file ends with a line that says why it ends, unless the client disconnected. In that case no further page is
requested. The progress of a run is in the shared cache, for the page that shows it. A run's ID can't be guessed, and
grants access to its progress and to its end. All of this is best effort: an outage of the cache stops no export.
"""

import logging
import re
import threading
import time
import weakref
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple

from django.core.cache import cache

from intents_ui import app
from intents_ui.exports import formats
from intents_ui.exports.formats import ExportRow, Format
from intents_ui.formatting import failures
from intents_ui.formatting.text import counted
from intents_ui.ops import lifecycle
from intents_ui.search.filters import Filters
from intents_ui.service import lookup, operations, request_context, results
from intents_ui.service.client import UncachedClient
from intents_ui.service.errors import NotFound, ServiceError, TooBusy, Unreachable
from intents_ui.service.models import End, HistoryAnswer, Intent, Page
from intents_ui.service.request_context import page_deadline
from intents_ui.transfers.statuses import Tone
from intents_ui.transfers.transfer import Transfer
from intents_ui.web import reading

NOT_BEGUN = "could not start"
STOPPED = "canceled by user"
RESTART = "dashboard restart"
PAGE_SIZE = 100
PAGE_SIZE_WITH_BALANCES = 50  # smaller, because the service queries chains for each intent of a page
# Pages may be shorter than requested. These allow for that without losing rows below the limit.
SHORTEST_PAGE = 10
FEWEST_PAGES = 100
MAX_FOUND = 100  # intents of one intent address, which usually has one
PAUSE_SECONDS = 2.0
LONGEST_PAUSE = 10.0  # longest wait of an export when it is rate limited

COMPLETE = ""
CIRCLES = "the service repeated a page"
LOST = "the service reported more results, but its cursor could not be read"
EMPTY_PAGE = "the service reported more results, but returned an empty page"
OWNERS_ONLY = "the service reports recoverable balances for owner addresses only"
TIES = "the service paged by creation time, and may have skipped transfers created at the same time"
CAPPED = "the service may have returned only the newest transfers"
LIMIT_ERRORS = {End.CIRCLES: CIRCLES, End.LOST: LOST, End.EMPTY_PAGE: EMPTY_PAGE}

RUN = re.compile(r"[A-Za-z0-9_-]{16}", re.ASCII)
PROGRESS_SECONDS = 600
# An export reports each page. One without reports never got its client, or its process died.
SILENT_SECONDS = 60.0

log = logging.getLogger(__name__)


class Batch(NamedTuple):
    """A page's rows. `why` is None if the list continues, "" if it is complete, or else what is missing."""

    rows: Sequence[ExportRow]
    why: str | None = None


@dataclass(eq=False, kw_only=True)
class Reader:
    """Reads one list, from any thread, but not concurrently. Its iterators raise ServiceError.

    The calls for each page have the deadline of a page. `canceled` is set when the client disconnects. `root` is the
    absolute URL of the dashboard.
    """

    filters: Filters
    root: str
    canceled: threading.Event
    service: UncachedClient = field(default_factory=lambda: UncachedClient(app.current().service))
    pages_read: int = 0
    unreadable: int = 0
    is_by_time: bool = False

    def of_address(self, address: str) -> Iterator[Batch]:
        """Yield the rows of an owner's history, or those of an intent address if there is no such owner."""
        pages = self.history()
        first = next(pages)
        yield first if first.rows or first.why != COMPLETE else self._found(address)
        yield from pages

    def history(self) -> Iterator[Batch]:
        """Yield the rows of the history, one page at a time."""
        size = PAGE_SIZE_WITH_BALANCES if self.filters.request["include_balances"] else PAGE_SIZE
        unreadable = 0
        for entries, end in lookup.walk(self._ask, replace(self.filters, size=size).first):
            if end is None and not entries and self.unreadable == unreadable:
                end = End.CIRCLES  # regardless of the cursors, which would never end
            unreadable = self.unreadable
            with page_deadline():
                rows = self._rows(reading.of_entries(entries))
            yield Batch(rows, None if end is None else LIMIT_ERRORS.get(end) or self._missing())
            if end:
                return

    def _missing(self) -> str:
        """Return what could not be read or may be missing, or COMPLETE."""
        if self.unreadable:
            return f"{self.unreadable} {'entry' if self.unreadable == 1 else 'entries'} could not be read"
        return TIES if self.is_by_time else COMPLETE

    def _ask(self, page: Page) -> HistoryAnswer:
        """Request a page, with one retry for transient errors. The first page isn't retried, because an error page is
        possible.
        """
        try:
            answer = self._history(page)
        except (Unreachable, TooBusy) as error:
            pause = error.retry_after if isinstance(error, TooBusy) else PAUSE_SECONDS
            if not self.pages_read or pause > LONGEST_PAUSE or self.canceled.wait(pause):
                raise
            answer = self._history(page)
        self.pages_read += 1
        self.unreadable += answer.unreadable_entries
        self.is_by_time |= answer.following is not None and answer.following.column == "createdAt"
        return answer

    def _history(self, page: Page) -> HistoryAnswer:
        with page_deadline():
            return self.service.ask(operations.get_intent_history(page=page, **self.filters.request))

    def _found(self, address: str) -> Batch:
        """Return the intents found for an address that isn't an owner's, filtered. For an owner, nothing passed the
        filters.
        """
        with page_deadline():
            found = lookup.in_turn(self.service, lambda: lookup.as_any(results.ADDRESS, address))
            for _, error in found.failed:
                raise error
            if any(reason.key == results.OWNER for hit in found.hits for reason in hit.reasons):
                return Batch((), COMPLETE)
            if found.hits and self.filters.recoverable:
                return Batch((), OWNERS_ONLY)
            # Searches return the newest first.
            intents = [hit.intent for hit in found.hits if _passes(hit.intent, self.filters)]
            intents = (intents if self.filters.is_newest_first else intents[::-1])[:MAX_FOUND]
            calls = (partial(self.service.ask, operations.get_intent_receipt(each.intent_id)) for each in intents)
            receipts = self.service.threads.together(*calls)
            for receipt in receipts:
                if isinstance(receipt, ServiceError) and not isinstance(receipt, NotFound):
                    raise receipt
            rows = self._rows(reading.of_answers(intents, receipts))
        return Batch(rows, CAPPED if found.may_be_capped or found.count > MAX_FOUND else COMPLETE)

    def _rows(self, transfers: Sequence[Transfer]) -> list[ExportRow]:
        return [formats.row(each, root=self.root) for each in transfers]


def limited(pages: Iterator[Batch], *, most: int) -> Iterator[Batch]:
    """Yield pages up to the limits on rows and pages. The last one says which limit was reached."""
    room, pages_at_most = most, max(FEWEST_PAGES, most // SHORTEST_PAGE)
    for number, batch in enumerate(pages, 1):
        if len(batch.rows) > room:
            yield Batch(batch.rows[:room], f"limit of {most:,} rows per export")
            return
        if batch.why is None and number == pages_at_most:
            yield Batch(batch.rows, f"limit of {pages_at_most:,} pages per export")
            return
        room -= len(batch.rows)
        yield batch


def _passes(intent: Intent, filters: Filters) -> bool:
    """Apply the list's filters to search results, because the service filters only an owner's intents."""
    created = intent.created_at.timestamp() if intent.created_at else None
    return (
        (not filters.status or intent.status in filters.status)
        and filters.project in (None, intent.project_id)
        and filters.origin in (None, intent.origin_chain_id)
        and filters.destination in (None, intent.destination_chain_id)
        and (filters.since is None or (created is not None and created >= filters.since))
        and (filters.until is None or (created is not None and int(created) <= filters.until))
    )


# Progress


class ExportState(StrEnum):
    STARTING = "starting"  # no progress reported yet
    RUNNING = "running"
    STOPPING = "stopping"  # requested by the user, not yet in effect
    COMPLETE = "complete"
    TRUNCATED = "truncated"
    STOPPED = "stopped"
    LEFT = "left"  # the browser canceled the download
    NOT_BEGUN = "not begun"  # no progress for so long that polling stopped


STATES = {
    ExportState.STARTING: (Tone.PROGRESS, "Starting"),
    ExportState.RUNNING: (Tone.PROGRESS, "{rows} so far"),
    ExportState.STOPPING: (Tone.PROGRESS, "Stopping after {rows}"),
    ExportState.COMPLETE: (Tone.GOOD, "Complete: {rows}"),
    ExportState.STOPPED: (Tone.ATTENTION, "Stopped after {rows}"),
    ExportState.LEFT: (Tone.ATTENTION, "Canceled by the browser after {rows}"),
    ExportState.TRUNCATED: (Tone.ATTENTION, "Incomplete: stopped after {rows} ({why})"),
    ExportState.NOT_BEGUN: (Tone.ATTENTION, "Not started"),
}


@dataclass(frozen=True)
class ExportStatus:
    """State of an export. `why`: the reason it's incomplete."""

    state: ExportState
    rows: int = 0
    why: str = ""

    @property
    def tone(self) -> Tone:
        return STATES[self.state][0]

    @property
    def is_over(self) -> bool:
        return self.tone is not Tone.PROGRESS

    @property
    def sentence(self) -> str:
        return STATES[self.state][1].format(rows=counted(self.rows, "row"), why=self.why)


def report(run: str, status: ExportStatus) -> None:
    stored = (status.state.value, status.rows, status.why, time.time())
    app.current().redis_guard.call(lambda: cache.set(f"export:{run}", stored, PROGRESS_SECONDS))


def status_of(run: str) -> ExportStatus | None:
    """Return the status of a run, or None if it hasn't begun, ended long ago, or another version reported it."""
    stored: Any = app.current().redis_guard.call(lambda: cache.get(f"export:{run}"))
    try:
        state, rows, why, at = stored
        found = ExportStatus(ExportState(state), int(rows), str(why))
        is_silent = time.time() - float(at) > SILENT_SECONDS
    except (TypeError, ValueError):
        return None
    if found.is_over:
        return found
    if is_silent:
        return replace(found, state=ExportState.LEFT)
    return replace(found, state=ExportState.STOPPING) if is_stopped(run) else found


def stop(run: str) -> None:
    app.current().redis_guard.call(lambda: cache.set(f"export-stop:{run}", 1, PROGRESS_SECONDS))


def is_stopped(run: str) -> bool:
    return app.current().redis_guard.call(lambda: cache.get(f"export-stop:{run}")) is not None


# The file


@dataclass(eq=False, kw_only=True)
class Download:
    """A running export, as an async iterator of the file's bytes. It has a slot, which its client took.

    `head` is what a document says of its list. `canceled` is set when the client disconnects.
    """

    batches: Iterator[Batch]
    form: Format
    head: Mapping[str, object]
    canceled: threading.Event
    run: str | None
    rows: int = 0
    has_ended: bool = False
    first: bytes = b""

    def __post_init__(self) -> None:
        # Once, also if the client has left before the response is sent, which is then dropped without being closed.
        self._free_slot = weakref.finalize(self, app.current().exports.give_back, request_context.client())

    def begin(self) -> None:
        """Read the first page in the caller's thread. Raises ServiceError while an error response is still possible."""
        if self.run:  # a repeated download of the same link resets it
            app.current().redis_guard.call(lambda: cache.delete(f"export-stop:{self.run}"))
            report(self.run, ExportStatus(ExportState.RUNNING))
        try:
            self.first = self.form.begin(self.head).encode() + self._written(next(self.batches))
        except BaseException:
            self._report(ExportState.TRUNCATED, NOT_BEGUN)
            self._free_slot()
            raise

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.first
        while not self.has_ended:
            yield await app.current().executor.run(self._next)

    def close(self) -> None:
        """End the export. Django calls this when the response is over, for whatever reason."""
        self.canceled.set()
        self._free_slot()
        self._report(ExportState.LEFT)

    def _next(self) -> bytes:
        try:
            if lifecycle.is_stopping():
                return self._written(Batch((), RESTART))
            if self.run and is_stopped(self.run):
                return self._written(Batch((), STOPPED))
            return self._written(next(self.batches))
        except ServiceError as error:
            title = failures.words(error).title
            why = f"{title[0].lower()}{title[1:]}"
            why += f", request ID {error.request_id}" if error.request_id else ""
        except Exception:
            request_id = request_context.reference()
            log.exception("Unhandled exception in an export, request ID %s", request_id)
            why = f"internal error, request ID {request_id}"
        return self._written(Batch((), why))

    def _written(self, batch: Batch) -> bytes:
        text = self.form.rows(batch.rows, self.rows)
        self.rows += len(batch.rows)
        if batch.why is None:
            self._report(ExportState.RUNNING)
            return text.encode()
        incomplete = ExportState.STOPPED if batch.why == STOPPED else ExportState.TRUNCATED
        self._report(incomplete if batch.why else ExportState.COMPLETE, batch.why)
        return f"{text}{self.form.end(self.rows, batch.why)}".encode()

    def _report(self, state: ExportState, why: str = "") -> None:
        # The first end counts. A page that arrives while the client disconnects may still report that it runs, which
        # then is silent, and so over, too.
        if self.has_ended:
            return
        if self.run:
            report(self.run, ExportStatus(state, self.rows, why))
        if state is not ExportState.RUNNING:
            self.has_ended = True
            log.info("Export of %s ended with %d rows: %s", self.head["list"], self.rows, why or state)
