"""How far an export has come, for the page that its reader has open, and his wish to stop it: in the shared cache.

A run's id cannot be guessed, and whoever knows it may look and may stop. All of this is a courtesy: a cache that is
away stops no export.
"""

import logging
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from django.core.cache import cache
from redis import RedisError

from intents_ui.display.statuses import Tone

log = logging.getLogger(__name__)

RUN = re.compile(r"[A-Za-z0-9_-]{16}", re.ASCII)
KEPT_SECONDS = 600


class State(StrEnum):
    RUNNING = "running"
    STOPPING = "stopping"  # the reader's wish, before it was noticed
    COMPLETE = "complete"
    TRUNCATED = "truncated"
    STOPPED = "stopped"
    LEFT = "left"  # the download itself was broken off


@dataclass(frozen=True)
class Standing:
    """`why` an export was cut short."""

    state: State
    rows: int = 0
    why: str = ""

    @property
    def is_over(self) -> bool:
        return self.state not in (State.RUNNING, State.STOPPING)

    @property
    def can_be_stopped(self) -> bool:
        return self.state is State.RUNNING

    @property
    def icon(self) -> str:
        match self.state:
            case State.RUNNING | State.STOPPING:
                return "loader-circle"
            case State.COMPLETE:
                return "check"
            case _:
                return "triangle-alert"

    @property
    def sentence(self) -> str:
        match self.state:
            case State.RUNNING:
                return f"{self.counted} so far"
            case State.STOPPING:
                return f"Stopping after {self.counted}"
            case State.COMPLETE:
                return f"Complete: {self.counted}"
            case State.STOPPED:
                return f"Stopped after {self.counted}"
            case State.LEFT:
                return f"Broken off after {self.counted}: the download was not taken any further"
            case State.TRUNCATED:
                return f"Cut short after {self.counted}: {self.why}"

    @property
    def counted(self) -> str:
        return f"{self.rows:,} {'row' if self.rows == 1 else 'rows'}"

    @property
    def tone(self) -> Tone:
        match self.state:
            case State.RUNNING | State.STOPPING:
                return Tone.PROGRESS
            case State.COMPLETE:
                return Tone.GOOD
            case _:
                return Tone.ATTENTION


def new_run() -> str:
    return secrets.token_urlsafe(12)


def is_run(text: str) -> bool:
    return RUN.fullmatch(text) is not None


def begin(run: str) -> None:
    """A link that is followed once more begins anew."""
    with _courtesy():
        cache.delete(_stop_key(run))
        cache.set(_key(run), asdict(Standing(State.RUNNING)), KEPT_SECONDS)


def tell(run: str, standing: Standing) -> None:
    with _courtesy():
        cache.set(_key(run), asdict(standing), KEPT_SECONDS)


def standing(run: str) -> Standing | None:
    """None: it has not begun, or has ended long ago."""
    known: dict[str, Any] | None = None
    with _courtesy():
        known = cache.get(_key(run))
    if known is None:
        return None
    found = Standing(State(known["state"]), known["rows"], known["why"])
    return Standing(State.STOPPING, found.rows) if not found.is_over and is_stopped(run) else found


def stop(run: str) -> None:
    with _courtesy():
        cache.set(_stop_key(run), 1, KEPT_SECONDS)


def is_stopped(run: str) -> bool:
    with _courtesy():
        return cache.get(_stop_key(run)) is not None
    return False


def _key(run: str) -> str:
    return f"export:{run}"


def _stop_key(run: str) -> str:
    return f"export-stop:{run}"


@contextmanager
def _courtesy() -> Iterator[None]:
    try:
        yield
    except RedisError as error:
        log.warning("The shared cache does not answer: %s", type(error).__name__)
