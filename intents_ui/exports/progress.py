"""Progress of an export and requests to stop it, in the shared cache, for the page that shows them.

A run's ID can't be guessed, and grants access to both. All of this is best effort: an outage of the cache stops no
export.
"""

import re
import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.core.cache import cache

from intents_ui import app
from intents_ui.formatting.text import counted
from intents_ui.transfers.statuses import Tone

RUN = re.compile(r"[A-Za-z0-9_-]{16}", re.ASCII)
TTL_SECONDS = 600
# An export reports each page. One without reports never got its client, or its process died.
SILENT_SECONDS = 60.0


class ExportState(StrEnum):
    STARTING = "starting"  # no progress reported yet
    RUNNING = "running"
    STOPPING = "stopping"  # requested by the user, not yet in effect
    COMPLETE = "complete"
    TRUNCATED = "truncated"
    STOPPED = "stopped"
    LEFT = "left"  # the browser canceled the download
    NOT_BEGUN = "not begun"  # no progress for so long that polling stopped


SENTENCES = {
    ExportState.STARTING: "Starting",
    ExportState.RUNNING: "{rows} so far",
    ExportState.STOPPING: "Stopping after {rows}",
    ExportState.COMPLETE: "Complete: {rows}",
    ExportState.STOPPED: "Stopped after {rows}",
    ExportState.LEFT: "Canceled by the browser after {rows}",
    ExportState.TRUNCATED: "Incomplete: stopped after {rows} ({why})",
    ExportState.NOT_BEGUN: "Not started",
}
ICONS = {Tone.PROGRESS: "loader-circle", Tone.GOOD: "check", Tone.ATTENTION: "triangle-alert"}


@dataclass(frozen=True)
class ExportStatus:
    """State of an export. `why`: the reason it's incomplete."""

    state: ExportState
    rows: int = 0
    why: str = ""

    @property
    def is_known(self) -> bool:
        return self.state not in (ExportState.STARTING, ExportState.NOT_BEGUN)

    @property
    def is_over(self) -> bool:
        return not (self.can_be_stopped or self.state is ExportState.STOPPING)

    @property
    def can_be_stopped(self) -> bool:
        return self.state in (ExportState.STARTING, ExportState.RUNNING)

    @property
    def tone(self) -> Tone:
        if not self.is_over:
            return Tone.PROGRESS
        return Tone.GOOD if self.state is ExportState.COMPLETE else Tone.ATTENTION

    @property
    def icon(self) -> str:
        return ICONS[self.tone]

    @property
    def sentence(self) -> str:
        return SENTENCES[self.state].format(rows=counted(self.rows, "row"), why=self.why)


def is_run(text: str) -> bool:
    return RUN.fullmatch(text) is not None


def begin(run: str) -> None:
    """Start a run. A repeated download of the same link resets it."""
    app.current().redis_guard.call(lambda: cache.delete(f"export-stop:{run}"))
    report(run, ExportStatus(ExportState.RUNNING))


def report(run: str, status: ExportStatus) -> None:
    stored = (status.state.value, status.rows, status.why, time.time())
    app.current().redis_guard.call(lambda: cache.set(f"export:{run}", stored, TTL_SECONDS))


def status(run: str) -> ExportStatus | None:
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
        return ExportStatus(ExportState.LEFT, found.rows)
    return ExportStatus(ExportState.STOPPING, found.rows) if is_stopped(run) else found


def stop(run: str) -> None:
    app.current().redis_guard.call(lambda: cache.set(f"export-stop:{run}", 1, TTL_SECONDS))


def is_stopped(run: str) -> bool:
    return app.current().redis_guard.call(lambda: cache.get(f"export-stop:{run}")) is not None
