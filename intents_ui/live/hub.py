"""Fans out one upstream poll to many subscribers, each of which gets only the newest snapshot, never a queue."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final, Self

from prometheus_client import Counter, Gauge

from intents_ui.live.bus import RedisBus
from intents_ui.live.poller import STARTS_PER_SECOND, Poller, PollIntervals
from intents_ui.live.snapshot import Snapshot
from intents_ui.service.client import ServiceClient
from intents_ui.service.context.executor import Lack, Shares
from intents_ui.service.metrics import registry

log = logging.getLogger(__name__)

watched_intents = Gauge(
    "intents_ui_watched_intents", "Watched intents.", registry=registry, multiprocess_mode="livesum"
)
restarts = Counter("intents_ui_task_restarts", "Background tasks that failed and were restarted.", registry=registry)

MAX_WATCHED = 500  # intents at a time in one process, an eighth of them for one client
BEAT: Final = 0.5  # seconds after which processes that share a bus learn of each other, at the latest


async def restart_forever(work: Callable[[], Awaitable[None]], *, name: str, pause: float = 1.0) -> None:
    """Run `work` until it returns. An exception is logged and counted, and `work` starts again after a pause."""
    while True:
        try:
            return await work()
        except Exception:
            log.exception("The task %r failed and starts again", name)
            restarts.inc()
            await asyncio.sleep(pause)


class HubFull(Exception):
    """The process is at its limit of watched intents, or its client is."""

    def __init__(self, lack: Lack) -> None:
        super().__init__("no more intents are watched")
        self.lack = lack


class Hub:
    """Watches intents for subscribers on one event loop. Only `newest`, `viewers` and `poll_now` are thread-safe.

    Without a `bus`, this process polls all of them. With one, it polls those that no other process does.
    """

    def __init__(
        self,
        service: ServiceClient,
        bus: RedisBus | None = None,
        *,
        intervals: PollIntervals | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        max_watched: int = MAX_WATCHED,
    ) -> None:
        self.service = service
        self.bus = bus
        self.intervals = intervals or PollIntervals()
        self.now = now
        self.slots = Shares(max_watched)
        self.watched: dict[str, Watch] = {}
        self._turn = asyncio.Lock()
        self._has_news = asyncio.Event()  # for other processes
        self._sharing: asyncio.Task[None] | None = None

    def subscribe(self, intent_id: str, *, seen: str = "", client: str | None = None) -> "Subscriber":
        """Return a context manager for one subscriber. Raises HubFull.

        `seen` is the ID of the snapshot that the subscriber already has. A newly watched intent counts for `client`.
        """
        watch = self.watched.get(intent_id)
        if watch is None:
            if lack := self.slots.take(client):
                raise HubFull(lack)
            watch = self.watched[intent_id] = Watch(intent_id, self, client)
            watched_intents.inc()
            if self.bus is None or self.bus.is_disconnected:
                watch.start_leading()
            self.share()
        if watch.ending:
            watch.ending.cancel()
            watch.ending = None
        subscriber = Subscriber(watch, seen)
        watch.subscribers.add(subscriber)
        return subscriber

    def newest(self, intent_id: str) -> Snapshot | None:
        """Return this process's snapshot of a watched intent, or None. Sends no request."""
        watch = self.watched.get(intent_id)
        return watch.newest if watch else None

    @property
    def viewers(self) -> int:
        return sum(len(watch.subscribers) for watch in list(self.watched.values()))

    def poll_now(self, intent_id: str) -> None:
        """Invalidate the cached responses of an intent that this dashboard has just changed, and poll it at once."""
        self.service.forget(intent_id)
        watch = self.watched.get(intent_id)
        if watch:
            watch.loop.call_soon_threadsafe(watch.poll_now)

    async def next_turn(self) -> None:
        """Wait for a poller's turn to start or resume. All together must not exceed the service's rate limit."""
        await self._turn.acquire()
        asyncio.get_running_loop().call_later(1 / STARTS_PER_SECOND, self._turn.release)

    async def aclose(self) -> None:
        """End all watches. Their subscribers' iterations end."""
        tasks = [task for watch in list(self.watched.values()) if (task := watch.end())]
        if self._sharing:
            self._sharing.cancel()
            tasks.append(self._sharing)
        await asyncio.gather(*tasks, return_exceptions=True)
        if self.bus:
            await self.bus.aclose()

    def share(self) -> None:
        """Tell other processes of a change at once."""
        self._has_news.set()
        if self.bus and self._sharing is None:
            work = restart_forever(partial(self._share, self.bus), name="live bus", pause=BEAT)
            self._sharing = asyncio.create_task(work)

    async def _share(self, bus: RedisBus) -> None:
        while True:
            self._has_news.clear()
            watched = dict(self.watched)
            of_others = await bus.sync({intent_id: watch.newest for intent_id, watch in watched.items()})
            for intent_id, watch in watched.items():
                if self.watched.get(intent_id) is not watch:
                    continue  # ended in the meantime: the next beat releases the lease
                if intent_id not in of_others:
                    watch.start_leading()
                    continue
                watch.stop_leading()
                if newer := of_others[intent_id]:
                    watch.on_snapshot(newer)
            if bus.is_disconnected:
                await asyncio.sleep(BEAT)
                continue
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._has_news.wait(), BEAT)


class Watch:
    """One watched intent. The bus decides whether this process polls it."""

    def __init__(self, intent_id: str, hub: Hub, client: str | None) -> None:
        self.intent_id = intent_id
        self.client = client
        self.newest: Snapshot | None = None
        self.is_over = False
        self.loop = asyncio.get_running_loop()
        self.subscribers: set[Subscriber] = set()
        self.hub = hub
        self._polling: asyncio.Task[None] | None = None
        self.ending: asyncio.TimerHandle | None = None

    def end(self) -> asyncio.Task[None] | None:
        """End the watch. Returns the poller's task, if any, for callers that need to await its end."""
        if self.ending:
            self.ending.cancel()
        if self.hub.watched.get(self.intent_id) is self:
            del self.hub.watched[self.intent_id]
            self.hub.slots.give_back(self.client)
            watched_intents.dec()
        self.hub.share()
        polling = self._polling
        self.stop_leading()
        self.is_over = True
        self._wake()
        return polling

    @property
    def is_leading(self) -> bool:
        return self._polling is not None and not self._polling.done()

    def poll_now(self) -> None:
        """Restart the poller, which begins with a plain poll. If another process leads, nothing changes."""
        if self._polling:
            self.stop_leading()
            self.start_leading()

    def start_leading(self) -> None:
        if self._polling is None and not self.is_over:
            work = restart_forever(
                lambda: Poller(self).run(), name=f"watch {self.intent_id}", pause=self.hub.intervals.poll
            )
            self._polling = asyncio.create_task(work)

    def stop_leading(self) -> None:
        if self._polling:
            self._polling.cancel()
            self._polling = None

    def on_snapshot(self, snapshot: Snapshot) -> None:
        before, self.newest = self.newest, snapshot
        if snapshot.receipt and snapshot.learned_at and not snapshot.stale_since:
            # So that pages don't show an older one than the live stream.
            age = self.hub.now() - snapshot.learned_at
            self.hub.service.cache_receipt(snapshot.receipt, age=max(age.total_seconds(), 0.0))
        self.is_over |= snapshot.is_final
        if snapshot.is_final or before is None or before.id != snapshot.id:
            self._wake()

    def publish(self, snapshot: Snapshot) -> None:
        self.on_snapshot(snapshot)
        self.hub.share()

    def _wake(self) -> None:
        for subscriber in self.subscribers:
            subscriber.wake()


@dataclass(slots=True, eq=False)
class Subscriber:
    """One subscriber of a watch. `returned` is the ID of the snapshot that it has.

    There are thousands, so each waits for a future of its own: an `asyncio.Event` takes a kilobyte more.
    """

    watch: Watch
    returned: str
    is_awake: bool = False
    has_ended: bool = False
    waiter: asyncio.Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        watch = self.watch
        watch.subscribers.discard(self)
        if watch.subscribers or watch.ending:
            return
        # Keep polling for a moment, because users reload. An unknown intent or one without a snapshot isn't worth it.
        grace = watch.hub.intervals.grace if watch.newest and not watch.newest.is_unknown else 0.0
        watch.ending = watch.loop.call_later(grace, watch.end)

    @property
    def snapshot(self) -> Snapshot | None:
        """The newest snapshot, returned before or not."""
        return self.watch.newest

    @property
    def is_over(self) -> bool:
        return self.watch.is_over and not self._has_news

    async def next(self, *, within: float) -> Snapshot | None:
        """Wait for a snapshot that wasn't returned yet. Returns None after `within` seconds, or if woken without."""
        if not (self.is_awake or self._has_news or self.is_over):
            self.waiter = self.watch.loop.create_future()
            alarm = self.watch.loop.call_later(within, self.wake)
            try:
                await self.waiter
            finally:
                alarm.cancel()
        self.is_awake = False
        return self.poll()

    def poll(self) -> Snapshot | None:
        """Return the newest snapshot if it wasn't returned yet, or None."""
        snapshot = self.watch.newest
        if snapshot is None or not self._has_news:
            return None
        self.returned = snapshot.id
        return snapshot

    def end(self) -> None:
        """Wake up the subscriber, to leave."""
        self.has_ended = True
        self.wake()

    def wake(self) -> None:
        self.is_awake = True
        if self.waiter and not self.waiter.done():
            self.waiter.set_result(None)

    @property
    def _has_news(self) -> bool:
        newest = self.watch.newest
        return newest is not None and newest.id != self.returned
