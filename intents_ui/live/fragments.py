"""Renders a snapshot as an SSE event, once for all subscribers."""

import asyncio
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from cachetools import LRUCache

from intents_ui.live.snapshot import Snapshot

log = logging.getLogger(__name__)

MOST_KEPT: Final = 512  # one per intent
COME_BACK: Final = 1000  # milliseconds after which browsers reconnect
_LINE_END = re.compile("\r\n|\r|\n")  # the only line endings in the SSE format


@dataclass(frozen=True, slots=True)
class Made:
    snapshot_id: str
    event: asyncio.Task[bytes]
    is_done: asyncio.Event


class Fragments:
    """Cache of rendered events. `render` may be slow, because it runs in a thread."""

    def __init__(self, render: Callable[[Snapshot], str]) -> None:
        self._render = render
        self._cache: LRUCache[str, Made] = LRUCache(MOST_KEPT)

    async def event(self, snapshot: Snapshot) -> bytes:
        """Return the event for a snapshot.

        An exception of `render` reaches all waiting callers. Later callers retry.
        """
        made = self._cache.get(snapshot.intent_id)
        if made is None or made.snapshot_id != snapshot.id:
            made = self._cache[snapshot.intent_id] = self._begin(snapshot)
        # Awaiting the task itself would cancel it for all callers when one of them is canceled.
        await made.is_done.wait()
        return made.event.result()

    def _begin(self, snapshot: Snapshot) -> Made:
        made = Made(snapshot.id, asyncio.create_task(self._rendered(snapshot)), asyncio.Event())

        def done(event: asyncio.Task[bytes]) -> None:
            if not event.cancelled():
                event.exception()  # marks the exception as retrieved, because no caller may be left
            made.is_done.set()

        made.event.add_done_callback(done)
        return made

    async def _rendered(self, snapshot: Snapshot) -> bytes:
        try:
            html = await asyncio.to_thread(self._render, snapshot)
        except BaseException:
            self._cache.pop(snapshot.intent_id, None)
            raise
        return message(html, id=snapshot.id, retry=COME_BACK)


def message(data: str, *, event: str = "", id: str = "", retry: int) -> bytes:
    """Return an SSE event. Browsers ignore an event without data, and `retry` with it, so data is required."""
    lines = [f"event: {event}"] if event else []
    lines += [f"id: {id}"] if id else []
    lines.append(f"retry: {retry}")
    lines += [f"data: {line}" for line in _LINE_END.split(data)]
    return ("\n".join(lines) + "\n\n").encode("utf-8", "replace")
