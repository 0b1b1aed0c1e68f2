"""Caches, coalesces and retries service calls to limit the load on the service.

Identical concurrent calls share one request. Fresh responses come from the cache, and stale ones are served where the
service fails. A read that failed in passing is sent once more. Writes (quote, commit, execute) are sent exactly once.
"""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from random import SystemRandom
from typing import Any, Final, cast

from intents_ui.service.cache import CacheEntry, ResponseCache
from intents_ui.service.config import Kind, ServiceConfig
from intents_ui.service.context import request_context, shares
from intents_ui.service.context.concurrency import SHUTDOWN, CallThreads
from intents_ui.service.context.request_context import claim_slot, is_over, seconds_left, time_left, within
from intents_ui.service.errors import (
    GEOBLOCKED,
    KNOWN,
    AccessDenied,
    Flaw,
    OutOfTime,
    Overloaded,
    Reason,
    ServiceError,
    StaleResponse,
    TooBusy,
    Unreachable,
    Unreadable,
)
from intents_ui.service.health import Event, Health
from intents_ui.service.operations import CacheKey, ServiceCall

STALE_WAIT = 0.3  # seconds that a page waits for a newer response while it has a stale one
SKIP_WAIT_SECONDS: Final = 1.0  # seconds without such waits after one of them timed out
PROBE_WAIT: Final = 0.5  # seconds that a page waits while another call probes whether the service is back
# Random, so that calls that failed together don't meet again.
MAX_RETRY_WAIT = 0.1
SHORTEST_ATTEMPT = 0.5  # share of the call's timeout: with less time left, a retry is unlikely to succeed
TRANSIENT_CODES: Final = frozenset({0, -6, -7, 1900, 2001, 9001})
MAX_REFRESHES: Final = 16  # concurrent, because they use the same threads and connections as pages
# Kinds for which a short wait is better than showing the previous state at every reload. Live pages reload when they
# learn of a change, and the reloaded page has to show it.
WAIT_FOR_REFRESH: Final = frozenset(
    {
        Kind.MOVING,
        Kind.STOPPED_LATELY,
        Kind.HISTORY,
        Kind.OLDER_HISTORY,
        Kind.SEARCH,
    }
)


class CachingClient(ABC):
    """Client around `_send_once`. Thread-safe."""

    def __init__(
        self, config: ServiceConfig, *, clock: Callable[[], float], health: Health | None, cache: ResponseCache | None
    ) -> None:
        self.config = config
        self.clock = clock
        self.health = health or Health(clock=clock)
        self.cache = cache or ResponseCache(config.policies, clock=clock)
        # More threads would only wait for a connection.
        self.threads = CallThreads(config.connections)
        self._lock = threading.Lock()
        self._pending: dict[CacheKey, Future[Any]] = {}
        self._refreshes = threading.BoundedSemaphore(MAX_REFRESHES)
        self._no_wait_until = float("-inf")

    @abstractmethod
    def _send_once(self, call: ServiceCall[Any]) -> tuple[Any, str]:
        """Return the response and its text, within the timeout of the call's policy."""

    @abstractmethod
    def _parse(self, call: ServiceCall[Any], text: str) -> Any:
        """Parse the text of a response that another process cached. Raises ValueError."""

    @property
    def is_idle(self) -> bool:
        """Whether no request is pending, not even a background refresh."""
        return not self._pending

    def is_cached(self, call: ServiceCall[Any]) -> bool:
        """Return whether `ask` would return from the cache, without waiting for the service."""
        entry = self._entry(call)
        if entry is None or entry.kind in WAIT_FOR_REFRESH:
            return False
        return self.cache.age(entry) < entry.policy.renewed

    def has_fresh(self, call: ServiceCall[Any]) -> bool:
        """Return whether `ask` would return a fresh cached response."""
        entry = self._entry(call)
        return entry is not None and self.cache.age(entry) < entry.policy.fresh

    def age(self, call: ServiceCall[Any]) -> float | None:
        """Return the seconds since the response in this process's cache arrived."""
        entry = self.cache.peek(call)
        return None if entry is None else self.cache.age(entry)

    def get_cached[T](self, calls: Sequence[ServiceCall[T]]) -> list[tuple[T, float] | None]:
        """Return the cached response of each call with its age in seconds, without a request to the service."""
        entries = self.cache.get_many(calls, self._parse)
        return [(entry.answer, self.cache.age(entry)) if entry else None for entry in entries]

    def ask[T](self, call: ServiceCall[T], *, newest: bool = False, max_age: float = 0.0) -> T:
        """Return the response, possibly cached.

        A response of up to `max_age` seconds counts as fresh, even beyond its TTL. With `newest`, a stale response is
        returned only if the service fails.
        """
        with _noting_failure():
            if not call.is_read:
                self._claim(call)
                return cast(T, self._send(call, asked_at=0.0))
            entry = self._entry(call)
            if entry is None:
                return cast(T, self._ask_without_entry(call))
            if self.cache.age(entry) < max(entry.policy.fresh, max_age):
                self.health.counters.add(Event.HIT)
                return cast(T, entry.answer)
            return cast(T, self._refresh_or_stale(call, entry, newest=newest))

    def ask_uncached[T](self, call: ServiceCall[T]) -> T:
        """Return the service's current response, bypassing the cache."""
        with _noting_failure():
            return cast(T, self._fetch(call))

    def forget(self, intent_id: str) -> None:
        """Invalidate the responses about an intent that has changed, including those of pending requests."""
        keys = self.cache.forget(intent_id)
        with self._lock:
            for key in keys:
                self._pending.pop(key, None)

    def _entry(self, call: ServiceCall[Any]) -> CacheEntry | None:
        return self.cache.get(call, self._parse)

    def _ask_without_entry(self, call: ServiceCall[Any]) -> Any:
        if not_found := self.cache.not_found(call.cache_key):
            self.health.counters.add(Event.HIT)
            raise not_found.again(call.operation)
        self.health.counters.add(Event.MISS)
        return self._fetch(call)

    def _fetch(self, call: ServiceCall[Any]) -> Any:
        """Send the request, or share the response of an identical pending one."""
        self._claim(call)
        while True:
            result, is_mine = self._join(call)
            if is_mine:
                return self._complete(call, result)
            self.health.counters.add(Event.SHARED)
            try:
                return self._wait(call, result, self._timeout(call))
            except OutOfTime:
                # The page that sent the shared request ran out of time. This page may have time left.
                if is_over():
                    raise

    def _timeout(self, call: ServiceCall[Any]) -> float:
        return self.config.policies[call.kind].total

    def _claim(self, call: ServiceCall[Any]) -> None:
        try:
            claim_slot()
        except ServiceError as error:
            error.operation = call.operation
            if isinstance(error, Overloaded):
                self.health.counters.add(Event.SHED)
            raise

    # With a stale cache entry

    def _refresh_or_stale(self, call: ServiceCall[Any], entry: CacheEntry, *, newest: bool) -> Any:
        # An error that makes a refresh pointless now.
        is_recent = entry.error and self.cache.clock() < entry.retry_at
        known_error = entry.error if is_recent else self.health.rejection(call.operation)
        if known_error:
            return self._stale(call, entry, known_error)
        refresh = self._start_refresh(call)
        may_be_shown = not newest and self.cache.age(entry) < entry.policy.renewed
        if may_be_shown and entry.kind not in WAIT_FOR_REFRESH:
            self.health.counters.add(Event.STALE)
            return entry.answer
        try:
            return self._wait_for_refresh(call, refresh)
        except ServiceError as error:
            if not may_serve_stale(error):
                raise
            if may_be_shown and error.again_in is None and _is_timeout(error):
                self.health.counters.add(Event.STALE)
                return entry.answer
            return self._stale(call, entry, error)

    def _start_refresh(self, call: ServiceCall[Any]) -> "Future[Any] | None":
        """Return the pending refresh, started if needed, or None at the limit. It outlives its page."""
        if not self._refreshes.acquire(blocking=False):
            with self._lock:
                return self._pending.get(call.cache_key)
        result, is_mine = self._join(call)
        if is_mine:
            try:
                job = self.threads.aside(lambda: self._refresh(call, result))
                job.add_done_callback(lambda job: self._abandon(call, result) if job.cancelled() else None)
            except Overloaded:
                self._abandon(call, result)
        else:
            self._refreshes.release()
        return result

    def _abandon(self, call: ServiceCall[Any], result: "Future[Any]") -> None:
        """End a refresh that found no thread, because the process is shutting down."""
        self._refreshes.release()
        self._leave(call, result)
        result.set_exception(Overloaded(SHUTDOWN).again(call.operation))

    def _refresh(self, call: ServiceCall[Any], result: "Future[Any]") -> None:
        try:
            self._complete(call, result)
        except ServiceError:
            return  # waiting callers get it from the future
        finally:
            self._refreshes.release()

    def _wait_for_refresh(self, call: ServiceCall[Any], refresh: "Future[Any] | None") -> Any:
        if refresh is None:
            raise Overloaded("too many concurrent background refreshes")
        try:
            return self._wait(call, refresh, STALE_WAIT if self.cache.clock() >= self._no_wait_until else 0.0)
        except Unreachable as error:
            if _is_timeout(error) and not refresh.done():
                self._no_wait_until = self.cache.clock() + SKIP_WAIT_SECONDS
            raise

    def _stale(self, call: ServiceCall[Any], entry: CacheEntry, error: ServiceError) -> Any:
        self.health.counters.add(Event.OLD)
        learned_at = datetime.now(UTC) - timedelta(seconds=self.cache.age(entry))
        again_in = max(entry.retry_at - self.cache.clock(), 0.0) if error.again_in is None else error.again_in
        has_balances = isinstance(call.request, Mapping) and bool(call.request.get("includeBalances"))
        request_context.add_stale(StaleResponse(call.operation, learned_at, error, again_in, has_balances))
        return entry.answer

    # Requests to the service

    def _join(self, call: ServiceCall[Any]) -> "tuple[Future[Any], bool]":
        """Return the result of the pending request, and whether it is the caller who has to send it."""
        with self._lock:
            mine: Future[Any] = Future()
            pending = self._pending.setdefault(call.cache_key, mine)
            return pending, pending is mine

    def _complete(self, call: ServiceCall[Any], result: "Future[Any]") -> Any:
        """Send the request, and give its result to all who wait for it."""
        asked_at = self.cache.clock()
        try:
            answer = self._send(call, asked_at=asked_at)
        except BaseException as error:
            failure = error if isinstance(error, ServiceError) else Unreachable.because(Reason.BROKEN)
            if not may_serve_stale(failure):
                self.cache.refuse(call, failure, asked_at=asked_at)
            elif failure.again_in is None and not isinstance(failure, OutOfTime | Overloaded):
                self.cache.fail(call, failure)
            self._leave(call, result)
            result.set_exception(failure.again(call.operation))  # a copy, without the traceback's frames
            raise
        self._leave(call, result)
        result.set_result(answer)
        return answer

    def _leave(self, call: ServiceCall[Any], result: "Future[Any]") -> None:
        with self._lock:
            if self._pending.get(call.cache_key) is result:
                del self._pending[call.cache_key]

    def _wait(self, call: ServiceCall[Any], result: "Future[Any]", seconds: float) -> Any:
        try:
            with shares.waiting():
                return result.result(time_left(seconds, expired=TimeoutError))
        except ServiceError as error:
            failure: ServiceError = error.again(call.operation)
        except TimeoutError:
            failure = (OutOfTime() if is_over() else Unreachable.because(Reason.TIMEOUT)).again(call.operation)
        raise failure

    def _send(self, call: ServiceCall[Any], *, asked_at: float) -> Any:
        """Send the request within one call's timeout, and cache the response."""
        began = time.monotonic()
        try:
            return self._attempt(call, asked_at)
        except ServiceError as error:
            failure = error
        left = self._timeout(call) - (time.monotonic() - began)
        if not self._is_worth_another(call, failure, left):
            raise failure
        time.sleep(SystemRandom().uniform(0, MAX_RETRY_WAIT))
        try:
            with within(left):
                return self._attempt(call, asked_at)
        except OutOfTime as error:
            failure = error
        if not is_over():  # the call's timeout passed, not the page's deadline
            failure = Unreachable.because(Reason.TIMEOUT).again(call.operation)
        raise failure

    def _attempt(self, call: ServiceCall[Any], asked_at: float) -> Any:
        with self.health.track(call.operation, call.kind, patience=PROBE_WAIT):
            answer, text = self._send_once(call)
        newest = self.cache.put(call, answer, text, asked_at=asked_at)
        if newest is not answer:
            self.health.counters.add(Event.OLDER)
        if getattr(answer, "unfit_entries", 0):
            self.health.counters.add(Event.UNFIT)
        return newest

    def _is_worth_another(self, call: ServiceCall[Any], error: ServiceError, left: float) -> bool:
        """Return whether a read failed in passing, so early that another attempt can succeed."""
        of_page = seconds_left()
        least = left if of_page is None else min(left, of_page)
        if not call.is_read or not is_transient(error) or least < self._timeout(call) * SHORTEST_ATTEMPT:
            return False
        return self.health.may_retry(call.operation)


@contextmanager
def _noting_failure() -> Iterator[None]:
    try:
        yield
    except ServiceError as error:
        request_context.add_failed(error)
        raise


def is_transient(error: ServiceError) -> bool:
    """Return whether the same request can succeed a moment later."""
    if isinstance(error, OutOfTime) or error.again_in is not None:
        return False
    if error.code in KNOWN:
        return error.code in TRANSIENT_CODES
    if isinstance(error, Unreachable):
        return error.reason is not Reason.TLS
    return isinstance(error, Unreadable) and error.flaw in (Flaw.NOT_JSON, Flaw.WRONG_SHAPE)


def may_serve_stale(error: ServiceError) -> bool:
    """Return whether a stale response is better than this error, which says nothing about the requested object."""
    if isinstance(error, AccessDenied):
        return error.code != GEOBLOCKED and error.status != 451
    return isinstance(error, Unreachable | Unreadable | TooBusy)


def _is_timeout(error: ServiceError) -> bool:
    return isinstance(error, Unreachable) and error.reason is Reason.TIMEOUT
