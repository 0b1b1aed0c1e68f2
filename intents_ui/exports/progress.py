"""How far an export has come, for the page that its reader has open, and his wish to stop it: in the shared cache.

A run's id cannot be guessed, and whoever knows it may look and may stop. All of this is a courtesy: a cache that is
away stops no export.
"""

import logging
import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from django.core.cache import cache

from intents_ui.display.standing import Standing, State
from intents_ui.service.redis_errors import redis_error

log = logging.getLogger(__name__)

RUN = re.compile(r"[A-Za-z0-9_-]{16}", re.ASCII)
KEPT_SECONDS = 600
# An export tells of every page. One that tells no more has lost its reader before he got anything, or its process.
SILENT_SECONDS = 60.0


def new_run() -> str:
    return secrets.token_urlsafe(12)


def is_run(text: str) -> bool:
    return RUN.fullmatch(text) is not None


def begin(run: str) -> None:
    """A link that is followed once more begins anew."""

    def ask() -> None:
        cache.delete(_stop_key(run))
        cache.set(_key(run), _told(Standing(State.RUNNING)), KEPT_SECONDS)

    _courtesy(ask)


def tell(run: str, standing: Standing) -> None:
    _courtesy(lambda: cache.set(_key(run), _told(standing), KEPT_SECONDS))


def standing(run: str) -> Standing | None:
    """None: it has not begun, or has ended long ago."""
    known = _courtesy(lambda: cache.get_many([_key(run), _stop_key(run)])) or {}
    told = _read(known.get(_key(run)))
    if told is None or told.is_over:
        return told
    return Standing(State.STOPPING, told.rows) if _stop_key(run) in known else told


def stop(run: str) -> None:
    _courtesy(lambda: cache.set(_stop_key(run), 1, KEPT_SECONDS))


def is_stopped(run: str) -> bool:
    return _courtesy(lambda: cache.get(_stop_key(run))) is not None


def _key(run: str) -> str:
    return f"export:{run}"


def _stop_key(run: str) -> str:
    return f"export-stop:{run}"


def _told(standing: Standing) -> dict[str, Any]:
    return asdict(standing) | {"at": time.time()}


def _read(told: Mapping[str, Any] | None) -> Standing | None:
    """None also for what another release of this dashboard has written in its own way."""
    try:
        found = Standing(State(told["state"]), int(told["rows"]), str(told["why"])) if told else None
        is_silent = told is not None and time.time() - float(told["at"]) > SILENT_SECONDS
    except (KeyError, TypeError, ValueError):
        return None
    return Standing(State.LEFT, found.rows) if found and is_silent and not found.is_over else found


class _Courtesy:
    """Asks the cache. One that does not answer is left alone for a while: asking it again would take time each time."""

    PAUSE_SECONDS = 10.0

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until = float("-inf")

    def __call__[T](self, ask: Callable[[], T]) -> T | None:
        if self._clock() < self._until:
            return None
        try:
            return ask()
        except redis_error() as error:
            self._until = self._clock() + self.PAUSE_SECONDS
            log.warning("Redis unavailable: %s", type(error).__name__)
            return None

    def resume(self) -> None:
        self._until = float("-inf")


_courtesy = _Courtesy()
