"""Caches, coalesces and retries service calls to limit the load on the service.

Identical concurrent calls share one request. Fresh responses come from the cache, and stale ones are served where the
service fails. Failed calls are retried where that can help, unless the circuit breaker is open. Writes (quote,
commit, execute) are sent exactly once.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from random import SystemRandom
from typing import Any, NamedTuple, cast

from intents_ui.service.cache.redis_cache import RedisCache, RedisEntry
from intents_ui.service.cache.response_cache import CacheEntry, ResponseCache
from intents_ui.service.context import processor, request_context
from intents_ui.service.context.concurrency import CallThreads
from intents_ui.service.context.request_context import claim_slot, is_over, seconds_left, time_left, within
from intents_ui.service.counters import Event
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
from intents_ui.service.health import Health
from intents_ui.service.operations.config import CacheKind
from intents_ui.service.operations.operations import Question, ServiceCall

COPY_PATIENCE = 0.3  # seconds that a page waits for a newer response while it has a stale one
PROBE_PATIENCE = 0.5  # seconds that a page waits while another call probes whether the service is back
HASTE = 1.0  # seconds without such waits after one of them timed out
SAME = 0.05  # seconds by which two clocks may differ about the same moment
RETRY_PAUSE = 0.1  # longest pause in seconds before a retry, random so that calls that failed together don't meet again
SHORTEST_ATTEMPT = 0.5  # share of the call's timeout: with less time left, a retry is unlikely to succeed
TRANSIENT_CODES = frozenset({0, -6, -7, 1900, 2001, 9001})
RENEWALS = 16  # concurrent background refreshes, limited because they use the same threads and connections as pages
# Kinds for which a short wait is better than showing the previous state at every reload. Live pages reload when they
# learn of a change, and the reloaded page has to show it.
PROMPT = frozenset(
    {
        CacheKind.MOVING,
        CacheKind.STOPPED_LATELY,
        CacheKind.HISTORY,
        CacheKind.OLDER_HISTORY,
        CacheKind.SEARCH,
        CacheKind.NO_HITS,
    }
)


class Answered(NamedTuple):
    answer: Any
    content: bytearray  # as received


class CachingClient:
    """Caching client around `ask`, which takes at most `patience(call)` seconds. Thread-safe."""

    def __init__(
        self,
        ask: Callable[[ServiceCall[Any]], Answered],
        *,
        patience: Callable[[ServiceCall[Any]], float],
        health: Health,
        threads: CallThreads,
        kept: ResponseCache,
        shared: RedisCache | None = None,
        recall: Callable[[ServiceCall[Any], str], Any] = lambda call, text: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`recall` parses the text of a response from Redis."""
        self._ask = ask
        self._shared = shared
        self._recall = recall
        self._patience = patience
        self._health = health
        self._threads = threads
        self._tally = health.counters
        self._cache = kept
        self._clock = clock
        self._lock = threading.Lock()
        self._pending: dict[Question, Future[Any]] = {}
        self._refresh_slots = threading.BoundedSemaphore(RENEWALS)
        self._no_wait_until = float("-inf")

    def knows(self, call: ServiceCall[Any]) -> bool:
        """Return whether `ask` would return from the cache, without waiting for the service."""
        copy = self._copy(call)
        return copy is not None and self._age(copy) < copy.lifetime.renewed and copy.kind not in PROMPT

    def has_fresh(self, call: ServiceCall[Any]) -> bool:
        copy = self._copy(call)
        return copy is not None and self._age(copy) < copy.lifetime.fresh

    def age(self, call: ServiceCall[Any]) -> float | None:
        """Return the seconds since the cached response arrived, or None."""
        copy = self._cache.copy(call.question)
        return None if copy is None else self._age(copy)

    def last_known[T](self, calls: Sequence[ServiceCall[T]]) -> list[tuple[T, float] | None]:
        """Return the cached response of each call with its age in seconds, or None where there is none.

        Sends no request to the service. Entries missing in this process are read from Redis in one round trip.
        """
        if self._shared:
            missing = [call for call in calls if self._cache.copy(call.question) is None]
            for call, found in zip(missing, self._shared.find_all([call.question for call in missing]), strict=True):
                if found:
                    self._adopt(call, None, found, self._shared)
        copies = self._cache.copies([call.question for call in calls])
        return [(copy.answer, self._age(copy)) if copy else None for copy in copies]

    def ask[T](self, call: ServiceCall[T], *, newest: bool = False, max_age: float = 0.0) -> T:
        """Return the response, possibly cached.

        A response of up to `max_age` seconds counts as fresh, even beyond its TTL. With `newest`, a stale response is
        returned only if the service fails.
        """
        if not call.is_read:
            self._claim(call)
            return cast(T, self._send(call))
        copy = self._copy(call)
        if copy is None:
            return cast(T, self._fetch(call))
        if self._age(copy) < max(copy.lifetime.fresh, max_age):
            self._tally.add(Event.HIT)
            return cast(T, copy.answer)
        return cast(T, self._revalidate(call, copy, newest=newest))

    def ask_past_copies[T](self, call: ServiceCall[T]) -> T:
        """Return the service's current response, bypassing the cache."""
        self._claim(call)
        return cast(T, self._fetch_coalesced(call))

    def forget(self, intent_id: str) -> None:
        """Invalidate the responses about an intent that has changed, including those of pending requests."""
        about = self._cache.forget(intent_id)
        if self._shared:
            self._shared.drop(*about)
        with self._lock:
            for question in about:
                self._pending.pop(question, None)

    def _copy(self, call: ServiceCall[Any]) -> CacheEntry | None:
        copy = self._cache.copy(call.question)
        if self._shared and call.kind and (copy is None or self._age(copy) >= copy.lifetime.fresh):
            copy = self._newer(call, copy, self._shared)
        return copy

    def _newer(self, call: ServiceCall[Any], copy: CacheEntry | None, shared: RedisCache) -> CacheEntry | None:
        """Return the newer of our entry and the one in Redis."""
        found = shared.find(call.question)
        return self._adopt(call, copy, found, shared) if found else copy

    def _adopt(
        self, call: ServiceCall[Any], copy: CacheEntry | None, found: RedisEntry, shared: RedisCache
    ) -> CacheEntry | None:
        asked_at = self._clock() - found.asked
        if copy and asked_at < copy.asked_at + SAME:
            return copy
        try:
            answer = self._recall(call, found.text)
        except (ValueError, ServiceError):
            shared.drop(call.question)
            return copy
        learned_at = self._clock() - found.learned
        self._cache.put(call, answer, len(found.text), asked_at=asked_at, learned_at=learned_at)
        return self._cache.copy(call.question)

    # Without a cache entry

    def _fetch(self, call: ServiceCall[Any]) -> Any:
        refusal = self._cache.refusal(call.question)
        if refusal:
            self._tally.add(Event.HIT)
            raise refusal.again(call.operation)
        self._tally.add(Event.MISS)
        self._claim(call)
        return self._fetch_coalesced(call)

    def _claim(self, call: ServiceCall[Any]) -> None:
        try:
            claim_slot()
        except ServiceError as error:
            error.operation = call.operation
            if isinstance(error, Overloaded):
                self._tally.add(Event.SHED)
            raise

    def _fetch_coalesced(self, call: ServiceCall[Any]) -> Any:
        while True:
            with self._lock:
                others = self._pending.get(call.question)
                mine = None if others else self._pending.setdefault(call.question, Future())
            if mine:
                return self._fetch_shared(call, mine)
            self._tally.add(Event.SHARED)
            try:
                return self._wait(call, cast("Future[Any]", others), self._patience(call))
            except OutOfTime:
                # The page that sent the shared request ran out of time. This page may have time left.
                if is_over():
                    raise

    def _fetch_shared(self, call: ServiceCall[Any], result: "Future[Any]") -> Any:
        asked_at = self._clock()
        try:
            answer = self._send(call, asked_at=asked_at)
        except BaseException as error:
            failure = error if isinstance(error, ServiceError) else Unreachable.because(Reason.BROKEN)
            if is_told_despite(failure):
                if failure.again_in is None and not isinstance(failure, OutOfTime | Overloaded):
                    self._cache.fail(call.question, failure)
            else:
                self._cache.refuse(call, failure, asked_at=asked_at)
                if self._shared:
                    self._shared.drop(call.question)
            self._done(call, result)
            result.set_exception(failure.again(call.operation))  # a copy, without the traceback's frames
            raise
        self._done(call, result)
        result.set_result(answer)
        return answer

    def _done(self, call: ServiceCall[Any], result: "Future[Any]") -> None:
        with self._lock:
            if self._pending.get(call.question) is result:
                del self._pending[call.question]

    def _wait(self, call: ServiceCall[Any], result: "Future[Any]", patience: float) -> Any:
        try:
            with processor.waiting():
                return result.result(time_left(patience, expired=TimeoutError))
        except ServiceError as error:
            failure: ServiceError = error.again(call.operation)
        except TimeoutError:
            failure = OutOfTime() if is_over() else Unreachable.because(Reason.TIMEOUT)
            failure.operation = call.operation
        raise failure

    def _count_mismatches(self, answer: Any, newest: Any) -> None:
        if newest is not answer:
            self._tally.add(Event.OLDER)
        if getattr(answer, "unfit_entries", 0):
            self._tally.add(Event.UNFIT)

    # With a stale cache entry

    def _revalidate(self, call: ServiceCall[Any], copy: CacheEntry, *, newest: bool) -> Any:
        error_before = self._known_error(call, copy)
        if error_before:
            return self._stale(call, copy, error_before)
        renewal = self._pending_refresh(call)
        may_be_shown = not newest and self._age(copy) < copy.lifetime.renewed
        if may_be_shown and copy.kind not in PROMPT:
            self._tally.add(Event.STALE)
            return copy.answer
        try:
            return self._refreshed(call, renewal)
        except ServiceError as error:
            if not is_told_despite(error):
                raise
            if may_be_shown and error.again_in is None and _is_slow(error):
                self._tally.add(Event.STALE)
                return copy.answer
            return self._stale(call, copy, error)

    def _known_error(self, call: ServiceCall[Any], copy: CacheEntry) -> ServiceError | None:
        """Return the error that makes a refresh pointless now, or None."""
        if copy.trouble and self._clock() < copy.again_at:
            return copy.trouble
        return self._health.rejection(call.operation)

    def _pending_refresh(self, call: ServiceCall[Any]) -> "Future[Any] | None":
        """Return the pending refresh, started if needed, or None at the limit.

        It continues after its page stops waiting.
        """
        with self._lock:
            under_way = self._pending.get(call.question)
            if under_way or not self._refresh_slots.acquire(blocking=False):
                return under_way
            mine: Future[Any] = Future()
            self._pending[call.question] = mine
        self._threads.aside(lambda: self._refresh(call, mine))
        return mine

    def _refresh(self, call: ServiceCall[Any], result: "Future[Any]") -> None:
        try:
            self._fetch_shared(call, result)
        except ServiceError:
            return  # waiting callers get it from the future
        finally:
            self._refresh_slots.release()

    def _refreshed(self, call: ServiceCall[Any], renewal: "Future[Any] | None") -> Any:
        if renewal is None:
            raise Overloaded("too many concurrent background refreshes")
        patience = COPY_PATIENCE if self._clock() >= self._no_wait_until else 0.0
        try:
            return self._wait(call, renewal, patience)
        except Unreachable as error:
            if _is_slow(error) and not renewal.done():
                self._no_wait_until = self._clock() + HASTE
            raise

    def _stale(self, call: ServiceCall[Any], copy: CacheEntry, trouble: ServiceError) -> Any:
        self._tally.add(Event.OLD)
        age = timedelta(seconds=self._age(copy))
        again_in = trouble.again_in if trouble.again_in is not None else max(copy.again_at - self._clock(), 0.0)
        has_balances = isinstance(call.request, Mapping) and bool(call.request.get("includeBalances"))
        request_context.add_stale(
            StaleResponse(call.operation, datetime.now(UTC) - age, trouble, again_in, has_balances)
        )
        return copy.answer

    def _age(self, copy: CacheEntry) -> float:
        return self._clock() - copy.learned_at

    # Requests to the service

    def _send(self, call: ServiceCall[Any], *, asked_at: float = 0.0) -> Any:
        """Send the request within one call's timeout. A read that failed in passing is sent once more."""
        began = time.monotonic()
        try:
            answer, content = self._attempt(call)
        except ServiceError as error:
            failure = error
        else:
            return self._stored(call, answer, content, asked_at)
        left = self._patience(call) - (time.monotonic() - began)
        if not self._is_worth_another(call, failure, left):
            raise failure
        time.sleep(SystemRandom().uniform(0, RETRY_PAUSE))
        try:
            with within(left):
                return self._stored(call, *self._attempt(call), asked_at)
        except OutOfTime as error:
            failure = error
        if not is_over():  # the call's timeout passed, not the page's deadline
            failure = Unreachable.because(Reason.TIMEOUT).again(call.operation)
        raise failure

    def _attempt(self, call: ServiceCall[Any]) -> Answered:
        with self._health.track(call.operation, call.group, patience=PROBE_PATIENCE):
            return self._ask(call)

    def _stored(self, call: ServiceCall[Any], answer: Any, content: bytearray, asked_at: float) -> Any:
        newest = self._cache.put(call, answer, len(content), asked_at=asked_at)
        self._count_mismatches(answer, newest)
        self._share(call, answer, content)
        return newest

    def _is_worth_another(self, call: ServiceCall[Any], error: ServiceError, left: float) -> bool:
        """Return whether a read failed in passing, so early that another attempt can succeed."""
        of_page = seconds_left()
        least = left if of_page is None else min(left, of_page)
        if not call.is_read or not is_transient(error) or least < self._patience(call) * SHORTEST_ATTEMPT:
            return False
        return self._health.may_retry(call.operation)

    def _share(self, call: ServiceCall[Any], answer: Any, content: bytearray) -> None:
        """Write the response to Redis if it is also in our cache. It isn't if it predates a change or is too large."""
        copy = self._cache.copy(call.question) if self._shared else None
        if self._shared and copy and copy.answer is answer:
            age = self._clock() - copy.asked_at
            self._shared.keep(call.question, bytes(content), asked=age, seconds=copy.lifetime.old)


def is_transient(error: ServiceError) -> bool:
    """Return whether the same request can succeed a moment later."""
    if isinstance(error, OutOfTime) or error.again_in is not None:
        return False
    if error.code in KNOWN:
        return error.code in TRANSIENT_CODES
    if isinstance(error, Unreachable):
        return error.reason is not Reason.TLS
    return isinstance(error, Unreadable) and error.flaw in (Flaw.NOT_JSON, Flaw.WRONG_SHAPE)


def is_told_despite(error: ServiceError) -> bool:
    """Return whether a stale response is better than this error, which says nothing about the requested object."""
    if isinstance(error, AccessDenied):
        return error.code != GEOBLOCKED and error.status != 451
    return isinstance(error, Unreachable | Unreadable | TooBusy)


def _is_slow(error: ServiceError) -> bool:
    return isinstance(error, Unreachable) and error.reason is Reason.TIMEOUT
