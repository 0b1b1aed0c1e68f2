"""Turns at beginning to ask about an intent: so many a second, and clients take them in rotation."""

import asyncio
from collections import deque

from intents_ui.service.shares import buckets


class Turns:
    """For one event loop. Who no longer waits takes no turn; the networks of an IPv6 /48 take theirs as one client."""

    def __init__(self) -> None:
        self._waiting: dict[str | None, deque[asyncio.Future[None]]] = {}
        self._next = float("-inf")
        self._timer: asyncio.TimerHandle | None = None

    async def take(self, visitor: str | None, *, rate: float) -> None:
        """Wait for a turn; those of a process that was just started come all together."""
        loop = asyncio.get_running_loop()
        client = buckets(visitor)[-1][0] if visitor else None
        turn = loop.create_future()
        self._waiting.setdefault(client, deque()).append(turn)
        if self._timer is None:
            self._give(rate)
        try:
            await turn
        finally:
            if turn.cancelled():
                self._withdraw(client, turn)

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    def _give(self, rate: float) -> None:
        """One turn now, if it is time, and the next when it is."""
        loop = asyncio.get_running_loop()
        self._timer = None
        if loop.time() >= self._next and (turn := self._first()):
            turn.set_result(None)
            self._next = loop.time() + 1 / rate
        if self._waiting:
            self._timer = loop.call_at(self._next, self._give, rate)

    def _first(self) -> "asyncio.Future[None] | None":
        """The client's whose turn it is, who comes last the next time."""
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
