"""Supervised tasks that run as long as the process, with heartbeats. A task that fails is logged and restarted.

`/readyz` and `/metrics` report what `LongTasks` knows.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final

log = logging.getLogger(__name__)

PAUSE: Final = 1.0  # seconds before a failed task restarts


class LongTasks:
    """The running tasks of a process. `restarts` counts by name those that failed since process start."""

    def __init__(self) -> None:
        self.restarts: Counter[str] = Counter()
        self._running: set[LongTask] = set()

    def start(
        self, name: str, work: Callable[[], Awaitable[None]], *, about: str = "", pause: float = PAUSE
    ) -> "LongTask":
        task = LongTask(name, work, about=about, pause=pause, restarts=self.restarts)
        self._running.add(task)
        task.when_done(lambda: self._running.discard(task))
        return task

    def ages(self) -> dict[str, float]:
        """Return by name the seconds since the last heartbeat, of the task that has been silent longest."""
        found: dict[str, float] = {}
        for task in list(self._running):
            found[task.name] = max(found.get(task.name, 0.0), task.age)
        return found


class LongTask:
    """Runs `work`, which calls `beat` regularly, until it returns. An exception restarts it.

    Tasks may share a `name`, which labels their metrics. `about` identifies one in the log.
    """

    def __init__(
        self, name: str, work: Callable[[], Awaitable[None]], *, about: str, pause: float, restarts: Counter[str]
    ) -> None:
        self.name = name
        self._work = work
        self._about = about
        self._pause = pause
        self._restarts = restarts
        self._beat_at = time.monotonic()
        self._task = asyncio.get_running_loop().create_task(self._supervise(), name=f"{name} {about}".strip())

    @property
    def age(self) -> float:
        """Seconds since the last heartbeat."""
        return time.monotonic() - self._beat_at

    @property
    def is_over(self) -> bool:
        return self._task.done()

    def when_done(self, do: Callable[[], None]) -> None:
        self._task.add_done_callback(lambda _: do())

    def beat(self) -> None:
        self._beat_at = time.monotonic()

    def cancel(self) -> asyncio.Task[None]:
        """Cancel the task. Await the returned task to wait for its end."""
        self._task.cancel()
        return self._task

    async def join(self) -> None:
        await self._task

    async def _supervise(self) -> None:
        while True:
            try:
                await self._work()
            except Exception:
                log.exception("The task %r broke off and starts again. %s", self.name, self._about)
                self._restarts[self.name] += 1
                await asyncio.sleep(self._pause)
            else:
                return
