"""The service as typed methods: `ServiceClient` blocks (pages), `AsyncServiceClient` awaits (live).

Both have one method an operation, written once in `operations`:

    service.get_intent("0x…")                 # Intent
    await async_service.get_intent("0x…")     # Intent
"""

import asyncio
import functools
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Self, overload

import httpx

from intents_ui.service import operations, unanswered
from intents_ui.service.allowance import claim
from intents_ui.service.attempt import Attempt, ByHand
from intents_ui.service.config import Group, ServiceConfig
from intents_ui.service.deadline import within
from intents_ui.service.errors import Overloaded, ServiceError
from intents_ui.service.exchange import TROUBLE, Exchange
from intents_ui.service.guard import Answered, Guard
from intents_ui.service.health import Health, Line
from intents_ui.service.held_call import HeldCall
from intents_ui.service.kept import KeptAnswers
from intents_ui.service.operations import Call
from intents_ui.service.saved import SavedLists
from intents_ui.service.shared_answers import SharedAnswers
from intents_ui.service.transport import AsyncTransport, DeadlineTransport
from intents_ui.service.wire import IntentReceipt

__all__ = ["AsyncServiceClient", "BlockingOperations", "ServiceClient", "ServiceConfig", "Unkept"]

LARGE_ANSWER = 2**18  # bytes from which on an answer is read in a thread, so that the event loop goes on


class Operation[**P, T]:
    """An operation as a method: on the blocking client it answers, on the async client it is awaited."""

    def __init__(self, build: Callable[P, Call[T]]) -> None:
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
    """The thirteen of interface.md section 4; see `operations` for their arguments and rules."""

    search_intents = Operation(operations.search_intents)
    get_intent_history = Operation(operations.get_intent_history)
    get_intent = Operation(operations.get_intent)
    get_intent_receipt = Operation(operations.get_intent_receipt)
    wait_intent_receipt = Operation(operations.wait_intent_receipt)
    commit_intent = Operation(operations.commit_intent)
    get_token_list = Operation(operations.get_token_list)
    get_chains = Operation(operations.get_chains)
    get_exact_input_routes = Operation(operations.get_exact_input_routes)
    get_exact_output_routes = Operation(operations.get_exact_output_routes)
    quote_intent = Operation(operations.quote_intent)
    execute_intent = Operation(operations.execute_intent)
    get_token_prices = Operation(operations.get_token_prices)


class BlockingOperations(Operations, ABC):
    """Whoever is asked by a thread that waits for the answer."""

    @abstractmethod
    def ask[T](self, call: Call[T]) -> T: ...


class ServiceClient(BlockingOperations):
    """Blocks its thread; safe for many. Every call ends within its group's total, whatever the network does."""

    def __init__(
        self,
        config: ServiceConfig,
        *,
        transport: httpx.BaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        health: Health | None = None,
        kept: KeptAnswers | None = None,
        saved: SavedLists | None = None,
        shared: SharedAnswers | None = None,
    ) -> None:
        self.config = config
        self.health = health or Health(clock=clock)
        self._saved = saved
        self._shared = shared
        self._http = httpx.Client(
            transport=transport or DeadlineTransport(connections=config.connections),
            follow_redirects=False,  # the access key would go along
            trust_env=False,
            cookies=_no_cookies(),
        )
        self._guard = Guard(
            self._exchange,
            patience=lambda call: config.limits[call.group].total,
            health=self.health,
            kept=kept or KeptAnswers(config.lifetimes, clock=clock),
            saved=saved,
            shared=shared,
            recall=self._recall,
            clock=clock,
        )

    def ask[T](self, call: Call[T], *, newest: bool = False) -> T:
        """`newest`: nothing older than its lifetime is given while the service answers."""
        try:
            return self._guard.ask(call, newest=newest)
        except ServiceError as error:
            unanswered.tell(error)
            raise

    def anew[T](self, call: Call[T]) -> T:
        """What the service says now, whatever it said a moment ago."""
        try:
            return self._guard.ask_past_copies(call)
        except ServiceError as error:
            unanswered.tell(error)
            raise

    def forget(self, intent_id: str) -> None:
        """It has changed, so nobody is shown what was known of it before."""
        self._guard.forget(intent_id)

    def attempt(self, operation: str, text: str, *, group: Group) -> Attempt:
        """Exactly this text, asked by hand. What goes wrong stands in the attempt; nothing is raised."""
        exchange = ByHand(operation, text, group=group, config=self.config)
        try:
            claim()
            # A breaker spares readers; whoever asks by hand wants to see for himself.
            with self.health.asking(operation, group, None):
                self._carry(exchange)
        except ServiceError as error:
            return exchange.attempt(error)
        return exchange.attempt(None)

    def knows(self, call: Call[Any]) -> bool:
        """Whether `ask` would answer at once, without the service."""
        return self._guard.knows(call)

    def has_fresh(self, call: Call[Any]) -> bool:
        """Whether `ask` would answer with what is as good as new."""
        return self._guard.has_fresh(call)

    def age(self, call: Call[Any]) -> float | None:
        """Seconds since the answer came that would be given at once."""
        return self._guard.age(call)

    def last_known[T](self, calls: Sequence[Call[T]]) -> list[tuple[T, float] | None]:
        """What was answered before and its age in seconds, here or in another process; nothing is requested."""
        return self._guard.last_known(calls)

    def close(self) -> None:
        self._http.close()
        if self._saved:
            self._saved.write()
        if self._shared:
            self._shared.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _exchange(self, call: Call[Any]) -> Answered:
        exchange = Exchange(call, self.config)
        answer = self._carry(exchange)
        return Answered(answer, exchange.content)

    def _recall(self, call: Call[Any], text: str) -> Any:
        return Exchange(call, self.config).recalled(text)

    def _carry[T](self, exchange: Exchange[T]) -> T:
        try:
            with ExitStack() as until_read:
                with within(exchange.limits.total):
                    response = self._http.send(exchange.request(), stream=True)
                    try:
                        exchange.check_request_id(response)
                        body = until_read.enter_context(exchange.body(response))
                        for piece in response.iter_raw():
                            body.add(piece)
                    finally:
                        response.close()
                return exchange.result(response, body.whole())
        except TROUBLE as error:
            failure = exchange.failure(error)
        raise failure


class Unkept(BlockingOperations):
    """For whoever reads so much that keeping it would drive out what is kept for the others."""

    def __init__(self, service: ServiceClient) -> None:
        self._service = service

    def ask[T](self, call: Call[T]) -> T:
        return self._service.anew(replace(call, kind=None))


class AsyncServiceClient(Operations):
    """For one event loop. A call goes on when whoever awaits it is cancelled, until its own deadline.

    Calls cancelled while they wait for a connection would cost httpcore's pool its slots for good (libraries.md 5.1).
    So the pool has no limit of its own, and a call is not cancelled with its caller. One that the service may hold for
    long is given up all the same, at a moment that does no harm (`HeldCall`).
    """

    def __init__(
        self,
        config: ServiceConfig,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        health: Health | None = None,
        kept: KeptAnswers | None = None,
    ) -> None:
        self.config = config
        self.health = health or Health()
        self._kept = kept
        self._has_pool = transport is None
        self._http = httpx.AsyncClient(
            transport=transport or AsyncTransport(idle_connections=config.connections + config.held_calls),
            follow_redirects=False,
            trust_env=False,
            cookies=_no_cookies(),
        )
        self._short_calls = asyncio.Semaphore(config.connections)
        self._held_calls = asyncio.Semaphore(config.held_calls)
        self._under_way: dict[asyncio.Task[Any], HeldCall] = {}

    @property
    def can_hold(self) -> bool:
        """Whether one more call of WaitIntentReceipt would find a place."""
        return not self._held_calls.locked()

    async def ask[T](self, call: Call[T]) -> T:
        task: asyncio.Task[T] = asyncio.create_task(self._exchange(call))
        self._under_way[task] = held = HeldCall(task, has_pool=self._has_pool)
        task.add_done_callback(self._done)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if call.group is Group.WAIT:
                held.give_up()
            raise

    def learned(self, receipt: IntentReceipt, *, age: float) -> None:
        """For the pages: a receipt that came so many seconds ago, by whichever process."""
        if self._kept:
            at = time.monotonic() - age
            call = operations.get_intent_receipt(receipt.intent_id)
            self._kept.put(call, receipt, len(receipt.received), asked_at=at, learned_at=at)

    async def aclose(self) -> None:
        """Ends the calls under way and closes the connections."""
        for task in list(self._under_way):
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _exchange(self, call: Call[Any]) -> Any:
        exchange = Exchange(call, self.config)
        with self.health.asking(call.operation, call.group, Line.LIVE):
            try:
                with ExitStack() as until_read:
                    response, content = await self._content(exchange, until_read)
                    if len(content) > LARGE_ANSWER:
                        return await asyncio.to_thread(exchange.result, response, content)
                    return exchange.result(response, content)
            except TROUBLE as error:
                failure = exchange.failure(error)
            raise failure

    async def _content(self, exchange: Exchange[Any], until_read: ExitStack) -> tuple[httpx.Response, bytes]:
        async with self._slot(exchange.call), asyncio.timeout(exchange.limits.total):
            response = await self._http.send(self._traced(exchange.request()), stream=True)
            try:
                exchange.check_request_id(response)
                body = until_read.enter_context(exchange.body(response))
                async for piece in response.aiter_raw():
                    body.add(piece)
            finally:
                await response.aclose()
            return response, body.whole()

    def _traced(self, request: httpx.Request) -> httpx.Request:
        task = asyncio.current_task()
        if task in self._under_way:
            request.extensions["trace"] = self._under_way[task].trace
        return request

    @asynccontextmanager
    async def _slot(self, call: Call[Any]) -> AsyncIterator[None]:
        """Calls that are held must not keep the others from being asked."""
        slots = self._held_calls if call.group is Group.WAIT else self._short_calls
        try:
            async with asyncio.timeout(self.config.connection_wait):
                await slots.acquire()
        except TimeoutError:
            raise Overloaded("all connections to the service are in use") from None
        try:
            yield
        finally:
            slots.release()

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._under_way.pop(task, None)
        if not task.cancelled():
            task.exception()  # nobody may be waiting for it any more


def _no_cookies() -> CookieJar:
    """One reader's cookie would otherwise be sent along with the next one's question."""
    return CookieJar(policy=DefaultCookiePolicy(allowed_domains=[]))
