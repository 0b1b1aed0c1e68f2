"""Background tasks, which start again after a bug."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from prometheus_client import Counter

from intents_ui.service.metrics import registry

log = logging.getLogger(__name__)

restarts = Counter("intents_ui_task_restarts", "Background tasks that failed and were restarted.", registry=registry)


async def restart_forever(work: Callable[[], Awaitable[None]], *, name: str, pause: float = 1.0) -> None:
    """Run `work` until it returns. An exception is logged and counted, and `work` starts again after a pause."""
    while True:
        try:
            return await work()
        except Exception:
            log.exception("The task %r failed and starts again", name)
            restarts.inc()
            await asyncio.sleep(pause)
