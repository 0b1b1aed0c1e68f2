"""The objects of a process: built when it starts (`startup.py`), closed when it ends. Tests pass their own."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from intents_ui.service.decode import Brand
from intents_ui.service.operations import ServiceConfig
from intents_ui.settings import DEMO_STARTED, ENV

if TYPE_CHECKING:  # they use the objects, and import this module
    from collections.abc import Callable, Hashable

    from intents_ui.emulator.app import Emulator
    from intents_ui.http.limits import RateLimiter
    from intents_ui.lists.attention import AttentionReader
    from intents_ui.live.hub import Hub
    from intents_ui.live.stream import Streams
    from intents_ui.service.catalog import Catalog, Prices
    from intents_ui.service.client import ServiceClient
    from intents_ui.service.executor import FairExecutor, Shares
    from intents_ui.service.models import Intent
    from intents_ui.service.redis import RedisGuard
    from intents_ui.web.reading import TransferMemo

log = logging.getLogger(__name__)


class RecentReads:
    """Results by their keys, of which there are few. Thread-safe.

    Pages don't wait for a result that is renewed in time: a page gets the old one, and starts a thread that renews it.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._locks: dict[Hashable, threading.Lock] = {}  # held while the key is read
        self._found: dict[Hashable, tuple[float, Any]] = {}

    def get[T](self, key: Hashable, read: Callable[[], T], *, max_age: float) -> T:
        """Return the result of `read`, which is renewed after `max_age` seconds, and at most twice as old."""
        lock = self._locks.setdefault(key, threading.Lock())
        if self._age(key) > 2 * max_age:
            with lock:
                if self._age(key) > max_age:
                    self._read(key, read)
        elif self._age(key) > max_age and lock.acquire(blocking=False):
            renewal = threading.Thread(target=self._renew, args=(key, read, lock), name="renewal", daemon=True)
            try:
                renewal.start()
            except RuntimeError:  # no more threads. A later page tries again
                lock.release()
        result: T = self._found[key][1]
        return result

    def _age(self, key: Hashable) -> float:
        return self._clock() - self._found[key][0] if key in self._found else float("inf")

    def _read(self, key: Hashable, read: Callable[[], Any]) -> None:
        read_at = self._clock()
        self._found[key] = read_at, read()

    def _renew(self, key: Hashable, read: Callable[[], Any], lock: threading.Lock) -> None:
        try:
            self._read(key, read)
        except Exception as error:  # a later page reads it again, and gets the error
            log.info("A result could not be renewed: %s", error)
        finally:
            lock.release()


@dataclass(frozen=True, kw_only=True)
class App:
    """The objects of a process, one of each, for all threads."""

    emulator: Emulator | None  # the embedded service, None with a real one
    executor: FairExecutor  # makes pages and calls the service
    service: ServiceClient
    catalog: Catalog
    prices: Prices
    hub: Hub
    streams: Streams
    attention: AttentionReader  # of the transfers that need attention
    transfers: TransferMemo  # shown lately
    plan: Callable[[str], Intent]  # of an intent ID, cached
    redis_guard: RedisGuard  # of Django's shared cache
    rate_limiter: RateLimiter
    requests_in_hand: Shares
    body_bytes: Shares  # of all requests in hand
    exports: Shares  # in progress
    recent_reads: RecentReads = field(default_factory=RecentReads)
    # Whose balances were looked up here. Of other owners, only other processes cache them.
    balance_owners: set[str] = field(default_factory=set)
    long_polls: dict[str | None, object] = field(default_factory=dict)  # of the console, by client

    async def aclose(self) -> None:
        """Close everything, on the event loop of the streams."""
        await self.streams.aclose()
        await self.hub.aclose()
        await self.service.aclose()
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """Close what threads use."""
        self.executor.shutdown()
        self.service.close()


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
