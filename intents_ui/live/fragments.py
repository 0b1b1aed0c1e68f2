"""The fragment of a picture as an event: made once, for all who watch."""

import asyncio
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from cachetools import LRUCache

from intents_ui.live.picture import Picture

log = logging.getLogger(__name__)

MOST_KEPT: Final = 512  # one an intent
COME_BACK: Final = 1000  # milliseconds after which a browser comes back when its connection breaks
_LINE_END = re.compile("\r\n|\r|\n")  # and no other, for a browser knows no other


@dataclass(frozen=True, slots=True)
class Made:
    picture_id: str
    event: asyncio.Task[bytes]
    is_done: asyncio.Event


class Fragments:
    """`render` may take its time: it runs in a thread."""

    def __init__(self, render: Callable[[Picture], str]) -> None:
        self._render = render
        self._kept: LRUCache[str, Made] = LRUCache(MOST_KEPT)

    async def event(self, picture: Picture) -> bytes:
        """Raises what `render` raised, to each who asked; whoever asks later has it tried again."""
        made = self._kept.get(picture.intent_id)
        if made is None or made.picture_id != picture.id:
            made = self._kept[picture.intent_id] = self._begin(picture)
        # Not the task itself: one reader who leaves must not take it from the others.
        await made.is_done.wait()
        return made.event.result()

    def _begin(self, picture: Picture) -> Made:
        made = Made(picture.id, asyncio.create_task(self._make(picture)), asyncio.Event())

        def done(event: asyncio.Task[bytes]) -> None:
            if not event.cancelled():
                event.exception()  # retrieved, because those who asked may all have left
            made.is_done.set()

        made.event.add_done_callback(done)
        return made

    async def _make(self, picture: Picture) -> bytes:
        try:
            html = await asyncio.to_thread(self._render, picture)
        except BaseException:
            self._kept.pop(picture.intent_id, None)
            raise
        return message(html, id=picture.id, retry=COME_BACK)


def message(data: str, *, event: str = "", id: str = "", retry: int) -> bytes:
    """An event. `retry` counts only beside data, so there is always some."""
    lines = [f"event: {event}"] if event else []
    lines += [f"id: {id}"] if id else []
    lines.append(f"retry: {retry}")
    lines += [f"data: {line}" for line in _LINE_END.split(data)]
    return ("\n".join(lines) + "\n\n").encode("utf-8", "replace")
