"""Calls to Redis, without which the dashboard continues: each process then works by itself.

Data there is signed with HMAC. Data that this installation didn't sign is ignored.

The Redis client is imported lazily: without Redis, a process takes 6 MB less memory.
"""

import hashlib
import hmac
import logging
import time
from collections.abc import Callable
from typing import Final

from intents_ui.service import metrics

log = logging.getLogger(__name__)

LENGTH: Final = hashlib.sha256().digest_size


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

    @property
    def seconds_paused(self) -> float:
        """Seconds until the next call is let through, 0 if it is now."""
        return max(0.0, self._paused_until - self._clock())

    def call[T](self, ask: Callable[[], T]) -> T | None:
        """Return the result of a call, or None if Redis is unavailable."""
        if self.seconds_paused:
            return None
        try:
            return ask()
        except redis_errors() as error:
            self._paused_until = self._clock() + self._pause
            log.warning("Redis unavailable; %s: %s", self._consequence, type(error).__name__)
            return None


class Seal:
    """Signs and verifies content. Thread-safe.

    `key` is derived from the installation's secret, with a different one for each kind of content.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def close(self, content: bytes, *, place: str) -> bytes:
        """Return the content with its signature, which is valid for this place only."""
        return self._signature(content, place) + content

    def open(self, sealed: bytes, *, place: str) -> bytes | None:
        """Return the content, or None, which is counted, if the signature is invalid."""
        signature, content = sealed[:LENGTH], sealed[LENGTH:]
        if hmac.compare_digest(signature, self._signature(content, place)):
            return content
        metrics.shared_unsigned.inc()
        return None

    def _signature(self, content: bytes, place: str) -> bytes:
        return hmac.digest(
            self._key, hashlib.sha256(place.encode("utf-8", "surrogatepass")).digest() + content, "sha256"
        )
