"""Fans out one upstream poll to many viewers, each of which gets only the newest snapshot, never a queue."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from random import SystemRandom
from typing import Final

from prometheus_client import Counter, Gauge

from intents_ui.live.bus import RedisBus
from intents_ui.live.snapshot import Snapshot
from intents_ui.service import operations
from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import NotFound, Reason, ServiceError, TooBusy, Unreachable
from intents_ui.service.executor import LimitReason, Shares
from intents_ui.service.health import registry
from intents_ui.service.models import ENDED, STOPPED, UNEXECUTED, Intent, IntentReceipt
from intents_ui.service.outcome import is_older, past

log = logging.getLogger(__name__)

watched_intents = Gauge(
    "intents_ui_watched_intents", "Watched intents.", registry=registry, multiprocess_mode="livesum"
)
restarts = Counter("intents_ui_task_restarts", "Background tasks that failed and were restarted.", registry=registry)

MAX_WATCHED: Final = 500  # intents at a time in one process, an eighth of them for one client
BEAT: Final = 0.5  # seconds after which processes that share a bus learn of each other, at the latest
# Pollers of a process that start or resume per second. Each sends two requests, a poll and a long poll, within the
# service's limit of 40 requests per second.
STARTS_PER_SECOND: Final = 20
MIN_GAP: Final = 0.1  # seconds after a response with changes, doubled with each immediate one
MAX_CUT_POLLS: Final = 2  # long polls cut off in a row, after which plain polls replace them
POLLS_INSTEAD: Final = 20  # plain polls before trying a long poll again
REFUND_LIKELY: Final = timedelta(minutes=5)  # after the end, polled at the normal interval
# How long to poll an intent that failed, was aborted, is invalid, or is "done" without a final status.
LAST_POLL: Final = timedelta(minutes=30)
CLOCK_SKEW: Final = timedelta(minutes=2)  # tolerated difference to the service


@dataclass(frozen=True, slots=True, kw_only=True)
class PollIntervals:
    """Intervals in seconds."""

    poll: float = 15.0  # without a long poll. Retries of refused calls are at most twice as far apart
    recheck: float = 60.0  # when nothing is expected any more
    # After an immediate response without changes, doubled up to `poll`. A shorter outage isn't shown.
    pause: float = 1.0
    retry: float = 0.5  # after a failure, doubled with each
    retry_unreachable: float = 4.0  # the longest, so that pages recover within 5 s of the service
    grace: float = 5.0  # how long to poll an intent after its last viewer left


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

    def __init__(self, limit_reason: LimitReason) -> None:
        super().__init__("no more intents are watched")
        self.limit_reason = limit_reason


class Hub:
    """Watches intents for viewers on one event loop. Only `newest`, `viewers` and `poll_now` are thread-safe.

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

    @contextmanager
    def watching(self, intent_id: str, *, client: str | None = None) -> Iterator["Watch"]:
        """Watch an intent for one viewer. A newly watched intent counts for `client`. Raises HubFull."""
        watch = self.watched.get(intent_id)
        if watch is None:
            if limit_reason := self.slots.take(client):
                raise HubFull(limit_reason)
            watch = self.watched[intent_id] = Watch(intent_id, self, client)
            watched_intents.inc()
            if self.bus is None or self.bus.is_disconnected:
                watch.start_leading()
            self.share()
        if watch.ending:
            watch.ending.cancel()
            watch.ending = None
        watch.viewers += 1
        try:
            yield watch
        finally:
            watch.viewers -= 1
            if not watch.viewers:
                # Keep polling for a moment, because users reload. An intent without a snapshot isn't worth it.
                grace = self.intervals.grace if watch.newest and not watch.newest.is_unknown else 0.0
                watch.ending = watch.loop.call_later(grace, watch.end)

    def newest(self, intent_id: str) -> Snapshot | None:
        """Return this process's snapshot of a watched intent, or None. Sends no request."""
        watch = self.watched.get(intent_id)
        return watch.newest if watch else None

    @property
    def viewers(self) -> int:
        return sum(watch.viewers for watch in list(self.watched.values()))

    def poll_now(self, intent_id: str) -> None:
        """Invalidate the cached responses of an intent that this dashboard has just changed, and poll it at once."""
        self.service.forget(intent_id)
        if watch := self.watched.get(intent_id):
            watch.loop.call_soon_threadsafe(watch.restart_polling)

    async def next_turn(self) -> None:
        """Wait for a poller's turn to start or resume. All together must not exceed the service's rate limit."""
        await self._turn.acquire()
        asyncio.get_running_loop().call_later(1 / STARTS_PER_SECOND, self._turn.release)

    async def aclose(self) -> None:
        """End all watches, whose viewers then leave."""
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
            with suppress(TimeoutError):
                await asyncio.wait_for(self._has_news.wait(), BEAT)


class Watch:
    """One watched intent. The bus decides whether this process polls it."""

    def __init__(self, intent_id: str, hub: Hub, client: str | None) -> None:
        self.intent_id = intent_id
        self.hub = hub
        self.loop = asyncio.get_running_loop()
        self.newest: Snapshot | None = None
        self.is_over = False
        self.viewers = 0
        self.ending: asyncio.TimerHandle | None = None
        self._client = client
        self._changed: asyncio.Future[None] = self.loop.create_future()
        self._polling: asyncio.Task[None] | None = None

    def news(self, seen: str) -> Snapshot | None:
        """Return the newest snapshot, unless it is the one that was `seen`, by its ID."""
        return self.newest if self.newest and self.newest.id != seen else None

    async def next(self, seen: str, *, within: float, ended: asyncio.Future[None] | None = None) -> Snapshot | None:
        """Wait for `news`. Returns None after `within` seconds, at the end, or once its viewer has `ended`."""
        if not (self.is_over or self.news(seen)):
            awaited = {self._changed, ended} if ended else {self._changed}
            await asyncio.wait(awaited, timeout=within, return_when=asyncio.FIRST_COMPLETED)
        return self.news(seen)

    def end(self) -> asyncio.Task[None] | None:
        """End the watch. Returns the poller's task, if any, for callers that need to await its end."""
        if self.ending:
            self.ending.cancel()
        if self.hub.watched.get(self.intent_id) is self:
            del self.hub.watched[self.intent_id]
            self.hub.slots.give_back(self._client)
            watched_intents.dec()
        self.hub.share()
        polling = self._polling
        self.stop_leading()
        self.is_over = True
        self._wake()
        return polling

    def start_leading(self) -> None:
        if self._polling is None and not self.is_over:
            name, pause = f"watch {self.intent_id}", self.hub.intervals.poll
            self._polling = asyncio.create_task(restart_forever(lambda: Poller(self).run(), name=name, pause=pause))

    def stop_leading(self) -> None:
        if self._polling:
            self._polling.cancel()
            self._polling = None

    def restart_polling(self) -> None:
        """Begin again with a plain poll. If another process leads, nothing changes."""
        if self._polling:
            self.stop_leading()
            self.start_leading()

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
        self._changed.set_result(None)
        self._changed = self.loop.create_future()


class Poller:
    """Polls until the intent is final and publishes each response, changed or not.

    Never raises a ServiceError: a failure is published as a stale snapshot.
    """

    def __init__(self, watch: Watch) -> None:
        self.watch, self.hub, self.intent_id = watch, watch.hub, watch.intent_id
        # Plain polls before a long poll. The first returns at once, while a long poll would block without a change.
        self.plain_polls = 1
        self.cursor: tuple[str | None, ...] | None = None
        # Since when nothing is expected: the transfer failed, or the service says so. Both can be wrong.
        self.quiet_since: datetime | None = None
        self.quick_responses = 0
        self.cut_polls = 0
        self.failures = 0

    @property
    def snapshot(self) -> Snapshot:
        """The newest that this process knows."""
        return self.watch.newest or Snapshot(self.intent_id, None, learned_at=None)

    async def run(self) -> None:
        """Poll. An internal error is published as a stale snapshot, and raised."""
        while not self.snapshot.is_final:
            if self.plain_polls == 1:  # a start, or the next one after a failure
                await self.hub.next_turn()
            try:
                pause = await (self._long_poll() if self._may_long_poll() else self._poll())
                self.failures = 0
            except ServiceError as error:
                pause = self._handle_error(error)
            except Exception:
                self.watch.publish(self.snapshot.stale(self.snapshot.stale_since or self.hub.now()))
                raise
            if not self.snapshot.is_final:
                await asyncio.sleep(pause)

    def _may_long_poll(self) -> bool:
        return not (self.plain_polls or self.quiet_since) and self.hub.service.can_hold

    async def _poll(self) -> float:
        """Send one request, publish the response, and return the delay before the next request."""
        before = self.snapshot.content
        try:
            receipt = await self.hub.service.ask_async(operations.get_intent_receipt(self.intent_id))
            self._publish(receipt)
        except NotFound:
            await self._poll_intent()
        if self.snapshot.content != before:
            self.cursor = None  # it belongs to the previous receipt, and the next long poll returns a new one
        self.plain_polls = max(0, self.plain_polls - 1)
        if self._may_long_poll():
            return 0.0
        is_idle = self.quiet_since and self.hub.now() - self.quiet_since > REFUND_LIKELY
        return (self.hub.intervals.recheck if is_idle else self.hub.intervals.poll) * SystemRandom().uniform(0.8, 1.2)

    async def _poll_intent(self) -> None:
        """Poll an intent without a receipt. Intents have none until executed, but never lose one."""
        if self.snapshot.receipt:
            raise NotFound("the receipt is not there any more")
        try:
            intent = await self.hub.service.ask_async(operations.get_intent(self.intent_id))
            self._publish(intent)
        except NotFound:
            now = self.hub.now()
            self.watch.publish(Snapshot(self.intent_id, None, learned_at=now, is_final=True, is_unknown=True))

    async def _long_poll(self) -> float:
        began, status = self.watch.loop.time(), self.snapshot.receipt and self.snapshot.receipt.status
        try:
            # The receipt states are sent as received, because only the service interprets them.
            states = tuple(state or "" for state in self.cursor or ())
            call = operations.wait_intent_receipt(self.intent_id, last_receipt_states=states)
            answer = await self.hub.service.ask_async(call)
        except NotFound:
            if self.snapshot.receipt:
                raise
            self.plain_polls = 1  # not executed yet, and it may have expired in the meantime
            return self._pause(began, is_changed=False)
        except Unreachable as error:
            if error.reason is not Reason.TIMEOUT:
                raise
            self.cut_polls = (self.cut_polls + 1) % MAX_CUT_POLLS
            self.plain_polls = 1 if self.cut_polls else POLLS_INSTEAD
            return 0.0
        if self.cursor is not None:
            self.cut_polls = 0  # only calls with a cursor are long polls
        is_changed = answer.receipt_states != self.cursor or answer.intent_receipt.status != status
        self.cursor = answer.receipt_states
        self._publish(answer.intent_receipt, is_done=bool(answer.done))
        return self._pause(began, is_changed=is_changed)

    def _pause(self, began: float, *, is_changed: bool) -> float:
        """Return the delay before the next long poll. It prevents a busy loop with a service that doesn't block."""
        if self.quiet_since:
            return self.hub.intervals.poll
        took = self.watch.loop.time() - began
        self.quick_responses = self.quick_responses + 1 if took < self.hub.intervals.pause else 0
        if not self.quick_responses:
            return max(0.0, MIN_GAP - took)
        shortest = MIN_GAP if is_changed else self.hub.intervals.pause
        return _doubled(shortest, self.quick_responses, at_most=self.hub.intervals.poll)

    def _publish(self, received: Intent | IntentReceipt, *, is_done: bool = False) -> None:
        """Publish what the service returned, or the known receipt if that is newer."""
        now, before = self.hub.now(), self.snapshot
        receipt = None if isinstance(received, Intent) else received
        if receipt and before.receipt and is_older(receipt, than=before.receipt, now=now):
            receipt = before.receipt
        shown = receipt or received
        regressed_to = received.status if received.status != shown.status else None
        snapshot = Snapshot(self.intent_id, receipt, now, regressed_to=regressed_to)
        is_observed = is_done or (before.receipt and before.receipt.status not in STOPPED)
        if shown.status not in STOPPED and not is_done:
            self.quiet_since = self.quiet_since if snapshot.content == before.content else None
        elif is_observed or self.quiet_since is None:
            # Count from now if the end was observed, or else from the last change.
            self.quiet_since = now if is_observed else past(shown.updated_at, now=now) or now
        self.watch.publish(replace(snapshot, is_final=self._is_over(shown, now)))

    def _is_over(self, shown: Intent | IntentReceipt, now: datetime) -> bool:
        dated = shown if isinstance(shown, Intent) else shown.summary
        has_expired = dated and dated.expires_at and now - dated.expires_at > CLOCK_SKEW
        return (
            shown.status in ENDED
            or (shown.status in UNEXECUTED and bool(has_expired))
            or (self.quiet_since is not None and now - self.quiet_since > LAST_POLL)
        )

    def _handle_error(self, error: ServiceError) -> float:
        """Publish the failure unless it is recent, and return the delay before the retry."""
        if isinstance(error, TooBusy) and error.status is None:
            return error.retry_after * SystemRandom().uniform(0.5, 1.0)
        self.plain_polls = 1
        # The circuit breaker says when it lets a call through.
        pause = error.again_in
        if pause is None:
            self.failures += 1
            intervals = self.hub.intervals
            longest = intervals.retry_unreachable if isinstance(error, Unreachable) else 2 * intervals.poll
            pause = SystemRandom().uniform(0, _doubled(intervals.retry, self.failures, at_most=longest))
            # Other pollers learn of the rate limit from the client.
            pause += error.retry_after if isinstance(error, TooBusy) else 0.0
        if self.snapshot.stale_since is None and (self.failures > 1 or pause > self.hub.intervals.pause):
            self.watch.publish(self.snapshot.stale(self.hub.now()))
        return pause


def _doubled(seconds: float, times: int, *, at_most: float) -> float:
    return float(min(seconds * 2 ** min(times - 1, 16), at_most))
