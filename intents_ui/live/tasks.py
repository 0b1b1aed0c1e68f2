"""Tasks that run as long as the process. One that fails is logged, counted and starts again."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final

from prometheus_client import Counter

from intents_ui.service.metrics import registry

log = logging.getLogger(__name__)

NAMES: Final = ("live bus", "live streams", "watch", "metrics")
PAUSE: Final = 1.0  # seconds before a failed task restarts

restarts = Counter(
    "intents_ui_task_restarts", "Background tasks that crashed and were restarted.", ["task"], registry=registry
)
_running: set["LongTask"] = set()


class LongTask:
    """Runs `work` until it returns. An exception restarts it.

    The work calls `beat` regularly, because `/readyz` and `/metrics` report the time since then. Tasks may share a
    name. `about` identifies one in the log.
    """

    def __init__(
        self, name: str, work: Callable[[], Awaitable[None]], *, about: str = "", pause: float = PAUSE
    ) -> None:
        self.name = name
        self.beat_at = time.monotonic()
        self.task = asyncio.create_task(self._run(work, about, pause), name=f"{name} {about}".strip())
        _running.add(self)
        self.task.add_done_callback(lambda _: _running.discard(self))

    def beat(self) -> None:
        self.beat_at = time.monotonic()

    async def _run(self, work: Callable[[], Awaitable[None]], about: str, pause: float) -> None:
        while True:
            try:
                return await work()
            except Exception:
                log.exception("The task %r broke off and starts again. %s", self.name, about)
                restarts.labels(self.name).inc()
                await asyncio.sleep(pause)


def heartbeat_ages() -> dict[str, float]:
    """Return by name the seconds since the last heartbeat, of the task that has been silent longest."""
    now, found = time.monotonic(), dict[str, float]()
    for each in list(_running):
        found[each.name] = max(found.get(each.name, 0.0), now - each.beat_at)
    return found


def restarts_of(name: str) -> int:
    """Return how often tasks of this name failed since the process started."""
    return int(registry.get_sample_value("intents_ui_task_restarts_total", {"task": name}) or 0)
