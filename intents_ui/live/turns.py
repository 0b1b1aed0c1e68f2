"""Rate limiter for starting pollers, with round-robin scheduling over clients."""

import asyncio
from collections import deque

from intents_ui.service.context.shares import buckets


class Turns:
    """Queue of pollers, for one event loop.

    Canceled waiters are skipped. All networks of an IPv6 /48 count as one client.
    """

    def __init__(self) -> None:
        self._waiting: dict[str | None, deque[asyncio.Future[None]]] = {}
        self._next = float("-inf")
        self._timer: asyncio.TimerHandle | None = None

    async def take(self, visitor: str | None, *, rate: float) -> None:
        """Wait for a turn, at most `rate` per second."""
        loop = asyncio.get_running_loop()
        client = buckets(visitor)[-1][0] if visitor else None
        turn = loop.create_future()
        self._waiting.setdefault(client, deque()).append(turn)
        if self._timer is None:
            self._grant_next(rate)
        try:
            await turn
        finally:
            if turn.cancelled():
                self._withdraw(client, turn)

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
