"""Access to the objects of a process (`startup.App`), and what they are made from."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from intents_ui.service.decode import Brand
from intents_ui.service.operations import ServiceConfig
from intents_ui.settings import DEMO_STARTED, ENV

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from intents_ui.emulator.app import Emulator
    from intents_ui.startup import App  # which imports this module


class RecentReads:
    """Results by their keys, of which there are few. Thread-safe.

    While one page renews a result, others get the old one instead of waiting, unless it is too old.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._locks: dict[Hashable, threading.Lock] = {}  # held while the key is read
        self._found: dict[Hashable, tuple[float, Any]] = {}

    def get[T](self, key: Hashable, read: Callable[[], T], *, max_age: float) -> T:
        """Return the result of `read`, which is renewed after `max_age` seconds, and at most twice as old."""
        lock, age = self._locks.setdefault(key, threading.Lock()), self._age(key)
        if age > max_age and lock.acquire(blocking=age > 2 * max_age):
            try:
                if self._age(key) > max_age:
                    self._found[key] = self._clock(), read()
            finally:
                lock.release()
        result: T = self._found[key][1]
        return result

    def _age(self, key: Hashable) -> float:
        return self._clock() - self._found[key][0] if key in self._found else float("inf")


_current: App | None = None


def current() -> App:
    if _current is None:
        raise RuntimeError("The process's objects were not built. Call `use` first.")
    return _current


def use(app: App) -> None:
    global _current
    _current = app


def service_config() -> ServiceConfig:
    return ServiceConfig(
        base_url="http://embedded" if ENV.embedded else str(ENV.intents_service_url),
        access_key=ENV.intents_service_access_key,
        service_name=ENV.intents_service_name,
        names=Brand(ENV.intents_service_brand, ENV.intents_wallet_brand),
    )


def embedded_service() -> Emulator | None:
    """Return a new embedded service, or None with a real one."""
    if not ENV.embedded:
        return None
    from intents_ui.emulator.app import Emulator  # imported only when used

    return Emulator(service_name=ENV.intents_service_name, started=DEMO_STARTED)
