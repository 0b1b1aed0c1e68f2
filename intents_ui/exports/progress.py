"""Progress of an export and requests to stop it, in the shared cache, for the page that shows them.

A run's ID can't be guessed, and grants access to both. All of this is best effort: an outage of the cache stops no
export.
"""

import re
import secrets
import time
from dataclasses import asdict
from typing import Any

from django.core.cache import cache

from intents_ui import app
from intents_ui.display.lists.export_row import ExportState, ExportStatus

RUN = re.compile(r"[A-Za-z0-9_-]{16}", re.ASCII)
TTL_SECONDS = 600
# An export reports each page. One without reports never got its client, or its process died.
SILENT_SECONDS = 60.0


def new_run() -> str:
    return secrets.token_urlsafe(12)


def is_run(text: str) -> bool:
    return RUN.fullmatch(text) is not None


def begin(run: str) -> None:
    """Start a run. A repeated download of the same link resets it."""

    def reset() -> None:
        cache.delete(_stop_key(run))
        cache.set(_key(run), _stored(ExportStatus(ExportState.RUNNING)), TTL_SECONDS)

    app.current().redis_guard.call(reset)


def report(run: str, status: ExportStatus) -> None:
    app.current().redis_guard.call(lambda: cache.set(_key(run), _stored(status), TTL_SECONDS))


def status(run: str) -> ExportStatus | None:
    """Return the status of a run, or None if it hasn't begun, ended long ago, or another version reported it."""
    known = app.current().redis_guard.call(lambda: cache.get_many([_key(run), _stop_key(run)])) or {}
    try:
        stored = known[_key(run)]
        found = ExportStatus(ExportState(stored["state"]), int(stored["rows"]), str(stored["why"]))
        is_silent = time.time() - float(stored["at"]) > SILENT_SECONDS
    except (KeyError, TypeError, ValueError):
        return None
    if found.is_over:
        return found
    if is_silent:
        return ExportStatus(ExportState.LEFT, found.rows)
    return ExportStatus(ExportState.STOPPING, found.rows) if _stop_key(run) in known else found


def stop(run: str) -> None:
    app.current().redis_guard.call(lambda: cache.set(_stop_key(run), 1, TTL_SECONDS))


def is_stopped(run: str) -> bool:
    return app.current().redis_guard.call(lambda: cache.get(_stop_key(run))) is not None


def _key(run: str) -> str:
    return f"export:{run}"


def _stop_key(run: str) -> str:
    return f"export-stop:{run}"


def _stored(status: ExportStatus) -> dict[str, Any]:
    return asdict(status) | {"at": time.time()}
