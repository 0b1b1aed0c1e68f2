"""In-memory response cache, including negative entries for the service's error responses.

Lists of chains and tokens have an LRU of their own, so that other requests can't evict the names that every page needs.
Negative entries are separate too, so that made-up IDs can't evict good data.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, ItemsView, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import SystemRandom
from typing import Any, cast

from cachetools import LRUCache, TTLCache

from intents_ui.service.errors import Invalid, NotFound, ServiceError
from intents_ui.service.operations.config import CacheKind, Lifetime
from intents_ui.service.operations.operations import Question, ServiceCall, get_intent, get_intent_receipt
from intents_ui.service.wire.models import Intent, IntentReceipt
from intents_ui.service.wire.outcome import is_older
from intents_ui.service.wire.responses import HistoryAnswer, SearchAnswer

KEPT_BYTES = 32 * 2**20
LISTS_SHARE = 0.5
KEPT_ANSWERS = 20_000
WEIGHT = 9  # bytes of memory per byte received, with what pages attach. Measured: 6.5 for a history, 9 for a transfer
ENTRY_BYTES = 2_000  # overhead of an entry
JITTER = 0.1  # random share of the TTL, so that entries created together don't expire together
FORGOTTEN_SECONDS = 60.0  # longer than any pending request for the intent
MOST_OFTEN = 3  # NotFound responses after which an ID is considered made up
RENEWALS_PAUSE = 5.0  # longest wait in seconds before the next refresh after a failed one

LISTS = frozenset({CacheKind.CHAINS, CacheKind.TOKENS})


@dataclass(slots=True)
class CacheEntry:
    """Cache entry. Times are those of the cache's clock.

    `trouble` is the error of the last refresh, and `again_at` is when to try the next one.
    """

    answer: Any
    kind: CacheKind
    asked_at: float
    learned_at: float
    lifetime: Lifetime
    size: int = 0
    trouble: ServiceError | None = None
    again_at: float = 0.0


@dataclass(slots=True)
class Refusal:
    error: ServiceError
    until: float
    times: int = 1


class Shelf:
    """LRU cache bounded by bytes and by number of entries."""

    def __init__(self, most_bytes: int, most: int) -> None:
        self._most_bytes = most_bytes
        self._most = most
        self._bytes = 0
        self._entries: OrderedDict[Question, CacheEntry] = OrderedDict()  # the least recently used first

    def get(self, question: Question) -> CacheEntry | None:
        found = self._entries.get(question)
        if found:
            self._entries.move_to_end(question)
        return found

    def put(self, question: Question, copy: CacheEntry) -> None:
        self.drop(question)
        if copy.size > self._most_bytes:
            return
        self._entries[question] = copy
        self._bytes += copy.size
        while self._bytes > self._most_bytes or len(self._entries) > self._most:
            _, evicted = self._entries.popitem(last=False)
            self._bytes -= evicted.size

    def drop(self, question: Question) -> None:
        dropped = self._entries.pop(question, None)
        if dropped:
            self._bytes -= dropped.size

    def items(self) -> ItemsView[Question, CacheEntry]:
        return self._entries.items()


class ResponseCache:
    """Response cache. Thread-safe. Cached responses are shared and must not be modified."""

    def __init__(
        self,
        lifetimes: Mapping[CacheKind, Lifetime],
        *,
        clock: Callable[[], float],
        most_bytes: int = KEPT_BYTES,
        most: int = KEPT_ANSWERS,
    ) -> None:
        self._lifetimes = lifetimes
        self._clock = clock
        self._lock = threading.Lock()
        lists = int(most_bytes * LISTS_SHARE)
        self._lists = Shelf(lists, most)
        self._others = Shelf(most_bytes - lists, most)
        self._negative: LRUCache[Question, Refusal] = LRUCache(most // 10)
        self._invalidated: TTLCache[Question, float] = TTLCache(most, FORGOTTEN_SECONDS, timer=clock)

    def copy(self, question: Question) -> CacheEntry | None:
        """Return the cached response while it may be shown at all, however stale."""
        return self.copies([question])[0]

    def copies(self, questions: Sequence[Question]) -> list[CacheEntry | None]:
        """Return what `copy` returns for each."""
        with self._lock:
            now = self._clock()
            found = [self._find(question) for question in questions]
        return [each if each and now - each.learned_at < each.lifetime.old else None for each in found]

    def refusal(self, question: Question) -> ServiceError | None:
        with self._lock:
            found = self._negative.get(question)
            return found.error if found and self._clock() < found.until else None

    def put[T](
        self, call: ServiceCall[T], answer: T, size: int, *, asked_at: float, learned_at: float | None = None
    ) -> T:
        """Cache the response to a request sent at `asked_at`, received at `learned_at` (default: now).

        Returns the response to show. An older response never replaces a newer one. Responses can arrive out of order,
        and a later request can return an earlier state.
        """
        if call.kind is None:
            return answer
        kind, now = call.kind(answer), self._clock()
        lifetime = self._lifetimes[kind]
        if not lifetime.old:
            return answer
        factor = SystemRandom().uniform(1 - JITTER, 1 + JITTER)
        copy = CacheEntry(
            answer=answer,
            kind=kind,
            asked_at=asked_at,
            learned_at=now if learned_at is None else learned_at,
            lifetime=Lifetime(*(age * factor for age in lifetime)),
            size=weight(size),
        )
        with self._lock:
            shelf = self._lists if kind in LISTS else self._others
            before = shelf.get(call.question)
            if before and (before.asked_at > asked_at or self._is_older(before, answer)):
                return cast(T, before.answer)
            if asked_at >= self._invalidated.get(call.question, asked_at):
                self._negative.pop(call.question, None)
                shelf.put(call.question, copy)
            return answer

    def refuse(self, call: ServiceCall[Any], error: ServiceError, *, asked_at: float) -> None:
        """Cache the service's error response and drop the cached data that it supersedes."""
        kind = self._kind_of(call, error)
        if kind is None or call.kind is None:
            return
        with self._lock:
            if asked_at < self._invalidated.get(call.question, asked_at):
                return
            before = self._negative.get(call.question)
            times = before.times + 1 if before else 1
            if kind is CacheKind.UNKNOWN and times >= MOST_OFTEN and call.operation == "GetIntent":
                kind = CacheKind.OFTEN_UNKNOWN
            for shelf in (self._lists, self._others):
                shelf.drop(call.question)
            # A copy, because the error's traceback references every frame that it passed.
            self._negative[call.question] = Refusal(
                error.again(call.operation), self._clock() + self._lifetimes[kind].fresh, times
            )

    def fail(self, question: Question, error: ServiceError) -> None:
        """Record that a refresh failed, so that the next calls don't all repeat it."""
        with self._lock:
            copy = self._find(question)
            if copy:
                copy.trouble = error.again(error.operation or question[0])
                copy.again_at = self._clock() + min(copy.lifetime.fresh, RENEWALS_PAUSE)

    def forget(self, intent_id: str) -> list[Question]:
        """Drop all entries that contain this intent, which has changed. Return the keys of its own requests."""
        about = [call.question for call in (get_intent(intent_id), get_intent_receipt(intent_id))]
        now = self._clock()
        with self._lock:
            lists = [question for question, copy in self._others.items() if intent_id in _intents_in(copy.answer)]
            for question in [*about, *lists]:
                self._others.drop(question)
                self._negative.pop(question, None)
                self._invalidated[question] = now
        return about

    def _find(self, question: Question) -> CacheEntry | None:
        return self._others.get(question) or self._lists.get(question)

    def _is_older(self, before: CacheEntry, answer: object) -> bool:
        """Return whether a response has an older state than the entry it would replace, which may still be shown."""
        if self._clock() - before.learned_at >= before.lifetime.old:
            return False
        known = before.answer
        if not (isinstance(known, Intent | IntentReceipt) and isinstance(answer, Intent | IntentReceipt)):
            return False
        return is_older(answer, than=known, now=datetime.now(UTC))

    def _kind_of(self, call: ServiceCall[Any], error: ServiceError) -> CacheKind | None:
        if isinstance(error, NotFound):
            return CacheKind.UNKNOWN
        return CacheKind.INVALID if isinstance(error, Invalid) and error.code == 2000 else None


def weight(size: int) -> int:
    """Return the bytes of memory for a response of `size` bytes."""
    return size * WEIGHT + ENTRY_BYTES


def _intents_in(answer: object) -> frozenset[str]:
    if isinstance(answer, HistoryAnswer | SearchAnswer):
        return frozenset(each.intent_id for each in answer.intents)
    return frozenset({answer.intent_id}) if isinstance(answer, Intent | IntentReceipt) else frozenset()
