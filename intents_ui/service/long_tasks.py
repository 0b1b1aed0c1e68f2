"""Supervised tasks that run as long as the process, with heartbeats. A task that fails is logged and restarted.

`/readyz` and `/metrics` report what `LongTasks` knows.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

log = logging.getLogger(__name__)

PAUSE: Final = 1.0  # seconds before a failed task restarts


@dataclass(eq=False, slots=True)
class LongTask:
    """A running task. Its work calls `beat` regularly. Tasks may share a `name`, which labels their metrics."""

    name: str
    task: asyncio.Task[None]
    beat_at: float = field(default_factory=time.monotonic)

    def beat(self) -> None:
        self.beat_at = time.monotonic()


class LongTasks:
    """The running tasks of a process. `restarts` counts by name those that failed since process start."""

    def __init__(self) -> None:
        self.restarts: Counter[str] = Counter()
        self._running: set[LongTask] = set()

    def start(
        self, name: str, work: Callable[[], Awaitable[None]], *, about: str = "", pause: float = PAUSE
    ) -> LongTask:
        """Run `work` until it returns. An exception restarts it. `about` identifies the task in the log."""
        supervised = self._supervise(name, work, about, pause)
        started = LongTask(name, asyncio.get_running_loop().create_task(supervised, name=f"{name} {about}".strip()))
        self._running.add(started)
        started.task.add_done_callback(lambda _: self._running.discard(started))
        return started

    def ages(self) -> dict[str, float]:
        """Return by name the seconds since the last heartbeat, of the task that has been silent longest."""
        found: dict[str, float] = {}
        for each in list(self._running):
            found[each.name] = max(found.get(each.name, 0.0), time.monotonic() - each.beat_at)
        return found

    async def _supervise(self, name: str, work: Callable[[], Awaitable[None]], about: str, pause: float) -> None:
        while True:
            try:
                return await work()
            except Exception:
                log.exception("The task %r broke off and starts again. %s", name, about)
                self.restarts[name] += 1
                await asyncio.sleep(pause)
