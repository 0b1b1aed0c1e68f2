"""Supervised tasks that run as long as the process, with heartbeats. A task that fails is logged and restarted.

`/readyz` and `/metrics` report `ages` and `restarts`.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final

log = logging.getLogger(__name__)

PAUSE: Final = 1.0  # seconds before a failed task restarts

restarts: Final[Counter[str]] = Counter()  # by name, since process start


class LongTask:
    """Runs `work`, which calls `beat` regularly, until it returns. An exception restarts it.

    Tasks may share a `name`, which labels their metrics. `about` identifies one in the log.
    """

    def __init__(
        self, name: str, work: Callable[[], Awaitable[None]], *, about: str = "", pause: float = PAUSE
    ) -> None:
        self.name = name
        self._work = work
        self._about = about
        self._pause = pause
        self._beat_at = time.monotonic()
        self._task = asyncio.get_running_loop().create_task(self._supervise(), name=f"{name} {about}".strip())
        _running.add(self)
        self._task.add_done_callback(lambda _: _running.discard(self))

    @property
    def age(self) -> float:
        """Seconds since the last heartbeat."""
        return time.monotonic() - self._beat_at

    @property
    def is_over(self) -> bool:
        return self._task.done()

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
                restarts[self.name] += 1
                await asyncio.sleep(self._pause)
            else:
                return


_running: Final[set[LongTask]] = set()


def ages() -> dict[str, float]:
    """Return by name the seconds since the last heartbeat, of the task that has been silent longest."""
    found: dict[str, float] = {}
    for task in list(_running):
        found[task.name] = max(found.get(task.name, 0.0), task.age)
    return found
