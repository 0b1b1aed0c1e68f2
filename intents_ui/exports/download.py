"""Response body of an export: an async iterator with one piece for each page of the service's list.

The file ends with a line that says why it ends, unless the client disconnected. In that case no further page is
requested.
"""

import logging
import threading
from collections.abc import Callable, Iterator

from intents_ui import wiring
from intents_ui.display import failures
from intents_ui.display.lists.export_row import ExportState, ExportStatus
from intents_ui.exports import progress
from intents_ui.exports.formats import About, End, Format
from intents_ui.exports.reader import Batch
from intents_ui.exports.slots import Exports
from intents_ui.service.context import request_context
from intents_ui.service.errors import ServiceError

NOT_BEGUN = "could not start"
STOPPED = "canceled by user"
LEFT = "client disconnected"
RESTART = "dashboard restart"
STALLED = "stalled and timed out"

log = logging.getLogger(__name__)


class Download:
    """A running export. `is_ending` returns whether the process is shutting down. `over` is set when the client
    disconnects.
    """

    def __init__(
        self,
        batches: Iterator[Batch],
        form: Format,
        about: About,
        *,
        among: Exports,
        over: threading.Event,
        run: str | None = None,
        is_ending: Callable[[], bool] = lambda: False,
    ) -> None:
        self._batches = batches
        self._form = form
        self._about = about
        self._among = among
        self._over = over
        self._run = run
        self._is_ending = is_ending
        self._first = b""
        self._rows = 0
        self._end: End | None = None
        # The last status wins: a page that arrives while the client disconnects must not overwrite it.
        self._status_lock = threading.Lock()

    def begin(self) -> None:
        """Read the first page in the caller's thread. Raises ServiceError while an error response is still possible."""
        if self._run:
            progress.begin(self._run)
        try:
            head, page = self._form.begin(self._about), self._written(next(self._batches))
        except BaseException:
            self._end = End(0, NOT_BEGUN)
            self._report(ExportState.TRUNCATED, NOT_BEGUN)
            self._among.release(self)
            raise
        self._first = f"{head}{page}".encode()

    def __aiter__(self) -> "Download":
        return self

    async def __anext__(self) -> bytes:
        if self._first:
            first, self._first = self._first, b""
            return first
        if self._end:
            raise StopAsyncIteration
        return await wiring.executor().run(self._next)

    def close(self) -> None:
        """End the export. Django calls this when the response is over, for whatever reason."""
        self._over.set()
        with self._status_lock:
            self._among.release(self)
            self._end_as(End(self._rows, LEFT), ExportState.LEFT)

    def _next(self) -> bytes:
        why = self._stop_reason()
        try:
            return (self._written(next(self._batches)) if why is None else self._ended(why)).encode()
        except ServiceError as error:
            return self._ended(_failure_text(error)).encode()
        except Exception:
            request_id = request_context.reference()
            log.exception("Unhandled exception in an export, request ID %s", request_id)
            return self._ended(f"internal error, request ID {request_id}").encode()

    def _stop_reason(self) -> str | None:
        if self._is_ending():
            return RESTART
        if self._run and progress.is_stopped(self._run):
            return STOPPED
        return None if self._among.acquire(self) else STALLED

    def _written(self, batch: Batch) -> str:
        text = self._form.rows(batch.rows, before=self._rows)
        self._rows += len(batch.rows)
        if batch.why is not None:
            return text + self._ended(batch.why)
        with self._status_lock:
            if not self._over.is_set():
                self._report(ExportState.RUNNING)
                self._among.acquire(self)
        return text

    def _ended(self, why: str) -> str:
        end = End(self._rows, why)
        with self._status_lock:
            self._end_as(
                end, ExportState.STOPPED if why == STOPPED else ExportState.TRUNCATED if why else ExportState.COMPLETE
            )
        return self._form.end(end)

    def _end_as(self, end: End, state: ExportState) -> None:
        """Record the end. Only the first call counts."""
        if self._end is None:
            self._end = end
            self._report(state, "" if state is ExportState.LEFT else end.why)
            log.info("Export of %s ended with %d rows: %s", self._about.listed, end.rows, end.why or end.state)

    def _report(self, state: ExportState, why: str = "") -> None:
        if self._run:
            progress.report(self._run, ExportStatus(state, self._rows, why))


def _failure_text(error: ServiceError) -> str:
    """Return the error page's title and request ID, such as `service unreachable, request ID 3f9a…`."""
    title = failures.words(error).title
    reason = f"{title[0].lower()}{title[1:]}"
    return f"{reason}, request ID {error.request_id}" if error.request_id else reason
