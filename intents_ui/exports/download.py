"""Response body of an export, made one page of the service's list at a time.

The file ends with a line that says why it ends, unless the client disconnected. In that case no further page is
requested.
"""

import logging
import threading
import weakref
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

from intents_ui import app
from intents_ui.display import failures
from intents_ui.display.lists.export_row import ExportState, ExportStatus
from intents_ui.exports import progress
from intents_ui.exports.formats import About, Format
from intents_ui.exports.reader import Batch
from intents_ui.service.context import request_context
from intents_ui.service.errors import ServiceError

NOT_BEGUN = "could not start"
STOPPED = "canceled by user"
RESTART = "dashboard restart"

log = logging.getLogger(__name__)


@dataclass(eq=False, kw_only=True)
class Download:
    """A running export, as an async iterator of the file's bytes. It has a slot, which its client took.

    `canceled` is set when the client disconnects.
    """

    batches: Iterator[Batch]
    form: Format
    about: About
    canceled: threading.Event
    run: str | None
    rows: int = 0
    has_ended: bool = False
    first: bytes = b""
    # The last status wins: a page that arrives while the client disconnects must not overwrite it.
    status_lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        # Once, also if a bug drops the response without closing it.
        self._free_slot = weakref.finalize(self, app.current().exports.give_back, request_context.client())

    def begin(self) -> None:
        """Read the first page in the caller's thread. Raises ServiceError while an error response is still possible."""
        if self.run:
            progress.begin(self.run)
        try:
            self.first = self.form.begin(self.about).encode() + self._written(next(self.batches))
        except BaseException:
            self._end(ExportState.TRUNCATED, NOT_BEGUN)
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
        self._end(ExportState.LEFT)

    def _next(self) -> bytes:
        try:
            if app.current().lifecycle.is_stopping():
                batch = Batch((), RESTART)
            elif self.run and progress.is_stopped(self.run):
                batch = Batch((), STOPPED)
            else:
                batch = next(self.batches)
            return self._written(batch)
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
        text = self.form.rows(batch.rows, before=self.rows)
        self.rows += len(batch.rows)
        if batch.why is None:
            self._report(ExportState.RUNNING)
            return text.encode()
        incomplete = ExportState.STOPPED if batch.why == STOPPED else ExportState.TRUNCATED
        self._end(incomplete if batch.why else ExportState.COMPLETE, batch.why)
        return f"{text}{self.form.end(self.rows, batch.why)}".encode()

    def _end(self, state: ExportState, why: str = "") -> None:
        if not self.has_ended:
            self._report(state, why, is_end=True)
            log.info("Export of %s ended with %d rows: %s", self.about.listed, self.rows, why or state)

    def _report(self, state: ExportState, why: str = "", *, is_end: bool = False) -> None:
        with self.status_lock:
            if self.run and not self.has_ended:
                progress.report(self.run, ExportStatus(state, self.rows, why))
            self.has_ended |= is_end
