"""Helpers for tests of live updates: a hub with the real client, a counting service, conditions with a deadline."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

from intents_ui.emulator import Emulator
from intents_ui.live.bus import RedisBus
from intents_ui.live.hub import Hub, PollIntervals
from intents_ui.service.client import InProcessTransport, ServiceClient
from intents_ui.service.health import Health
from intents_ui.service.operations import ServiceConfig

# Short intervals, in the proportions of `PollIntervals`.
QUICK = PollIntervals(poll=0.4, recheck=0.05, pause=0.05, retry=0.02, retry_unreachable=0.1, grace=0.05)


OPEN_SECONDS = 0.1  # pause after many failures


class CountedService:
    """The emulator behind a counter of calls, by operation, and of calls in progress."""

    def __init__(self, emulator: Emulator) -> None:
        self.emulator = emulator
        self.calls: Counter[str] = Counter()
        self.under_way: Counter[str] = Counter()
        self.most_under_way: Counter[str] = Counter()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        operation = scope["path"].rpartition("/")[2]
        self.calls[operation] += 1
        self.under_way[operation] += 1
        self.most_under_way[operation] = max(self.most_under_way[operation], self.under_way[operation])
        try:
            await self.emulator(scope, receive, send)
        finally:
            self.under_way[operation] -= 1

    @property
    def waits(self) -> int:
        return self.under_way["WaitIntentReceipt"]


@contextlib.asynccontextmanager
async def hub_on(
    service: Any, *, bus: RedisBus | None = None, clock: Callable[[], float] | None = None
) -> AsyncIterator[Hub]:
    """Yield a hub that polls an ASGI application, or the service at a URL."""
    is_url = isinstance(service, str)
    config = ServiceConfig(service if is_url else "http://embedded")
    client = ServiceClient(config, transport=None if is_url else InProcessTransport(service))
    client.health = Health(open_seconds=OPEN_SECONDS)
    now = (lambda: datetime.fromtimestamp(clock(), UTC)) if clock else (lambda: datetime.now(UTC))
    hub = Hub(client, bus, intervals=QUICK, now=now)
    async with contextlib.aclosing(client), contextlib.aclosing(hub):
        yield hub


async def until(condition: Callable[[], Any], *, within: float = 60.0, every: float = 0.002) -> None:
    async with asyncio.timeout(within):
        while not condition():
            await asyncio.sleep(every)


class Viewer:
    """Follows an intent in its own task and records the snapshots it gets."""

    def __init__(self, hub: Hub, intent_id: str) -> None:
        self.snapshots: list[Any] = []
        self.task = asyncio.create_task(self._follow(hub, intent_id))

    async def _follow(self, hub: Hub, intent_id: str) -> None:
        with hub.watching(intent_id) as watch:
            seen = ""
            while not watch.is_over or watch.news(seen):
                if snapshot := await watch.next(seen, within=60):
                    self.snapshots.append(snapshot)
                    seen = snapshot.id

    @property
    def statuses(self) -> list[str | None]:
        """Statuses of the snapshots in order, without repeats."""
        statuses = [snapshot.receipt.status if snapshot.receipt else None for snapshot in self.snapshots]
        return [status for place, status in enumerate(statuses) if place == 0 or statuses[place - 1] != status]

    async def leave(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


@contextlib.asynccontextmanager
async def viewers(hub: Hub, intent_id: str, count: int = 1) -> AsyncIterator[list[Viewer]]:
    watching = [Viewer(hub, intent_id) for _ in range(count)]
    try:
        yield watching
    finally:
        for viewer in watching:
            await viewer.leave()
