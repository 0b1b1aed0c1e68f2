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
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass
from random import SystemRandom
from typing import Any, Final
from urllib.parse import parse_qs

from cachetools import LRUCache
from prometheus_client import Gauge

from intents_ui.live.hub import Hub, HubFull, Subscriber
from intents_ui.live.snapshot import Snapshot
from intents_ui.live.tasks import restart_forever
from intents_ui.service.context.shares import Lack
from intents_ui.service.errors import ServiceError
from intents_ui.service.metrics import registry

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

log = logging.getLogger(__name__)

open_streams = Gauge("intents_ui_streams", "Open live streams.", registry=registry, multiprocess_mode="livesum")

PREFIX: Final = "/live/"
MAX_ID_LENGTH: Final = 200
MAX_EVENTS: Final = 512  # in the cache, one per intent
RETRY_MS: Final = 1000
BEAT: Final = b"event: beat\n\n"
_LINE_END = re.compile("\r\n|\r|\n")  # the only line endings in the SSE format


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
    a_client: int = 20
    beat_every: float = 15.0
    lasts: float = 900.0  # ±20%, so that streams opened together don't reconnect together
    first_snapshot: float = 5.0  # longest wait for it before the stream starts without one
    tick: float = 0.1  # interval of the check for a shutdown


class Streams:
    """ASGI application for live streams.

    `render` returns a snapshot's fragment. It runs in a thread, once for all streams. `fallback` returns the HTML for a
    client that gets no stream, which htmx swaps in like a fragment. `client_of` returns the client that a stream counts
    for, None if unlimited, and `wait` the seconds for which it is rate limited. `stopping` returns whether the process
    is shutting down.
    """

    def __init__(
        self,
        hub: Hub,
        render: Callable[[Snapshot], str],
        *,
        fallback: Callable[[str], str],
        client_of: Callable[[Message], str | None],
        wait: Callable[[str | None], int] = lambda client: 0,
        headers: Sequence[tuple[bytes, bytes]] = (),
        stopping: Callable[[], bool] = lambda: False,
        limits: Limits | None = None,
    ) -> None:
        self.hub = hub
        self.stopping = stopping
        self.limits = limits or Limits()
        self.open: set[Stream] = set()
        self._by_client: Counter[str | None] = Counter()
        self._render = render
        self._rendered: LRUCache[str, tuple[str, asyncio.Task[bytes]]] = LRUCache(MAX_EVENTS)
        self._fallback = fallback
        self._client_of = client_of
        self._wait = wait
        self._headers = list(headers)
        self._timer: asyncio.Task[None] | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        intent_id = scope["path"].removeprefix(PREFIX)
        if scope["method"] != "GET":
            return await self.refuse(send, 405, extra=[(b"allow", b"GET")])
        if not 0 < len(intent_id) <= MAX_ID_LENGTH or "/" in intent_id or not intent_id.isprintable():
            return await self.refuse(send, 404)
        client = self._client_of(scope)
        is_over_limit = client is not None and self._by_client[client] >= self.limits.a_client
        if is_over_limit or self._wait(client):
            return await self._reject(intent_id, send, 429)
        if len(self.open) >= self.limits.streams:
            return await self._reject(intent_id, send, 503)
        try:
            subscriber = self.hub.subscribe(intent_id, seen=last_event_id(scope), client=client)
        except HubFull as full:
            return await self._reject(intent_id, send, 429 if full.lack is Lack.SHARE else 503)
        stream = Stream(self, intent_id, subscriber, receive, send, is_ending=self.stopping())
        self.open.add(stream)
        open_streams.inc()
        self._by_client[client] += 1
        if self._timer is None or self._timer.done():
            self._timer = asyncio.create_task(restart_forever(self._stop_at_shutdown, name="live streams"))
        try:
            with subscriber:
                await stream.run()
        finally:
            self.open.discard(stream)
            open_streams.dec()
            self._by_client[client] -= 1
            if not self._by_client[client]:
                del self._by_client[client]

    async def event(self, snapshot: Snapshot) -> bytes:
        """Return the event for a snapshot, rendered once for all streams. After a failure, the next caller retries."""
        snapshot_id, task = self._rendered.get(snapshot.intent_id, ("", None))
        if task is None or snapshot_id != snapshot.id or (task.done() and task.exception()):
            task = asyncio.create_task(self._new_event(snapshot))
            self._rendered[snapshot.intent_id] = snapshot.id, task
        return await asyncio.shield(task)  # a canceled caller must not cancel it for the others

    async def _new_event(self, snapshot: Snapshot) -> bytes:
        html = await asyncio.to_thread(self._render, snapshot)
        return message(html, id=snapshot.id, retry=RETRY_MS)

    def stop(self) -> None:
        """End all streams. Their browsers reconnect to another process."""
        for stream in list(self.open):
            stream.end()

    async def aclose(self) -> None:
        self.stop()
        if self._timer:
            await self._timer

    def reconnect_delay(self) -> int:
        """Return a delay in milliseconds, random so that about 500 clients per second reconnect."""
        return SystemRandom().randint(200, max(2000, 2 * len(self.open)))

    async def begin(self, send: Send) -> None:
        headers = [
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"cache-control", b"no-store"),
            (b"x-accel-buffering", b"no"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers + self._headers})

    async def refuse(
        self, send: Send, status: int, *, html: str = "", extra: Sequence[tuple[bytes, bytes]] = ()
    ) -> None:
        body = html.encode()
        headers = [
            (b"content-type", b"text/html; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"no-store"),
        ]
        await send({"type": "http.response.start", "status": status, "headers": [*headers, *extra, *self._headers]})
        await send({"type": "http.response.body", "body": body})

    async def _reject(self, intent_id: str, send: Send, status: int) -> None:
        later = str(SystemRandom().randint(10, 30)).encode()
        await self.refuse(send, status, html=self._fallback(intent_id), extra=[(b"retry-after", later)])

    async def _stop_at_shutdown(self) -> None:
        """End all streams once the process is shutting down."""
        while self.open:
            if self.stopping():
                self.stop()
            await asyncio.sleep(self.limits.tick)


@dataclass(slots=True, eq=False)
class Stream:
    """One client's connection.

    There are thousands, mostly waiting in `run`, so what it holds there determines the cost. The worker aborts the
    connection of a client that doesn't read, which cancels `run`.
    """

    streams: Streams
    intent_id: str
    subscriber: Subscriber
    receive: Receive
    send: Send
    is_ending: bool = False
    is_gone: bool = False

    async def run(self) -> None:
        limits = self.streams.limits
        ending = asyncio.get_running_loop().call_later(limits.lasts * SystemRandom().uniform(0.8, 1.2), self.end)
        leaving = asyncio.create_task(self._wait_for_disconnect())
        try:
            snapshot = await self._first()
            known = self.subscriber.snapshot
            if known and known.is_unknown:
                return await self.streams.refuse(self.send, 404)
            await self.streams.begin(self.send)
            try:
                await self._send_snapshot(snapshot)
                while not (self.is_ending or self.subscriber.is_over):
                    await self._send_snapshot(await self.subscriber.next(within=limits.beat_every))
                farewell = self._farewell()
            except Exception as error:
                # The browser reconnects, and until then the page says that it isn't live. Failures of the service are
                # logged where they occur. Anything else is a bug, most likely in the template.
                if not isinstance(error, ServiceError):
                    log.exception("The stream of %s broke off", self.intent_id)
                farewell = message("fault", event="bye", retry=15 * RETRY_MS)
            await self._write(farewell, is_end=True)
        finally:
            ending.cancel()
            leaving.cancel()

    def end(self) -> None:
        self.is_ending = True
        self.subscriber.wake()

    async def _wait_for_disconnect(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass
        self.is_gone = True
        self.end()

    async def _first(self) -> Snapshot | None:
        """Wait briefly for the first snapshot, because the response's status depends on whether the intent exists."""
        if self.is_ending:
            return None
        if self.subscriber.snapshot:
            return self.subscriber.poll()
        return await self.subscriber.next(within=self.streams.limits.first_snapshot)

    async def _send_snapshot(self, snapshot: Snapshot | None) -> None:
        if snapshot:
            await self._write(await self.streams.event(snapshot))
        elif not self.is_ending:
            await self._write(BEAT)

    def _farewell(self) -> bytes:
        last = self.subscriber.snapshot
        if last and last.is_final and self.subscriber.is_over:
            return message((last.receipt and last.receipt.status) or "over", event="done", retry=RETRY_MS)
        return message("again", event="bye", retry=self.streams.reconnect_delay())

    async def _write(self, data: bytes, *, is_end: bool = False) -> None:
        if self.is_gone:
            return
        await self.send({"type": "http.response.body", "body": data, "more_body": not is_end})


def last_event_id(scope: Message) -> str:
    """Return the ID of the client's snapshot: from the last event before a reconnect, or from the page itself."""
    for name, value in scope["headers"]:
        if name == b"last-event-id":
            return bytes(value).decode("latin-1")
    return parse_qs(bytes(scope["query_string"]).decode("latin-1")).get("seen", [""])[0]
