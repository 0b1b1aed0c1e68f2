"""Poller of one intent: a long poll, with plain polling as the fallback."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import SystemRandom

from intents_ui.live.snapshot import Snapshot
from intents_ui.service import operations
from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import NotFound, Reason, ServiceError, TooBusy, Unreachable
from intents_ui.service.models import ENDED, STOPPED, Intent, IntentReceipt, IntentStatus
from intents_ui.service.outcome import is_older, past


class Turns:
    """Queue of pollers, for one event loop.

    Canceled waiters are skipped.
    """

    def __init__(self) -> None:
        self._waiting: dict[str | None, deque[asyncio.Future[None]]] = {}
        self._next = float("-inf")
        self._timer: asyncio.TimerHandle | None = None

    async def take(self, visitor: str | None, *, rate: float) -> None:
        """Wait for a turn, at most `rate` per second."""
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        self._waiting.setdefault(visitor, deque()).append(turn)
        if self._timer is None:
            self._grant_next(rate)
        try:
            await turn
        finally:
            if turn.cancelled():
                self._withdraw(visitor, turn)

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    def _grant_next(self, rate: float) -> None:
        """Grant one turn if it is due, and schedule the next."""
        loop = asyncio.get_running_loop()
        self._timer = None
        if loop.time() >= self._next and (turn := self._pop_next()):
            turn.set_result(None)
            self._next = loop.time() + 1 / rate
        if self._waiting:
            self._timer = loop.call_at(self._next, self._grant_next, rate)

    def _pop_next(self) -> "asyncio.Future[None] | None":
        """Remove and return the next turn, and move its client to the end of the queue."""
        while self._waiting:
            client = next(iter(self._waiting))
            turns = self._waiting.pop(client)
            turn = turns.popleft()
            if turns:
                self._waiting[client] = turns
            if not turn.done():
                return turn
        return None

    def _withdraw(self, client: str | None, turn: "asyncio.Future[None]") -> None:
        turns = self._waiting.get(client)
        if turns and turn in turns:
            turns.remove(turn)
            if not turns:
                del self._waiting[client]


OFFERED = frozenset({IntentStatus.QUOTED, IntentStatus.COMMITTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class PollIntervals:
    """Poll intervals and limits, in seconds unless noted."""

    breath: float = 0.1  # minimum time between two responses that both have changes
    shortest: float = 1.0  # delay after an immediate response without changes, doubled up to `longest`
    longest: float = 15.0
    news: int = 8  # immediate responses with changes in a row, after which they count as unchanged
    look: float = 15.0  # poll interval without a long poll
    recheck: float = 60.0  # poll interval when the service says there is nothing to wait for
    refund: float = 300.0  # time after a failure in which a refund is likely, polled at the normal interval
    # how long to poll an intent that failed, was aborted, is invalid, or is "done" without a final status
    look_for: float = 1800.0
    skew: float = 120.0  # tolerated clock difference to the service
    retry_first: float = 0.5
    retry_longest: float = 30.0
    # Pages should recover within 5 s of the service, so an unreachable service is retried more often.
    retry_unreachable: float = 4.0
    # pollers per second that start, each with two requests, within a limit of 40 requests per second
    start_rate: float = 20.0
    reconnect_rate: float = 10.0  # long polls per second that reconnect after all of them broke at once
    return_rate: float = 20.0  # pollers per second that resume after an outage
    unsaid: float = 1.0  # a shorter outage isn't shown
    cuts: int = 2  # count of long polls cut off before falling back to plain polling
    looks: int = 20  # count of plain polls before trying a long poll again
    grace: float = 5.0  # how long to poll an intent after its last subscriber left
    restart: float = 5.0  # delay after an internal error


class Traffic:
    """State shared by a process's pollers: their number, and the intents in a long poll.

    `holding` keeps an intent until its long poll is resumed or given up. The client knows the service's health
    (`health`).
    """

    def __init__(self) -> None:
        self.pollers = 0
        self.holding: set[str] = set()
        self.turns = Turns()

    def reconnect_in(self, intervals: PollIntervals) -> float:
        """Return the seconds over which to spread reconnecting long polls."""
        return len(self.holding) / intervals.reconnect_rate

    def return_in(self, intervals: PollIntervals) -> float:
        """Return the seconds over which to spread all pollers after an outage."""
        return max(self.pollers / intervals.return_rate, self.reconnect_in(intervals))

    def retry_longest(self, intervals: PollIntervals) -> float:
        """Return the longest retry delay.

        It limits all pollers to about ten requests per second, so that a recovering service isn't overloaded.
        """
        return min(max(intervals.retry_unreachable, self.pollers / 10), intervals.retry_longest)


class Poller:
    """Polls until the intent is final and publishes each response with `tell`, changed or not.

    `known` is the process's current snapshot. `beat` is called before each request. `visitor` is whose turn to start is
    used. Never raises a ServiceError: a failure is published as a stale snapshot.
    """

    def __init__(
        self,
        service: ServiceClient,
        intent_id: str,
        *,
        known: Snapshot | None,
        tell: Callable[[Snapshot], Awaitable[None]],
        traffic: Traffic,
        intervals: PollIntervals,
        now: Callable[[], datetime],
        beat: Callable[[], None] = lambda: None,
        visitor: str | None = None,
    ) -> None:
        self.service = service
        self.intent_id = intent_id
        self.snapshot = known or Snapshot(intent_id, None, learned_at=None)
        self._publish = tell
        self._traffic = traffic
        self._visitor = visitor
        self._intervals = intervals
        self._now = now
        self._heartbeat = beat
        self._clock = asyncio.get_running_loop().time
        # Start with a plain poll: it returns at once, while a long poll would block if nothing has changed.
        self._must_poll = True
        self._cursor: tuple[str | None, ...] | None = None
        self._is_stopped = False
        self._stopped_at = datetime.min.replace(tzinfo=UTC)
        self._done_at: datetime | None = None
        self._idle_answers = 0
        self._quick_changes = 0
        self._cuts = 0
        self._polls = 0
        self._failures = 0

    async def run(self) -> None:
        self._traffic.pollers += 1
        try:
            await self._traffic.turns.take(self._visitor, rate=self._intervals.start_rate)
            while not self.snapshot.is_last:
                self._heartbeat()
                try:
                    pause = await (self._long_poll() if self._may_long_poll() else self._poll())
                    self._failures = 0
                except ServiceError as error:
                    pause = await self._handle_error(error)
                if not self.snapshot.is_last:
                    await asyncio.sleep(pause)
        finally:
            self._traffic.pollers -= 1
            self._traffic.holding.discard(self.intent_id)

    def _may_long_poll(self) -> bool:
        if self._must_poll or self._is_stopped or self._done_at or not self.service.can_hold:
            return False
        return self._cuts < self._intervals.cuts

    async def _poll(self) -> float:
        """Send one request, publish the response, and return the delay before the next request."""
        before = self.snapshot.content
        try:
            receipt = await self.service.ask_async(operations.get_intent_receipt(self.intent_id))
        except NotFound:
            await self._update_without_receipt()
        else:
            await self._update(receipt)
        self._must_poll = False
        if self.snapshot.content != before:
            self._done_at = None
            self._cursor = None  # it belongs to the previous receipt, and the next long poll returns a new one
        if self._cuts >= self._intervals.cuts:
            self._polls += 1
            if self._polls >= self._intervals.looks:
                self._cuts = self._polls = 0
        if self._may_long_poll():
            return 0.0
        self._traffic.holding.discard(self.intent_id)
        is_idle = self._done_at is not None
        if self._is_stopped:
            is_idle = self._now() - self._stopped_at > timedelta(seconds=self._intervals.refund)
        pause = self._intervals.recheck if is_idle else self._intervals.look
        return pause * SystemRandom().uniform(0.8, 1.2)

    async def _long_poll(self) -> float:
        began, status = self._clock(), self.snapshot.receipt and self.snapshot.receipt.status
        self._traffic.holding.add(self.intent_id)
        try:
            # The receipt states are sent as received, because only the service interprets them.
            states = tuple(state or "" for state in self._cursor or ())
            call = operations.wait_intent_receipt(self.intent_id, last_receipt_states=states)
            answer = await self.service.ask_async(call)
        except NotFound:
            if self.snapshot.receipt:
                raise
            self._must_poll = True  # not executed yet, and it may have expired in the meantime
            return self._pause(began, brought=False)
        except Unreachable as error:
            if error.reason is not Reason.TIMEOUT:
                raise
            self._cuts += 1
            self._must_poll = True
            return 0.0
        if self._cursor is not None:
            self._cuts = 0  # only calls with a cursor are long polls
        brought = answer.receipt_states != self._cursor or answer.intent_receipt.status != status
        self._cursor = answer.receipt_states
        # "Stop polling" can be wrong, so plain polls verify it later.
        self._done_at = self._now() if answer.done else None
        await self._update(answer.intent_receipt)
        return self._pause(began, brought=brought)

    def _pause(self, began: float, *, brought: bool) -> float:
        """Return the delay before the next long poll. It prevents a busy loop with a service that doesn't block."""
        took = self._clock() - began
        if self._done_at and not self._is_stopped:
            return self._intervals.recheck
        if took >= self._intervals.shortest:
            self._quick_changes = 0
        elif brought:
            self._quick_changes += 1
        if took >= self._intervals.shortest or (brought and self._quick_changes <= self._intervals.news):
            self._idle_answers = 0
            return max(0.0, self._intervals.breath - took)
        self._idle_answers += 1
        return float(min(self._intervals.shortest * 2 ** (self._idle_answers - 1), self._intervals.longest))

    async def _update(self, told: IntentReceipt) -> None:
        now, known = self._now(), self.snapshot.receipt
        receipt = known if known and is_older(told, than=known, now=now) else told
        expires_at = receipt.summary.expires_at if receipt.summary else None
        is_last = self._is_over(receipt.status, receipt.updated_at, expires_at, now)
        went_back = told.status if told.status != receipt.status else None
        await self._set_picture(
            Snapshot(self.intent_id, receipt, learned_at=now, is_last=is_last, went_back_to=went_back)
        )

    async def _update_without_receipt(self) -> None:
        """Publish a snapshot of an intent without a receipt. Intents have none until executed, but never lose one."""
        if self.snapshot.receipt:
            raise NotFound("the receipt is not there any more")
        now = self._now()
        try:
            intent: Intent = await self.service.ask_async(operations.get_intent(self.intent_id))
        except NotFound:
            await self._set_picture(Snapshot(self.intent_id, None, learned_at=now, is_last=True, is_unknown=True))
        else:
            is_last = self._is_over(intent.status, intent.updated_at, intent.expires_at, now)
            await self._set_picture(Snapshot(self.intent_id, None, learned_at=now, is_last=is_last))

    def _is_over(
        self, status: str | None, updated_at: datetime | None, expires_at: datetime | None, now: datetime
    ) -> bool:
        before = self.snapshot.receipt and self.snapshot.receipt.status
        if status in STOPPED and not self._is_stopped:
            # Count from now if the failure was observed, or else from the intent's last change.
            self._stopped_at = now if before not in (None, status) else (past(updated_at, now=now) or now)
        self._is_stopped = status in STOPPED
        if self._is_stopped:
            return now - self._stopped_at > timedelta(seconds=self._intervals.look_for)
        if status in OFFERED and expires_at and now - expires_at > timedelta(seconds=self._intervals.skew):
            return True
        if self._done_at and status not in ENDED:
            return now - self._done_at > timedelta(seconds=self._intervals.look_for)
        return status in ENDED

    async def _set_picture(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        await self._publish(snapshot)

    async def _handle_error(self, error: ServiceError) -> float:
        """Publish the failure unless it is recent, and return the delay before the retry."""
        if isinstance(error, TooBusy) and error.status is None:
            return error.retry_after * SystemRandom().uniform(0.5, 1.0)
        self._must_poll = True
        if error.again_in is None:
            pause = self._backoff(error)
        else:
            # Rejected by the circuit breaker. Jitter, so that all pollers don't resume at once.
            pause = error.again_in + SystemRandom().uniform(0, self._traffic.return_in(self._intervals))
        if self.snapshot.stale_since is None and (self._failures > 1 or pause > self._intervals.unsaid):
            await self._set_picture(self.snapshot.stale(self._now()))
        return pause

    def _backoff(self, error: ServiceError) -> float:
        self._failures += 1
        longest, together = self._intervals.retry_longest, 0.0
        if isinstance(error, Unreachable):
            longest = self._traffic.retry_longest(self._intervals)
            together = self._traffic.reconnect_in(self._intervals)
        backoff = max(min(self._intervals.retry_first * 2 ** min(self._failures - 1, 16), longest), together)
        pause = SystemRandom().uniform(0, backoff)
        # Other pollers learn of the rate limit from the client.
        return error.retry_after + pause if isinstance(error, TooBusy) else pause
