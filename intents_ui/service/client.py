"""Client of the service, for threads and for event loops.

    service.ask(operations.get_intent("0x…"))                # Intent, possibly cached
    await service.ask_async(operations.get_intent("0x…"))    # always from the service

To limit the load on the service, identical concurrent calls of threads share one request, fresh responses come from
the cache, and stale ones are served where the service fails. A read that failed in passing is sent once more. Writes
are sent exactly once.
"""

import asyncio
import logging
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, suppress
from copy import copy
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from random import SystemRandom
from typing import Any, Final, Self, cast

import httpcore
import httpx

from intents_ui.service import errors, operations, request_context
from intents_ui.service.cache import CacheEntry, ResponseCache
from intents_ui.service.console import Attempt
from intents_ui.service.decode import Verbatim
from intents_ui.service.errors import OutOfTime, Overloaded, Reason, ServiceError, Unreachable
from intents_ui.service.exchange import ALL_IN_USE, TRANSPORT_ERRORS, Exchange
from intents_ui.service.executor import FairExecutor, resting
from intents_ui.service.health import Health, counters, mismatched
from intents_ui.service.models import IntentReceipt
from intents_ui.service.operations import CacheKey, Kind, ServiceCall, ServiceConfig
from intents_ui.service.request_context import is_over, seconds_left, time_left, within

KEEP_ALIVE_SECONDS: Final = 15.0
STALE_WAIT = 0.3  # seconds that a page waits for a newer response while it has a stale one
SKIP_WAIT_SECONDS: Final = 1.0  # seconds without such waits after one of them timed out
PROBE_WAIT: Final = 0.5  # seconds that a page waits while another call probes whether the service is back
# Random, so that calls that failed together don't meet again.
MAX_RETRY_WAIT = 0.1
SHORTEST_ATTEMPT = 0.5  # share of the call's timeout: with less time left, a retry is unlikely to succeed
LARGE_RESPONSE: Final = 2**18  # bytes from which a response is parsed in a thread, to not block the event loop
# Kinds for which a short wait is better than showing the previous state at every reload. Live pages reload when they
# learn of a change, and the reloaded page has to show it.
WAIT_FOR_REFRESH: Final = frozenset({Kind.MOVING, Kind.STOPPED_LATELY, Kind.HISTORY, Kind.OLDER_HISTORY, Kind.SEARCH})

log = logging.getLogger(__name__)

data_requests = counters(
    "intents_ui_data_requests",
    "Requests of pages for data, by the source of the response.",
    "source",
    *("cache", "service", "coalesced", "stale_while_revalidate", "stale_if_error"),
)


@cache
def tls() -> ssl.SSLContext:
    """Return the TLS context of all clients. Building one parses the trusted certificates, which takes 20 ms."""
    return httpx.create_ssl_context(trust_env=False)


class DeadlineTransport(httpx.BaseTransport):
    """Connection pool with deadlines. httpx's own transport takes no network backend. Raises httpcore's exceptions."""

    def __init__(self, *, connections: int) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=tls(),
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=KEEP_ALIVE_SECONDS,
            network_backend=DeadlineBackend(),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        response = self._pool.handle_request(
            httpcore.Request(
                request.method,
                httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=cast(Any, request.stream),
                extensions=request.extensions,
            )
        )
        stream = cast(Any, response.stream)
        return httpx.Response(response.status, headers=response.headers, stream=stream, extensions=response.extensions)

    def close(self) -> None:
        self._pool.close()


class DeadlineBackend(httpcore.NetworkBackend):
    """Network backend that connects within the deadline, in a thread of its own because a name lookup can hang."""

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *more: Any, **options: Any
    ) -> httpcore.NetworkStream:
        allowed = time_left(timeout, expired=httpcore.ConnectTimeout)
        connected: Future[httpcore.NetworkStream] = Future()

        def connect() -> None:
            try:
                connected.set_result(httpcore.SyncBackend().connect_tcp(host, port, allowed, *more, **options))
            except Exception as error:
                connected.set_exception(error)

        # A daemon, so that a lookup that hangs doesn't block the process's exit.
        threading.Thread(target=connect, name="connect", daemon=True).start()
        try:
            return DeadlineStream(connected.result(allowed))
        except TimeoutError:
            connected.add_done_callback(_close_unused)
            raise httpcore.ConnectTimeout("not connected in time") from None
        except UnicodeError as error:
            raise httpcore.ConnectError("not a host name") from error


def _close_unused(connected: "Future[httpcore.NetworkStream]") -> None:
    if not connected.exception():
        connected.result().close()


class DeadlineStream(httpcore.NetworkStream):
    """Connection whose waits are cut to the deadline of the call that currently uses it."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, time_left(timeout, expired=httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, time_left(timeout, expired=httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        allowed = time_left(timeout, expired=httpcore.ConnectTimeout)
        return DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, allowed))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class InProcessTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Transport to an ASGI application, which runs on the caller's event loop, in threads on one for each call."""

    def __init__(self, application: object) -> None:
        self._asgi = httpx.ASGITransport(application)  # type: ignore[arg-type]

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        allowed = time_left(request.extensions["timeout"]["read"], expired=httpcore.ReadTimeout)
        return asyncio.run(asyncio.wait_for(self.handle_async_request(request), allowed))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        try:
            response = await self._asgi.handle_async_request(request)
            content = b"".join([piece async for piece in response.aiter_raw()])
        except Exception:
            log.exception("The service in this process failed")
            return httpx.Response(500, stream=httpx.ByteStream(b""))
        return httpx.Response(response.status_code, headers=response.headers, stream=httpx.ByteStream(content))


class ServiceClient:
    """Client for threads (`ask`) and one event loop (`ask_async`). Every call ends within its policy's total timeout.

    `ask_async` and `aclose` belong to that loop, everything else is thread-safe. A transport that can serve an event
    loop, too, serves both.
    """

    def __init__(
        self,
        config: ServiceConfig,
        *,
        transport: httpx.BaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        cache: ResponseCache | None = None,
        threads: FairExecutor | None = None,
    ) -> None:
        self.config = config
        self.health = Health(clock=clock)
        self.cache = cache or ResponseCache(config, clock=clock)
        self.transport = transport or DeadlineTransport(connections=config.connections)
        self.threads = threads or FairExecutor(config.connections)
        self._lock = threading.Lock()
        self._pending: dict[CacheKey, Future[Any]] = {}
        self._no_wait_until = float("-inf")
        self._short_calls = asyncio.Semaphore(config.connections)
        self._held_calls = asyncio.Semaphore(config.held_calls)

    def uncached(self) -> Self:
        """Return this client with a cache that has no room, for reads that would evict other users' entries."""
        client = copy(self)
        client.cache = ResponseCache(self.config, clock=self.cache.clock, max_bytes=0)
        return client

    def cache_receipt(self, receipt: IntentReceipt, *, age: float) -> None:
        """Cache a receipt that arrived `age` seconds ago, in this or in another process."""
        at = self.cache.clock() - age
        call = operations.get_intent_receipt(receipt.intent_id)
        self.cache.put(call, receipt, receipt.raw, asked_at=at, learned_at=at)

    def forget(self, intent_id: str) -> None:
        """Invalidate the responses about an intent that has changed, including those of pending requests."""
        keys = self.cache.forget(intent_id)
        with self._lock:
            for key in keys:
                self._pending.pop(key, None)

    # For threads

    def ask[T](self, call: ServiceCall[T], *, newest: bool = False, max_age: float = 0.0) -> T:
        """Return the response, possibly cached.

        A response of up to `max_age` seconds counts as fresh, even beyond its TTL. With `newest`, a stale response is
        returned only if the service fails.
        """
        with _reporting_failure(call):
            if not call.is_read:
                return cast(T, self._send(call))
            entry = self.cache.get(call)
            if entry and entry.age >= max(entry.policy.fresh, max_age):
                return cast(T, self._refresh_or_stale(call, entry, newest=newest))
            not_found = None if entry else self.cache.not_found(call)
            data_requests["cache" if entry or not_found else "service"].inc()
            if not_found:
                raise not_found.copied()
            return cast(T, entry.answer if entry else self._fetch(call))

    def ask_uncached[T](self, call: ServiceCall[T]) -> T:
        """Return the service's current response, bypassing the cache."""
        with _reporting_failure(call):
            return cast(T, self._fetch(call))

    def attempt(self, operation: str, text: str, *, kind: Kind) -> Attempt:
        """Send exactly this text as a request. Errors are recorded in the returned `Attempt` and never raised."""
        call = ServiceCall(operation=operation, request=Verbatim(text), read=lambda _: None, kind=kind, is_read=False)
        exchange, error = self._exchange(call), None
        try:
            with self.health.track(call, is_raw=True):
                self._response_to(exchange, exchange.policy.total)
        except ServiceError as raised:
            error = raised
        return exchange.attempt(error)

    def close(self) -> None:
        """Close the threads and their connections. Calls that run may finish."""
        self.threads.shutdown()
        self.transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start[T](self, call: ServiceCall[T], *, is_shared: bool = False) -> "Future[T]":
        """Send a read in the background, unless an identical request is pending. It outlives its page.

        Its thread counts for the client, unless the response `is_shared` by all pages.
        """
        mine: Future[T] = Future()
        with self._lock:
            pending = self._pending.setdefault(call.cache_key, mine)
        if pending is mine:
            try:
                self.threads.submit_background(lambda: self._complete(call, mine), is_shared=is_shared)
            except Overloaded as error:
                self._settle(call, mine, None, error)
        return pending

    def _fetch(self, call: ServiceCall[Any]) -> Any:
        """Send the request, or share the response of an identical pending one."""
        while not is_over():
            mine: Future[Any] = Future()
            with self._lock:
                pending = self._pending.setdefault(call.cache_key, mine)
            if pending is mine:
                return self._complete(call, mine)
            data_requests["coalesced"].inc()
            # If the page that sent the shared request ran out of time, this page may have time left.
            with suppress(OutOfTime), self.threads.waiting():
                return _wait(pending, self.config.policies[call.kind].total)
        raise OutOfTime

    def _complete(self, call: ServiceCall[Any], result: "Future[Any]") -> Any:
        """Send the request, and give its result to all who wait for it."""
        asked_at, answer, failure = self.cache.clock(), None, None
        try:
            answer = self._send(call)
        except BaseException as error:
            failure = error.copied() if isinstance(error, ServiceError) else Unreachable(reason=Reason.BROKEN)
            self.cache.fail(call, failure, asked_at=asked_at)
            raise
        finally:
            self._settle(call, result, answer, failure)
        return answer

    def _settle(self, call: ServiceCall[Any], result: "Future[Any]", answer: Any, failure: ServiceError | None) -> None:
        with self._lock:
            if self._pending.get(call.cache_key) is result:
                del self._pending[call.cache_key]
        result.set_exception(failure) if failure else result.set_result(answer)

    def _refresh_or_stale(self, call: ServiceCall[Any], entry: CacheEntry, *, newest: bool) -> Any:
        # An error that makes a refresh pointless now.
        is_recent = entry.error and self.cache.clock() < entry.retry_at
        if error := entry.error if is_recent else self.health.rejection():
            return self._stale(call, entry, error)
        refresh = self.start(call)
        may_be_shown = not newest and entry.may_be_renewed
        try:
            if not may_be_shown or entry.kind in WAIT_FOR_REFRESH:
                return _wait(refresh, STALE_WAIT if self.cache.clock() >= self._no_wait_until else 0.0)
        except ServiceError as failure:
            if not failure.may_serve_stale:
                raise
            if failure.is_timeout and not refresh.done():
                self._no_wait_until = self.cache.clock() + SKIP_WAIT_SECONDS
            if not (may_be_shown and failure.again_in is None and failure.is_timeout):
                return self._stale(call, entry, failure)
        data_requests["stale_while_revalidate"].inc()
        return entry.answer

    def _stale(self, call: ServiceCall[Any], entry: CacheEntry, error: ServiceError) -> Any:
        data_requests["stale_if_error"].inc()
        learned_at = datetime.now(UTC) - timedelta(seconds=entry.age)
        again_in = max(entry.retry_at - self.cache.clock(), 0.0) if error.again_in is None else error.again_in
        has_balances = isinstance(call.request, Mapping) and bool(call.request.get("includeBalances"))
        request_context.current().stale.append(
            errors.StaleResponse(call.operation, learned_at, error, again_in, has_balances)
        )
        return entry.answer

    def _send(self, call: ServiceCall[Any]) -> Any:
        """Send the request within one call's timeout, once more if a read failed in passing, and cache the response."""
        total, began = self.config.policies[call.kind].total, time.monotonic()
        try:
            return self._attempt(call, total)
        except ServiceError as error:
            failure = error
        left, of_page = total - (time.monotonic() - began), seconds_left()
        is_early = min(left, left if of_page is None else of_page) >= total * SHORTEST_ATTEMPT
        if not (call.is_read and failure.is_transient and is_early and self.health.may_retry()):
            raise failure
        with resting():
            time.sleep(SystemRandom().uniform(0, MAX_RETRY_WAIT))
        return self._attempt(call, left)

    def _attempt(self, call: ServiceCall[Any], seconds: float) -> Any:
        self.health.await_probe(PROBE_WAIT)
        exchange, asked_at = self._exchange(call), self.cache.clock()
        with self.health.track(call):
            answer = self._response_to(exchange, seconds)
        newest = self.cache.put(call, answer, exchange.text, asked_at=asked_at)
        if newest is not answer:
            mismatched["older"].inc()
        if getattr(answer, "unfit_entries", 0):
            mismatched["other_entries"].inc()
        return newest

    def _exchange[T](self, call: ServiceCall[T]) -> Exchange[T]:
        known = self.cache.peek(call) if call.is_read else None
        return Exchange(call, self.config, self.health, known)

    def _response_to[T](self, exchange: Exchange[T], seconds: float) -> T:
        try:
            with within(seconds), exchange:
                with self.threads.waiting():
                    response = self.transport.handle_request(exchange.request())
                    stream = cast(httpx.SyncByteStream, response.stream)
                    try:
                        exchange.begin(response)
                        for piece in stream:
                            exchange.add(piece)
                    finally:
                        stream.close()
                return exchange.result()
        except TRANSPORT_ERRORS as error:
            failure = exchange.failure(error)
        if isinstance(failure, errors.Unreadable) and exchange.network_stream:
            # It may be another request's response, and the next one on this connection, too.
            exchange.network_stream.close()
        raise failure

    # For event loops

    @property
    def can_hold(self) -> bool:
        """Whether a slot is free for one more call of WaitIntentReceipt."""
        return not self._held_calls.locked()

    async def ask_async[T](self, call: ServiceCall[T]) -> T:
        """Return the service's current response. A caller that is canceled frees its slot and connection at once."""
        exchange = self._exchange(call)
        with self.health.track(call), exchange:
            try:
                async with self._slot(call), asyncio.timeout(exchange.policy.total):
                    response = await self._async_transport.handle_async_request(exchange.request())
                    try:
                        exchange.begin(response)
                        async for piece in response.aiter_raw():
                            exchange.add(piece)
                    finally:
                        await response.aclose()
                    if len(exchange.content) > LARGE_RESPONSE:
                        return await asyncio.to_thread(exchange.result)
                    return exchange.result()
            except TRANSPORT_ERRORS as error:
                failure = exchange.failure(error)
            if isinstance(failure, errors.Unreadable) and exchange.network_stream:
                await exchange.network_stream.aclose()
            raise failure

    async def aclose(self) -> None:
        """Close the connections of the event loop, which ends its pending calls."""
        await self._async_transport.aclose()

    @cached_property
    def _async_transport(self) -> httpx.AsyncBaseTransport:
        if isinstance(self.transport, httpx.AsyncBaseTransport):
            return self.transport
        # A call that is canceled while it waits for a connection would leak a slot of httpcore's pool. So the pool is
        # unlimited, and semaphores limit the calls.
        idle = self.config.connections + self.config.held_calls
        limits = httpx.Limits(max_keepalive_connections=idle, keepalive_expiry=KEEP_ALIVE_SECONDS)
        return httpx.AsyncHTTPTransport(verify=tls(), trust_env=False, limits=limits)

    @asynccontextmanager
    async def _slot(self, call: ServiceCall[Any]) -> AsyncIterator[None]:
        """Long polls have slots of their own, so that they don't starve other calls."""
        slots = self._held_calls if call.kind is Kind.WAIT else self._short_calls
        try:
            async with asyncio.timeout(self.config.connection_wait):
                await slots.acquire()
        except TimeoutError:
            raise Overloaded(ALL_IN_USE) from None
        try:
            yield
        finally:
            slots.release()


@contextmanager
def _reporting_failure(call: ServiceCall[Any]) -> Iterator[None]:
    """Name the call in its error, and report it on the page."""
    try:
        yield
    except ServiceError as error:
        error.operation = error.operation or call.operation
        request_context.add_failed(error)
        raise


def _wait(result: "Future[Any]", seconds: float) -> Any:
    """Return another thread's result. An error is copied, because threads must not share one."""
    try:
        with resting():
            return result.result(time_left(seconds, expired=TimeoutError))
    except ServiceError as error:
        failure: ServiceError = error.copied()
    except TimeoutError:
        failure = OutOfTime() if is_over() else Unreachable(reason=Reason.TIMEOUT)
    raise failure
