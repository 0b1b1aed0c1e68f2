"""`/live/<intentId>`: server-sent events that update a transfer's page. A bare ASGI application.

The events, as htmx's hx-sse reads them:

    id: <snapshot>        the page's fragment, unnamed so that htmx swaps it in
    retry: 1000
    data: <section …>

    event: done           after the final snapshot (hx-sse:close="done"), with its status as data
    event: bye            the stream ends but the intent is open: the browser reconnects after `retry` milliseconds
    event: beat           after 15 s without events: a page that misses two says so (live.js)
"""

import asyncio
import logging
import re
import socket
import struct
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass
from random import SystemRandom
from typing import Any, Final
from urllib.parse import parse_qs

from cachetools import LRUCache

from intents_ui.live.hub import Hub, HubFull, Subscriber
from intents_ui.live.snapshot import Snapshot
from intents_ui.live.tasks import LongTask
from intents_ui.service.context.shares import Lack, Shares
from intents_ui.service.errors import ServiceError

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

log = logging.getLogger(__name__)

MOST_KEPT: Final = 512  # one per intent
COME_BACK: Final = 1000  # milliseconds after which browsers reconnect
_LINE_END = re.compile("\r\n|\r|\n")  # the only line endings in the SSE format
PREFIX: Final = "/live/"
LONGEST_ID: Final = 200
BEAT: Final = b"event: beat\n\n"
# From 64 KB, gunicorn uses `writelines`, which in Python 3.13.0 applies no backpressure.
PIECE: Final = 32 * 1024
# SO_LINGER 0: the kernel discards unsent data when the connection is closed
NOT_A_MOMENT: Final = struct.pack("ii", 1, 0)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Numbers of concurrent streams, beyond which clients poll, and times in seconds."""

    streams: int = 2500  # of this process
    an_address: int = 20  # IP address (IPv6: /64)
    beat_every: float = 15.0
    lasts: float = 900.0  # ±20%, so that streams opened together don't reconnect together
    slow_reader: float = 20.0  # longest time to send one event to a slow client
    first_picture: float = 5.0  # longest wait for the first snapshot before the stream starts without one
    tick: float = 0.1  # interval of the check for a shutdown


class Streams:
    """ASGI application for live streams.

    `render` returns a snapshot's fragment. It runs in a thread, once for all streams. `instead` returns the HTML for a
    client that gets no stream, which htmx swaps in like a fragment. `address_of` returns the client address for the
    per-address limit, None if unlimited. `share_of` returns the address whose share of all streams is used. `wait`
    returns the seconds for which an address is rate limited. `stopping` returns whether the process is shutting down.
    """

    def __init__(
        self,
        hub: Hub,
        render: Callable[[Snapshot], str],
        *,
        instead: Callable[[str], str],
        address_of: Callable[[Message], str | None],
        share_of: Callable[[Message], str | None] = lambda scope: None,
        wait: Callable[[str | None], int] = lambda address: 0,
        headers: Sequence[tuple[bytes, bytes]] = (),
        stopping: Callable[[], bool] = lambda: False,
        limits: Limits | None = None,
    ) -> None:
        self.hub = hub
        self.fragments = Fragments(render)
        self.stopping = stopping
        self.limits = limits or Limits()
        self.open: set[Stream] = set()
        self._polling_fragment = instead
        self._address_of = address_of
        self._share_of = share_of
        self._slots = Shares(self.limits.streams)
        self._wait = wait
        self._headers = list(headers)
        self._at_address: Counter[str | None] = Counter()
        self._timer: LongTask | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        intent_id = scope["path"].removeprefix(PREFIX)
        if scope["method"] != "GET":
            return await self.refuse(send, 405, extra=[(b"allow", b"GET")])
        if not 0 < len(intent_id) <= LONGEST_ID or "/" in intent_id or not intent_id.isprintable():
            return await self.refuse(send, 404)
        address = self._address_of(scope)
        is_over_limit = address is not None and self._at_address[address] >= self.limits.an_address
        if is_over_limit or self._wait(address):
            return await self._reject(intent_id, send, status=429)
        visitor = self._share_of(scope)
        if lack := self._slots.take(visitor):
            return await self._reject(intent_id, send, status=429 if lack is Lack.SHARE else 503)
        try:
            await self._follow(intent_id, scope, receive, send, address=address, visitor=visitor)
        except HubFull as full:
            await self._reject(intent_id, send, status=429 if full.is_share else 503)
        finally:
            self._slots.give_back(visitor)

    async def _follow(
        self, intent_id: str, scope: Message, receive: Receive, send: Send, *, address: str | None, visitor: str | None
    ) -> None:
        """Open a stream. Raises HubFull before a response is started."""
        follower = self.hub.follow(intent_id, seen=seen(scope), visitor=visitor)
        stream = Stream(self, intent_id, follower, receive, send)
        self.open.add(stream)
        self._at_address[address] += 1
        if self._timer is None or self._timer.task.done():
            self._timer = LongTask("live streams", self._check_streams)
        try:
            with follower:
                await stream.run()
        finally:
            self.open.discard(stream)
            self._at_address[address] -= 1
            if not self._at_address[address]:
                del self._at_address[address]

    def stop(self) -> None:
        """End all streams. Their browsers reconnect to another process."""
        for stream in list(self.open):
            stream.end()

    async def aclose(self) -> None:
        self.stop()
        if self._timer:
            await self._timer.task

    def come_back(self) -> int:
        """Return a reconnect delay in milliseconds, random so that about 500 clients per second reconnect."""
        return SystemRandom().randint(200, max(2000, 2 * len(self.open)))

    async def begin(self, send: Send) -> None:
        kind = [
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"cache-control", b"no-store"),
            (b"x-accel-buffering", b"no"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": kind + self._headers})

    async def refuse(
        self, send: Send, status: int, *, html: str = "", extra: Sequence[tuple[bytes, bytes]] = ()
    ) -> None:
        body = html.encode()
        kind = [
            (b"content-type", b"text/html; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"no-store"),
        ]
        await send({"type": "http.response.start", "status": status, "headers": [*kind, *extra, *self._headers]})
        await send({"type": "http.response.body", "body": body})

    async def _reject(self, intent_id: str, send: Send, *, status: int = 503) -> None:
        later = str(SystemRandom().randint(10, 30)).encode()
        await self.refuse(send, status, html=self._polling_fragment(intent_id), extra=[(b"retry-after", later)])

    async def _check_streams(self) -> None:
        """Check all streams with one timer, because a timer for each would be a large part of an idle stream's cost."""
        clock = asyncio.get_running_loop().time
        looked = clock()
        while self.open:
            if self._timer:
                self._timer.beat()
            if self.stopping():
                self.stop()
            elif clock() - looked >= self.limits.beat_every / 15:
                looked = clock()
                for stream in list(self.open):
                    stream.look(looked)
            await asyncio.sleep(self.limits.tick)


class Stream:
    """One client's connection.

    There are thousands, mostly waiting in `run`, so what it holds there determines the cost.
    """

    __slots__ = (
        "_clock",
        "_ends_at",
        "_follower",
        "_intent_id",
        "_is_ending",
        "_is_gone",
        "_is_writing",
        "_receive",
        "_send",
        "_streams",
        "_task",
        "_wrote_at",
    )

    def __init__(self, streams: Streams, intent_id: str, follower: Subscriber, receive: Receive, send: Send) -> None:
        self._streams = streams
        self._intent_id = intent_id
        self._follower = follower
        self._receive = receive
        self._send = send
        self._clock = asyncio.get_running_loop().time
        self._task = asyncio.current_task()
        self._wrote_at = self._clock()
        self._ends_at = self._wrote_at + streams.limits.lasts * SystemRandom().uniform(0.8, 1.2)
        self._is_writing = False
        self._is_ending = streams.stopping()
        self._is_gone = False

    async def run(self) -> None:
        leaving = asyncio.get_running_loop().create_task(self._leave())
        try:
            snapshot = await self._first()
            known = self._follower.snapshot
            if known and known.is_unknown:
                return await self._streams.refuse(self._send, 404)
            await self._streams.begin(self._send)
            try:
                await self._tell(snapshot)
                while not (self._is_ending or self._follower.is_over):
                    await self._tell(await self._follower.next())
                farewell = self._farewell()
            except Exception as error:
                # The browser reconnects, and until then the page says that it isn't live. Failures of the service are
                # logged where they occur. Anything else is a bug, most likely in the template.
                if not isinstance(error, ServiceError):
                    log.exception("The stream of %s broke off", self._intent_id)
                farewell = message("fault", event="bye", retry=15 * COME_BACK)
            if not self._is_gone:
                await self._write(farewell, is_last=True)
        finally:
            leaving.cancel()

    def look(self, now: float) -> None:
        """Enforce the time limits. Called regularly by `Streams`."""
        quiet_for = now - self._wrote_at
        if self._is_writing and quiet_for > self._streams.limits.slow_reader:
            self._drop()
        elif now > self._ends_at:
            self.end()
        elif quiet_for >= self._streams.limits.beat_every:
            self._follower.wake()

    def end(self) -> None:
        self._is_ending = True
        self._follower.wake()

    async def _leave(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._is_gone = True
        self._follower.close()

    async def _first(self) -> Snapshot | None:
        """Wait briefly for the first snapshot, because the response's status depends on whether the intent exists."""
        if self._is_ending:
            return None
        if self._follower.snapshot:
            return self._follower.news()
        try:
            async with asyncio.timeout(self._streams.limits.first_picture):
                return await self._follower.next()
        except TimeoutError:
            return None

    async def _tell(self, snapshot: Snapshot | None) -> None:
        if snapshot:
            await self._write(await self._streams.fragments.event(snapshot))
        elif not self._is_ending and not self._is_gone:
            await self._write(BEAT)

    def _farewell(self) -> bytes:
        last = self._follower.snapshot
        if last and last.is_last and self._follower.is_over:
            return message((last.receipt and last.receipt.status) or "over", event="done", retry=COME_BACK)
        return message("again", event="bye", retry=self._streams.come_back())

    async def _write(self, data: bytes, *, is_last: bool = False) -> None:
        """Write an event, blocking while the client doesn't read. `look` enforces a limit on that time."""
        self._is_writing = True
        for start in range(0, len(data), PIECE):
            piece = data[start : start + PIECE]
            self._wrote_at = self._clock()
            more = not is_last or start + PIECE < len(data)
            await self._send({"type": "http.response.body", "body": piece, "more_body": more})
        self._is_writing = False

    def _drop(self) -> None:
        """Abort the connection and discard unsent data. A client that doesn't read would never see an orderly end.

        ASGI has no API for that. Under gunicorn, `receive` is bound to the object that knows the connection.
        """
        log.info("Closed a stream of %s: the client did not read it", self._intent_id)
        protocol = getattr(getattr(self._receive, "__self__", None), "protocol", None)
        if transport := getattr(protocol, "transport", None):
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NOT_A_MOMENT)
            transport.abort()
        if self._task:
            self._task.cancel()


def seen(scope: Message) -> str:
    """Return the ID of the client's snapshot: from the last event before a reconnect, or from the page itself."""
    for name, value in scope["headers"]:
        if name == b"last-event-id":
            return bytes(value).decode("latin-1")
    return parse_qs(bytes(scope["query_string"]).decode("latin-1")).get("seen", [""])[0]
