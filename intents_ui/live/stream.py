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
from collections.abc import Awaitable, Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from random import SystemRandom
from typing import Any, Final
from urllib.parse import parse_qs

from cachetools import LRUCache
from prometheus_client import Gauge

from intents_ui.live.hub import Hub, HubFull, Watch, restart_forever
from intents_ui.live.snapshot import Snapshot
from intents_ui.service.errors import ServiceError
from intents_ui.service.executor import LimitReason
from intents_ui.service.health import registry

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

log = logging.getLogger(__name__)

open_streams = Gauge("intents_ui_streams", "Open live streams.", registry=registry, multiprocess_mode="livesum")

PREFIX: Final = "/live/"
MAX_ID_LENGTH: Final = 200
MAX_EVENTS: Final = 512  # in the cache, the newest of each intent
RETRY_MS: Final = 1000
BEAT: Final = b"event: beat\n\n"
STREAM_HEADERS: Final = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
)
_LINE_END = re.compile("\r\n|\r|\n")  # the only line endings in the SSE format


def message(data: str, *, event: str = "", id: str = "", retry: int) -> bytes:
    """Return an SSE event. Browsers ignore an event without data, and `retry` with it, so data is required."""
    lines = [f"event: {event}"] if event else []
    lines += [f"id: {id}"] if id else []
    lines.append(f"retry: {retry}")
    lines += [f"data: {line}" for line in _LINE_END.split(data)]
    return ("\n".join(lines) + "\n\n").encode("utf-8", "replace")


@dataclass(kw_only=True, eq=False)
class Streams:
    """ASGI application for live streams. Its times are in seconds.

    `render` returns a snapshot's fragment. It runs in a thread, once for all streams. `fallback` returns the HTML for a
    client that gets no stream, which htmx swaps in like a fragment. `client_of` returns the client that a stream counts
    for, None if unlimited, and `wait` the seconds for which it is rate limited. `stopping` returns whether the process
    is shutting down.
    """

    hub: Hub
    render: Callable[[Snapshot], str]
    fallback: Callable[[str], str]
    client_of: Callable[[Message], str | None]
    wait: Callable[[str | None], int] = lambda client: 0
    headers: Sequence[tuple[bytes, bytes]] = ()
    stopping: Callable[[], bool] = lambda: False
    max_streams: int  # of this process, beyond which clients poll
    max_of_client: int
    beat_every: float = 15.0
    lasts: float = 900.0  # ±20%, so that streams opened together don't reconnect together
    first_snapshot: float = 5.0  # longest wait for it before the stream starts without one
    tick: float = 0.1  # interval of the check for a shutdown
    # What ends each stream, with its client.
    open: dict[asyncio.Future[None], str | None] = field(default_factory=dict, init=False)
    _rendered: LRUCache[str, tuple[str, asyncio.Task[bytes]]] = field(
        default_factory=partial(LRUCache, MAX_EVENTS), init=False
    )
    _timer: asyncio.Task[None] | None = field(default=None, init=False)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        intent_id = scope["path"].removeprefix(PREFIX)
        if scope["method"] != "GET":
            await self._respond(send, 405, (b"allow", b"GET"))
        elif not 0 < len(intent_id) <= MAX_ID_LENGTH or "/" in intent_id or not intent_id.isprintable():
            await self._respond(send, 404)
        elif status := await self._follow(intent_id, scope, receive, send):
            later = (b"retry-after", str(SystemRandom().randint(10, 30)).encode())
            await self._respond(send, status, later, body=self.fallback(intent_id).encode())

    async def _follow(self, intent_id: str, scope: Message, receive: Receive, send: Send) -> int:
        """Stream an intent. Returns the status for a client that may open no further stream now, or 0."""
        client = self.client_of(scope)
        is_over_limit = client is not None and list(self.open.values()).count(client) >= self.max_of_client
        if is_over_limit or self.wait(client):
            return 429
        if len(self.open) >= self.max_streams:
            return 503
        try:
            with self.hub.watching(intent_id, client=client) as watch, self._opened(client) as ended:
                await self._stream(watch, last_event_id(scope), ended, receive, send)
        except HubFull as full:
            return 429 if full.limit_reason is LimitReason.SHARE else 503
        return 0

    @contextmanager
    def _opened(self, client: str | None) -> Iterator[asyncio.Future[None]]:
        """Count a stream, and yield the future that ends it."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()
        alarm = loop.call_later(self.lasts * SystemRandom().uniform(0.8, 1.2), end, ended)
        self.open[ended] = client
        open_streams.inc()
        if self.stopping():
            end(ended)
        if self._timer is None or self._timer.done():
            self._timer = asyncio.create_task(restart_forever(self._stop_at_shutdown, name="live streams"))
        try:
            yield ended
        finally:
            alarm.cancel()
            del self.open[ended]
            open_streams.dec()

    async def _stream(self, watch: Watch, seen: str, ended: asyncio.Future[None], receive: Receive, send: Send) -> None:
        """Send events until the stream ends. `seen` is the ID of the snapshot that the page has.

        There are thousands of streams, mostly waiting here, so what this holds determines their cost. The worker aborts
        the connection of a client that doesn't read, which cancels this.
        """
        leaving = asyncio.create_task(until_disconnect(receive))
        leaving.add_done_callback(lambda _: end(ended))
        try:
            # Wait briefly for the first snapshot, because the status depends on whether the intent exists.
            snapshot = watch.news(seen)
            if not watch.newest:
                snapshot = await watch.next(seen, within=self.first_snapshot, ended=ended)
            if watch.newest and watch.newest.is_unknown:
                return await self._respond(send, 404)
            await send({"type": "http.response.start", "status": 200, "headers": [*STREAM_HEADERS, *self.headers]})
            try:
                while not ended.done() and (snapshot or not watch.is_over):
                    data = BEAT
                    if snapshot:
                        data, seen = await self.event(snapshot), snapshot.id
                    if not leaving.done():
                        await send({"type": "http.response.body", "body": data, "more_body": True})
                    snapshot = await watch.next(seen, within=self.beat_every, ended=ended)
                farewell = self._farewell(watch, seen)
            except Exception as error:
                # The browser reconnects, and until then the page says that it isn't live. Failures of the service are
                # logged where they occur. Anything else is a bug, most likely in the template.
                if not isinstance(error, ServiceError):
                    log.exception("The stream of %s broke off", watch.intent_id)
                farewell = message("fault", event="bye", retry=15 * RETRY_MS)
            if not leaving.done():
                await send({"type": "http.response.body", "body": farewell})
        finally:
            leaving.cancel()

    async def event(self, snapshot: Snapshot) -> bytes:
        """Return the event for a snapshot, rendered once for all streams. After a failure, the next caller retries.

        One that comes again after another, as after an outage, is rendered again: a fragment has the time of its data.
        """

        def render() -> bytes:
            return message(self.render(snapshot), id=snapshot.id, retry=RETRY_MS)

        snapshot_id, task = self._rendered.get(snapshot.intent_id, ("", None))
        if task is None or snapshot_id != snapshot.id or (task.done() and task.exception()):
            task = asyncio.create_task(asyncio.to_thread(render))
            self._rendered[snapshot.intent_id] = snapshot.id, task
        return await asyncio.shield(task)  # a canceled caller must not cancel it for the others

    def stop(self) -> None:
        """End all streams. Their browsers reconnect to another process."""
        for ended in self.open:
            end(ended)

    async def aclose(self) -> None:
        self.stop()
        if self._timer:
            await self._timer

    async def _stop_at_shutdown(self) -> None:
        while self.open:
            if self.stopping():
                self.stop()
            await asyncio.sleep(self.tick)

    def _farewell(self, watch: Watch, seen: str) -> bytes:
        last = watch.newest
        if last and last.is_final and last.id == seen:
            return message((last.receipt and last.receipt.status) or "over", event="done", retry=RETRY_MS)
        # A random delay, so that about 500 clients per second reconnect.
        return message("again", event="bye", retry=SystemRandom().randint(200, max(2000, 2 * len(self.open))))

    async def _respond(self, send: Send, status: int, *extra: tuple[bytes, bytes], body: bytes = b"") -> None:
        headers = [
            (b"content-type", b"text/html; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"no-store"),
        ]
        await send({"type": "http.response.start", "status": status, "headers": [*headers, *extra, *self.headers]})
        await send({"type": "http.response.body", "body": body})


def end(stream: asyncio.Future[None]) -> None:
    if not stream.done():
        stream.set_result(None)


async def until_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def last_event_id(scope: Message) -> str:
    """Return the ID of the client's snapshot: from the last event before a reconnect, or from the page itself."""
    if sent := dict(scope["headers"]).get(b"last-event-id"):
        return bytes(sent).decode("latin-1")
    return parse_qs(bytes(scope["query_string"]).decode("latin-1")).get("seen", [""])[0]
