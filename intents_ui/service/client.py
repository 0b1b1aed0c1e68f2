"""The service's API as typed methods: `ServiceClient` blocks, `AsyncServiceClient` awaits.

Pages use the first, live updates the second. Both have one method for each operation in `operations`:

    service.get_intent("0x…")                 # Intent
    await async_service.get_intent("0x…")     # Intent
"""

import asyncio
import functools
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from http.cookiejar import CookieJar
from typing import Any, Self, overload
from weakref import WeakValueDictionary

import httpx

from intents_ui.service import operations
from intents_ui.service.cache import ResponseCache
from intents_ui.service.caching_client import CachingClient
from intents_ui.service.config import Kind, ServiceConfig
from intents_ui.service.console import Attempt
from intents_ui.service.context import shares
from intents_ui.service.context.concurrency import SHUTDOWN, CallThreads
from intents_ui.service.context.request_context import claim_slot, time_left, within
from intents_ui.service.errors import OutOfTime, Overloaded, ServiceError, Unreadable
from intents_ui.service.exchange import (
    ACCEPTED_ENCODINGS,
    TRANSPORT_ERRORS,
    Exchange,
    ParsedResponses,
    RawExchange,
    ResponseMemory,
)
from intents_ui.service.health import Health
from intents_ui.service.models import IntentReceipt
from intents_ui.service.network import KEEP_ALIVE_SECONDS, DeadlineTransport, tls
from intents_ui.service.operations import ServiceCall

LARGE_RESPONSE = 2**18  # bytes from which a response is parsed in a thread, so that it doesn't block the event loop


class OperationMethod[**P, T]:
    """Descriptor that makes a method of an operation.

    The method returns the response, or an awaitable on the async client.
    """

    def __init__(self, build: Callable[P, ServiceCall[T]]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, client: None, owner: type) -> Self: ...
    @overload
    def __get__(self, client: "BlockingOperations", owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: "AsyncServiceClient", owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: "BlockingOperations | AsyncServiceClient | None", owner: type) -> Any:
        if client is None:
            return self

        @functools.wraps(self._build)
        def method(*args: P.args, **kwargs: P.kwargs) -> Any:
            return client.ask(self._build(*args, **kwargs))

        return method


class Operations:
    """The service's thirteen operations. See `operations` for their arguments and errors."""

    search_intents = OperationMethod(operations.search_intents)
    get_intent_history = OperationMethod(operations.get_intent_history)
    get_intent = OperationMethod(operations.get_intent)
    get_intent_receipt = OperationMethod(operations.get_intent_receipt)
    wait_intent_receipt = OperationMethod(operations.wait_intent_receipt)
    commit_intent = OperationMethod(operations.commit_intent)
    get_token_list = OperationMethod(operations.get_token_list)
    get_chains = OperationMethod(operations.get_chains)
    get_exact_input_routes = OperationMethod(operations.get_exact_input_routes)
    get_exact_output_routes = OperationMethod(operations.get_exact_output_routes)
    quote_intent = OperationMethod(operations.quote_intent)
    execute_intent = OperationMethod(operations.execute_intent)
    get_token_prices = OperationMethod(operations.get_token_prices)


class BlockingOperations(Operations, ABC):
    """Client for threads, whose calls block until the response. `threads` run several of them concurrently."""

    threads: CallThreads

    @abstractmethod
    def ask[T](self, call: ServiceCall[T]) -> T: ...


class ServiceClient(CachingClient, BlockingOperations):
    """Blocking client. Thread-safe. Every call ends within its policy's total timeout."""

    def __init__(
        self,
        config: ServiceConfig,
        *,
        transport: httpx.BaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        health: Health | None = None,
        memory: ResponseMemory | None = None,
        parsed: ParsedResponses | None = None,
        cache: ResponseCache | None = None,
    ) -> None:
        super().__init__(config, clock=clock, health=health, cache=cache)
        self._memory = memory or ResponseMemory()
        self._parsed: ParsedResponses = WeakValueDictionary() if parsed is None else parsed
        self.transport = transport or DeadlineTransport(connections=config.connections)
        self._http = httpx.Client(transport=self.transport, **_settings(config))
        self._connections = threading.BoundedSemaphore(config.connections)

    def attempt(self, operation: str, text: str, *, kind: Kind) -> Attempt:
        """Send exactly this text as a request. Errors are recorded in the returned `Attempt` and never raised."""
        shared = {"health": self.health, "memory": self._memory, "parsed": self._parsed}
        exchange = RawExchange(operation, text, kind=kind, config=self.config, **shared)
        try:
            claim_slot()
            with self.health.track(operation, kind, is_raw=True):
                self._response_to(exchange)
        except ServiceError as error:
            return exchange.attempt(error)
        return exchange.attempt(None)

    def close(self) -> None:
        """Close the connections. Calls that run in threads may finish."""
        self.threads.shutdown()
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _send_once(self, call: ServiceCall[Any]) -> tuple[Any, str]:
        exchange = self._exchange_of(call)
        answer = self._response_to(exchange)
        return answer, exchange.text

    def _parse(self, call: ServiceCall[Any], text: str) -> Any:
        return self._exchange_of(call).parse_cached(text)

    def _exchange_of[T](self, call: ServiceCall[T]) -> Exchange[T]:
        return Exchange(call, self.config, self.health, self._memory, self._parsed)

    def _response_to[T](self, exchange: Exchange[T]) -> T:
        try:
            with ExitStack() as until_read:
                with within(exchange.policy.total), self._connection():
                    response = self._http.send(exchange.request(self._http), stream=True)
                    try:
                        body = until_read.enter_context(exchange.body(response))
                        for piece in response.iter_raw():
                            body.add(piece)
                    finally:
                        response.close()
                return exchange.result(response, body.read())
        except TRANSPORT_ERRORS as error:
            failure = exchange.failure(error)
        raise failure

    @contextmanager
    def _connection(self) -> Iterator[None]:
        """Hold one of the connections. The pool can't release the thread's CPU lock (`shares`) while it waits."""
        if self._http.is_closed:
            raise Overloaded(SHUTDOWN)
        wait = time_left(self.config.connection_wait, expired=OutOfTime)
        with shares.waiting():
            is_free = self._connections.acquire(timeout=wait)
        if not is_free:
            raise Overloaded("all connections to the service are in use")
        try:
            yield
        finally:
            self._connections.release()


class UncachedClient(BlockingOperations):
    """Client that bypasses the cache, for bulk reads that would evict other users' entries."""

    def __init__(self, service: ServiceClient) -> None:
        self._service = service
        self.threads = service.threads

    def ask[T](self, call: ServiceCall[T]) -> T:
        return self._service.ask_uncached(replace(call, is_cached=False))


class AsyncServiceClient(Operations):
    """Async client for one event loop, for live updates.

    A call that is canceled while it waits for a connection would leak a slot of httpcore's pool. So the pool is
    unlimited, and semaphores limit the calls.
    """

    def __init__(
        self,
        config: ServiceConfig,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        health: Health | None = None,
        memory: ResponseMemory | None = None,
        parsed: ParsedResponses | None = None,
        cache: ResponseCache | None = None,
    ) -> None:
        self.config = config
        self.health = health or Health()
        self._memory = memory or ResponseMemory()
        self._parsed: ParsedResponses = WeakValueDictionary() if parsed is None else parsed
        self._cache = cache
        idle = config.connections + config.held_calls
        limits = httpx.Limits(max_keepalive_connections=idle, keepalive_expiry=KEEP_ALIVE_SECONDS)
        self._http = httpx.AsyncClient(transport=transport, verify=tls(), limits=limits, **_settings(config))
        self._short_calls = asyncio.Semaphore(config.connections)
        self._held_calls = asyncio.Semaphore(config.held_calls)
        self._pending: set[asyncio.Task[Any]] = set()

    @property
    def can_hold(self) -> bool:
        """Whether a slot is free for one more call of WaitIntentReceipt."""
        return not self._held_calls.locked()

    async def ask[T](self, call: ServiceCall[T]) -> T:
        task: asyncio.Task[T] = asyncio.create_task(self._exchange(call))
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)
        return await task

    def cache_receipt(self, receipt: IntentReceipt, *, age: float) -> None:
        """Cache a receipt for the pages. It arrived `age` seconds ago, in this or in another process."""
        if self._cache:
            at = self._cache.clock() - age
            call = operations.get_intent_receipt(receipt.intent_id)
            self._cache.put(call, receipt, receipt.raw, asked_at=at, learned_at=at)

    async def aclose(self) -> None:
        """Cancel the pending calls and close the connections."""
        for task in self._pending:
            task.cancel()
        await asyncio.gather(*self._pending, return_exceptions=True)
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _exchange[T](self, call: ServiceCall[T]) -> T:
        exchange = Exchange(call, self.config, self.health, self._memory, self._parsed)
        with self.health.track(call.operation, call.kind):
            try:
                async with self._slot(call), asyncio.timeout(exchange.policy.total):
                    response = await self._http.send(exchange.request(self._http), stream=True)
                    try:
                        return await self._result(exchange, response)
                    finally:
                        await response.aclose()
            except TRANSPORT_ERRORS as error:
                failure = exchange.failure(error)
            raise failure

    async def _result[T](self, exchange: Exchange[T], response: httpx.Response) -> T:
        with exchange.body(response) as body:
            async for piece in response.aiter_raw():
                body.add(piece)
            content = body.read()
            try:
                if len(content) > LARGE_RESPONSE:
                    return await asyncio.to_thread(exchange.result, response, content)
                return exchange.result(response, content)
            except Unreadable:
                # It may be another request's response, and the next one on this connection, too.
                if stream := response.extensions.get("network_stream"):
                    await stream.aclose()
                raise

    @asynccontextmanager
    async def _slot(self, call: ServiceCall[Any]) -> AsyncIterator[None]:
        """Long polls have slots of their own, so that they don't starve other calls."""
        if self._http.is_closed:
            raise Overloaded(SHUTDOWN)
        slots = self._held_calls if call.kind is Kind.WAIT else self._short_calls
        try:
            async with asyncio.timeout(self.config.connection_wait):
                await slots.acquire()
        except TimeoutError:
            raise Overloaded("all connections to the service are in use") from None
        try:
            yield
        finally:
            slots.release()


class NoCookies(CookieJar):
    """Jar that stores and sends nothing, without looking."""

    def extract_cookies(self, response: Any, request: Any) -> None:
        pass

    def add_cookie_header(self, request: Any) -> None:
        pass


def _settings(config: ServiceConfig) -> dict[str, Any]:
    """Return the settings of either httpx client. It stores no cookies, because users share it."""
    headers = {
        "Accept": "application/json",
        "Accept-Encoding": ACCEPTED_ENCODINGS,
        "Content-Type": "application/json",
        "User-Agent": "intents-ui",
    }
    if config.key:
        headers["X-Access-Key"] = config.key
    return {"headers": headers, "cookies": NoCookies(), "follow_redirects": False, "trust_env": False}
