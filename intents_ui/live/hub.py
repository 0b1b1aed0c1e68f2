"""Fans out one upstream poll to many subscribers.

    with hub.follow(intent_id) as follower:
        async for snapshot in follower:
            ...

A follower gets only the newest snapshot, never a queue of older ones. The iteration ends after the final one.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Self

from intents_ui.live.bus import Bus
from intents_ui.live.poller import Poller, PollIntervals, Traffic
from intents_ui.live.snapshot import Snapshot
from intents_ui.live.tasks import LongTask
from intents_ui.service.client import ServiceClient
from intents_ui.service.context.shares import Lack, Shares

MOST_WATCHED = 500  # intents at a time in one process


class HubFull(Exception):
    """The process is at its limit of watched intents, or with `is_share` the client address is."""

    def __init__(self, *, is_share: bool = False) -> None:
        super().__init__("no more intents are watched")
        self.is_share = is_share


class Hub:
    """Watches intents for subscribers on one event loop. Only `newest`, `viewers` and `look_again` are thread-safe."""

    def __init__(
        self,
        service: ServiceClient,
        bus: Bus,
        *,
        intervals: PollIntervals | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        most: int = MOST_WATCHED,
    ) -> None:
        self.service = service
        self.bus = bus
        self.intervals = intervals or PollIntervals()
        self.now = now
        self.places = Shares(most)
        self.traffic = Traffic()
        self.watched: dict[str, Watch] = {}

    def follow(self, intent_id: str, *, seen: str = "", visitor: str | None = None) -> "Subscriber":
        """Return a context manager for one subscriber. Raises HubFull.

        `seen` is the ID of the snapshot that the subscriber already has. `visitor` is the address whose share a newly
        watched intent uses.
        """
        watch = self.watched.get(intent_id)
        if watch is None:
            if lack := self.places.take(visitor):
                raise HubFull(is_share=lack is Lack.SHARE)
            watch = self.watched[intent_id] = Watch(intent_id, self, visitor)
        return watch.join(seen)

    def newest(self, intent_id: str) -> Snapshot | None:
        """Return this process's snapshot of a watched intent, or None. Sends no request."""
        watch = self.watched.get(intent_id)
        return watch.newest if watch else None

    @property
    def viewers(self) -> int:
        """Number of subscribers. Thread-safe."""
        return sum(len(watch.followers) for watch in list(self.watched.values()))

    def look_again(self, intent_id: str) -> None:
        """Poll an intent at once, because this dashboard has just changed it."""
        watch = self.watched.get(intent_id)
        if watch:
            watch.loop.call_soon_threadsafe(watch.look_again)

    def forget(self, watch: "Watch") -> None:
        if self.watched.get(watch.intent_id) is watch:
            del self.watched[watch.intent_id]
            self.places.give_back(watch.visitor)

    async def aclose(self) -> None:
        """End all watches. Their subscribers' iterations end."""
        tasks = [task for watch in list(self.watched.values()) if (task := watch.end())]
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.bus.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class Watch:
    """One watched intent. The bus decides whether this process polls it."""

    def __init__(self, intent_id: str, hub: Hub, visitor: str | None) -> None:
        self.intent_id = intent_id
        self.visitor = visitor
        self.newest: Snapshot | None = None
        self.is_over = False
        self.loop = asyncio.get_running_loop()
        self._hub = hub
        self.followers: set[Subscriber] = set()
        self._poller: LongTask | None = None
        self._ending: asyncio.TimerHandle | None = None
        hub.bus.join(intent_id, self)

    def join(self, seen: str) -> "Subscriber":
        if self._ending:
            self._ending.cancel()
            self._ending = None
        follower = Subscriber(self, seen)
        self.followers.add(follower)
        return follower

    def leave(self, follower: "Subscriber") -> None:
        self.followers.discard(follower)
        if self.followers or self._ending:
            return
        # Keep polling for a moment, because users reload. An unknown intent or one without a snapshot isn't worth it.
        grace = self._hub.intervals.grace if self.newest and not self.newest.is_unknown else 0.0
        self._ending = asyncio.get_running_loop().call_later(grace, self.end)

    def end(self) -> asyncio.Task[None] | None:
        """End the watch. Returns the poller's task, if any, for callers that need to await its end."""
        if self._ending:
            self._ending.cancel()
        self._hub.forget(self)
        self._hub.bus.leave(self.intent_id)
        poller, self._poller = self._poller, None
        if poller:
            poller.task.cancel()
        self._close()
        return poller.task if poller else None

    # Called by the bus

    def lead(self) -> None:
        if self._poller is None and not self.is_over:
            self._poller = LongTask("watch", self._poll, about=self.intent_id, pause=self._hub.intervals.restart)

    def release_lease(self) -> None:
        if self._poller:
            self._poller.task.cancel()
            self._poller = None

    def look_again(self) -> None:
        """Restart the poller, which begins with a plain poll. If another process leads, nothing changes."""
        if self._poller:
            self.release_lease()
            self.lead()

    def hear(self, snapshot: Snapshot) -> None:
        before, self.newest = self.newest, snapshot
        if snapshot.receipt and snapshot.learned_at and not snapshot.stale_since:
            # So that pages don't show an older one than the live stream.
            age = self._hub.now() - snapshot.learned_at
            self._hub.service.cache_receipt(snapshot.receipt, age=max(age.total_seconds(), 0.0))
        if snapshot.is_last:
            self._close()
        elif before is None or before.id != snapshot.id:
            self._wake()

    async def _poll(self) -> None:
        """Run the poller. An internal error is published as a stale snapshot and restarts the poller."""
        while not self.is_over:
            try:
                await Poller(
                    self._hub.service,
                    self.intent_id,
                    known=self.newest,
                    tell=self._publish,
                    traffic=self._hub.traffic,
                    intervals=self._hub.intervals,
                    now=self._hub.now,
                    beat=self._heartbeat,
                    visitor=self.visitor,
                ).run()
            except Exception:
                known = self.newest or Snapshot(self.intent_id, None, learned_at=None)
                await self._publish(known.stale(known.stale_since or self._hub.now()))
                raise

    def _heartbeat(self) -> None:
        if self._poller:
            self._poller.beat()

    async def _publish(self, snapshot: Snapshot) -> None:
        self.hear(snapshot)
        await self._hub.bus.tell(self.intent_id, snapshot)

    def _close(self) -> None:
        self.is_over = True
        self._wake()

    def _wake(self) -> None:
        for follower in self.followers:
            follower.wake()


class Subscriber:
    """One subscriber of a watch. Remembers only which snapshot it returned last."""

    __slots__ = ("_given", "_is_awake", "_is_closed", "_sleep", "_watch")

    def __init__(self, watch: Watch, seen: str) -> None:
        self._watch = watch
        self._given = seen
        self._is_awake = False
        self._is_closed = False
        self._sleep: asyncio.Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._watch.leave(self)

    @property
    def snapshot(self) -> Snapshot | None:
        """The newest snapshot, returned before or not."""
        return self._watch.newest

    @property
    def is_over(self) -> bool:
        """Whether no more snapshots will come."""
        return self._is_closed or (self._watch.is_over and not self._has_news)

    async def next(self) -> Snapshot | None:
        """Wait for a snapshot that wasn't returned yet. Returns None when woken without one, or when over."""
        if not (self._has_news or self._is_awake or self.is_over):
            self._sleep = asyncio.get_running_loop().create_future()
            await self._sleep
        self._is_awake = False
        return self.news()

    def news(self) -> Snapshot | None:
        """Return the newest snapshot if it wasn't returned yet, or None."""
        if self._is_closed or not self._has_news:
            return None
        snapshot = self._watch.newest
        self._given = snapshot.id if snapshot else ""
        return snapshot

    def wake(self) -> None:
        self._is_awake = True
        if self._sleep and not self._sleep.done():
            self._sleep.set_result(None)

    def close(self) -> None:
        """End a pending `next`."""
        self._is_closed = True
        self.wake()

    @property
    def _has_news(self) -> bool:
        newest = self._watch.newest
        return newest is not None and newest.id != self._given

    async def __aiter__(self) -> AsyncIterator[Snapshot]:
        while not self.is_over:
            if snapshot := await self.next():
                yield snapshot
