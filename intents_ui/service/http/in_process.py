"""HTTP transport to a service in the same process: calls an ASGI application without a network."""

import asyncio
import contextlib
import contextvars
import logging
import queue
from collections.abc import Iterator

import httpcore
import httpx

from intents_ui.service.context.request_context import time_left

log = logging.getLogger(__name__)


class InProcessTransport(httpx.BaseTransport):
    """Runs the application in the caller's thread, on an event loop that no other call uses at the same time.

    At most `loops` calls run concurrently. Others wait up to the pool timeout.
    """

    def __init__(self, application: object, *, loops: int = 64) -> None:
        self._asgi = httpx.ASGITransport(application)  # type: ignore[arg-type]
        self._idle: queue.LifoQueue[asyncio.Runner] = queue.LifoQueue()
        self._is_closed = False
        for _ in range(loops):
            self._idle.put(asyncio.Runner())  # the loop is created on first use

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        with self._runner(request) as runner:
            # A runner reuses the context of its first run, and with it that call's deadline.
            return runner.run(self._respond(request), context=contextvars.copy_context())

    def close(self) -> None:
        """Close the idle loops. Loops in use close after their calls."""
        self._is_closed = True
        self._close_idle()

    def _close_idle(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._idle.get_nowait().close()

    @contextlib.contextmanager
    def _runner(self, request: httpx.Request) -> Iterator[asyncio.Runner]:
        try:
            runner = self._idle.get(timeout=request.extensions["timeout"]["pool"])
        except queue.Empty:
            raise httpcore.PoolTimeout("all loops are in use") from None
        try:
            yield runner
        finally:
            self._idle.put(runner)
            if self._is_closed:
                self._close_idle()

    async def _respond(self, request: httpx.Request) -> httpx.Response:
        try:
            async with asyncio.timeout(time_left(request.extensions["timeout"]["read"], expired=httpcore.ReadTimeout)):
                response = await self._asgi.handle_async_request(request)
                content = b"".join([piece async for piece in response.aiter_raw()])
        except (TimeoutError, httpcore.TimeoutException):
            raise
        except Exception:
            log.exception("The service in this process failed")
            return httpx.Response(500, stream=httpx.ByteStream(b""))
        return httpx.Response(response.status_code, headers=response.headers, stream=httpx.ByteStream(content))
