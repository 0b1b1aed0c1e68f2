"""How the service is asked about one intent: the long poll, and what takes its place when it cannot be had."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from intents_ui.live.picture import Picture
from intents_ui.live.turns import Turns
from intents_ui.service.client import AsyncServiceClient
from intents_ui.service.errors import NotFound, Reason, ServiceError, TooBusy, Unreachable
from intents_ui.service.wire import Intent, IntentReceipt, IntentStatus

ENDED = frozenset({IntentStatus.SUCCEEDED, IntentStatus.REFUNDED})
# A refund or a retry may follow (domain.md 1.1).
STOPPED = frozenset({IntentStatus.FAILED, IntentStatus.ABORTED, IntentStatus.INVALID})
OFFERED = frozenset({IntentStatus.QUOTED, IntentStatus.COMMITTED})


def is_earlier(told: IntentReceipt, *, than: IntentReceipt) -> bool:
    """Whether it is an older state than one that we know; where the times do not tell, an end is not taken back."""
    if told.updated_at and than.updated_at and told.updated_at != than.updated_at:
        return told.updated_at < than.updated_at
    ends = ENDED | STOPPED
    return than.status in ends and told.status not in ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Seconds. The defaults are those of faults.md 3.4 and 8.4."""

    breath: float = 0.1  # between two answers that both brought news
    shortest: float = 1.0  # after an answer that came at once and brought nothing; doubles up to …
    longest: float = 15.0
    news: int = 8  # answers at once, each with news, before we no longer believe that they bring any
    look: float = 15.0  # between two looks where no call is held
    recheck: float = 60.0  # … and the service says that there is nothing to wait for
    refund: float = 300.0  # after a stop, in which a refund is likely and looked for as often as anything
    look_for: float = 1800.0  # at one that failed, was aborted, is invalid, or is "done" although it has not ended
    skew: float = 120.0  # by which the service's clock may differ from ours
    retry_first: float = 0.5
    retry_longest: float = 30.0
    # Readers want the picture back within 5 s of the service's return, so an unreachable one is tried more often.
    retry_unreachable: float = 4.0
    start_rate: float = 20.0  # enquiries a second that begin; each asks twice at first, and 40 calls a second may be
    reconnect_rate: float = 10.0  # held calls a second that are put again after all of them broke at once
    return_rate: float = 20.0  # enquiries a second that ask again when a service that was away is back
    unsaid: float = 1.0  # trouble that is over sooner is not told
    cuts: int = 2  # held calls that were cut off before we stop holding them …
    looks: int = 20  # … and looks before we try again
    grace: float = 5.0  # for which an intent is watched after its last follower left
    restart: float = 5.0  # after a fault of our own


class Traffic:
    """What the enquiries of a process share: how many they are. How the service is, their client knows (`health`).

    `holding`: the intents whose call the service holds, or held until it broke."""

    def __init__(self) -> None:
        self.enquiries = 0
        self.holding: set[str] = set()
        self.turns = Turns()

    def reconnect_in(self, pace: Pace) -> float:
        """Seconds in which all held calls are put again."""
        return len(self.holding) / pace.reconnect_rate

    def return_in(self, pace: Pace) -> float:
        """Seconds in which all ask again."""
        return max(self.enquiries / pace.return_rate, self.reconnect_in(pace))

    def retry_longest(self, pace: Pace) -> float:
        """Ten questions a second from all together, so that a service that returns is not run over."""
        return min(max(pace.retry_unreachable, self.enquiries / 10), pace.retry_longest)


class Enquiry:
    """Asks until the last state, and tells each answer, changed or not.

    `known`: what this process knows already. `beat`: called before each question. `visitor`: whose turn it takes to
    begin. Never raises a ServiceError: trouble is told as a stale picture.
    """

    def __init__(
        self,
        service: AsyncServiceClient,
        intent_id: str,
        *,
        known: Picture | None,
        tell: Callable[[Picture], Awaitable[None]],
        traffic: Traffic,
        pace: Pace,
        now: Callable[[], datetime],
        beat: Callable[[], None] = lambda: None,
        visitor: str | None = None,
    ) -> None:
        self.service = service
        self.intent_id = intent_id
        self.picture = known or Picture(intent_id, None, learned_at=None)
        self._tell = tell
        self._traffic = traffic
        self._visitor = visitor
        self._pace = pace
        self._now = now
        self._beat = beat
        self._clock = asyncio.get_running_loop().time
        # A look answers at once, also where a wait would be held because nothing has changed since.
        self._must_look = True
        self._cursor: tuple[str | None, ...] | None = None
        self._is_stopped = False
        self._stopped_at = datetime.min.replace(tzinfo=UTC)
        self._done_at: datetime | None = None
        self._idle_answers = 0
        self._news_at_once = 0
        self._cuts = 0
        self._looks = 0
        self._failures = 0

    async def run(self) -> None:
        self._traffic.enquiries += 1
        try:
            await self._traffic.turns.take(self._visitor, rate=self._pace.start_rate)
            while not self.picture.is_last:
                self._beat()
                try:
                    pause = await self._ask()
                    self._failures = 0
                except ServiceError as error:
                    pause = await self._after(error)
                if not self.picture.is_last:
                    await asyncio.sleep(pause)
        finally:
            self._traffic.enquiries -= 1
            self._traffic.holding.discard(self.intent_id)

    async def _ask(self) -> float:
        """Asks once and tells the answer; gives the pause before the next question."""
        return await (self._wait() if self._may_wait() else self._look())

    def _may_wait(self) -> bool:
        if self._must_look or self._is_stopped or self._done_at or not self.service.can_hold:
            return False
        return self._cuts < self._pace.cuts

    async def _look(self) -> float:
        before = self.picture.content
        try:
            receipt = await self.service.get_intent_receipt(self.intent_id)
        except NotFound:
            await self._learn_without_receipt()
        else:
            await self._learn(receipt)
        self._must_look = False
        if self.picture.content != before:
            self._done_at = None
            self._cursor = None  # it belongs to the receipt before; without one the next wait brings another
        if self._cuts >= self._pace.cuts:
            self._looks += 1
            if self._looks >= self._pace.looks:
                self._cuts = self._looks = 0
        if self._may_wait():
            return 0.0
        self._traffic.holding.discard(self.intent_id)
        pause = self._pace.recheck if self._need_not_wait() else self._pace.look
        return pause * random.uniform(0.8, 1.2)  # noqa: S311 - spreads, hides nothing

    async def _wait(self) -> float:
        began, status = self._clock(), self.picture.receipt and self.picture.receipt.status
        self._traffic.holding.add(self.intent_id)
        try:
            answer = await self.service.wait_intent_receipt(self.intent_id, last_receipt_states=self._states())
        except NotFound:
            if self.picture.receipt:
                raise
            self._must_look = True  # not executed yet (domain.md 7 row 7); it may have expired meanwhile
            return self._pause(began, brought=False)
        except Unreachable as error:
            if error.reason is not Reason.TIMEOUT:
                raise
            self._cuts += 1
            self._must_look = True
            return 0.0
        if self._cursor is not None:
            self._cuts = 0  # without a cursor no call is held
        brought = answer.receipt_states != self._cursor or answer.intent_receipt.status != status
        self._cursor = answer.receipt_states
        # "Stop waiting": whether it is right is seen later, by looking.
        self._done_at = self._now() if answer.done else None
        await self._learn(answer.intent_receipt)
        return self._pause(began, brought=brought)

    def _need_not_wait(self) -> bool:
        if self._is_stopped:
            return self._now() - self._stopped_at > timedelta(seconds=self._pace.refund)
        return self._done_at is not None

    def _states(self) -> tuple[str, ...]:
        """As received: what the service makes of it is its own affair (domain.md 7 row 4)."""
        return tuple(state or "" for state in self._cursor or ())

    def _pause(self, began: float, *, brought: bool) -> float:
        """A service that does not hold the call must not make us ask without end."""
        took = self._clock() - began
        if self._done_at and not self._is_stopped:
            return self._pace.recheck
        if took >= self._pace.shortest:
            self._news_at_once = 0
        elif brought:
            self._news_at_once += 1
        if took >= self._pace.shortest or (brought and self._news_at_once <= self._pace.news):
            self._idle_answers = 0
            return max(0.0, self._pace.breath - took)
        self._idle_answers += 1
        return float(min(self._pace.shortest * 2 ** (self._idle_answers - 1), self._pace.longest))

    async def _learn(self, told: IntentReceipt) -> None:
        now, known = self._now(), self.picture.receipt
        receipt = known if known and is_earlier(told, than=known) else told
        expires_at = receipt.summary.expires_at if receipt.summary else None
        is_last = self._is_over(receipt.status, receipt.updated_at, expires_at, now)
        went_back = told.status if told.status != receipt.status else None
        await self._show(Picture(self.intent_id, receipt, learned_at=now, is_last=is_last, went_back_to=went_back))

    async def _learn_without_receipt(self) -> None:
        """An intent that was never executed may have none; one that had a receipt does not lose it."""
        if self.picture.receipt:
            raise NotFound("the receipt is not there any more")
        now = self._now()
        try:
            intent: Intent = await self.service.get_intent(self.intent_id)
        except NotFound:
            await self._show(Picture(self.intent_id, None, learned_at=now, is_last=True, is_unknown=True))
        else:
            is_last = self._is_over(intent.status, intent.updated_at, intent.expires_at, now)
            await self._show(Picture(self.intent_id, None, learned_at=now, is_last=is_last))

    def _is_over(
        self, status: str | None, updated_at: datetime | None, expires_at: datetime | None, now: datetime
    ) -> bool:
        before = self.picture.receipt and self.picture.receipt.status
        if status in STOPPED and not self._is_stopped:
            # One that stopped before our eyes is watched from now on, one found so from its last change on.
            self._stopped_at = now if before not in (None, status) else (updated_at or now)
        self._is_stopped = status in STOPPED
        if self._is_stopped:
            return now - self._stopped_at > timedelta(seconds=self._pace.look_for)
        if status in OFFERED and expires_at and now - expires_at > timedelta(seconds=self._pace.skew):
            return True
        if self._done_at and status not in ENDED:
            return now - self._done_at > timedelta(seconds=self._pace.look_for)
        return status in ENDED

    async def _show(self, picture: Picture) -> None:
        self.picture = picture
        await self._tell(picture)

    async def _after(self, error: ServiceError) -> float:
        """Tells the trouble unless it is young; gives the pause before the next try."""
        if isinstance(error, TooBusy) and error.status is None:
            return error.retry_after * random.uniform(0.5, 1.0)  # noqa: S311 - our own places are taken
        self._must_look = True
        if error.again_in is None:
            pause = self._backoff(error)
        else:
            # It was not asked. All who are told so must not come back at once.
            pause = error.again_in + random.uniform(0, self._traffic.return_in(self._pace))  # noqa: S311 - spreads, hides nothing
        if self.picture.stale_since is None and (self._failures > 1 or pause > self._pace.unsaid):
            await self._show(self.picture.stale(self._now()))
        return pause

    def _backoff(self, error: ServiceError) -> float:
        self._failures += 1
        longest, together = self._pace.retry_longest, 0.0
        if isinstance(error, Unreachable):
            longest = self._traffic.retry_longest(self._pace)
            together = self._traffic.reconnect_in(self._pace)
        backoff = max(min(self._pace.retry_first * 2 ** min(self._failures - 1, 16), longest), together)
        pause = random.uniform(0, backoff)  # noqa: S311 - spreads, hides nothing
        # The others that ask are told by our client that the service wants quiet.
        return error.retry_after + pause if isinstance(error, TooBusy) else pause
