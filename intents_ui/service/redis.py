"""Calls to Redis, without which the dashboard continues: each process then works by itself.

The Redis client is imported lazily: without Redis, a process takes 6 MB less memory.
"""

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from intents_ui.service.health import counters

if TYPE_CHECKING:
    from redis import Redis

log = logging.getLogger(__name__)

TIMEOUT: Final = 1.0  # seconds

shared_ignored = counters(
    "intents_ui_shared_ignored", "Values in Redis that were ignored.", "reason", "unreadable", "unsigned"
)


def redis_client(url: str) -> "Redis":
    """Return a client for threads. It doesn't retry, which would take longer than the timeout."""
    from redis import Redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    return Redis.from_url(url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT, retry=Retry(NoBackoff(), 0))


def redis_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions of a Redis call, including those of its connection."""
    from redis.exceptions import RedisError

    return RedisError, OSError, TimeoutError


class RedisGuard:
    """Pauses calls to Redis for `pause` seconds after a failure, because each further one would take time.

    Thread-safe. `consequence` completes the warning in the log.
    """

    def __init__(self, consequence: str, *, pause: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._consequence = consequence
        self._pause = pause
        self._clock = clock
        self._paused_until = float("-inf")

    def call[T](self, ask: Callable[[], T]) -> T | None:
        """Return the result of a call, or None if Redis is unavailable."""
        if self._clock() < self._paused_until:
            return None
        try:
            return ask()
        except redis_errors() as error:
            self._paused_until = self._clock() + self._pause
            log.warning("Redis unavailable; %s: %s", self._consequence, type(error).__name__)
            return None
